//! What a hostile peer costs, counted: for test binaries whose allocator is a [`StatsAlloc`], and
//! which run one test after the other, since the counter is the process's.

use stats_alloc::{Stats, StatsAlloc};
use std::alloc::System;

/// What an endpoint under test has cost so far.
#[derive(Debug)]
pub struct Meter {
    counting: &'static StatsAlloc<System>,
    before: Stats,
    /// Octets that were held at most, beyond those held at the beginning.
    pub most: usize,
    /// Segments to the endpoint.
    pub received: u64,
    /// Segments from it.
    pub sent: u64,
}

/// What it may cost.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Octets held.
    pub memory: usize,
    /// Segments sent.
    pub sent: u64,
    /// Allocations for each segment received, and beside them.
    pub allocations: (u64, u64),
}

fn live(stats: &Stats) -> usize {
    stats.bytes_allocated - stats.bytes_deallocated
}

impl Meter {
    /// A meter that counts from this call on.
    pub fn new(counting: &'static StatsAlloc<System>) -> Self {
        Self { counting, before: counting.stats(), most: 0, received: 0, sent: 0 }
    }

    /// Notes how much is held at this moment.
    pub fn look(&mut self) {
        self.most = self.most.max(live(&self.counting.stats()).saturating_sub(live(&self.before)));
    }

    /// Forgets the segments received and sent so far.
    pub fn begin(&mut self) {
        (self.received, self.sent) = (0, 0);
    }

    fn allocations(&self) -> u64 {
        let made = |stats: &Stats| stats.allocations + stats.reallocations;
        (made(&self.counting.stats()) - made(&self.before)) as u64
    }

    /// Holds the endpoint to its bounds.
    ///
    /// # Panics
    /// When it exceeds one of them.
    pub fn judge(&self, name: &str, allowed: Allowance) {
        let Self { most, received, sent, .. } = *self;
        let made = self.allocations();
        println!("{name}: {most} octets, {sent} sent for {received} received, {made} allocations");
        assert!(most <= allowed.memory, "{name}: {most} octets allocated");
        assert!(sent <= allowed.sent, "{name}: {sent} segments sent, {} allowed", allowed.sent);
        let (each, beside) = allowed.allocations;
        assert!(made <= each * received + beside, "{name}: {made} allocations for {received} segments");
    }
}

/// Runs the tests one by one. As with Cargo's own harness, words name those that are wanted.
///
/// # Panics
/// When one of them does.
pub fn run(tests: &[(&str, fn())]) {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    let mut failed = Vec::new();
    for (name, test) in tests {
        if is_wanted(name) {
            let ok = std::panic::catch_unwind(*test).is_ok();
            println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
            failed.extend((!ok).then_some(*name));
        }
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

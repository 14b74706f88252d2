//! The line that everything shares: one queue, one transmitter.

use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// CoDel (RFC 8289), on what waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codel {
    pub(crate) target: Duration,
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
}

const INTERVAL: Duration = Duration::from_millis(100);

impl Codel {
    pub(crate) fn new(target: Duration) -> Self {
        Self { target, first_above: None, drop_next: Instant::ZERO, count: 0, last_count: 0, dropping: false }
    }

    fn law(&self, at: Instant) -> Instant {
        at + INTERVAL.mul_f64(1.0 / f64::from(self.count.max(1)).sqrt())
    }

    fn above(&mut self, now: Instant, sojourn: Duration, small: bool) -> bool {
        if sojourn < self.target || small {
            self.first_above = None;
            return false;
        }
        let since = *self.first_above.get_or_insert(now + INTERVAL);
        now >= since
    }

    /// Is the packet that left the queue at `now` to be dropped?
    pub(crate) fn drops(&mut self, now: Instant, sojourn: Duration, small: bool) -> bool {
        let above = self.above(now, sojourn, small);
        if self.dropping {
            if !above {
                self.dropping = false;
                return false;
            }
            if now < self.drop_next {
                return false;
            }
            self.count += 1;
            self.drop_next = self.law(self.drop_next);
            return true;
        }
        if !above {
            return false;
        }
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_since(self.drop_next) < INTERVAL * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.law(now);
        true
    }
}

/// A queue with its discipline.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    waiting: VecDeque<(Instant, P)>,
    limit: usize,
    codel: Option<Codel>,
    pub(crate) dropped: u64,
    pub(crate) offered: u64,
}

impl<P> Fifo<P> {
    pub(crate) fn new(limit: usize, codel: Option<Codel>) -> Self {
        Self { waiting: VecDeque::new(), limit, codel, dropped: 0, offered: 0 }
    }

    pub(crate) fn push(&mut self, now: Instant, packet: P) {
        self.offered += 1;
        if self.waiting.len() >= self.limit {
            self.dropped += 1;
        } else {
            self.waiting.push_back((now, packet));
        }
    }

    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Duration, P)> {
        loop {
            let (since, packet) = self.waiting.pop_front()?;
            let sojourn = now.saturating_since(since);
            let small = self.waiting.is_empty();
            if self.codel.as_mut().is_some_and(|codel| codel.drops(now, sojourn, small)) {
                self.dropped += 1;
                continue;
            }
            return Some((sojourn, packet));
        }
    }

    pub(crate) fn front(&self) -> Option<&P> {
        self.waiting.front().map(|(_, packet)| packet)
    }
}

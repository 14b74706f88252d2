//! Whole connections over the test network.

mod captures;
mod guard;
mod properties;
mod transfers;

use ropewalk_mptcp::{Coupling, GuardConfig, Scheduler};
use ropewalk_testnet::{Line, MptcpHost, Network, QueueLimit, Stack};
use ropewalk_units::{Duration, Instant, Rate};

/// So many milliseconds after the beginning.
fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Every scheduler.
fn schedulers() -> Vec<Scheduler> {
    vec![
        Scheduler::RoundRobin,
        Scheduler::LowestRtt,
        Scheduler::Linux,
        Scheduler::WeightedRoundRobin { weights: vec![3, 1] },
        Scheduler::Redundant,
        Scheduler::Blest,
        Scheduler::Ecf,
        Scheduler::GoodputGuard(GuardConfig::default()),
    ]
}

/// Every coupling.
const COUPLINGS: [Coupling; 10] = [
    Coupling::Uncoupled,
    Coupling::FullyCoupled,
    Coupling::LinkedIncreases,
    Coupling::RttCompensator,
    Coupling::Lia,
    Coupling::Olia,
    Coupling::Balia,
    Coupling::Wvegas,
    Coupling::Bbr,
    Coupling::Cubic,
];

/// A line with a queue of 100 kB.
fn line(delay_ms: u64, mbps: u64) -> Line {
    let rate = Rate::from_bits_per_sec(mbps * 1_000_000);
    Line { queue: QueueLimit::Bytes(100_000), ..Line::of_rate(rate, Duration::from_millis(delay_ms)) }
}

/// Loses, doubles and delays so many packets in a thousand; these by up to four times the line's delay.
fn impaired([loss, duplicates, detours]: [u32; 3], line: Line) -> Line {
    let share = |permille| f64::from(permille) / 1000.0;
    let mut line = Line { loss: share(loss), duplicates: share(duplicates), ..line };
    line.middlebox.detours = (share(detours), line.delay * 4);
    line
}

/// Runs until both hosts are over and have read everything, or until `limit`.
fn run(network: &mut Network<MptcpHost>, limit: Duration) {
    let is_over = |host: &MptcpHost| {
        host.is_over() && host.connection.as_ref().is_none_or(|connection| connection.readable() == 0)
    };
    network.run_while(Instant::ZERO + limit, |network| !network.hosts().into_iter().all(is_over));
}

/// Octets that a host has read, and whether it knows that there are no more.
fn received(network: &Network<MptcpHost>, side: usize) -> (u64, bool) {
    let host = network.host(side);
    let finished = host.connection.as_ref().is_some_and(ropewalk_mptcp::Connection::peer_finished);
    (host.application().received, finished)
}

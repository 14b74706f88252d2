//! The time that one packet takes through ingress and egress, in order, over two paths. Run it with
//! `cargo bench -p ropewalk-bonding`.
//!
//! It prints nanoseconds of wall time: the least of many short rounds, because on a busy machine
//! some rounds are interrupted. An argument limits the run to the schedulers whose name contains
//! it.

use ropewalk_bonding::{
    Config, CostFirstConfig, Endpoint, FlowAwareConfig, FlowKey, PathConfig, Payload, SchedulerConfig,
    WrrConfig,
};
use ropewalk_units::{Duration, Instant};
use std::hint::black_box;

const PACKETS: u64 = 20_000;
const ROUNDS: usize = 400;
/// Time between packets: 80 Mbit/s of packets of 1500 octets on the wire.
const INTERVAL: Duration = Duration::from_micros(150);

fn schedulers() -> [(&'static str, SchedulerConfig); 5] {
    [
        ("weighted-round-robin", SchedulerConfig::WeightedRoundRobin(WrrConfig::default())),
        ("cost-first", SchedulerConfig::CostFirst(CostFirstConfig::default())),
        ("rate-aware", SchedulerConfig::RateAware),
        ("redundant", SchedulerConfig::Redundant),
        ("flow-aware", SchedulerConfig::FlowAware(FlowAwareConfig::default())),
    ]
}

/// A packet that carries nothing but its number.
#[derive(Clone, Copy)]
struct Packet(u64);

impl Payload for Packet {
    fn wire_len(&self) -> u32 {
        1452
    }

    fn duplicate(&self) -> Self {
        *self
    }

    fn mark_ce(&mut self) -> bool {
        black_box(self.0) == u64::MAX
    }
}

/// Sends packets from one end to the other without delay; timers and control packets included.
/// Returns how many were delivered.
fn run(ends: &mut [Endpoint<Packet>; 2], now: &mut Instant) -> u64 {
    let mut delivered = 0;
    for number in 0..PACKETS {
        *now += INTERVAL;
        let flow = FlowKey { hash: number as u32 & 15, ..FlowKey::default() };
        ends[0].handle_packet(*now, Packet(number), flow);
        for end in 0..2 {
            if ends[end].poll_timeout().is_some_and(|(at, _)| at <= *now) {
                ends[end].handle_timeout(*now);
            }
            while let Some((path, datagram)) = ends[end].poll_transmit(*now) {
                // A second copy is refused.
                let _ = black_box(ends[1 - end].handle_datagram(*now, path, datagram));
            }
        }
        while ends[1].poll_deliver(*now).is_some() {
            delivered += 1;
        }
    }
    delivered
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (name, scheduler) in schedulers().into_iter().filter(|(name, _)| name.contains(&wanted)) {
        let paths = vec![PathConfig::new("a", Some(1)), PathConfig::new("b", Some(2))];
        let config = Config::new(paths, scheduler);
        let mut now = Instant::ZERO;
        let end = || Endpoint::new(config.clone(), Instant::ZERO).expect("a valid configuration");
        let mut ends = [end(), end()];
        let mut least = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = clock();
            let delivered = run(&mut ends, &mut now);
            least = least.min(start.elapsed().as_secs_f64());
            assert_eq!(delivered, PACKETS);
        }
        println!("{name:22} {:6.1} ns/packet", least * 1e9 / PACKETS as f64);
    }
}

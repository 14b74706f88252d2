//! A packet's way through ingress and egress allocates nothing.

use ropewalk_bonding::{
    Class, Config, CostFirstConfig, Endpoint, FlowAwareConfig, FlowKey, PathConfig, Payload, SchedulerConfig,
    WrrConfig,
};
use ropewalk_units::{Duration, Instant};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A packet that carries only a number.
#[derive(Clone, Copy)]
struct Packet(#[expect(dead_code, reason = "nobody looks at it")] u64);

impl Payload for Packet {
    fn wire_len(&self) -> u32 {
        1400
    }

    fn duplicate(&self) -> Self {
        *self
    }

    fn mark_ce(&mut self) -> bool {
        false
    }
}

fn allocations() -> usize {
    let stats = COUNTING.stats();
    stats.allocations + stats.reallocations
}

/// Passes packets of several flows and classes from one end to the other, `batch` at a time, and
/// control packets too. If `is_reordered`, each batch arrives backwards. Returns how many were
/// delivered.
fn pass(ends: &mut [Endpoint<Packet>; 2], now: &mut Instant, batch: usize, is_reordered: bool) -> u64 {
    let mut under_way = Vec::with_capacity(64 * batch);
    let classes = [Class::Normal, Class::Unordered, Class::Duplicated, Class::DuplicatedUnordered];
    let mut delivered = 0;
    for turn in 0..2000u64 {
        *now += Duration::from_micros(100);
        under_way.clear();
        for place in 0..batch as u64 {
            let flow = FlowKey {
                hash: (turn + place) as u32 % 7,
                class: classes[place as usize % 4],
                ..FlowKey::default()
            };
            ends[0].handle_packet(*now, Packet(turn), flow);
            under_way.extend(std::iter::from_fn(|| ends[0].poll_transmit(*now)));
        }
        if is_reordered {
            under_way.reverse();
        }
        for (path, datagram) in under_way.drain(..) {
            // A refused packet is a copy.
            let _ = ends[1].handle_datagram(*now, path, datagram);
        }
        for end in 0..2 {
            if ends[end].poll_timeout().is_some_and(|(at, _)| at <= *now) {
                ends[end].handle_timeout(*now);
            }
            while let Some((path, datagram)) = ends[end].poll_transmit(*now) {
                let _ = ends[1 - end].handle_datagram(*now, path, datagram);
            }
            while ends[end].poll_event().is_some() {}
        }
        while ends[1].poll_deliver(*now).is_some() {
            delivered += 1;
        }
    }
    delivered
}

fn main() {
    no_packet_allocates();
    println!("no_packet_allocates ... ok");
}

fn no_packet_allocates() {
    let schedulers = [
        SchedulerConfig::WeightedRoundRobin(WrrConfig::default()),
        SchedulerConfig::CostFirst(CostFirstConfig::default()),
        SchedulerConfig::RateAware,
        SchedulerConfig::Redundant,
        SchedulerConfig::FlowAware(FlowAwareConfig::default()),
    ];
    for scheduler in schedulers {
        let paths = vec![PathConfig::new("a", Some(1)), PathConfig::new("b", Some(2))];
        let config = Config::new(paths, scheduler);
        let mut now = Instant::ZERO;
        let end = || Endpoint::new(config.clone(), Instant::ZERO).expect("a valid configuration");
        let mut ends = [end(), end()];
        // The queues grow to the size that they need.
        pass(&mut ends, &mut now, 8, false);
        for is_reordered in [false, true] {
            let before = allocations();
            let delivered = pass(&mut ends, &mut now, 8, is_reordered);
            let made = allocations() - before;
            assert!(delivered >= 2000 * 7, "{delivered} delivered");
            // The one allocation is the test's own list.
            assert_eq!(made, 1, "{:?}, reordered: {is_reordered}", config.scheduler);
        }
    }
}

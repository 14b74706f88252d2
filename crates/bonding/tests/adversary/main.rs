//! An attacker between two gateways, and a hostile gateway.
//!
//! The attacker between the gateways knows the format and sees every datagram. It may hold a
//! datagram back, shorten it or alter it. It may send it again at once or much later, also by
//! another path. It may send its own datagrams. It has no key. So only whole datagrams of the other
//! gateway get through, as often and as late as the attacker wants. The seal here has no replay
//! window, unlike the daemon's, so that the endpoint's own window is tested.
//!
//! The hostile gateway has the key: everything that can be written in the format reaches the
//! endpoint.
//!
//! The tests count the memory, the allocations and the datagrams that are used.

mod hostile;
mod on_path;
mod seal;

use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{
    Class, Config, Control, DataHeader, FlowSeq, GlobalSeq, Keepalive, KeepaliveReply, Missing, MissingRange,
    PathConfig, PathId, PathReport, PathSeq, Payload, Report, SchedulerConfig, TrainPacket, Transmission,
};
use ropewalk_units::{Duration, Instant};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Paths of the bond.
const PATHS: u8 = 2;
/// Octets of a packet from the LAN.
const LEN: u32 = 1_400;

/// A packet: its flow, and its number in that flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Packet {
    flow: u32,
    number: u32,
}

impl Payload for Packet {
    fn wire_len(&self) -> u32 {
        LEN
    }

    fn duplicate(&self) -> Self {
        *self
    }

    fn mark_ce(&mut self) -> bool {
        false
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn config(scheduler: SchedulerConfig) -> Config {
    let paths =
        (0..PATHS).map(|place| PathConfig::new(format!("p{place}"), Some(u32::from(place)))).collect();
    Config::new(paths, scheduler)
}

/// A number that means something here, or any.
fn number(random: &mut Random, centre: u32) -> u32 {
    match random.below(4) {
        0 => random.next() as u32,
        1 => random.pick(&[0, 1, u32::MAX, 1 << 31, (1 << 31) - 1]),
        _ => random.near(u64::from(centre), 300) as u32,
    }
}

/// Any header, its numbers around `centre`.
fn header(random: &mut Random, centre: u32) -> DataHeader {
    let classes = [Class::Normal, Class::Unordered, Class::Duplicated, Class::DuplicatedUnordered];
    DataHeader {
        path: PathId(random.below(u64::from(PATHS) + 1) as u8),
        class: random.pick(&classes),
        transmission: random.pick(&[Transmission::Only, Transmission::First, Transmission::Repair]),
        solo: random.below(16) as u8,
        bucket: random.pick(&[0, 1, 2, 3, 4, 5, (centre % 4096) as u16]),
        flow_seq: FlowSeq::new(number(random, centre)),
        global_seq: GlobalSeq::new(number(random, centre)),
        path_seq: PathSeq::new(number(random, centre)),
        timestamp: random.next() as u32,
    }
}

/// Any control packet.
fn control(random: &mut Random, centre: u32) -> Control {
    let path = PathId(random.below(u64::from(PATHS) + 1) as u8);
    match random.below(5) {
        0 => {
            let mut entry = || PathReport {
                next: PathSeq::new(number(random, centre)),
                received_packets: number(random, centre),
                received_bytes: random.next() as u32,
                lost_packets: number(random, centre),
                newest: random.next() as u32,
                excess: random.next() as u16,
                reordering: random.next() as u16,
                train: random.next() as u32,
                held: random.next() as u32,
            };
            let entries = [entry(), entry()];
            Control::Report(Report::new(number(random, centre), random.next() as u32, &entries))
        }
        1 => Control::Keepalive(Keepalive {
            path,
            rest: random.next() as u16,
            number: number(random, centre),
            timestamp: random.next() as u32,
            next_path_seq: PathSeq::new(number(random, centre)),
            next_global_seq: GlobalSeq::new(number(random, centre)),
        }),
        2 => Control::KeepaliveReply(KeepaliveReply {
            path,
            number: number(random, centre),
            echoed: random.next() as u32,
        }),
        3 => {
            let mut missing = Missing::new(path);
            for _ in 0..random.below(Missing::MOST as u64 + 1) {
                let packets = number(random, 20);
                missing.push(MissingRange { from: PathSeq::new(number(random, centre)), packets });
            }
            Control::Missing(missing)
        }
        _ => Control::Train(TrainPacket {
            path,
            number: random.below(12) as u32,
            timestamp: random.next() as u32,
        }),
    }
}

fn main() {
    ropewalk_testnet::bounds::run(&[
        ("an_attacker_on_the_path_invents_nothing_and_repeats_nothing", on_path::invents_and_repeats_nothing),
        ("an_attacker_on_the_path_makes_nobody_send_more", on_path::makes_nobody_send_more),
        ("a_hostile_gateway_costs_bounded_memory_and_answers", hostile::costs_are_bounded),
        ("a_hostile_report_is_no_work", hostile::reports_beyond_what_was_sent_are_no_work),
    ]);
}

/// Time zero.
fn start() -> Instant {
    Instant::ZERO
}

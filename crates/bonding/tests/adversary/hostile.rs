//! A hostile gateway that has the key and may send anything.

use super::{COUNTING, PATHS, Packet, config, control, header, ms, start};
use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{
    Control, Datagram, Endpoint, FlowKey, PathId, PathReport, PathSeq, Report, SchedulerConfig,
};
use ropewalk_testnet::bounds::{Allowance, Meter};
use ropewalk_units::Instant;

/// Datagrams that it sends.
const DATAGRAMS: u32 = 20_000;

/// Polls everything. Returns how many datagrams were sent, and counts what was delivered.
fn poll(end: &mut Endpoint<Packet>, now: Instant, delivered: &mut u64) -> u64 {
    let mut sent = 0;
    while end.poll_transmit(now).is_some() {
        sent += 1;
    }
    while end.poll_deliver(now).is_some() {
        *delivered += 1;
    }
    while end.poll_event().is_some() {}
    sent
}

pub(crate) fn costs_are_bounded() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut config = config(SchedulerConfig::RateAware);
        config.resequencer.max_packets = 256;
        let mut end = Endpoint::new(config, start()).expect("a valid configuration");
        let (mut now, mut delivered, mut accepted) = (start(), 0, 0);
        let mut meter = Meter::new(COUNTING);
        for number in 0..DATAGRAMS {
            now += ms(random.below(3)).min(ms(1));
            // Honest packets, so that there is something to pace, to repair and to report wrongly
            // on.
            let flow = FlowKey { hash: number % 5, ..FlowKey::default() };
            end.handle_packet(now, Packet { flow: number % 5, number }, flow);
            let path = PathId(random.below(u64::from(PATHS) + 1) as u8);
            let datagram = if random.one_in(2) {
                Datagram::Data(header(&mut random, number), Packet { flow: 9, number })
            } else {
                Datagram::Control(control(&mut random, number))
            };
            meter.received += 1;
            let is_data = matches!(datagram, Datagram::Data(..));
            accepted += u64::from(end.handle_datagram(now, path, datagram).is_ok() && is_data);
            if end.poll_timeout().is_some_and(|(at, _)| at <= now) {
                end.handle_timeout(now);
            }
            meter.sent += poll(&mut end, now, &mut delivered);
            meter.look();
        }
        let (received, taken) = (meter.received, end.resequencer());
        assert!(delivered <= accepted, "seed {seed}: {delivered} delivered of {accepted}");
        assert!(taken.max_depth_packets <= 256, "seed {seed}: {} waited", taken.max_depth_packets);
        // What was handed in is sent once, and repaired as it is asked for, a round trip apart.
        // Keepalives, reports and answers are sent as well.
        let name = format!("hostile gateway, seed {seed}");
        let allocations = (0, 2_000);
        meter.judge(&name, Allowance { memory: 8 << 20, sent: 4 * received + 2_000, allocations });
    }
}

/// Numbers that were never sent must not be looked for: that would be billions of them.
pub(crate) fn reports_beyond_what_was_sent_are_no_work() {
    let mut end = Endpoint::new(config(SchedulerConfig::RateAware), start()).expect("a valid configuration");
    let mut meter = Meter::new(COUNTING);
    let mut now = start();
    let mut delivered = 0;
    for (number, next) in [(1, 1), (2, 1 << 20), (3, 1 << 30), (4, (1 << 31) + 5), (5, 3), (6, u32::MAX)] {
        now += ms(50);
        let entry =
            PathReport { next: PathSeq::new(next), received_packets: 1 << 20, ..PathReport::default() };
        let report = Control::Report(Report::new(number, 0, &[entry; PATHS as usize]));
        let _ = end.handle_datagram(now, PathId(0), Datagram::Control(report));
        end.handle_timeout(now);
        meter.received += 1;
        meter.sent += poll(&mut end, now, &mut delivered);
        meter.look();
    }
    // Silence: the paths die, and the packets in doubt are looked through.
    for _ in 0..100 {
        now += ms(20);
        end.handle_timeout(now);
        meter.sent += poll(&mut end, now, &mut delivered);
        meter.look();
    }
    meter.judge(
        "reports of what was not sent",
        Allowance { memory: 1 << 20, sent: 400, allocations: (0, 200) },
    );
}

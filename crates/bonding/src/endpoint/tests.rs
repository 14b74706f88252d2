use super::*;
use crate::config::{CostFirstConfig, Order, PathConfig, SchedulerConfig};
use crate::control::{Control, Keepalive, KeepaliveReply, Missing, MissingRange, PathReport, Report};
use crate::flow::{Class, FlowKey};
use crate::header::{DataHeader, Transmission};
use crate::id::PathSeq;
use proptest::prelude::*;
use ropewalk_units::Duration;

/// Cost-first: rate-aware begins with copies.
fn config(order: Order) -> Config {
    let paths = vec![PathConfig::new("a", Some(1)), PathConfig::new("b", Some(2))];
    let mut config = Config::new(paths, SchedulerConfig::CostFirst(CostFirstConfig::default()));
    config.order = order;
    config
}

fn endpoint(order: Order) -> Endpoint<u32> {
    Endpoint::new(config(order), Instant::ZERO).expect("a valid configuration")
}

#[test]
fn an_invalid_configuration_is_refused() {
    let mut config = config(Order::PerFlow);
    config.paths.clear();
    let error = Endpoint::<u32>::new(config, Instant::ZERO).err().expect("no path");
    assert_eq!(error.key(), "paths");
}

#[test]
fn packets_are_numbered_globally_per_flow_and_per_path() {
    let mut end = endpoint(Order::PerFlow);
    let flow = |hash: u32, class: Class| FlowKey { hash, class };
    let mut numbers = Vec::new();
    for key in [
        flow(1, Class::Normal),
        flow(2, Class::Normal),
        flow(1 + 1024, Class::Normal),
        flow(1, Class::Unordered),
        flow(2, Class::Duplicated),
    ] {
        let dispatch = end.ingress(Instant::ZERO, 100, key);
        let (_, header) = dispatch.iter().next().expect("a path");
        numbers.push((header.global_seq.get(), header.bucket, header.flow_seq.get(), dispatch.len()));
    }
    assert_eq!(numbers, [(0, 1, 0, 1), (1, 2, 0, 1), (2, 1, 1, 1), (3, 1, 0, 1), (4, 2, 1, 2)]);
    let sent: u64 = end.paths().map(|path| path.sent_packets).sum();
    assert_eq!(sent, 6, "the last one twice");
    let bytes: u64 = end.paths().map(|path| path.sent_bytes).sum();
    assert_eq!(bytes, 6 * 148);
}

#[test]
fn solo_counts_packets_of_one_path_alone() {
    let mut run = SoloRun::default();
    let solo: Vec<u8> = (0..9).map(|_| run.note(PathSet::one(PathId(0)))).collect();
    assert_eq!(solo, [0, 1, 1, 2, 2, 2, 2, 3, 3], "2^solo − 1 before it");
    assert_eq!(run.note(PathSet::one(PathId(1))), 0);
    assert_eq!(run.note(PathSet::one(PathId(1))), 1);
    let mut both = PathSet::one(PathId(0));
    both.insert(PathId(1));
    assert_eq!((run.note(both), run.note(both)), (0, 0), "copies are never alone");
}

#[test]
fn a_refused_packet_comes_back_with_the_reason() {
    let mut end = endpoint(Order::PerFlow);
    let header =
        endpoint(Order::PerFlow).ingress(Instant::ZERO, 100, FlowKey::default()).iter().next().unwrap().1;
    let mut offer = |path: u8, header: &DataHeader| {
        end.handle_data(Instant::ZERO, PathId(path), header, 100, 7)
            .map_err(|refused| (refused.packet, refused.reason))
    };
    assert_eq!(offer(1, &header), Err((7, Refusal::UnknownPath)));
    assert_eq!(offer(9, &DataHeader { path: PathId(9), ..header }), Err((7, Refusal::UnknownPath)));
    assert_eq!(offer(0, &header), Ok(()));
    assert_eq!(offer(0, &header), Err((7, Refusal::Duplicate)));
    let twin = DataHeader { global_seq: header.global_seq.next(), ..header };
    assert_eq!(offer(0, &twin), Err((7, Refusal::Late)));
    assert_eq!(end.poll_deliver(Instant::ZERO), Some(7));
    assert_eq!(end.poll_deliver(Instant::ZERO), None);
}

#[test]
fn a_driver_that_does_not_take_packets_fills_only_so_much() {
    let mut config = config(Order::Off);
    config.resequencer.max_packets = 16;
    let mut end: Endpoint<u32> = Endpoint::new(config.clone(), Instant::ZERO).unwrap();
    let mut peer: Endpoint<u32> = Endpoint::new(config, Instant::ZERO).unwrap();
    let mut taken = 0;
    for number in 0..40 {
        for (path, header) in peer.ingress(Instant::ZERO, 100, FlowKey::default()).iter() {
            match end.handle_data(Instant::ZERO, path, &header, 100, number) {
                Ok(()) => taken += 1,
                Err(refused) => assert_eq!((refused.packet, refused.reason), (number, Refusal::Full)),
            }
        }
    }
    assert_eq!(taken, 16);
}

#[test]
fn timers_say_what_they_are_for() {
    let mut end = endpoint(Order::PerFlow);
    assert_eq!(end.poll_timeout(), Some((Instant::ZERO, TimerKind::Keepalive)));
    end.handle_timeout(Instant::ZERO);
    let sent: Vec<_> = std::iter::from_fn(|| end.poll_transmit(Instant::ZERO)).collect();
    assert!(matches!(sent[0], (PathId(0), Control::Keepalive(_))));
    assert!(matches!(sent[1], (PathId(1), Control::Keepalive(_))));
    // Nothing is known of the paths: an initial window of probes on each.
    let is_probe = |(path, control): &(PathId, Control), on: u8| {
        *path == PathId(on) && matches!(control, Control::Probe(_))
    };
    let probes = |on: u8| sent.iter().filter(|sent| is_probe(sent, on)).count();
    assert_eq!((sent.len(), probes(0), probes(1)), (22, 10, 10));
    let first_report = Instant::ZERO + Duration::from_millis(20);
    assert_eq!(end.poll_timeout(), Some((first_report, TimerKind::Report)));
    end.handle_timeout(first_report);
    let sent: Vec<_> = std::iter::from_fn(|| end.poll_transmit(first_report)).collect();
    assert!(matches!(sent[..], [(PathId(0), Control::Report(_)), (PathId(1), Control::Report(_))]));
}

#[test]
fn events_that_nobody_takes_are_counted() {
    let mut events = Events::default();
    (0..70).for_each(|_| events.push(Event::NoPath));
    let taken: Vec<_> = std::iter::from_fn(|| events.pop()).collect();
    assert_eq!(taken.len(), 65);
    assert_eq!(taken[64], Event::Overrun { events: 6 });
}

fn header() -> impl Strategy<Value = DataHeader> {
    let small = || prop_oneof![any::<u32>(), 0u32..40, (u32::MAX - 20)..];
    let class = prop_oneof![Just(Class::Normal), Just(Class::Unordered), Just(Class::Duplicated)];
    let sent = prop_oneof![Just(Transmission::Only), Just(Transmission::First), Just(Transmission::Repair)];
    (0u8..3, (class, sent), 0u8..16, 0u16..4096, (small(), small(), small(), any::<u32>())).prop_map(
        |(path, (class, transmission), solo, bucket, (flow, global, on_path, timestamp))| DataHeader {
            path: PathId(path),
            class,
            transmission,
            solo,
            bucket,
            flow_seq: FlowSeq::new(flow),
            global_seq: GlobalSeq::new(global),
            path_seq: PathSeq::new(on_path),
            timestamp,
        },
    )
}

fn control() -> impl Strategy<Value = Control> {
    let entry = any::<[u32; 8]>().prop_map(|fields| PathReport {
        next: PathSeq::new(fields[0]),
        received_packets: fields[1],
        received_bytes: fields[2],
        lost_packets: fields[3],
        arrived_at: fields[4],
        delay: fields[5],
        least_delay: fields[6],
        most_delay: fields[7],
        is_fresh: fields[0] & 1 == 0,
    });
    let report = (any::<u32>(), proptest::collection::vec(entry, 0..4))
        .prop_map(|(number, paths)| Control::Report(Report::new(number, &paths)));
    let keepalive = (0u8..3, any::<[u32; 4]>()).prop_map(|(path, fields)| {
        Control::Keepalive(Keepalive {
            path: PathId(path),
            number: fields[0],
            timestamp: fields[1],
            next_path_seq: PathSeq::new(fields[2]),
            next_global_seq: GlobalSeq::new(fields[3]),
        })
    });
    let reply = (0u8..3, any::<[u32; 2]>()).prop_map(|(path, [number, echoed])| {
        Control::KeepaliveReply(KeepaliveReply { path: PathId(path), number, echoed })
    });
    let missing = (0u8..3, any::<[u32; 2]>(), 0u32..40).prop_map(|(path, fields, near)| {
        let mut missing = Missing::new(PathId(path));
        missing.push(MissingRange { from: PathSeq::new(fields[0]), packets: fields[1] });
        missing.push(MissingRange { from: PathSeq::new(near), packets: near });
        Control::Missing(missing)
    });
    prop_oneof![report, keepalive, reply, missing]
}

proptest! {
    /// Nonsense from the peer may spoil estimates, but breaks nothing.
    #[test]
    fn no_input_makes_it_panic(
        inputs in proptest::collection::vec((header(), control(), 0u64..200, proptest::bool::ANY), 1..120),
        order in prop_oneof![Just(Order::PerFlow), Just(Order::Global), Just(Order::Off)],
    ) {
        let mut end = endpoint(order);
        let mut now = Instant::ZERO;
        for (number, (header, control, pause, is_data)) in inputs.into_iter().enumerate() {
            now += Duration::from_millis(pause);
            if is_data {
                let _ = end.handle_data(now, header.path, &header, 100, number as u32);
            } else {
                end.handle_control(now, PathId(number as u8 % 3), &control);
            }
            end.ingress(now, 100, FlowKey { hash: number as u32, ..FlowKey::default() });
            end.handle_timeout(now);
            while end.poll_transmit(now).is_some() {}
            while end.poll_repair(now).is_some() {}
            while end.poll_deliver(now).is_some() {}
            while end.poll_event().is_some() {}
            let (next, _) = end.poll_timeout().expect("it always reports");
            prop_assert!(next > now, "a timer that was handled is not due again");
            prop_assert!(end.paths().all(|path| path.weight <= 100));
        }
    }
}

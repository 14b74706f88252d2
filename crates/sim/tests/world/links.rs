//! One link, packet by packet, against times worked out by hand.

use crate::common::{Diary, Pair, config, probability, us};
use ropewalk_sim::{Change, DirectionConfig, Jitter, LinkStats, Loss, NoTap, Queue, QueueLimit, Trace};
use ropewalk_units::{Duration, Instant, Rate};

fn conserved(stats: &LinkStats) -> bool {
    let gone = stats.delivered + stats.drops_queue + stats.drops_loss;
    stats.offered + stats.duplicates == gone + stats.queued + stats.in_flight
}

#[test]
fn packets_queue_serialise_and_propagate() {
    let mut pair = Pair::new(config(), NoTap);
    pair.send(0, 1_000);
    pair.send(0, 500);
    pair.send(5_000, 100);
    pair.world.run_until(us(1_200));
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.queued, stats.queued_bytes, stats.in_flight), (1, 500, 1));
    assert_eq!(stats.busy, Duration::from_micros(1_200));
    pair.world.run_until(us(20_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (11_500, 1), (15_100, 2)]);
    let stats = pair.world.link(pair.link);
    assert_eq!(
        (stats.offered, stats.transmitted_packets, stats.transmitted_bytes, stats.delivered),
        (3, 3, 1_600, 3)
    );
    assert_eq!((stats.busy, stats.capacity_bytes), (Duration::from_micros(1_600), 20_000));
    assert!((stats.utilisation() - 0.08).abs() < 1e-12);
    assert_eq!(pair.world.packets(), 0);
}

#[test]
fn a_packet_costs_one_event() {
    let mut pair = Pair::new(config(), NoTap);
    for number in 0..8 {
        pair.send(number * 10, 1_000);
    }
    pair.world.run_until(us(1_000_000));
    // Eight timers of the sender, eight arrivals.
    assert_eq!(pair.world.events_processed(), 16);
}

#[test]
fn drop_tail_counts_the_packet_in_transmission() {
    let queue = Queue::DropTail { limit: QueueLimit::Packets(2), mark_above: None };
    let mut pair = Pair::new(DirectionConfig { queue, ..config() }, NoTap);
    for at in [0, 1, 2, 1_000, 1_001] {
        pair.send(at, 1_000);
    }
    pair.world.run_until(us(100_000));
    // The third finds two; the fourth comes as the first leaves.
    assert_eq!(pair.arrivals(), [(11_000, 0), (12_000, 1), (13_000, 3)]);
    assert_eq!(pair.world.link(pair.link).drops_queue, 2);
}

#[test]
fn drop_tail_counts_octets() {
    let queue = Queue::DropTail { limit: QueueLimit::Bytes(1_500), mark_above: None };
    let mut pair = Pair::new(DirectionConfig { queue, ..config() }, NoTap);
    for len in [1_000, 501, 500, 1, 1_501] {
        pair.send(0, len);
    }
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (11_500, 2)]);
}

#[test]
fn drop_tail_marks_above_its_threshold() {
    let queue = Queue::DropTail { limit: QueueLimit::Packets(10), mark_above: Some(2) };
    let mut pair = Pair::new(DirectionConfig { queue, ..config() }, NoTap);
    for _ in 0..3 {
        pair.send_ecn(0, 1_000);
    }
    pair.send(0, 1_000);
    pair.send_ecn(0, 1_000);
    pair.world.run_until(us(100_000));
    let marked: Vec<bool> =
        pair.world.node(pair.receiver).arrived.iter().map(|(_, parcel)| parcel.ce).collect();
    assert_eq!(marked, [false, false, true, false, true]);
    assert_eq!(pair.world.link(pair.link).marks, 2);
}

#[test]
fn a_new_rate_counts_for_the_rest_of_the_packet_in_transmission() {
    let mut pair = Pair::new(config(), NoTap);
    pair.send(0, 1_000);
    pair.send(0, 1_000);
    // 600 octets are left: at half the rate 1200 us. Later a stop of 5 ms in the middle of the second.
    pair.world.schedule_change(us(400), pair.link, Change::Rate(Rate::from_bits_per_sec(4_000_000)));
    pair.world.schedule_change(us(2_600), pair.link, Change::Rate(Rate::ZERO));
    pair.world.schedule_change(us(7_600), pair.link, Change::Rate(Rate::from_bits_per_sec(8_000_000)));
    pair.world.run_until(us(100_000));
    // The second: starts at 1600, 500 octets by 2600, 500 more from 7600.
    assert_eq!(pair.arrivals(), [(11_600, 0), (18_100, 1)]);
    let stats = pair.world.link(pair.link);
    assert_eq!(stats.busy, Duration::from_micros(8_100));
    assert_eq!(stats.capacity_bytes, 400 + 1_100 + 92_400);
}

#[test]
fn a_shorter_delay_does_not_reorder_unless_allowed() {
    for (reorder, expected) in [(false, [(11_000, 0), (11_000, 1)]), (true, [(3_000, 1), (11_000, 0)])] {
        let mut pair = Pair::new(DirectionConfig { reorder, ..config() }, NoTap);
        pair.send(0, 1_000);
        pair.send(0, 1_000);
        pair.world.schedule_change(us(1_500), pair.link, Change::Delay(Duration::from_millis(1)));
        pair.world.run_until(us(100_000));
        assert_eq!(pair.arrivals(), expected);
    }
}

#[test]
fn down_loses_what_has_not_left() {
    let mut pair = Pair::new(config(), Diary::default());
    for at in [0, 0, 0, 2_000, 5_000] {
        pair.send(at, 1_000);
    }
    pair.world.schedule_change(us(1_500), pair.link, Change::Down);
    pair.world.schedule_change(us(1_600), pair.link, Change::Down);
    pair.world.schedule_change(us(4_000), pair.link, Change::Up);
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (16_000, 4)]);
    let stats = pair.world.link(pair.link);
    assert_eq!(
        (stats.drops_loss, stats.transmitted_packets, stats.busy),
        (3, 2, Duration::from_micros(2_500))
    );
    assert_eq!(stats.capacity_bytes, 1_500 + 96_000);
    let said: Vec<&str> = pair.world.tap().0.iter().map(|(.., what)| what.as_str()).collect();
    assert_eq!(
        said,
        [
            "transmitted 0",
            "dropped 1 Down",
            "dropped 2 Down",
            "dropped 3 Down",
            "transmitted 4",
            "delivered 0",
            "delivered 4"
        ]
    );
}

#[test]
fn down_loses_what_is_on_its_way_if_it_shall() {
    let mut pair = Pair::new(DirectionConfig { down_loses_in_flight: true, ..config() }, Diary::default());
    for at in [0, 0, 0, 0, 20_000] {
        pair.send(at, 1_000);
    }
    // They leave each millisecond and take ten: the second arrives just when the link goes down.
    pair.world.schedule_change(us(12_000), pair.link, Change::Down);
    pair.world.schedule_change(us(13_000), pair.link, Change::Up);
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (12_000, 1), (31_000, 4)]);
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.transmitted_packets, stats.delivered, stats.drops_loss), (5, 3, 2));
    let dropped = pair.world.tap().0.iter().filter(|(.., what)| what.starts_with("dropped"));
    let dropped: Vec<_> = dropped.map(|(at, .., what)| (*at, what.as_str())).collect();
    assert_eq!(dropped, [(12_000_000, "dropped 2 Down"), (12_000_000, "dropped 3 Down")]);
}

#[test]
fn what_is_on_its_way_is_lost_by_what_the_key_says_at_that_time() {
    for (loses, expected) in [(true, vec![]), (false, vec![(11_000, 0)])] {
        let mut pair = Pair::new(DirectionConfig { down_loses_in_flight: !loses, ..config() }, NoTap);
        pair.send(0, 1_000);
        pair.world.schedule_change(us(2_000), pair.link, Change::DownLosesInFlight(loses));
        pair.world.schedule_change(us(3_000), pair.link, Change::Down);
        pair.world.run_until(us(100_000));
        assert_eq!(pair.arrivals(), expected);
    }
}

#[test]
fn a_link_that_is_down_has_no_capacity() {
    let mut pair = Pair::new(config(), NoTap);
    pair.world.schedule_change(us(1_000), pair.link, Change::Down);
    pair.world.schedule_change(us(2_000), pair.link, Change::Rate(Rate::from_bits_per_sec(80_000_000)));
    pair.world.schedule_change(us(3_000), pair.link, Change::Up);
    pair.world.run_until(us(2_500));
    assert_eq!(pair.world.link(pair.link).capacity_bytes, 1_000);
    pair.world.run_until(us(4_000));
    assert_eq!(pair.world.link(pair.link).capacity_bytes, 11_000);
}

#[test]
fn a_lost_packet_has_used_its_transmission_time() {
    let mut pair = Pair::new(DirectionConfig { loss: Loss::Exact([2].into()), ..config() }, Diary::default());
    for len in [1_000, 50, 1_000, 1_000] {
        pair.send(0, len);
    }
    pair.world.run_until(us(100_000));
    // The short one is no data: the third packet is the second of data.
    assert_eq!(pair.arrivals(), [(11_000, 0), (11_050, 1), (13_050, 3)]);
    assert!(pair.world.tap().0.contains(&(2_050_000, pair.link, "dropped 2 Loss".to_owned())));
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.transmitted_packets, stats.drops_loss), (4, 1));
}

#[test]
fn a_new_loss_model_holds_for_what_leaves_from_then_on() {
    let mut pair = Pair::new(config(), NoTap);
    for _ in 0..4 {
        pair.send(0, 1_000);
    }
    pair.world.schedule_change(us(1_500), pair.link, Change::Loss(Loss::Bernoulli(probability(1.0))));
    pair.world.schedule_change(us(3_500), pair.link, Change::Loss(Loss::None));
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (14_000, 3)]);
}

#[test]
fn a_duplicate_arrives_right_behind() {
    let mut pair = Pair::new(DirectionConfig { duplicate: probability(1.0), ..config() }, NoTap);
    pair.send(0, 1_000);
    pair.send(0, 1_000);
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (11_000, 0), (12_000, 1), (12_000, 1)]);
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.offered, stats.duplicates, stats.transmitted_packets, stats.delivered), (2, 2, 2, 4));
}

fn jittered(jitter: Jitter, reorder: bool) -> Vec<(u64, u32)> {
    let mut pair = Pair::new(DirectionConfig { jitter, reorder, ..config() }, NoTap);
    for number in 0..2_000 {
        pair.send(number * 1_000, 1_000);
    }
    pair.world.run_until(us(10_000_000));
    assert!(conserved(&pair.world.link(pair.link)));
    pair.arrivals()
}

/// Mean extra delay in us, and the share of packets overtaken.
fn extra(arrivals: &[(u64, u32)]) -> (f64, f64) {
    let sum: f64 = arrivals.iter().map(|&(at, id)| at as f64 - (f64::from(id) * 1_000.0 + 11_000.0)).sum();
    let overtaken = arrivals.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    (sum / arrivals.len() as f64, overtaken as f64 / arrivals.len() as f64)
}

#[test]
fn jitter_delays_as_configured_and_reorders_only_if_allowed() {
    for (jitter, mean) in [
        (Jitter::Uniform(Duration::from_millis(8)), 4_000.0),
        (Jitter::Normal(Duration::from_millis(2)), 0.0),
        (Jitter::Exponential(Duration::from_millis(3)), 3_000.0),
    ] {
        let free = jittered(jitter, true);
        let (measured, overtaken) = extra(&free);
        assert_eq!(free.len(), 2_000);
        assert!((measured - mean).abs() < 250.0, "{jitter:?}: {measured}");
        assert!(overtaken > 0.2, "{jitter:?}: {overtaken}");
        let (later, overtaken) = extra(&jittered(jitter, false));
        assert!(overtaken == 0.0 && later > measured, "{jitter:?}");
    }
}

#[test]
fn a_normal_jitter_never_makes_the_delay_negative() {
    let arrivals = jittered(Jitter::Normal(Duration::from_millis(50)), true);
    assert!(arrivals.iter().all(|&(at, id)| at >= u64::from(id) * 1_000 + 1_000));
    assert!(arrivals.iter().any(|&(at, id)| at == u64::from(id) * 1_000 + 1_000));
}

#[test]
fn a_trace_sets_the_capacity() {
    let trace = Some(Trace::parse("2\n4\n").expect("a trace"));
    let mut pair = Pair::new(DirectionConfig { trace, ..config() }, NoTap);
    for _ in 0..3 {
        pair.send(0, 1_000);
    }
    pair.send(5_000, 1_500);
    pair.world.schedule_change(us(7_000), pair.link, Change::Trace(None));
    pair.send(7_000, 1_000);
    pair.world.run_until(us(20_000));
    // 1000 and half of the next at 2 ms, the rest and the third at 4 ms, 6 ms, then 8 Mbit/s.
    assert_eq!(pair.arrivals(), [(12_000, 0), (14_000, 1), (14_000, 2), (16_000, 3), (18_000, 4)]);
    assert_eq!(pair.world.link(pair.link).capacity_bytes, 3 * 1_500 + 13_000);
}

#[test]
fn a_new_queue_takes_over_what_fits() {
    let mut pair = Pair::new(config(), NoTap);
    for _ in 0..5 {
        pair.send(0, 1_000);
    }
    let queue = Queue::DropTail { limit: QueueLimit::Packets(3), mark_above: None };
    pair.world.schedule_change(us(500), pair.link, Change::Queue(queue));
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(11_000, 0), (12_000, 1), (13_000, 2)]);
    assert_eq!(pair.world.link(pair.link).drops_queue, 2);
}

#[test]
fn time_passes_without_events() {
    let mut pair = Pair::new(config(), NoTap);
    pair.world.run_until(us(5));
    assert_eq!(pair.world.now(), us(5));
    pair.world.run_until(Instant::ZERO);
    assert_eq!(pair.world.now(), us(5));
    // A timer set for the past fires now, not then.
    pair.send(1, 1_000);
    pair.world.run_until(us(20_000));
    assert_eq!(pair.arrivals(), [(11_005, 0)]);
}

#[test]
fn a_relay_forwards_without_copying() {
    let mut pair = Pair::new(config(), NoTap);
    let third = pair.world.add_node(crate::common::Station::default());
    let (port, ..) = pair.world.connect(
        pair.receiver,
        third,
        crate::common::setup("on", config()),
        crate::common::setup("on back", config()),
    );
    pair.world.node_mut(pair.receiver).relay = Some(port);
    pair.send(0, 1_000);
    pair.world.run_until(us(100_000));
    assert_eq!(pair.world.node(third).arrived[0].0, 22_000_000);
    assert_eq!(pair.world.packets(), 0);
}

/// Extra delay in µs of packets sent at these times (µs).
fn wandered(times: &[u64]) -> Vec<(u64, u64)> {
    let wander = Jitter::Wander { max: Duration::from_millis(20), interval: Duration::from_millis(100) };
    let mut pair = Pair::new(DirectionConfig { jitter: wander, ..config() }, NoTap);
    times.iter().for_each(|&at| pair.send(at, 1_000));
    pair.world.run_until(us(60_000_000));
    // 1 ms of transmission and 10 ms of propagation.
    pair.arrivals().iter().map(|&(at, n)| (times[n as usize], at - times[n as usize] - 11_000)).collect()
}

#[test]
fn a_wandering_delay_is_one_for_all_packets_and_moves_slowly_over_its_whole_range() {
    let dense = wandered(&(0..5_000).map(|n| n * 10_000).collect::<Vec<_>>());
    let sparse = wandered(&(0..50).map(|n| n * 1_000_000).collect::<Vec<_>>());
    // The same at the same time, whatever else was sent.
    for point in &sparse {
        assert!(dense.contains(point), "{point:?}");
    }
    let extra = || dense.iter().map(|&(_, extra)| extra);
    assert!(extra().max() > Some(18_000) && extra().max() <= Some(20_000) && extra().min() < Some(2_000));
    let mean = extra().sum::<u64>() as f64 / dense.len() as f64;
    assert!((mean - 10_000.0).abs() < 1_000.0, "{mean}");
    for pair in dense.windows(2) {
        // 20 ms in 100 ms at most, so 2 ms in 10 ms.
        assert!(pair[0].1.abs_diff(pair[1].1) <= 2_001, "{pair:?}");
    }
}

//! Single exchanges, frame by frame, against times worked out by hand.

use crate::common::{Scene, disk, mac, network, station};
use ropewalk_sim::{Port, Streams};
use ropewalk_units::{Duration, Instant, Probability};
use ropewalk_wifi::errors::{ErrorModel, FrameErrors};
use ropewalk_wifi::phy::Rate;
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{Disk, Overlap, Propagation};
use ropewalk_wifi::{
    AccessAfterReception, FrameKind, FrameRecord, MacConfig, Network, NetworkConfig, RouteStats, StationId,
};

/// The medium must have been idle for DIFS before the first frame, so times in these tests begin a
/// millisecond after the world.
const BEGIN: u64 = 1_000;

fn us(us: u64) -> Instant {
    Instant::from_nanos((BEGIN + us) * 1_000)
}

/// There is no backoff: the window has one value, 0.
fn eager() -> MacConfig {
    MacConfig { cw_min: Some(0), cw_max: Some(0), ..mac() }
}

fn watched(config: &NetworkConfig) -> Scene {
    let mut scene = Scene::new(config, 1);
    scene.world.touch_medium(|network, _| network.watch());
    scene
}

/// (kind, sender, begin, end) of every frame, in µs from `BEGIN`.
fn timeline(frames: &[FrameRecord]) -> Vec<(FrameKind, u32, u64, u64)> {
    frames
        .iter()
        .map(|frame| {
            (frame.kind, frame.from.0, frame.begin.as_micros() - BEGIN, frame.end.as_micros() - BEGIN)
        })
        .collect()
}

fn frames(scene: &mut Scene) -> Vec<FrameRecord> {
    scene.world.touch_medium(|network, _| network.take_frames())
}

fn stats(scene: &Scene, route: ropewalk_wifi::RouteId) -> RouteStats {
    scene.world.medium().route_stats(route)[0]
}

use FrameKind::{Ack, Cts, Data, Rts};

#[test]
fn an_idle_medium_is_used_at_once_and_the_next_frame_waits() {
    let mut scene = watched(&network(disk(20.0, 40.0), &eager(), &[(0.0, 0.0), (10.0, 0.0)]));
    let (_, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(1_000), 1_428, 2);
    scene.run_until(0.01);
    let data = 192 + 1_065;
    // Idle for DIFS and more: at once. Then SIFS, ACK, DIFS and a backoff of no slots.
    let ack = 1_000 + data + 10;
    let second = ack + 203 + 50;
    let again = second + data + 10;
    assert_eq!(
        timeline(&frames(&mut scene)),
        [
            (Data, 0, 1_000, 1_000 + data),
            (Ack, 1, ack, ack + 203),
            (Data, 0, second, second + data),
            (Ack, 1, again, again + 203),
        ]
    );
}

#[test]
fn a_frame_that_comes_during_the_backoff_after_another_waits_for_its_end() {
    // The backoff is 0 to 7 slots. Long after an exchange, access is immediate again.
    let mac = MacConfig { cw_min: Some(7), cw_max: Some(7), ..mac() };
    let mut begins = Vec::new();
    for seed in 0..40 {
        let config = network(disk(20.0, 40.0), &mac, &[(0.0, 0.0), (10.0, 0.0)]);
        let mut scene = Scene::new(&config, seed);
        scene.world.touch_medium(|network, _| network.watch());
        let (_, port) = scene.route(&[0, 1]);
        scene.send(0, port, us(1_000), 1_428, 1);
        // 60 µs after the ACK, 10 µs after DIFS.
        let free = 1_000 + 1_257 + 10 + 203 + 50;
        scene.world.set_timer(scene.nodes[0], us(free + 10), port.0);
        scene.world.set_timer(scene.nodes[0], us(50_003), port.0);
        scene.run_until(0.1);
        let all = timeline(&frames(&mut scene));
        let data: Vec<u64> = all.iter().filter(|frame| frame.0 == Data).map(|frame| frame.2).collect();
        assert_eq!(data[2], 50_003, "idle for long: at once");
        begins.push(data[1] - free);
    }
    // Either the backoff was none and is over, so that the frame goes as it comes, or it ends after
    // 1 to 7 slots.
    assert!(begins.iter().all(|&after| after == 10 || (after % 20 == 0 && (20..=140).contains(&after))));
    for slots in [0, 1, 4, 7] {
        let expected = if slots == 0 { 10 } else { 20 * slots };
        assert!(begins.contains(&expected), "{begins:?}");
    }
}

#[test]
fn a_frame_nobody_answers_is_sent_as_often_as_the_limit_says() {
    for limit in [1, 4, 7] {
        let mac = MacConfig { short_retry_limit: limit, ..mac() };
        let mut scene = watched(&network(disk(20.0, 40.0), &mac, &[(0.0, 0.0), (10.0, 0.0)]));
        let (route, port) = scene.route(&[0, 1]);
        scene
            .world
            .touch_medium(|network, _| network.set_positions(&[(StationId(1), Position::new(500.0, 0.0))]));
        scene.send(0, port, us(0), 1_428, 1);
        scene.run_until(1.0);
        let sent = frames(&mut scene);
        assert_eq!(sent.len(), limit as usize);
        let retries: Vec<bool> = sent.iter().map(|frame| frame.is_retry).collect();
        assert_eq!(retries.iter().filter(|retry| !**retry).count(), 1);
        assert!(!retries[0]);
        for (attempt, pair) in (1u32..).zip(sent.windows(2)) {
            // Timeout 10 + 20 + 192 µs, then up to twice the window each time.
            let slots = (pair[1].begin.saturating_since(pair[0].end).as_micros() - 222) / 20;
            assert!(slots < 32 << attempt, "attempt {attempt}: {slots} slots");
        }
        let stats = stats(&scene, route);
        assert_eq!(
            (stats.lost_retries, stats.delivered, stats.queued, stats.attempts),
            (1, 0, 0, u64::from(limit))
        );
    }
}

#[test]
fn windows_double_until_the_largest() {
    let mac = MacConfig { short_retry_limit: 60, ..mac() };
    let mut scene = watched(&network(disk(20.0, 40.0), &mac, &[(0.0, 0.0), (10.0, 0.0)]));
    let (_, port) = scene.route(&[0, 1]);
    scene
        .world
        .touch_medium(|network, _| network.set_positions(&[(StationId(1), Position::new(500.0, 0.0))]));
    scene.send(0, port, us(0), 1_428, 40);
    scene.run_until(120.0);
    let sent = frames(&mut scene);
    assert!(sent.len() > 2_000);
    let mut sums = [(0u64, 0u64); 60];
    let mut attempt = 0;
    for pair in sent.windows(2) {
        attempt = if pair[1].is_retry { attempt + 1 } else { 0 };
        let slots = (pair[1].begin.saturating_since(pair[0].end).as_micros() - 222) / 20;
        sums[attempt].0 += slots;
        sums[attempt].1 += 1;
    }
    // Mean of many draws from 0..=1023: 511.5, standard error 295/√1000.
    let late: (u64, u64) = sums[5..].iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mean = late.0 as f64 / late.1 as f64;
    assert!((mean - 511.5).abs() < 4.0 * 295.3 / (late.1 as f64).sqrt(), "{mean}");
}

#[test]
fn long_frames_ask_first_and_others_keep_still() {
    let mac = MacConfig { rts_threshold: Some(500), ..eager() };
    // 2 hears only the receiver.
    let mut scene = watched(&network(disk(20.0, 20.0), &mac, &[(0.0, 0.0), (15.0, 0.0), (30.0, 0.0)]));
    let (_, port) = scene.route(&[0, 1]);
    let (_, other) = scene.route(&[2, 1]);
    scene.send(0, port, us(0), 1_428, 1);
    // Comes while the data are on the air, which it does not hear.
    scene.send(2, other, us(1_000), 100, 1);
    scene.run_until(0.01);
    let (rts, cts) = (192 + 15, 203);
    let data = rts + 10 + cts + 10;
    let ack = data + 1_257 + 10;
    let free = ack + 203 + 50;
    let after = free + 192 + 99;
    assert_eq!(
        timeline(&frames(&mut scene)),
        [
            (Rts, 0, 0, rts),
            (Cts, 1, rts + 10, rts + 10 + cts),
            (Data, 0, data, data + 1_257),
            (Ack, 1, ack, ack + 203),
            // It is short, so there is no RTS. Its sender heard the ACK, and its own backoff is 0.
            (Data, 2, free, after),
            (Ack, 1, after + 10, after + 10 + 203),
        ]
    );
}

#[test]
fn durations_reserve_the_rest_of_the_exchange() {
    let mac = MacConfig { rts_threshold: Some(0), control_rate: Some(Rate::Mbps2), ..eager() };
    let mut scene = watched(&network(disk(20.0, 20.0), &mac, &[(0.0, 0.0), (15.0, 0.0)]));
    let (_, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(0), 1_428, 1);
    scene.run_until(0.01);
    let sent = frames(&mut scene);
    assert_eq!(sent.iter().map(|frame| frame.kind).collect::<Vec<_>>(), [Rts, Cts, Data, Ack]);
    let end = sent[3].end;
    for frame in &sent[..3] {
        assert_eq!(frame.end + frame.reserved, end, "{:?}", frame.kind);
    }
    assert_eq!(sent[3].reserved, Duration::ZERO);
    assert!(sent.iter().all(|frame| (frame.kind == Data) == (frame.rate == Rate::Mbps11)));
}

#[test]
fn an_rts_without_consequence_is_forgotten() {
    let mac = MacConfig { rts_threshold: Some(500), short_retry_limit: 1, ..eager() };
    let mut scene = watched(&network(disk(20.0, 40.0), &mac, &[(0.0, 0.0), (15.0, 0.0), (5.0, 0.0)]));
    let (_, port) = scene.route(&[0, 1]);
    let (_, other) = scene.route(&[2, 0]);
    scene
        .world
        .touch_medium(|network, _| network.set_positions(&[(StationId(1), Position::new(900.0, 0.0))]));
    scene.send(0, port, us(0), 1_428, 1);
    scene.send(2, other, us(210), 100, 1);
    scene.run_until(0.01);
    let sent = timeline(&frames(&mut scene));
    // The RTS ends at 207 and reserves 203 + 10 + 1257 + 10 + 203 + 10 µs. Two SIFS, a CTS, a
    // preamble and two slots after it nothing has come: 20 + 203 + 192 + 40; then DIFS.
    let released = 207 + 20 + 203 + 192 + 40;
    assert_eq!(sent[1], (Data, 2, released + 50, released + 50 + 192 + 99), "{sent:?}");
}

/// 0 and 2 do not hear each other and collide at 1, which has a frame for 4 itself. 3 hears 1 only,
/// and may broadcast at 400 µs.
fn collision_in_the_middle(broadcasts: bool) -> Vec<(FrameKind, u32, u64, u64)> {
    let mac = MacConfig { short_retry_limit: 1, broadcast_rate: Some(Rate::Mbps11), ..eager() };
    let places = [(0.0, 0.0), (15.0, 0.0), (30.0, 0.0), (15.0, 19.0), (15.0, 10.0)];
    let mut scene = watched(&network(disk(20.0, 20.0), &mac, &places));
    let (_, first) = scene.route(&[0, 1]);
    let (_, second) = scene.route(&[2, 1]);
    let (_, own) = scene.route(&[1, 4]);
    scene.send(0, first, us(0), 200, 1);
    scene.send(2, second, us(50), 100, 1);
    scene.send(1, own, us(60), 100, 1);
    if broadcasts {
        let add = |network: &mut Network| network.add_broadcast(StationId(3), 1);
        let entry = scene.world.touch_medium(|network, _| add(network)).unwrap();
        let (port, _) = scene.world.attach_medium(scene.nodes[3], entry);
        scene.send(3, port, us(400), 20, 1);
    }
    scene.run_until(0.01);
    timeline(&frames(&mut scene))
}

#[test]
fn what_could_not_be_decoded_costs_eifs() {
    let sent = collision_in_the_middle(false);
    // 236 octets at 11 Mbit/s: 172 µs; 136: 99 µs. 364 µs from the longer one's end.
    assert_eq!(sent[..2], [(Data, 0, 0, 364), (Data, 2, 50, 341)]);
    assert_eq!(sent[2], (Data, 1, 364 + 364, 364 + 364 + 291));
}

#[test]
fn a_decoded_frame_ends_eifs() {
    let sent = collision_in_the_middle(true);
    // 56 octets: 41 µs. After what was decoded DIFS suffices, and that is before EIFS would have
    // ended.
    assert_eq!(sent[2], (Data, 3, 400, 400 + 233));
    assert_eq!(sent[3], (Data, 1, 633 + 50, 633 + 50 + 291));
}

#[test]
fn a_lost_ack_makes_a_duplicate_that_goes_no_further() {
    // 2 senses 0 and disturbs it, but decodes nothing of it and hears nothing of 1: its frame meets
    // 1's ACK at 0.
    let propagation = Propagation::Disk(Disk {
        reception: 15.0,
        carrier_sense: 20.0,
        interference: 20.0,
        overlap: Overlap::DestroysAll,
    });
    let places = [(0.0, 0.0), (15.0, 0.0), (-18.0, 0.0), (-30.0, 0.0)];
    let mut scene = watched(&network(propagation, &eager(), &places));
    let (route, port) = scene.route(&[0, 1]);
    let (_, other) = scene.route(&[2, 3]);
    scene.send(0, port, us(0), 1_428, 1);
    scene.send(2, other, us(500), 1_000, 1);
    scene.run_until(0.01);
    let sent = frames(&mut scene);
    let data: Vec<bool> =
        sent.iter().filter(|f| f.kind == Data && f.from.0 == 0).map(|f| f.is_retry).collect();
    assert_eq!(data, [false, true]);
    let receiver = scene.world.medium().radio_stats(StationId(1), 1, scene.world.now()).unwrap();
    assert_eq!((receiver.data_received, receiver.duplicates, receiver.acks_sent), (2, 1, 2));
    let stats = stats(&scene, route);
    assert_eq!((stats.offered, stats.delivered, stats.lost_retries), (1, 1, 0));
    assert_eq!(scene.world.node(scene.nodes[1]).count, 1);
}

#[test]
fn a_packet_the_next_hop_has_is_not_lost_when_its_sender_gives_up() {
    // As above, with one attempt: the sender never learns of its success.
    let propagation = Propagation::Disk(Disk {
        reception: 15.0,
        carrier_sense: 20.0,
        interference: 20.0,
        overlap: Overlap::DestroysAll,
    });
    let mac = MacConfig { short_retry_limit: 1, ..eager() };
    let places = [(0.0, 0.0), (15.0, 0.0), (-18.0, 0.0), (-30.0, 0.0)];
    let mut scene = Scene::new(&network(propagation, &mac, &places), 1);
    let (route, port) = scene.route(&[0, 1]);
    let (_, other) = scene.route(&[2, 3]);
    scene.send(0, port, us(0), 1_428, 1);
    scene.send(2, other, us(500), 1_000, 1);
    scene.run_until(0.01);
    let sender = scene.world.medium().radio_stats(StationId(0), 1, scene.world.now()).unwrap();
    assert_eq!((sender.drops_retries, sender.acknowledged), (1, 0));
    assert_eq!((stats(&scene, route).delivered, stats(&scene, route).lost_retries), (1, 0));
}

#[test]
fn a_broadcast_is_sent_once_and_heard_by_all_in_range() {
    let places = [(0.0, 0.0), (15.0, 0.0), (0.0, 15.0), (50.0, 0.0)];
    let mac = MacConfig { broadcast_rate: Some(Rate::Mbps2), ..eager() };
    let mut scene = watched(&network(disk(20.0, 40.0), &mac, &places));
    let mut entries = Vec::new();
    for station in 0..4 {
        let add = |network: &mut Network| network.add_broadcast(StationId(station), 1);
        let entry = scene.world.touch_medium(|network, _| add(network)).unwrap();
        let node = scene.nodes[station as usize];
        let (port, _) = scene.world.attach_medium(node, entry);
        assert_eq!(port, Port(0));
        entries.push(entry);
    }
    assert!(scene.world.touch_medium(|network, _| network.add_broadcast(StationId(0), 1)).is_err());
    scene.send(0, Port(0), us(0), 100, 2);
    scene.send(3, Port(0), us(5_000), 100, 1);
    scene.run_until(0.1);
    let sent = timeline(&frames(&mut scene));
    let duration = 192 + 136 * 4;
    assert_eq!(
        sent,
        [
            (Data, 0, 0, duration),
            (Data, 0, duration + 50, 2 * duration + 50),
            (Data, 3, 5_000, 5_000 + duration)
        ]
    );
    let counts: Vec<u64> = scene.nodes.iter().map(|&node| scene.world.node(node).count).collect();
    assert_eq!(counts, [0, 2, 2, 0]);
    let network = scene.world.medium();
    let heard = network.entry_stats(entries[0]);
    assert_eq!((heard.offered, heard.duplicates, heard.delivered, heard.queued), (2, 2, 4, 0));
    let unheard = network.entry_stats(entries[3]);
    assert_eq!((unheard.offered, unheard.delivered, unheard.lost_route), (1, 0, 1));
    assert_eq!(scene.world.packets(), 0);
}

#[test]
fn queues_have_a_limit_and_frames_a_lifetime() {
    let places = [(0.0, 0.0), (10.0, 0.0)];
    let mac = MacConfig { queue: Some(5), ..eager() };
    let mut scene = Scene::new(&network(disk(20.0, 40.0), &mac, &places), 1);
    let (route, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(0), 1_428, 10);
    scene.run_until(1.0);
    let full = stats(&scene, route);
    // One in service and five behind it.
    assert_eq!((full.delivered, full.lost_queue), (6, 4));

    let mac = MacConfig { lifetime: Some(Duration::from_micros(5_000)), ..eager() };
    let mut scene = Scene::new(&network(disk(20.0, 40.0), &mac, &places), 1);
    let (route, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(0), 1_428, 10);
    scene.run_until(1.0);
    let old = stats(&scene, route);
    // An exchange and DIFS take 1520 µs: the fourth begins at 4560, the fifth would at 6080.
    assert_eq!((old.delivered, old.lost_lifetime), (4, 6));
}

#[test]
fn frame_errors_hit_their_direction_and_large_frames_only() {
    let mac = MacConfig { short_retry_limit: 1, ..mac() };
    let mut scene = Scene::new(&network(disk(20.0, 40.0), &mac, &[(0.0, 0.0), (10.0, 0.0)]), 9);
    let errors = FrameErrors { model: ErrorModel::Bernoulli(Probability::new(0.3).unwrap()), above: 300 };
    scene.world.touch_medium(|network, cx| {
        network.set_frame_errors(StationId(0), StationId(1), 1, errors.clone(), cx.now()).unwrap();
        assert!(network.set_frame_errors(StationId(0), StationId(7), 1, errors.clone(), cx.now()).is_err());
        assert!(network.set_frame_errors(StationId(0), StationId(1), 6, errors, cx.now()).is_err());
    });
    let (large, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(0), 1_000, 4_000);
    scene.run_until(20.0);
    let (small, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(0), 300, 1_000);
    let (back, port) = scene.route(&[1, 0]);
    scene.send(1, port, us(0), 1_000, 1_000);
    scene.run_until(40.0);
    let lost = stats(&scene, large).lost_retries as f64 / 4_000.0;
    // Four standard errors.
    assert!((lost - 0.3).abs() < 4.0 * (0.21f64 / 4_000.0).sqrt(), "{lost}");
    // What is lost otherwise is lost in collisions of the two senders.
    assert!(stats(&scene, small).lost_retries < 150 && stats(&scene, back).lost_retries < 150);
    let receiver = scene.world.medium().radio_stats(StationId(1), 1, scene.world.now()).unwrap();
    assert_eq!(receiver.frame_errors, stats(&scene, large).lost_retries);
}

#[test]
fn light_takes_its_time_when_asked_to() {
    let config = NetworkConfig {
        propagation_delay: true,
        ..network(disk(400.0, 400.0), &eager(), &[(0.0, 0.0), (300.0, 0.0)])
    };
    let mut scene = watched(&config);
    let (_, port) = scene.route(&[0, 1]);
    scene.send(0, port, us(0), 1_428, 1);
    scene.run_until(0.01);
    let sent = frames(&mut scene);
    // 300 m: 1000.7 ns, in whole ones.
    assert_eq!(sent[1].begin.saturating_since(sent[0].end), Duration::from_nanos(10_000 + 1_001));
    assert_eq!(scene.world.node(scene.nodes[1]).count, 1);
    assert_eq!(sent.len(), 2, "the ACK came in time");
}

#[test]
fn a_world_without_relays_as_nodes_forwards_inside() {
    // Only the ends are nodes.
    let mac = mac();
    let stations: Vec<_> = (0..4).map(|n| station(n, (15.0 * n as f64, 0.0), &mac)).collect();
    let config = NetworkConfig { stations, ..network(disk(20.0, 40.0), &mac, &[]) };
    let network = Network::new(&config, &Streams::new(1)).unwrap();
    assert_eq!(network.station("s2"), Some(StationId(2)));
    let mut world = ropewalk_sim::World::with_medium(ropewalk_sim::NoTap, network);
    let a = world.add_node(crate::common::Host { len: 500, burst: 20, ..Default::default() });
    let b = world.add_node(crate::common::Host { keep: true, ..Default::default() });
    let route = crate::common::route(&[0, 1, 2, 3]);
    let (id, entries) = world.touch_medium(|network, _| network.add_route(&route)).unwrap();
    let (port, _, links) = world.connect_medium(a, b, entries);
    world.set_timer(a, Instant::ZERO, port.0);
    world.run_until(us(1_000_000));
    let order: Vec<u32> = world.node(b).received.iter().map(|(_, parcel)| parcel.id).collect();
    assert_eq!(order, (0..20).collect::<Vec<_>>());
    let link = world.link(links[0]);
    let stats = world.medium().route_stats(id)[0];
    assert_eq!((link.offered, link.delivered, link.transmitted_packets), (20, 20, stats.attempts));
    assert!(stats.attempts >= 60, "each packet on three hops");
    assert_eq!(world.link(links[1]).offered, 0);
}

/// The answer of TCP to a segment is queued in the instant in which the segment has come.
#[test]
fn what_is_queued_when_a_reception_ends_takes_a_backoff_unless_it_is_ns3() {
    let begins = |access_after_reception| {
        let mac = MacConfig { cw_min: Some(7), cw_max: Some(7), access_after_reception, ..mac() };
        let mut begins = Vec::new();
        for seed in 0..20 {
            let config = network(disk(20.0, 40.0), &mac, &[(0.0, 0.0), (10.0, 0.0)]);
            let mut scene = Scene::new(&config, seed);
            scene.world.touch_medium(|network, _| network.watch());
            let (_, port) = scene.route(&[0, 1]);
            let (_, back) = scene.route(&[1, 0]);
            scene.send(0, port, us(1_000), 1_428, 1);
            // After the frame's own end, in the same instant.
            let received = us(1_000 + 1_257);
            scene.world.run_until(us(1_500));
            scene.send(1, back, received, 40, 1);
            scene.run_until(0.1);
            let all = timeline(&frames(&mut scene));
            let answer = all.iter().find(|frame| frame.0 == Data && frame.1 == 1).expect("an answer");
            begins.push(answer.2 - (1_000 + 1_257 + 10 + 203 + 50));
        }
        begins
    };
    assert!(begins(AccessAfterReception::Immediate).iter().all(|&after| after == 0));
    let standard = begins(AccessAfterReception::Backoff);
    assert!(standard.iter().all(|after| after % 20 == 0 && *after <= 140), "{standard:?}");
    assert!(standard.iter().any(|&after| after > 0), "{standard:?}");
}

//! Channels, radios, capture, movement, and chains of relays.

use crate::common::{Scene, disk, mac, network, route};
use ropewalk_sim::{NoTap, Streams, World};
use ropewalk_units::Instant;
use ropewalk_wifi::phy::{Rate, RateSet, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{
    Disk, Fading, LogDistance, Overlap, Propagation, Receiver, Reception, free_space_loss_db, mw_from_dbm,
};
use ropewalk_wifi::{
    ConfigError, MacConfig, Network, NetworkConfig, Ns2Rules, RadioConfig, RateControl, RouteConfig,
    StationId,
};

const PACKET: u32 = 1_428;

fn mbps(scene: &Scene, route: ropewalk_wifi::RouteId, seconds: f64) -> f64 {
    scene.delivered(route) as f64 * 8.0 / seconds / 1e6
}

/// Two pairs side by side, each on its own channel: throughput of both, in Mbit/s.
fn pairs_on(channels: [u8; 2]) -> [f64; 2] {
    let mut config = network(disk(50.0, 100.0), &mac(), &[(0.0, 0.0), (5.0, 0.0), (0.0, 5.0), (5.0, 5.0)]);
    for (station, channel) in
        config.stations.iter_mut().zip([channels[0], channels[0], channels[1], channels[1]])
    {
        station.radios[0].channel = channel;
    }
    let mut scene = Scene::new(&config, 3);
    let mut ids = Vec::new();
    for (a, b, channel) in [(0, 1, channels[0]), (2, 3, channels[1])] {
        let config = RouteConfig { stations: vec![StationId(a), StationId(b)], channels: vec![channel] };
        let (id, entries) =
            scene.world.touch_medium(|network, _| network.add_route(&config)).expect("a route");
        let (from, to) = (scene.nodes[a as usize], scene.nodes[b as usize]);
        let (port, _, _) = scene.world.connect_medium(from, to, entries);
        scene.send(a, port, Instant::ZERO, PACKET, 8_000);
        ids.push(id);
    }
    scene.run_until(10.0);
    [mbps(&scene, ids[0], 10.0), mbps(&scene, ids[1], 10.0)]
}

#[test]
fn orthogonal_channels_do_not_share_and_overlapping_ones_do() {
    let alone = pairs_on([1, 6]);
    let shared = pairs_on([1, 1]);
    let overlapping = pairs_on([1, 3]);
    assert!(alone.iter().all(|&rate| (rate - 6.245).abs() < 0.03), "{alone:?}");
    assert!((shared[0] + shared[1] - 6.55).abs() < 0.1, "{shared:?}");
    // The frames are sensed, so the pairs take turns. They are never decoded, so there is no NAV or
    // EIFS between the pairs.
    let sum = overlapping[0] + overlapping[1];
    assert!(sum < 7.0 && overlapping.iter().all(|&rate| rate > 2.0), "{overlapping:?}");
}

#[test]
fn a_station_with_two_radios_forwards_from_one_to_the_other() {
    let two = |numbers: [u8; 2]| {
        let mut config = network(disk(20.0, 40.0), &mac(), &[(0.0, 0.0), (15.0, 0.0), (30.0, 0.0)]);
        for station in &mut config.stations {
            station.radios =
                numbers.iter().map(|&channel| RadioConfig { channel, mac: mac(), power_dbm: None }).collect();
        }
        let mut scene = Scene::new(&config, 3);
        let stations = (0..3).map(StationId).collect();
        let config = RouteConfig { stations, channels: numbers.to_vec() };
        let (id, entries) =
            scene.world.touch_medium(|network, _| network.add_route(&config)).expect("a route");
        let (port, _, _) = scene.world.connect_medium(scene.nodes[0], scene.nodes[2], entries);
        scene.send(0, port, Instant::ZERO, PACKET, 8_000);
        scene.run_until(10.0);
        mbps(&scene, id, 10.0)
    };
    // Both hops send at the same time, each at the rate of one hop.
    let rate = two([1, 11]);
    assert!((rate - 6.245).abs() < 0.03, "{rate}");
}

#[test]
fn the_first_frame_survives_where_the_receiver_stays_with_it() {
    let lost = |overlap: Overlap| {
        let propagation =
            Propagation::Disk(Disk { reception: 20.0, carrier_sense: 20.0, interference: 20.0, overlap });
        let positions = [(0.0, 0.0), (15.0, 0.0), (30.0, 0.0)];
        let mut scene = Scene::new(&network(propagation, &mac(), &positions), 4);
        for sender in [0, 2] {
            let (_, port) = scene.route(&[sender, 1]);
            scene.send(sender, port, Instant::ZERO, PACKET, 20_000);
        }
        scene.run_until(20.0);
        let stats = scene.world.medium().radio_stats(StationId(0), 1, scene.world.now()).unwrap();
        stats.ack_timeouts as f64 / stats.data_sent as f64
    };
    let (all, first) = (lost(Overlap::DestroysAll), lost(Overlap::FirstWins));
    // Of two that overlap one is received instead of none.
    assert!(all > 0.4, "{all}");
    assert!((0.4..0.65).contains(&(first / all)), "{all} {first}");
}

/// Path loss with exponent 3 and receivers that need 10 dB at every rate.
fn path_loss() -> LogDistance {
    LogDistance {
        power_dbm: 15.0,
        reference_loss_db: free_space_loss_db(2437.0),
        reference_distance: 1.0,
        exponent: 3.0,
        breakpoint: None,
        fading: Fading::None,
        shadowing_db: 0.0,
        receiver: Receiver {
            noise_dbm: -98.0,
            carrier_sense_dbm: -69.0,
            sinr_db: [10.0; Rate::ALL.len()],
            reception: Reception::Threshold,
        },
    }
}

#[test]
fn the_stronger_frame_is_captured() {
    // Two senders that do not sense each other, 5 m and 30 m from the receiver: 23 dB apart.
    // Sensing ends at 28 m or so.
    let run = |recapture: bool| {
        let config = NetworkConfig {
            recapture,
            ..network(Propagation::LogDistance(path_loss()), &mac(), &[(-5.0, 0.0), (0.0, 0.0), (30.0, 0.0)])
        };
        let mut scene = Scene::new(&config, 4);
        for sender in [0, 2] {
            let (_, port) = scene.route(&[sender, 1]);
            scene.send(sender, port, Instant::ZERO, PACKET, 20_000);
        }
        scene.run_until(20.0);
        let now = scene.world.now();
        [0, 2].map(|sender| {
            let stats = scene.world.medium().radio_stats(StationId(sender), 1, now).unwrap();
            stats.ack_timeouts as f64 / stats.data_sent as f64
        })
    };
    let sensed = path_loss().range(-69.0);
    assert!(sensed > 25.0 && sensed < 35.0, "{sensed}");
    let [near, far] = run(false);
    // The near one is lost only when the receiver is locked on to the other; the far one whenever
    // they meet.
    assert!(near < 0.75 * far, "{near} {far}");
    let [near_again, far_again] = run(true);
    assert!(near_again < 0.02, "a receiver that starts anew hears the near one always: {near_again}");
    assert!(far_again > far * 0.9, "{far_again}");
}

#[test]
fn interference_adds_up() {
    let mut model = path_loss();
    // Beyond 42 m nothing is decoded, and nobody senses the other pairs.
    (model.receiver.noise_dbm, model.receiver.carrier_sense_dbm) = (-84.0, -64.5);
    let power = |distance: f64| mw_from_dbm(model.received_dbm(distance, 0.0));
    // One interferer of this distance is 11 dB below a sender at 20 m, two are 8 dB below.
    let far = 20.0 * libm::exp10(11.0 / 30.0);
    assert!(model.receiver.receives(Rate::Mbps11, power(20.0), power(far)));
    assert!(!model.receiver.receives(Rate::Mbps11, power(20.0), 2.0 * power(far)));
    // The same in the network: the interferers on either side neither sense the sender nor each
    // other.
    let run = |interferers: usize| {
        let places =
            [(0.0, 0.0), (20.0, 0.0), (20.0, far), (20.0, -far), (20.0, far + 20.0), (20.0, -far - 20.0)];
        let mac = MacConfig { short_retry_limit: 1, ..mac() };
        let mut scene = Scene::new(&network(Propagation::LogDistance(model.clone()), &mac, &places), 4);
        for (n, way) in [[0, 1], [2, 4], [3, 5]].into_iter().enumerate().take(1 + interferers) {
            let (_, port) = scene.route(&way);
            scene.send(way[0], port, Instant::from_nanos(n as u64 * 1_000), PACKET, 20_000);
        }
        scene.run_until(10.0);
        let stats = scene.world.medium().radio_stats(StationId(1), 1, scene.world.now()).unwrap();
        stats.collisions as f64 / (stats.collisions + stats.data_received) as f64
    };
    let (one, two) = (run(1), run(2));
    assert!(one < 0.01, "{one}");
    assert!(two > 0.3, "{two}");
}

#[test]
fn who_leaves_is_no_longer_heard_and_another_way_is_taken() {
    let places = [(0.0, 0.0), (15.0, 5.0), (30.0, 0.0), (15.0, -5.0)];
    let mut scene = Scene::new(&network(disk(20.0, 40.0), &mac(), &places), 1);
    let (id, port) = scene.route(&[0, 1, 2]);
    scene.send(0, port, Instant::ZERO, PACKET, 1_000);
    scene.run_until(1.0);
    let before = scene.delivered(id);
    assert!(before > 0);
    scene
        .world
        .touch_medium(|network, _| network.set_positions(&[(StationId(1), Position::new(900.0, 0.0))]));
    scene.run_until(2.0);
    let during = scene.delivered(id);
    assert!(during - before <= u64::from(PACKET), "what was on its last hop");
    let refused = scene.world.touch_medium(|network, _| network.replace_route(id, &route(&[0, 1, 2])));
    assert!(refused.unwrap_err().problem.contains("s1 does not receive s0"));
    scene
        .world
        .touch_medium(|network, _| network.replace_route(id, &route(&[0, 3, 2])))
        .expect("over the other relay");
    // Frames queued for the old relay are given up one by one, 7 attempts each; new packets go the
    // new way.
    scene.world.set_timer(scene.nodes[0], Instant::from_nanos(2_000_000_001), port.0);
    scene.run_until(60.0);
    let stats = scene.world.medium().route_stats(id)[0];
    assert!(scene.delivered(id) - during >= 1_000 * u64::from(PACKET), "{stats:?}");
    assert!(stats.lost_retries > 500);
    assert_eq!(scene.world.medium().route_stations(id), [0, 3, 2].map(StationId));
}

#[test]
fn packets_that_arrive_off_the_route_are_lost_there() {
    let places = [(0.0, 0.0), (15.0, 5.0), (30.0, 0.0), (15.0, -5.0)];
    let mut scene = Scene::new(&network(disk(20.0, 40.0), &mac(), &places), 1);
    let (id, port) = scene.route(&[0, 1, 2]);
    scene.send(0, port, Instant::ZERO, PACKET, 100);
    scene.run_until(0.05);
    scene.world.touch_medium(|network, _| network.replace_route(id, &route(&[0, 3, 2]))).unwrap();
    scene.run_until(5.0);
    let stats = scene.world.medium().route_stats(id)[0];
    // What waited at the source still went to the relay it was meant for.
    assert!(stats.lost_route > 50, "{stats:?}");
    assert_eq!(stats.delivered + stats.lost_route, 100);
}

#[test]
fn minstrel_finds_the_fastest_rate_of_a_good_link_and_leaves_it_on_a_bad_one() {
    let run = |distance: f64| {
        let mac = MacConfig { rate: RateControl::Minstrel { rates: RateSet::DSSS }, ..mac() };
        let propagation = Propagation::LogDistance(LogDistance {
            receiver: Receiver::typical(Standard::Dsss { short_preamble: false }),
            ..path_loss()
        });
        let mut scene = Scene::new(&network(propagation, &mac, &[(0.0, 0.0), (distance, 0.0)]), 1);
        let (id, port) = scene.route(&[0, 1]);
        scene.send(0, port, Instant::ZERO, PACKET, 20_000);
        scene.run_until(20.0);
        mbps(&scene, id, 20.0)
    };
    let model =
        LogDistance { receiver: Receiver::typical(Standard::Dsss { short_preamble: false }), ..path_loss() };
    let range = |rate: Rate| model.range(model.receiver.sensitivity_dbm(rate));
    // 11 Mbit/s works: as good as fixed, except for the frames that try a random rate.
    let near = run(range(Rate::Mbps11) * 0.9);
    assert!(near > 0.93 * 6.245, "{near}");
    // 2 Mbit/s works and 5.5 does not.
    let far = run(range(Rate::Mbps2) * 0.95);
    let cycle = 50.0 + 310.0 + 192.0 + f64::from(PACKET + 36) * 4.0 + 10.0 + 192.0 + 56.0;
    let fixed = f64::from(PACKET) * 8.0 / cycle;
    assert!(far > 0.85 * fixed && far < fixed, "{far}, at best {fixed}");
}

/// The chain of Li, Blake, De Couto, Lee and Morris (MobiCom 2001): 2 Mbit/s, control frames at 1,
/// RTS before data, 200 m spacing, 1500-octet packets, a queue of 50, a sender with always
/// something to send. Payload in Mbit/s.
fn chain(hops: u32, propagation: &Propagation, rules: Ns2Rules, seed: u64) -> f64 {
    let mac = MacConfig {
        rts_threshold: Some(0),
        control_rate: Some(Rate::Mbps1),
        queue: Some(50),
        ..MacConfig::new(Standard::Dsss { short_preamble: false }, Rate::Mbps2)
    };
    let positions: Vec<_> = (0..=hops).map(|k| (200.0 * f64::from(k), 0.0)).collect();
    let mut config = network(propagation.clone(), &mac, &positions);
    // The source drops nothing: its queue has no limit.
    config.stations[0].radios[0].mac.queue = None;
    let mut scene = Scene::new(&config, seed);
    scene.world.touch_medium(|network, _| network.follow_ns2(rules));
    let (id, port) = scene.route(&(0..=hops).collect::<Vec<_>>());
    scene.send(0, port, Instant::ZERO, 1_500, 30_000);
    scene.run_until(60.0);
    mbps(&scene, id, 60.0)
}

/// Reception 250 m, carrier sense 550 m. Interference up to 1.78 times the 200 m of a hop, a ratio
/// of 10 dB.
fn ranges_of_li() -> Propagation {
    Propagation::Disk(Disk {
        reception: 250.0,
        carrier_sense: 550.0,
        interference: 356.0,
        overlap: Overlap::DestroysAll,
    })
}

/// The same ranges by powers, which fall with the fourth power of the distance as theirs did. What
/// is sent at 400 m disturbs a reception over 200 m only if the receiver is kept from locking on.
/// 8 dB with noise stand for their 10 dB without.
fn powers_of_li() -> Propagation {
    let receiver = Receiver {
        noise_dbm: 0.0,
        carrier_sense_dbm: 0.0,
        sinr_db: [8.0; Rate::ALL.len()],
        reception: Reception::Threshold,
    };
    let mut model = LogDistance {
        power_dbm: 0.0,
        reference_loss_db: 0.0,
        reference_distance: 1.0,
        exponent: 4.0,
        breakpoint: None,
        fading: Fading::None,
        shadowing_db: 0.0,
        receiver,
    };
    model.receiver.carrier_sense_dbm = model.received_dbm(550.0, 0.0);
    model.receiver.noise_dbm = model.received_dbm(250.0, 0.0) - 8.0;
    Propagation::LogDistance(model)
}

#[test]
fn throughput_falls_along_a_chain() {
    let rates: Vec<f64> = (1..=8).map(|hops| chain(hops, &ranges_of_li(), Ns2Rules::default(), 5)).collect();
    let one = rates[0];
    // One exchange: 7590 µs with its mean backoff.
    assert!((one - 1_500.0 * 8.0 / 7_592.0).abs() < 0.02, "{rates:?}");
    let parts: Vec<f64> = rates.iter().map(|rate| rate / one).collect();
    // All sense each other, so the hops take turns.
    assert!((parts[1] - 0.5).abs() < 0.02 && (parts[2] - 1.0 / 3.0).abs() < 0.02, "{parts:?}");
    // From four hops on the ends do not. With a perfect schedule every third hop could send at
    // once, which is a third for all.
    assert!((0.24..0.27).contains(&parts[3]), "{parts:?}");
    assert!(parts[4..].iter().all(|part| (0.205..0.225).contains(part)), "{parts:?}");
}

#[test]
fn with_the_receiver_of_ns2_a_chain_levels_at_a_seventh_as_li_and_others_found() {
    let part = |propagation: &Propagation, rules: Ns2Rules| {
        let mean = |hops: u32| (1..=3).map(|seed| chain(hops, propagation, rules, seed)).sum::<f64>() / 3.0;
        (7..=8).map(mean).sum::<f64>() / 2.0 / mean(1)
    };
    let by_the_book = Ns2Rules::default();
    let [ranges, powers] = [ranges_of_li(), powers_of_li()].map(|model| part(&model, by_the_book));
    assert!((ranges / powers - 1.0).abs() < 0.03, "{ranges} {powers}");
    // What they measured, with all that sets ns-2 apart.
    let ns2 = Ns2Rules { energy_blocks: true, eifs_after_energy: true, cts_needs_silence: true };
    let all = part(&powers_of_li(), ns2);
    assert!((all * 7.0 - 1.0).abs() < 0.10, "{all}");
    // The receiver alone does it: it is deaf while a station 400 m off sends, though what comes is
    // 12 dB stronger.
    let deaf = part(&powers_of_li(), Ns2Rules { energy_blocks: true, ..by_the_book });
    assert!((deaf * 7.0 - 1.0).abs() < 0.10, "{deaf}");
    // EIFS after everything sensed does not. The first station gets less of the air, so it sends
    // the others less that they cannot pass on.
    let patient = part(&powers_of_li(), Ns2Rules { eifs_after_energy: true, ..by_the_book });
    assert!(patient > 1.1 * powers, "{patient} {powers}");
}

fn refusal(change: impl FnOnce(&mut NetworkConfig)) -> ConfigError {
    let mut config = network(disk(20.0, 40.0), &mac(), &[(0.0, 0.0), (15.0, 0.0)]);
    change(&mut config);
    match Network::new(&config, &Streams::new(1)) {
        Ok(_) => panic!("accepted"),
        Err(error) => error,
    }
}

#[test]
fn mistakes_are_told_by_key_and_reason() {
    type Change = fn(&mut NetworkConfig);
    let cases: [(Change, &str, &str); 13] = [
        (|c| c.stations[1].name = "s0".into(), "stations.s0", "two"),
        (|c| c.stations[0].position.x = f64::NAN, "stations.s0.position", "NaN"),
        (|c| c.stations[0].radios.clear(), "stations.s0.radios", "at least one"),
        (|c| c.stations[0].radios[0].channel = 15, "stations.s0.radios[0].channel", "1 to 14"),
        (
            |c| {
                let again = c.stations[0].radios[0].clone();
                c.stations[0].radios.push(again);
            },
            "stations.s0.radios[1].channel",
            "another radio",
        ),
        (
            |c| c.stations[0].radios[0].mac.rate = RateControl::Fixed(Rate::Mbps54),
            "stations.s0.radios[0].rate",
            "54 Mbit/s is no rate of 802.11b; expected one of 1, 2, 5.5, 11",
        ),
        (
            |c| c.stations[0].radios[0].mac.rate = RateControl::Minstrel { rates: RateSet::OFDM },
            "stations.s0.radios[0].rates",
            "none of them",
        ),
        (
            |c| c.stations[0].radios[0].mac.basic_rates = RateSet::EMPTY,
            "stations.s0.radios[0].basic_rates",
            "one or more",
        ),
        (
            |c| c.stations[0].radios[0].mac.short_retry_limit = 0,
            "stations.s0.radios[0].short_retry_limit",
            "at least once",
        ),
        (|c| c.stations[0].radios[0].mac.cw_max = Some(3), "stations.s0.radios[0].cw_max", "31"),
        (|c| c.stations[0].radios[0].mac.queue = Some(0), "stations.s0.radios[0].queue", "1 or more"),
        (|c| c.propagation = disk(0.0, 40.0), "propagation.reception", "above zero"),
        (|c| c.propagation = disk(20.0, 10.0), "propagation.carrier_sense", "less than the reception range"),
    ];
    for (change, key, part) in cases {
        let error = refusal(change);
        assert_eq!(error.key, key);
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = refusal(|c| {
        c.propagation_delay = true;
        c.propagation = disk(2_000.0, 4_000.0);
    });
    assert_eq!(error.key, "propagation_delay");
}

#[test]
fn routes_that_cannot_be_are_refused() {
    let config = network(disk(20.0, 40.0), &mac(), &[(0.0, 0.0), (15.0, 0.0), (40.0, 0.0)]);
    let mut network = Network::new(&config, &Streams::new(1)).unwrap();
    let mut refusal = |stations: &[u32], channels: &[u8]| {
        let stations = stations.iter().copied().map(StationId).collect();
        let config = RouteConfig { stations, channels: channels.to_vec() };
        network.add_route(&config).unwrap_err().problem
    };
    assert!(refusal(&[0], &[1]).contains("two stations"));
    assert!(
        refusal(&[0, 1, 2], &[1]).contains(
            "s2 does not receive s1 on channel 1: they are 25.00 m apart, and the range is 20.00 m"
        )
    );
    assert!(refusal(&[0, 1, 0], &[1]).contains("s0 is on it twice"));
    assert!(refusal(&[0, 1], &[6]).contains("s0 has no radio on channel 6; its channels: 1"));
    assert!(refusal(&[0, 9], &[1]).contains("no station 9"));
    assert!(refusal(&[0, 1], &[1, 1]).contains("2 channels for 1 hops"));
    let (id, _) = network.add_route(&route(&[0, 1])).unwrap();
    let other_ends = network.replace_route(id, &route(&[1, 0])).unwrap_err();
    assert!(other_ends.problem.contains("keeps its ends"));
    let _world: World<crate::common::Host, NoTap, Network> = World::with_medium(NoTap, network);
}

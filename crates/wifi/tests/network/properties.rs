//! Random stations, routes and traffic: what must hold whatever they are.

use crate::common::{Host, Scene, route};
use proptest::prelude::*;
use ropewalk_sim::Port;
use ropewalk_units::{Duration, Instant, Probability};
use ropewalk_wifi::errors::{ErrorModel, FrameErrors};
use ropewalk_wifi::phy::{self, Rate, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{Disk, LogDistance, Overlap, Propagation, Receiver, free_space_loss_db};
use ropewalk_wifi::{
    FrameKind, FrameRecord, MacConfig, NetworkConfig, RadioConfig, RateControl, RouteId, StationConfig,
    StationId,
};

const CHANNEL: u8 = 1;

#[derive(Clone, Debug)]
struct World {
    config: NetworkConfig,
    /// (from, to, at ms, octets, packets)
    traffic: Vec<(prop::sample::Index, prop::sample::Index, u64, u32, u32)>,
    errors: Vec<(prop::sample::Index, prop::sample::Index, f64)>,
    broadcasts: bool,
    seed: u64,
}

fn standard() -> impl Strategy<Value = (Standard, Rate)> {
    prop_oneof![
        Just((Standard::Dsss { short_preamble: false }, Rate::Mbps11)),
        Just((Standard::Dsss { short_preamble: true }, Rate::Mbps2)),
        Just((Standard::OfdmA, Rate::Mbps54)),
        Just((Standard::OfdmG, Rate::Mbps12)),
    ]
}

fn mac() -> impl Strategy<Value = MacConfig> {
    (
        standard(),
        prop::option::of(0u32..1_500),
        (1u32..8, 1u32..5),
        prop::option::of(1u32..20),
        prop::option::of(1u64..100),
        any::<bool>(),
    )
        .prop_map(|((standard, rate), rts_threshold, (short, long), queue_limit, lifetime, has_minstrel)| {
            MacConfig {
                rate: if has_minstrel {
                    RateControl::Minstrel { rates: standard.rates() }
                } else {
                    RateControl::Fixed(rate)
                },
                rts_threshold,
                short_retry_limit: short,
                long_retry_limit: long,
                queue_limit,
                lifetime: lifetime.map(Duration::from_millis),
                ..MacConfig::new(standard, rate)
            }
        })
        .prop_map(|mac| match mac.standard {
            // Channel 1 is none of 802.11a; its constants on the others' channels are what is wanted here.
            Standard::OfdmA => MacConfig { standard: Standard::OfdmG, ..mac },
            _ => mac,
        })
}

fn propagation() -> impl Strategy<Value = Propagation> {
    let disk = (1.0f64..2.5, 0.5f64..2.5, any::<bool>()).prop_map(|(sense, interference, first)| {
        Propagation::Disk(Disk {
            reception: 20.0,
            carrier_sense: 20.0 * sense,
            interference: 20.0 * interference,
            overlap: if first { Overlap::FirstWins } else { Overlap::DestroysAll },
        })
    });
    let path_loss = (0.0f64..6.0).prop_map(|shadowing_db| {
        Propagation::LogDistance(LogDistance {
            power_dbm: -5.0,
            reference_loss_db: free_space_loss_db(2437.0),
            reference_distance: 1.0,
            exponent: 3.5,
            shadowing_db,
            receiver: Receiver::typical(Standard::Dsss { short_preamble: false }),
        })
    });
    prop_oneof![3 => disk, 1 => path_loss]
}

fn world() -> impl Strategy<Value = World> {
    let places = prop::collection::vec((0.0f64..50.0, 0.0f64..50.0), 2..10);
    let index = any::<prop::sample::Index>;
    (
        (propagation(), mac(), places, any::<bool>(), any::<bool>()),
        prop::collection::vec((index(), index(), 0u64..60, 0u32..1_600, 1u32..30), 1..12),
        prop::collection::vec((index(), index(), 0.0f64..0.9), 0..3),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(
            |((propagation, mac, places, has_delay, recapture), traffic, errors, broadcasts, seed)| {
                let station = |(n, (x, y)): (usize, (f64, f64))| StationConfig {
                    name: format!("s{n}"),
                    position: Position::new(x, y),
                    radios: vec![RadioConfig { channel: CHANNEL, mac: mac.clone() }],
                };
                let config = NetworkConfig {
                    propagation,
                    propagation_delay: has_delay,
                    recapture,
                    stations: places.into_iter().enumerate().map(station).collect(),
                };
                World { config, traffic, errors, broadcasts, seed }
            },
        )
}

/// The shortest way over stations that reach each other.
fn shortest(scene: &Scene, from: u32, to: u32) -> Option<Vec<u32>> {
    let network = scene.world.medium();
    let mut before = vec![None; network.stations() as usize];
    let mut wave = vec![from];
    while !wave.is_empty() && before[to as usize].is_none() {
        let mut next = Vec::new();
        for &a in &wave {
            for b in (0..network.stations()).filter(|&b| b != from) {
                let joined = network.reaches(StationId(a), StationId(b), CHANNEL)
                    && network.reaches(StationId(b), StationId(a), CHANNEL);
                if joined && before[b as usize].is_none() {
                    before[b as usize] = Some(a);
                    next.push(b);
                }
            }
        }
        wave = next;
    }
    let mut way = vec![to];
    while *way.last()? != from {
        way.push(before[*way.last()? as usize]?);
    }
    way.reverse();
    (way.len() > 1).then_some(way)
}

struct Built {
    scene: Scene,
    routes: Vec<RouteId>,
    broadcasts: Vec<u32>,
}

fn build(world: &World) -> Built {
    let mut scene = Scene::new(&world.config, world.seed);
    let stations = world.config.stations.len();
    for (from, to, p) in &world.errors {
        let (from, to) = (StationId(from.index(stations) as u32), StationId(to.index(stations) as u32));
        let model = ErrorModel::Bernoulli(Probability::new(*p).unwrap());
        let errors = FrameErrors { model, above: 300 };
        scene.world.touch_medium(|network, cx| {
            network.set_frame_errors(from, to, CHANNEL, errors, cx.now()).expect("two stations");
        });
    }
    let mut routes = Vec::new();
    for (from, to, at, len, packets) in &world.traffic {
        let (from, to) = (from.index(stations) as u32, to.index(stations) as u32);
        if let Some(way) = shortest(&scene, from, to).filter(|way| way.len() < 6) {
            let (id, port) = scene.route(&way);
            routes.push(id);
            send(&mut scene, from, port, *at, *len, *packets);
        }
    }
    let mut broadcasts = Vec::new();
    if world.broadcasts {
        for station in 0..stations as u32 {
            let node = scene.nodes[station as usize];
            let entry = scene
                .world
                .touch_medium(|network, _| network.add_broadcast(StationId(station), CHANNEL))
                .expect("one port each");
            let (port, _) = scene.world.attach_medium(node, entry);
            broadcasts.push(entry);
            send(&mut scene, station, port, u64::from(station) * 7, 200, 3);
        }
    }
    Built { scene, routes, broadcasts }
}

/// A node of its own sends, so that each flow has its length: the port is told by the timer.
fn send(scene: &mut Scene, station: u32, port: Port, at_ms: u64, len: u32, packets: u32) {
    let node = scene.nodes[station as usize];
    let host: &mut Host = scene.world.node_mut(node);
    (host.len, host.burst) = (len.max(host.len), packets);
    scene.world.set_timer(node, Instant::from_nanos(at_ms * 1_000_000), port.0);
}

/// Every packet is delivered, lost for a reason, or in a queue; and those in queues are the ones there are.
fn nothing_is_forgotten(built: &Built) {
    let network = built.scene.world.medium();
    let mut queued = 0;
    let routes = built.routes.iter().flat_map(|&route| network.route_stats(route));
    let ports = built.broadcasts.iter().map(|&entry| network.entry_stats(entry));
    for stats in routes.chain(ports) {
        let lost = stats.lost_retries + stats.lost_queue + stats.lost_lifetime + stats.lost_route;
        assert_eq!(stats.offered + stats.duplicates, stats.delivered + lost + stats.queued);
        queued += stats.queued;
    }
    // Nothing but the network holds packets between two events. A broadcast whose copies are under way counts as one of
    // them.
    assert_eq!(built.scene.world.packets() as u64, queued);
    let held: u32 = (0..network.stations())
        .filter_map(|station| network.radio_stats(StationId(station), CHANNEL, built.scene.world.now()))
        .map(|stats| stats.queued)
        .sum();
    // In service, a radio may still hold a frame whose packet the next hop has; and a broadcast has left its radio when it
    // reaches the last neighbour.
    let flying = built.broadcasts.len() as u64;
    assert!(u64::from(held) + flying >= queued, "{held} frames for {queued} packets");
    let delivered: u64 = built.scene.nodes.iter().map(|&node| built.scene.world.node(node).count).sum();
    let told: u64 = built
        .routes
        .iter()
        .flat_map(|&route| network.route_stats(route))
        .chain(built.broadcasts.iter().map(|&entry| network.entry_stats(entry)))
        .map(|stats| stats.delivered)
        .sum();
    assert_eq!(delivered, told);
}

/// Who senses whom, from the configuration alone.
struct Senses<'a>(&'a World, &'a Scene);

impl Senses<'_> {
    fn senses(&self, from: StationId, at: StationId) -> bool {
        let network = self.1.world.medium();
        let distance = network.position(from).distance(network.position(at));
        match &self.0.config.propagation {
            Propagation::Disk(disk) => distance <= disk.carrier_sense,
            // What can be received is sensed; that is the least.
            Propagation::LogDistance(_) => network.reaches(from, at, CHANNEL),
        }
    }
}

fn is_response(frames: &[FrameRecord], place: usize, sifs: Duration, tolerance: Duration) -> bool {
    let frame = &frames[place];
    let asked = match frame.kind {
        FrameKind::Ack => FrameKind::Data,
        FrameKind::Cts => FrameKind::Rts,
        FrameKind::Data => FrameKind::Cts,
        FrameKind::Rts => return false,
    };
    frames[..place].iter().any(|earlier| {
        let wait = frame.begin.saturating_since(earlier.end);
        earlier.kind == asked
            && earlier.to == Some(frame.from)
            && Some(earlier.from) == frame.to
            && earlier.decoded_by.contains(&frame.from)
            && sifs <= wait
            && wait <= sifs + tolerance
    })
}

/// No station begins a frame of its own while others have the medium, before DIFS, or against its NAV.
fn nobody_sends_who_must_defer(world: &World, scene: &Scene, frames: &[FrameRecord]) {
    let senses = Senses(world, scene);
    let timing = world.config.stations[0].radios[0].mac.standard.timing();
    // With a propagation delay what is sensed is later by less than 100 m of it.
    let delay = Duration::from_nanos(if world.config.propagation_delay { 350 } else { 0 });
    for (place, frame) in frames.iter().enumerate() {
        if is_response(frames, place, timing.sifs, delay) {
            continue;
        }
        assert!(matches!(frame.kind, FrameKind::Data | FrameKind::Rts), "{frame:?} answers nothing");
        for earlier in &frames[..place] {
            let is_own = earlier.from == frame.from;
            if earlier.begin + delay < frame.begin && (is_own || senses.senses(earlier.from, frame.from)) {
                let free = earlier.end + timing.difs;
                assert!(free <= frame.begin, "{frame:?} begins within DIFS of {earlier:?}");
            }
            // What an RTS reserves may have been released.
            if earlier.end <= frame.begin
                && earlier.kind != FrameKind::Rts
                && earlier.to != Some(frame.from)
                && earlier.decoded_by.contains(&frame.from)
            {
                let free = earlier.end + earlier.reserved + timing.difs;
                assert!(free <= frame.begin, "{frame:?} against the NAV of {earlier:?}");
            }
        }
    }
}

/// A radio receives one frame at a time, none while it sends, and on destructive disks none that met another.
fn a_radio_receives_one_frame_at_a_time(world: &World, scene: &Scene, frames: &[FrameRecord]) {
    let network = scene.world.medium();
    let apart = |a: &FrameRecord, b: &FrameRecord| a.end <= b.begin || b.end <= a.begin;
    for (place, a) in frames.iter().enumerate() {
        for b in &frames[..place] {
            if apart(a, b) || world.config.propagation_delay {
                continue;
            }
            assert!(a.from != b.from, "{a:?} and {b:?} from one radio");
            for (sent, received) in [(a, b), (b, a)] {
                assert!(
                    !received.decoded_by.contains(&sent.from),
                    "{received:?} heard while sending {sent:?}"
                );
            }
            for at in &a.decoded_by {
                assert!(!b.decoded_by.contains(at), "{a:?} and {b:?} at once at {at:?}");
                if let Propagation::Disk(disk) = &world.config.propagation
                    && disk.overlap == Overlap::DestroysAll
                {
                    let distance = network.position(b.from).distance(network.position(*at));
                    assert!(distance > disk.interference, "{a:?} received at {at:?} over {b:?}");
                }
            }
        }
    }
}

/// No more attempts than the limits allow, and sequence by sequence no retry bit on a first attempt.
fn attempts_stay_within_their_limits(world: &World, built: &Built) {
    let mac = &world.config.stations[0].radios[0].mac;
    let network = built.scene.world.medium();
    for station in 0..network.stations() {
        let stats = network
            .radio_stats(StationId(station), CHANNEL, built.scene.world.now())
            .expect("one radio each");
        let limit = u64::from(mac.short_retry_limit.max(mac.long_retry_limit));
        let first = stats.data_sent - stats.retries;
        assert!(stats.retries <= first * (limit - 1), "{stats:?}");
        assert!(stats.acknowledged <= stats.data_sent);
        assert!(stats.sending <= stats.busy, "{stats:?}");
        assert!(stats.busy <= built.scene.world.now().saturating_since(Instant::ZERO));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn the_rules_of_the_air_hold(world in world()) {
        let mut built = build(&world);
        built.scene.world.touch_medium(|network, _| network.watch());
        for step in 1..=8 {
            built.scene.run_until(0.01 * f64::from(step));
            nothing_is_forgotten(&built);
        }
        let frames = built.scene.world.touch_medium(|network, _| network.take_frames());
        nobody_sends_who_must_defer(&world, &built.scene, &frames);
        a_radio_receives_one_frame_at_a_time(&world, &built.scene, &frames);
        attempts_stay_within_their_limits(&world, &built);
        // With nothing new to send, all comes to an end.
        built.scene.run_until(30.0);
        nothing_is_forgotten(&built);
        prop_assert_eq!(built.scene.world.packets(), 0);
    }

    #[test]
    fn packets_are_accounted_for_while_stations_move_and_routes_change(
        world in world(),
        moves in prop::collection::vec((any::<prop::sample::Index>(), 0.0f64..60.0, 0.0f64..60.0), 1..20),
    ) {
        let mut built = build(&world);
        let stations = world.config.stations.len();
        for (step, (who, x, y)) in moves.iter().enumerate() {
            built.scene.run_until(0.003 * (step + 1) as f64);
            let who = StationId(who.index(stations) as u32);
            built.scene.world.touch_medium(|network, _| network.move_station(who, Position::new(*x, *y)));
            for &id in &built.routes {
                let ends = built.scene.world.medium().route_stations(id);
                let (from, to) = (ends[0], ends[ends.len() - 1]);
                if let Some(way) = shortest(&built.scene, from.0, to.0) {
                    let other = route(&way);
                    let replaced =
                        built.scene.world.touch_medium(|network, _| network.replace_route(id, &other));
                    prop_assert_eq!(replaced, Ok(()));
                }
            }
            nothing_is_forgotten(&built);
        }
        built.scene.run_until(30.0);
        nothing_is_forgotten(&built);
        prop_assert_eq!(built.scene.world.packets(), 0);
    }

    #[test]
    fn the_same_seed_gives_the_same_frames(world in world()) {
        let frames = |world: &World| {
            let mut built = build(world);
            built.scene.world.touch_medium(|network, _| network.watch());
            built.scene.run_until(0.05);
            built.scene.world.touch_medium(|network, _| network.take_frames())
        };
        prop_assert_eq!(frames(&world), frames(&world));
    }
}

#[test]
fn a_deferring_station_is_caught_by_the_check() {
    // The check itself: two frames of stations that sense each other, the second begun within the first.
    let record = |from: u32, begin: u64| FrameRecord {
        begin: Instant::from_nanos(begin * 1_000),
        end: Instant::from_nanos(begin * 1_000 + 500_000),
        from: StationId(from),
        channel: CHANNEL,
        to: Some(StationId(1 - from)),
        kind: FrameKind::Data,
        rate: Rate::Mbps11,
        octets: 300 + phy::DATA_OVERHEAD,
        reserved: Duration::from_micros(213),
        is_retry: false,
        decoded_by: vec![],
    };
    let mac = MacConfig::new(crate::common::LONG, Rate::Mbps11);
    let config = crate::common::network(crate::common::disk(20.0, 40.0), &mac, &[(0.0, 0.0), (5.0, 0.0)]);
    let world = World { config, traffic: vec![], errors: vec![], broadcasts: false, seed: 1 };
    let built = build(&world);
    let caught = |frames: &[FrameRecord]| {
        let check = || nobody_sends_who_must_defer(&world, &built.scene, frames);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
    };
    assert!(!caught(&[record(0, 0), record(1, 550)]));
    assert!(!caught(&[record(0, 0), record(1, 0)]), "in the same instant they cannot know");
    assert!(caught(&[record(0, 0), record(1, 540)]));
    assert!(caught(&[record(0, 0), record(1, 1)]));
}

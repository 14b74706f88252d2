//! Random stations, routes and traffic: what must hold whatever they are.

use crate::common::{Host, Scene};
use crate::rules::{Listener, nobody_sends_who_must_defer, on_one_radio_one_frame_at_a_time};
use proptest::prelude::*;
use ropewalk_sim::Port;
use ropewalk_units::{Duration, Instant, Probability};
use ropewalk_wifi::errors::{ErrorModel, FrameErrors};
use ropewalk_wifi::phy::{Rate, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{
    Disk, Fading, LogDistance, Overlap, Propagation, Receiver, free_space_loss_db,
};
use ropewalk_wifi::{
    MacConfig, Network, NetworkConfig, RadioConfig, RateControl, RouteConfig, RouteId, StationConfig,
    StationId,
};

/// 1 and 3, and 3 and 6, overlap; 1 and 6 do not.
const CHANNELS: [u8; 3] = [1, 3, 6];

#[derive(Clone, Debug)]
struct World {
    config: NetworkConfig,
    traffic: Vec<Traffic>,
    errors: Vec<(prop::sample::Index, prop::sample::Index, f64)>,
    broadcasts: bool,
    seed: u64,
}

#[derive(Clone, Debug)]
struct Traffic {
    from: prop::sample::Index,
    to: prop::sample::Index,
    /// Which of the channels that both ends have the first hop takes. Each further hop takes the
    /// next one.
    channel: usize,
    at_ms: u64,
    octets: u32,
    packets: u32,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let index = any::<prop::sample::Index>;
    (index(), index(), 0usize..6, 0u64..60, 0u32..1_600, 1u32..60).prop_map(
        |(from, to, channel, at_ms, octets, packets)| Traffic { from, to, channel, at_ms, octets, packets },
    )
}

/// One to three radios: the same for all stations, so that there are many links, or each station
/// its own.
fn channels(stations: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let some = || prop::sample::subsequence(CHANNELS.to_vec(), 1..=CHANNELS.len());
    prop_oneof![
        some().prop_map(move |channels| vec![channels; stations]),
        prop::collection::vec(some(), stations),
    ]
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
        .prop_map(|((standard, rate), rts_threshold, (short, long), queue, lifetime, has_minstrel)| {
            MacConfig {
                rate: if has_minstrel {
                    RateControl::Minstrel { rates: standard.rates() }
                } else {
                    RateControl::Fixed(rate)
                },
                rts_threshold,
                short_retry_limit: short,
                long_retry_limit: long,
                queue,
                lifetime: lifetime.map(Duration::from_millis),
                ..MacConfig::new(standard, rate)
            }
        })
        .prop_map(|mac| match mac.standard {
            // 802.11a has none of the channels.
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
            breakpoint: None,
            fading: Fading::None,
            shadowing_db,
            receiver: Receiver::typical(Standard::Dsss { short_preamble: false }),
        })
    });
    prop_oneof![3 => disk, 1 => path_loss]
}

fn world() -> impl Strategy<Value = World> {
    let stations = prop::collection::vec((0.0f64..50.0, 0.0f64..50.0), 2..10).prop_flat_map(|places| {
        let stations = places.len();
        (Just(places), channels(stations))
    });
    let index = any::<prop::sample::Index>;
    (
        (propagation(), mac(), stations, any::<bool>(), any::<bool>()),
        prop::collection::vec(traffic(), 1..12),
        prop::collection::vec((index(), index(), 0.0f64..0.9), 0..3),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(
            |((propagation, mac, stations, has_delay, recapture), traffic, errors, broadcasts, seed)| {
                let (places, channels) = stations;
                let station = |(n, ((x, y), channels)): (usize, ((f64, f64), Vec<u8>))| StationConfig {
                    name: format!("s{n}"),
                    position: Position::new(x, y),
                    radios: channels
                        .into_iter()
                        .map(|channel| RadioConfig { channel, mac: mac.clone(), power_dbm: None })
                        .collect(),
                };
                let config = NetworkConfig {
                    propagation,
                    propagation_delay: has_delay,
                    recapture,
                    stations: places.into_iter().zip(channels).enumerate().map(station).collect(),
                };
                World { config, traffic, errors, broadcasts, seed }
            },
        )
}

/// The channels on which two stations reach each other.
fn common_channels(network: &Network, a: u32, b: u32) -> Vec<u8> {
    let (a, b) = (StationId(a), StationId(b));
    network
        .channels(a)
        .filter(|&channel| network.reaches(a, b, channel) && network.reaches(b, a, channel))
        .collect()
}

/// The shortest way over stations that reach each other. Its first hop takes channel number `first`
/// of those that both ends have, and each further hop the next one.
fn shortest(scene: &Scene, from: u32, to: u32, first: usize) -> Option<RouteConfig> {
    let network = scene.world.medium();
    let mut before = vec![None; network.stations() as usize];
    let mut wave = vec![from];
    while !wave.is_empty() && before[to as usize].is_none() {
        let mut next = Vec::new();
        for &a in &wave {
            for b in (0..network.stations()).filter(|&b| b != from) {
                if before[b as usize].is_none() && !common_channels(network, a, b).is_empty() {
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
    let channels = way.windows(2).enumerate().map(|(hop, ends)| {
        let channels = common_channels(network, ends[0], ends[1]);
        channels[(first + hop) % channels.len()]
    });
    let channels = channels.collect();
    (way.len() > 1).then(|| RouteConfig { stations: way.into_iter().map(StationId).collect(), channels })
}

struct Built {
    scene: Scene,
    routes: Vec<(RouteId, usize)>,
    broadcasts: Vec<u32>,
}

fn build(world: &World) -> Built {
    let mut built =
        Built { scene: Scene::new(&world.config, world.seed), routes: Vec::new(), broadcasts: Vec::new() };
    let stations = world.config.stations.len();
    for (from, to, p) in &world.errors {
        fail(&mut built.scene, from.index(stations) as u32, to.index(stations) as u32, *p);
    }
    for traffic in &world.traffic {
        let (from, to) = (traffic.from.index(stations) as u32, traffic.to.index(stations) as u32);
        let way = shortest(&built.scene, from, to, traffic.channel);
        if let Some(way) = way.filter(|way| way.stations.len() < 6) {
            let (id, port) = built.scene.route_over(&way);
            built.routes.push((id, traffic.channel));
            send(&mut built.scene, from, port, traffic.at_ms, traffic.octets, traffic.packets);
        }
    }
    if world.broadcasts {
        broadcast(&mut built);
    }
    built
}

/// Data frames fail on every channel both stations have.
fn fail(scene: &mut Scene, from: u32, to: u32, p: f64) {
    let model = ErrorModel::Bernoulli(Probability::new(p).unwrap());
    let errors = FrameErrors { model, above: 300 };
    let (from, to) = (StationId(from), StationId(to));
    let network = scene.world.medium();
    let theirs: Vec<u8> = network.channels(to).collect();
    let channels: Vec<u8> = network.channels(from).filter(|channel| theirs.contains(channel)).collect();
    for channel in channels {
        scene.world.touch_medium(|network, cx| {
            network.set_frame_errors(from, to, channel, errors.clone(), cx.now()).expect("two radios");
        });
    }
}

fn broadcast(built: &mut Built) {
    let scene = &mut built.scene;
    for station in 0..scene.nodes.len() as u32 {
        let channels: Vec<u8> = scene.world.medium().channels(StationId(station)).collect();
        for channel in channels {
            let entry = scene
                .world
                .touch_medium(|network, _| network.add_broadcast(StationId(station), channel))
                .expect("one port each");
            let (port, _) = scene.world.attach_medium(scene.nodes[station as usize], entry);
            built.broadcasts.push(entry);
            send(scene, station, port, u64::from(station) * 7, 200, 3);
        }
    }
}

/// Every radio there is.
fn radios(network: &Network) -> impl Iterator<Item = (StationId, u8)> {
    (0..network.stations())
        .map(StationId)
        .flat_map(|station| network.channels(station).map(move |channel| (station, channel)))
}

/// Has a station send packets at this time. All flows of a station have the length of its longest;
/// the timer's token names the port.
fn send(scene: &mut Scene, station: u32, port: Port, at_ms: u64, len: u32, packets: u32) {
    let node = scene.nodes[station as usize];
    let host: &mut Host = scene.world.node_mut(node);
    (host.len, host.burst) = (len.max(host.len), packets);
    scene.world.set_timer(node, Instant::from_nanos(at_ms * 1_000_000), port.0);
}

/// Every packet is delivered, lost for a reason, or in a queue; and those in queues are the ones
/// there are.
fn nothing_is_forgotten(built: &Built) {
    let network = built.scene.world.medium();
    let mut queued = 0;
    let routes = built.routes.iter().flat_map(|&(route, _)| network.route_stats(route));
    let ports = built.broadcasts.iter().map(|&entry| network.entry_stats(entry));
    for stats in routes.chain(ports) {
        let lost = stats.lost_retries + stats.lost_queue + stats.lost_lifetime + stats.lost_route;
        assert_eq!(stats.offered + stats.duplicates, stats.delivered + lost + stats.queued);
        queued += stats.queued;
    }
    // Nothing but the network holds packets between two events. A broadcast whose copies are under
    // way counts as one of them.
    assert_eq!(built.scene.world.packets() as u64, queued);
    let held: u32 = radios(network)
        .filter_map(|(station, channel)| network.radio_stats(station, channel, built.scene.world.now()))
        .map(|stats| stats.queued)
        .sum();
    // In service, a radio may still hold a frame whose packet the next hop has; and a broadcast has
    // left its radio when it reaches the last neighbour.
    let flying = built.broadcasts.len() as u64;
    assert!(u64::from(held) + flying >= queued, "{held} frames for {queued} packets");
    let delivered: u64 = built.scene.nodes.iter().map(|&node| built.scene.world.node(node).count).sum();
    let told: u64 = built
        .routes
        .iter()
        .flat_map(|&(route, _)| network.route_stats(route))
        .chain(built.broadcasts.iter().map(|&entry| network.entry_stats(entry)))
        .map(|stats| stats.delivered)
        .sum();
    assert_eq!(delivered, told);
}

/// There are no more attempts than the limits allow, and the counters fit each other.
fn attempts_stay_within_their_limits(world: &World, built: &Built) {
    let mac = &world.config.stations[0].radios[0].mac;
    let network = built.scene.world.medium();
    for (station, channel) in radios(network) {
        let stats = network.radio_stats(station, channel, built.scene.world.now()).expect("one of them");
        let limit = u64::from(mac.short_retry_limit.max(mac.long_retry_limit));
        let first = stats.data_sent - stats.retries;
        assert!(stats.retries <= first * (limit - 1), "{stats:?}");
        assert!(stats.acknowledged <= stats.data_sent);
        assert!(stats.sending <= stats.busy, "{stats:?}");
        assert!(stats.busy <= built.scene.world.now().saturating_since(Instant::ZERO));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 240, ..ProptestConfig::default() })]

    #[test]
    fn the_rules_of_the_air_hold(world in world()) {
        let mut built = build(&world);
        built.scene.world.touch_medium(|network, _| network.watch());
        for step in 1..=8 {
            built.scene.run_until(0.01 * f64::from(step));
            nothing_is_forgotten(&built);
        }
        let frames = built.scene.world.touch_medium(|network, _| network.take_frames());
        let listener = Listener::new(&world.config, world.seed, &frames);
        nobody_sends_who_must_defer(&listener);
        on_one_radio_one_frame_at_a_time(&listener);
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
            built.scene.world.touch_medium(|network, _| network.set_positions(&[(who, Position::new(*x, *y))]));
            for &(id, channel) in &built.routes {
                let ends = built.scene.world.medium().route_stations(id);
                let (from, to) = (ends[0], ends[ends.len() - 1]);
                if let Some(way) = shortest(&built.scene, from.0, to.0, channel) {
                    let replaced =
                        built.scene.world.touch_medium(|network, _| network.replace_route(id, &way));
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

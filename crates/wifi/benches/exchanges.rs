//! The cost of a frame exchange: saturated stations, a chain, and one flow among many neighbours.
//!
//! `cargo bench -p ropewalk-wifi --bench exchanges` prints nanoseconds per acknowledged data frame,
//! all of the world's work included; a number after it is the number of runs of which the best
//! counts.

use ropewalk_sim::{Context, NoTap, Node, NodeId, Packet, PacketId, Port, Streams, World};
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::phy::{Rate, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{Disk, Overlap, Propagation};
use ropewalk_wifi::{MacConfig, Network, NetworkConfig, RadioConfig, RouteConfig, StationConfig, StationId};

/// A packet as large in memory as a TCP segment with its options.
struct Segment {
    len: u32,
    fields: [u32; 30],
}

impl Packet for Segment {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn is_data(&self) -> bool {
        self.len > 100
    }
    fn duplicate(&self) -> Self {
        Self { len: self.len, fields: self.fields }
    }
}

/// Answers every second packet by one of length `answer`, and an answer by two packets.
struct End {
    answer: u32,
    received: u32,
}

impl Node for End {
    type Packet = Segment;

    fn handle_packet(&mut self, context: &mut Context<'_, Segment>, port: Port, packet: PacketId) {
        let len = context.packet(packet).len;
        context.drop_packet(packet);
        self.received += 1;
        let answers = if len < 100 { 2 } else { u32::from(self.received.is_multiple_of(2)) };
        for _ in 0..answers {
            context.send(port, Segment { len: self.answer, fields: [self.received; 30] });
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Segment>, window: u32) {
        for _ in 0..window {
            context.send(Port(0), Segment { len: self.answer, fields: [0; 30] });
        }
    }
}

fn config(positions: &[Position], range: f64, carrier_sense: f64) -> NetworkConfig {
    let mac =
        MacConfig { queue: None, ..MacConfig::new(Standard::Dsss { short_preamble: false }, Rate::Mbps11) };
    let station = |(n, position): (usize, &Position)| StationConfig {
        name: format!("s{n}"),
        position: *position,
        radios: vec![RadioConfig { channel: 1, mac: mac.clone(), power_dbm: None }],
    };
    NetworkConfig {
        propagation: Propagation::Disk(Disk {
            reception: range,
            carrier_sense,
            interference: range,
            overlap: Overlap::DestroysAll,
        }),
        propagation_delay: false,
        recapture: false,
        stations: positions.iter().enumerate().map(station).collect(),
    }
}

/// Nanoseconds per acknowledged frame with flows of 30 packets over these routes, and the number of
/// frames.
fn measure(config: &NetworkConfig, routes: &[Vec<u32>], seconds: u64) -> (f64, u64) {
    let network = Network::new(config, &Streams::new(1)).expect("a network");
    let mut world: World<End, NoTap, Network> = World::with_medium(NoTap, network);
    for stations in routes {
        let a = world.add_node(End { answer: 1_452, received: 0 });
        let b = world.add_node(End { answer: 52, received: 0 });
        let stations = stations.iter().copied().map(StationId).collect();
        let route = RouteConfig { stations, channels: vec![1] };
        let (_, entries) =
            world.touch_medium(|network, _| network.add_route(&route)).expect("a route in range");
        world.connect_medium(a, b, entries);
        world.set_timer(NodeId(a.0), Instant::ZERO, 30);
    }
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let start = std::time::Instant::now();
    world.run_until(Instant::ZERO + Duration::from_secs(seconds));
    let elapsed = start.elapsed().as_nanos() as f64;
    let medium = world.medium();
    let frames = (0..medium.stations())
        .filter_map(|station| medium.radio_stats(StationId(station), 1, world.now()))
        .map(|stats| stats.acknowledged)
        .sum();
    (elapsed / frames as f64, frames)
}

fn main() {
    // Under a profiler one run is enough.
    let repetitions: u32 = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(20);
    let line = |n: u32, step: f64| -> Vec<Position> {
        (0..n).map(|k| Position::new(f64::from(k) * step, 0.0)).collect()
    };
    let chain = |n: u32| vec![(0..n).collect::<Vec<u32>>()];
    let mut stream = Streams::new(3).stream("bench/positions");
    let mut mesh = line(5, 15.0);
    mesh.extend((0..27).map(|_| Position::new(60.0 * stream.uniform(), 60.0 * stream.uniform() - 30.0)));
    let pairs: Vec<Vec<u32>> = (1..=20).map(|sender| vec![sender, 0]).collect();
    for (name, config, routes, seconds) in [
        ("one hop", config(&line(2, 10.0), 20.0, 40.0), chain(2), 60),
        ("two hops, all within carrier sense", config(&line(3, 15.0), 20.0, 40.0), chain(3), 60),
        ("two hops, hidden terminals", config(&line(3, 15.0), 20.0, 20.0), chain(3), 60),
        ("four hops among 32 stations", config(&mesh, 20.0, 40.0), chain(5), 60),
        ("20 flows to one station", config(&line(21, 0.1), 20.0, 40.0), pairs, 20),
    ] {
        let runs = (0..repetitions).map(|_| measure(&config, &routes, seconds));
        let (ns, frames) = runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("some runs");
        println!("{name:<36} {ns:7.0} ns per frame, {frames} frames, {:.1} ms", ns * frames as f64 / 1e6);
    }
}

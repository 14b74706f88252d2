//! Stations in the open, and nodes that send as much as they are told.

use ropewalk_sim::{Context, NoTap, Node, NodeId, Packet, PacketId, Port, Streams, World};
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::phy::{Rate, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{Disk, Overlap, Propagation};
use ropewalk_wifi::{
    MacConfig, Network, NetworkConfig, RadioConfig, RouteConfig, RouteId, StationConfig, StationId,
};

pub(crate) const LONG: Standard = Standard::Dsss { short_preamble: false };

/// A packet of some length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parcel {
    pub(crate) id: u32,
    pub(crate) len: u32,
}

impl Packet for Parcel {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn is_data(&self) -> bool {
        true
    }
    fn duplicate(&self) -> Self {
        *self
    }
}

/// On a timer sends `burst` parcels of `len` octets out of the port that the timer's token names.
/// Counts what comes, and stores it if `keep`.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) len: u32,
    pub(crate) burst: u32,
    pub(crate) sent: u32,
    pub(crate) received: Vec<(Instant, Parcel)>,
    pub(crate) keep: bool,
    pub(crate) count: u64,
}

impl Node for Host {
    type Packet = Parcel;

    fn handle_packet(&mut self, context: &mut Context<'_, Parcel>, _: Port, packet: PacketId) {
        let parcel = context.take(packet);
        self.count += 1;
        if self.keep {
            self.received.push((context.now(), parcel));
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Parcel>, port: u32) {
        for _ in 0..self.burst {
            context.send(Port(port), Parcel { id: self.sent, len: self.len });
            self.sent += 1;
        }
    }
}

pub(crate) type Air = World<Host, NoTap, Network>;

pub(crate) fn disk(reception: f64, carrier_sense: f64) -> Propagation {
    Propagation::Disk(Disk {
        reception,
        carrier_sense,
        interference: reception,
        overlap: Overlap::DestroysAll,
    })
}

/// 802.11b at 11 Mbit/s, ACKs too, with queues without a limit.
pub(crate) fn mac() -> MacConfig {
    MacConfig { queue: None, ..MacConfig::new(LONG, Rate::Mbps11) }
}

pub(crate) fn station(index: usize, position: (f64, f64), mac: &MacConfig) -> StationConfig {
    StationConfig {
        name: format!("s{index}"),
        position: Position::new(position.0, position.1),
        radios: vec![RadioConfig { channel: 1, mac: mac.clone(), power_dbm: None }],
    }
}

pub(crate) fn network(propagation: Propagation, mac: &MacConfig, positions: &[(f64, f64)]) -> NetworkConfig {
    NetworkConfig {
        propagation,
        propagation_delay: false,
        recapture: false,
        stations: positions.iter().enumerate().map(|(n, &at)| station(n, at, mac)).collect(),
    }
}

pub(crate) fn route(stations: &[u32]) -> RouteConfig {
    RouteConfig { stations: stations.iter().copied().map(StationId).collect(), channels: vec![1] }
}

/// A world in which every station is a node.
pub(crate) struct Scene {
    pub(crate) world: Air,
    pub(crate) nodes: Vec<NodeId>,
}

impl Scene {
    pub(crate) fn new(config: &NetworkConfig, seed: u64) -> Self {
        let network = Network::new(config, &Streams::new(seed)).expect("a network");
        let mut world = World::with_medium(NoTap, network);
        let nodes = config.stations.iter().map(|_| world.add_node(Host::default())).collect();
        Self { world, nodes }
    }

    /// Connects the ends of a route; returns it and the port at its beginning.
    pub(crate) fn route(&mut self, stations: &[u32]) -> (RouteId, Port) {
        self.route_over(&route(stations))
    }

    /// The same with channels.
    pub(crate) fn route_over(&mut self, config: &RouteConfig) -> (RouteId, Port) {
        let (id, entries) = self.world.touch_medium(|network, _| network.add_route(config)).expect("a route");
        let stations = &config.stations;
        let ends = [stations[0], stations[stations.len() - 1]].map(|station| self.nodes[station.0 as usize]);
        let (port, _, _) = self.world.connect_medium(ends[0], ends[1], entries);
        (id, port)
    }

    /// From `at` on a station has `burst` packets of `len` octets to send.
    pub(crate) fn send(&mut self, station: u32, port: Port, at: Instant, len: u32, burst: u32) {
        let node = self.nodes[station as usize];
        let host = self.world.node_mut(node);
        (host.len, host.burst) = (len, burst);
        self.world.set_timer(node, at, port.0);
    }

    pub(crate) fn run_until(&mut self, seconds: f64) {
        self.world.run_until(Instant::ZERO + Duration::from_secs_f64(seconds));
    }

    /// Octets delivered by a route in its direction.
    pub(crate) fn delivered(&self, route: RouteId) -> u64 {
        self.world.medium().route_stats(route)[0].delivered_bytes
    }
}

/// Jain's index of fairness.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

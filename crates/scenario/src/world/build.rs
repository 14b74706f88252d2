//! From a plan to a world.

use super::addresses::{self, AddressBook, EndPath};
use super::bonds;
use super::broadcasts;
use super::datagrams::{Due, UdpSender};
use super::endpoint::StreamEndpoint;
use super::gateway::Gateway;
use super::host::{Endpoint, Host};
use super::late::Late;
use super::node::ScenarioNode;
use super::packet::{Packet, Socket};
use super::period::Period;
use super::router::{NextHop, Router};
use super::simulation::{Ends, LinkPorts, Radio, Simulation};
use super::transport::{FourTuple, Transport};
use crate::application::{Datagrams, FrameSink, Sink, frames, paced, recorded, sources};
use crate::plan::{AddressIndex, Carrier, ConnectionPlan, DataDirection, NodeKind, NodePlan, Plan, Protocol};
use ropewalk_mptcp::PathManager;
use ropewalk_sim::{LinkId, LinkSetup, Medium, NodeId, Port, Streams, Tap, World};
use std::sync::Arc;

/// First port that servers listen on: connection k of the plan has the k-th from here, or the next that is free.
const FIRST_SERVER_PORT: u16 = 5001;
/// First port of clients, likewise.
const FIRST_CLIENT_PORT: u16 = 35_001;

/// Builds the world of a plan; `seed` replaces the plan's own. Link k of the plan has the
/// ids 2k (forward) and 2k + 1 in what the tap hears.
pub(crate) fn build<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    seed: u64,
    tap: T,
    radio: Radio<M>,
) -> Simulation<T, M> {
    let streams = Streams::new(seed);
    let (mut simulation, nodes) =
        build_lines(plan, &streams, tap, (radio.medium, &radio.entries), Period::Scenario);
    let world = &mut simulation.world;
    reserve_ports(world, plan, &nodes);
    simulation.ends = (0..plan.connections.len())
        .map(|index| add_connection(world, plan, &nodes, &streams, index))
        .collect();
    simulation.announcers = broadcasts::attach(world, plan, &streams, radio.ports);
    simulation
}

/// The same without anybody who sends: nodes, links and bonds, in a period. Also the nodes, by index in the plan.
pub(super) fn build_lines<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    streams: &Streams,
    tap: T,
    (medium, entries): (M, &[[u32; 2]]),
    period: Period,
) -> (Simulation<T, M>, Vec<NodeId>) {
    let mut world = World::with_medium(tap, medium);
    let book = Arc::new(AddressBook::new(plan.settings.address_family, addresses::all(plan)));
    let bonds = || plan.links.iter().filter(|link| link.bond().is_some());
    let is_gateway = |node: usize| bonds().any(|link| link.ends.contains(&node));
    let nodes: Vec<NodeId> = plan
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let built = match node.kind {
                NodeKind::Host => {
                    let secret = streams.stream(&format!("host/{}/isn", node.name));
                    ScenarioNode::Host(Host::new(Arc::clone(&book), secret))
                }
                NodeKind::Router if is_gateway(index) => ScenarioNode::Gateway(Gateway::default()),
                NodeKind::Router => ScenarioNode::Router(Router::default()),
            };
            world.add_node(punctual_or_late(built, node, streams))
        })
        .collect();
    let (links, ports) = Wiring { plan, streams, entries, period }.connect(&mut world, &nodes);
    let bonds = bonds::connect(&mut world, plan, &nodes, &ports, period);
    set_routes(&mut world, plan, &nodes, &ports, streams);
    (Simulation { world, ends: Vec::new(), links, bonds, announcers: Vec::new() }, nodes)
}

/// The node, behind its lateness if it has some.
fn punctual_or_late(built: ScenarioNode, node: &NodePlan, streams: &Streams) -> ScenarioNode {
    if node.jitter.is_idle() {
        return built;
    }
    let randomness = streams.stream(&format!("node/{}/jitter", node.name));
    ScenarioNode::Late(Box::new(Late::new(built, node.jitter, randomness)))
}

/// What the links of a world are made from.
struct Wiring<'a> {
    plan: &'a Plan,
    streams: &'a Streams,
    /// Of each route of the medium, the entries at both ends.
    entries: &'a [[u32; 2]],
    period: Period,
}

impl Wiring<'_> {
    /// Joins `nodes` by all links. The identifiers and ports of both directions of each follow.
    fn connect<T: Tap<Packet>, M: Medium<Packet>>(
        &self,
        world: &mut World<ScenarioNode, T, M>,
        nodes: &[NodeId],
    ) -> (Vec<[LinkId; 2]>, LinkPorts) {
        let &Self { plan, streams, entries, period } = self;
        let mut links = Vec::new();
        let mut ports = Vec::new();
        for (index, link) in plan.links.iter().enumerate() {
            let [a, b] = link.ends.map(|end| nodes[end]);
            let (port_a, port_b, ids) = match &link.carrier {
                Carrier::Wire(wire) => {
                    let setup = |direction: usize, suffix: &str| LinkSetup {
                        name: format!("{}/{suffix}", link.name),
                        config: period.line(&wire.directions[direction]),
                        streams: *streams,
                    };
                    let connected = world.connect(a, b, setup(0, "forward"), setup(1, "backward"));
                    for change in period.changes(wire) {
                        world.schedule_change(
                            change.at,
                            connected.2[change.direction],
                            change.change.clone(),
                        );
                    }
                    connected
                }
                Carrier::Wireless(route) => world.connect_medium(a, b, entries[*route]),
                Carrier::Bond(_) => continue,
            };
            for (end, port) in [port_a, port_b].into_iter().enumerate() {
                if let Some(host) = world.node_mut(nodes[link.ends[end]]).as_host_mut() {
                    host.add_interface(AddressIndex::new(index, end), port);
                }
            }
            links.push(ids);
            ports.push([port_a, port_b]);
        }
        (links, ports)
    }
}

fn set_routes<T: Tap<Packet>, M: Medium<Packet>>(
    world: &mut World<ScenarioNode, T, M>,
    plan: &Plan,
    nodes: &[NodeId],
    ports: &LinkPorts,
    streams: &Streams,
) {
    for (node, next) in plan.routing.next.iter().enumerate() {
        if let Some(router) = world.node_mut(nodes[node]).router_mut() {
            let port = |link: usize| ports[link][usize::from(plan.links[link].ends[0] != node)];
            let hop = |link: usize| match &plan.links[link].carrier {
                Carrier::Wire(_) | Carrier::Wireless(_) => NextHop::Port(port(link)),
                Carrier::Bond(_) => NextHop::Bond(bonds::index_at(plan, link, node)),
            };
            let mut routes: Vec<NextHop> = next.iter().map(|link| link.map_or(NextHop::None, hop)).collect();
            if plan.nodes[node].ecmp {
                let groups = share(plan, node, &mut routes, port);
                let salt = streams.stream(&format!("router/{}/ecmp", plan.nodes[node].name)).next_u64();
                router.share(groups, salt);
            }
            router.set_routes(routes, plan.nodes[node].strips);
        }
    }
}

/// Puts a router's groups of equally short ways into its routes; each group once.
fn share(plan: &Plan, node: usize, routes: &mut [NextHop], port: impl Fn(usize) -> Port) -> Vec<Box<[Port]>> {
    let mut groups: Vec<Box<[Port]>> = Vec::new();
    let own = (node, AddressIndex(0))..(node + 1, AddressIndex(0));
    for (&(_, address), links) in plan.routing.equal.range(own) {
        let ports: Box<[Port]> = links.iter().map(|&link| port(link)).collect();
        let known = groups.iter().position(|group| *group == ports);
        routes[address.0] = NextHop::Shared(known.unwrap_or(groups.len()) as u32);
        if known.is_none() {
            groups.push(ports);
        }
    }
    groups
}

/// The ports of `ip mptcp endpoint` are nobody's else.
fn reserve_ports<T: Tap<Packet>, M: Medium<Packet>>(
    world: &mut World<ScenarioNode, T, M>,
    plan: &Plan,
    nodes: &[NodeId],
) {
    for connection in &plan.connections {
        let Protocol::Mptcp(config) = &connection.protocol else { continue };
        let PathManager::Kernel { client, server } = &config.path_manager else { continue };
        for (node, host) in [(connection.source, client), (connection.destination, server)] {
            for port in host.ports() {
                world.node_mut(nodes[node]).host_mut().reserve(port);
            }
        }
    }
}

fn add_connection<T: Tap<Packet>, M: Medium<Packet>>(
    world: &mut World<ScenarioNode, T, M>,
    plan: &Plan,
    nodes: &[NodeId],
    streams: &Streams,
    index: usize,
) -> Ends {
    let connection = &plan.connections[index];
    let (client, server) = (nodes[connection.source], nodes[connection.destination]);
    let port = |node: NodeId, first: u16| {
        let free = world.node(node).host().free_port(first.wrapping_add(index as u16));
        free.expect("a plan has fewer endpoints on a host than there are ports")
    };
    let client_port = port(client, FIRST_CLIENT_PORT);
    let server_port = port(server, FIRST_SERVER_PORT);
    let family = plan.settings.address_family;
    let paths: Vec<EndPath> = connection
        .paths
        .iter()
        .map(|path| EndPath {
            local: Socket::new(family, path.local, client_port),
            remote: Socket::new(family, path.remote, server_port),
        })
        .collect();
    let reverse = |path: &EndPath| EndPath { local: path.remote, remote: path.local };
    let reversed: Vec<EndPath> = paths.iter().map(reverse).collect();
    let stream = |part: &str| streams.stream(&format!("connection/{}/{part}", connection.name));
    let [at_client, at_server] = match &connection.protocol {
        Protocol::Udp => {
            let (node, path) = match connection.data {
                DataDirection::Forward => (client, paths[0]),
                DataDirection::Backward => (server, reversed[0]),
            };
            let port = world.node(node).host().interface(path.local.address());
            let port = port.expect("a path starts at an interface of its host");
            let tuple = FourTuple { local: path.local, remote: path.remote, port };
            udp_endpoints(plan, connection, tuple, streams)
        }
        protocol => {
            let protocol = Arc::new(protocol.clone());
            let [asking, answering] = sources(plan, connection, streams);
            let endpoint = |transport, source, paths, part: &str| {
                Endpoint::Stream(StreamEndpoint {
                    protocol: Arc::clone(&protocol),
                    transport,
                    source,
                    sink: Sink::default(),
                    paths,
                    start: connection.start,
                    dscp: connection.dscp,
                    error: None,
                    randomness: stream(part),
                    trace: None,
                })
            };
            [
                endpoint(Transport::Waiting, asking, paths, "client"),
                endpoint(Transport::Listening, answering, reversed, "server"),
            ]
        }
    };
    Ends {
        client: (client, install(world, client, at_client)),
        server: (server, install(world, server, at_server)),
    }
}

fn install<T: Tap<Packet>, M: Medium<Packet>>(
    world: &mut World<ScenarioNode, T, M>,
    node: NodeId,
    endpoint: Endpoint,
) -> u32 {
    let (index, first) = world.node_mut(node).host_mut().add_endpoint(endpoint);
    if let Some(at) = first {
        world.set_timer(node, at, index);
    }
    index
}

/// The sending and the receiving end of a UDP flow, in the order client, server; `tuple` is the sender's.
fn udp_endpoints(
    plan: &Plan,
    connection: &ConnectionPlan,
    tuple: FourTuple,
    streams: &Streams,
) -> [Endpoint; 2] {
    let due = due(plan, connection, streams);
    let received = match &due {
        Due::Paced(_) => Datagrams::new(),
        Due::Frames(source) => Datagrams::of_frames(FrameSink::new(source.numbering())),
        Due::Recorded(source) => Datagrams::of_recorded(Arc::clone(source.datagrams())),
    };
    let receiver = Endpoint::UdpReceiver(tuple.remote.port(), received);
    let sender = Endpoint::UdpSender(UdpSender { tuple, due, dscp: connection.dscp });
    match connection.data {
        DataDirection::Forward => [sender, receiver],
        DataDirection::Backward => [receiver, sender],
    }
}

/// What says when the datagrams of a UDP flow are due.
fn due(plan: &Plan, connection: &ConnectionPlan, streams: &Streams) -> Due {
    let frames = || frames(plan, connection).map(Due::Frames);
    let recorded = || recorded(plan, connection).map(Due::Recorded);
    let paced = || paced(plan, connection, streams).map(Due::Paced);
    frames().or_else(recorded).or_else(paced).expect("UDP carries nothing else")
}

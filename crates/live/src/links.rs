//! The scenario's links in real time: the simulator's engine, paced by the clock, with interfaces
//! of kernels at its edge.

mod entrance;
mod host;
mod joined;
mod lateness;
mod own;
mod packet;
mod router;

pub(crate) use host::{Host, Takes};
pub(crate) use lateness::Lateness;
pub(crate) use own::OwnHost;

use crate::clock::Clock;
use crate::wait::wait;
use packet::Octets;
use ropewalk_scenario::plan::{NodeKind, NodePlan, Plan};
use ropewalk_sim::{
    Context, LinkId, LinkSetup, LinkStats, NoTap, Node, NodeId, PacketId, Port, Streams, World,
};
use ropewalk_units::{Duration, Instant};
use router::Router;
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tun_rs::SyncDevice;

/// The engine looks at the clock at least so often, to see whether it has to stop.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// What stands at the ends of links.
pub(crate) enum Place {
    /// A kernel's interfaces.
    Host(Host),
    /// A host with our stack.
    Own(Box<OwnHost>),
    Router(Router),
}

impl Node for Place {
    type Packet = Octets;

    fn handle_packet(&mut self, context: &mut Context<'_, Octets>, port: Port, id: PacketId) {
        match self {
            Self::Host(host) => host.deliver(context, port, id),
            Self::Own(host) => host.deliver(context, port, id),
            Self::Router(router) => router.forward(context, id),
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Octets>, token: u32) {
        match self {
            Self::Host(host) => host.forward(context, Port(token)),
            Self::Own(host) => host.wake(context),
            Self::Router(_) => {}
        }
    }
}

/// Is it at the edge of the links: a host, or a gateway that is a program on a kernel?
pub(crate) fn is_at_edge(node: &NodePlan) -> bool {
    node.kind == NodeKind::Host || node.is_gateway()
}

/// Something at the edge that can be read.
struct Source {
    device: Arc<SyncDevice>,
    node: NodeId,
    port: Port,
}

/// The links of a plan, at time zero of their clock.
pub(crate) struct Links {
    world: World<Place>,
    nodes: Vec<NodeId>,
    /// Both directions of each link of the plan.
    links: Vec<[LinkId; 2]>,
    sources: Vec<Source>,
    clock: Clock,
}

impl Links {
    /// The links of a plan between hosts and gateways, which stand in the order of their nodes.
    /// `seed` is of the random streams.
    pub(crate) fn new(plan: &Plan, seed: u64, clock: Clock, hosts: impl IntoIterator<Item = Place>) -> Self {
        let mut world = World::new(NoTap);
        let mut hosts = hosts.into_iter();
        let nodes = plan.nodes.iter().map(|node| match is_at_edge(node) {
            true => hosts.next().expect("a place for each node at the edge"),
            false => Place::Router(Router::default()),
        });
        let nodes = nodes.map(|node| world.add_node(node)).collect::<Vec<_>>();
        let mut all = Self { world, nodes, links: Vec::new(), sources: Vec::new(), clock };
        let ports = all.connect(plan, &Streams::new(seed));
        all.set_routes(plan, &ports);
        all.wake_own();
        all
    }

    /// Returns the ports at both ends of each link.
    fn connect(&mut self, plan: &Plan, streams: &Streams) -> Vec<[Port; 2]> {
        let mut ports = Vec::new();
        // In a plan, bonds come after all wires. The daemons carry them.
        for link in &plan.links {
            let Some(wire) = link.wire() else { continue };
            let setup = |direction: usize, suffix: &str| LinkSetup {
                name: format!("{}/{suffix}", link.name),
                config: wire.directions[direction].clone(),
                streams: *streams,
            };
            let [a, b] = link.ends.map(|end| self.nodes[end]);
            let (port_a, port_b, ids) = self.world.connect(a, b, setup(0, "forward"), setup(1, "backward"));
            for change in &wire.changes {
                self.world.schedule_change(change.at, ids[change.direction], change.change.clone());
            }
            for (node, port) in [(a, port_a), (b, port_b)] {
                if let Place::Host(host) = self.world.node(node) {
                    self.sources.push(Source { device: host.device(port), node, port });
                }
            }
            self.links.push(ids);
            ports.push([port_a, port_b]);
        }
        ports
    }

    /// Hosts of ours begin at time zero.
    fn wake_own(&mut self) {
        for &node in &self.nodes {
            if let Place::Own(_) = self.world.node(node) {
                self.world.set_timer(node, Instant::ZERO, 0);
            }
        }
    }

    fn set_routes(&mut self, plan: &Plan, ports: &[[Port; 2]]) {
        for (node, next) in plan.routing.next.iter().enumerate() {
            let port = |link: usize| ports[link][usize::from(plan.links[link].ends[0] != node)];
            if let Place::Router(router) = self.world.node_mut(self.nodes[node]) {
                router.set_routes(plan, next.iter().map(|link| link.map(port)));
            }
        }
    }

    /// Carries packets until `end`, or until `stop` becomes true.
    ///
    /// # Errors
    /// An interface cannot be waited for.
    pub(crate) fn run(&mut self, end: Instant, stop: &AtomicBool) -> io::Result<()> {
        let devices = self.sources.iter().map(|source| Arc::clone(&source.device)).collect::<Vec<_>>();
        let fds = devices.iter().map(|device| PollFd::from_borrowed_fd(device.as_fd(), PollFlags::IN));
        let mut fds = fds.collect::<Vec<_>>();
        loop {
            let now = self.clock.now();
            if now >= end || stop.load(Ordering::Relaxed) {
                self.advance(now.min(end));
                self.report();
                return Ok(());
            }
            for (fd, source) in fds.iter().zip(&self.sources) {
                if !fd.revents().is_empty() {
                    self.world.set_timer(source.node, now, source.port.0);
                }
            }
            self.advance(now);
            let next = self.world.next_event().min(end);
            wait(&mut fds, next.saturating_since(self.clock.now()).min(LONGEST_WAIT))?;
        }
    }

    /// Lets everything happen until then. What came out of links at once is given to the kernels at
    /// once.
    fn advance(&mut self, until: Instant) {
        self.world.run_until(until);
        for &node in &self.nodes {
            if let Place::Host(host) = self.world.node_mut(node) {
                host.flush();
            }
        }
    }

    /// Hosts of ours put on the board what they have counted at the end.
    fn report(&self) {
        for node in self.world.nodes() {
            if let Place::Own(host) = node {
                host.report();
            }
        }
    }

    /// How far its time has come.
    pub(crate) fn now(&self) -> Instant {
        self.world.now()
    }

    /// Events processed.
    pub(crate) fn events(&self) -> u64 {
        self.world.events_processed()
    }

    /// What is on its way in another world of the same links, whose time began before, goes on in
    /// this one.
    pub(crate) fn move_on(&mut self, from: &mut Self) {
        let length = self.clock.behind(from.clock);
        for (id, old) in self.links.iter().flatten().zip(from.links.iter().flatten()) {
            for (arrival, packet) in from.world.take_in_flight(*old) {
                let arrival = Instant::ZERO + arrival.saturating_since(Instant::ZERO + length);
                self.world.put_in_flight(*id, arrival, packet);
            }
        }
    }

    /// What both directions of each link have done.
    pub(crate) fn stats(&mut self) -> impl Iterator<Item = [LinkStats; 2]> {
        self.links.iter().map(|ids| ids.map(|id| self.world.link(id)))
    }

    /// How late packets came out of the links.
    pub(crate) fn lateness(&self) -> Lateness {
        let mut all = Lateness::default();
        for node in self.world.nodes() {
            match node {
                Place::Host(host) => all.add(host.lateness()),
                Place::Own(host) => all.add(host.lateness()),
                Place::Router(_) => {}
            }
        }
        all
    }
}

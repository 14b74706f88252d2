//! The world: nodes, links, and the loop that moves time on.

use crate::config::Change;
use crate::event_queue::EventQueue;
use crate::link::{Direction, Effects, LinkSetup, LinkStats};
use crate::node::{Context, LinkId, Node, NodeId, Port};
use crate::packet::{Arena, PacketId};
use crate::tap::{NoTap, Tap};
use ropewalk_units::Instant;

/// What the queue holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// Something may have arrived at the end of a link.
    Arrival(LinkId),
    Timer {
        node: NodeId,
        token: u32,
    },
    /// Index of the timed change.
    Change(u32),
}

/// Nodes, links between them, and the events to come.
pub struct World<N: Node, T: Tap<N::Packet> = NoTap> {
    now: Instant,
    events: EventQueue<Event>,
    packets: Arena<N::Packet>,
    nodes: Vec<N>,
    /// For each node, the outgoing direction at each port.
    ports: Vec<Vec<LinkId>>,
    links: Vec<Direction>,
    changes: Vec<(LinkId, Change)>,
    outbox: Vec<(LinkId, PacketId)>,
    tap: T,
    processed: u64,
}

impl<N: Node, T: Tap<N::Packet>> World<N, T> {
    /// An empty world at time zero.
    pub fn new(tap: T) -> Self {
        Self {
            now: Instant::ZERO,
            events: EventQueue::new(),
            packets: Arena::new(),
            nodes: Vec::new(),
            ports: Vec::new(),
            links: Vec::new(),
            changes: Vec::new(),
            outbox: Vec::new(),
            tap,
            processed: 0,
        }
    }

    /// Adds a node without ports. It does nothing before a packet or a timer comes.
    pub fn add_node(&mut self, node: N) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.ports.push(Vec::new());
        id
    }

    /// Connects two nodes by a link. Returns the new port of each, and the directions from `a` and from `b`.
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn connect(
        &mut self,
        a: NodeId,
        b: NodeId,
        ab: LinkSetup,
        ba: LinkSetup,
    ) -> (Port, Port, [LinkId; 2]) {
        let forward = LinkId(self.links.len() as u32);
        let backward = LinkId(forward.0 + 1);
        let mut add_port = |node: NodeId, out: LinkId| {
            let ports = &mut self.ports[node.0 as usize];
            ports.push(out);
            Port(ports.len() as u32 - 1)
        };
        let (port_a, port_b) = (add_port(a, forward), add_port(b, backward));
        self.links.push(Direction::new(ab, (b, port_b), self.now));
        self.links.push(Direction::new(ba, (a, port_a), self.now));
        (port_a, port_b, [forward, backward])
    }

    /// [`Node::handle_timer`] will be called with `token` at `at`, or at once if that has passed.
    pub fn set_timer(&mut self, node: NodeId, at: Instant, token: u32) {
        self.events.push(at.max(self.now), Event::Timer { node, token });
    }

    /// Changes one direction of a link at `at`, or at once if that has passed.
    pub fn schedule_change(&mut self, at: Instant, link: LinkId, change: Change) {
        let index = self.changes.len() as u32;
        self.changes.push((link, change));
        self.events.push(at.max(self.now), Event::Change(index));
    }

    /// Processes all events up to and including `until`; then it is `until`.
    pub fn run_until(&mut self, until: Instant) {
        while self.step(until) {}
        self.now = self.now.max(until);
        if T::ACTIVE {
            for link in 0..self.links.len() {
                self.settle(LinkId(link as u32));
            }
        }
    }

    /// Processes the next event if it is not after `limit`. It is then the time of that event.
    #[inline]
    pub fn step(&mut self, limit: Instant) -> bool {
        let Some((at, event)) = self.events.pop_until(limit) else { return false };
        self.now = at;
        self.processed += 1;
        match event {
            Event::Arrival(link) => self.arrive(link),
            Event::Timer { node, token } => {
                self.visit(node, |node, context| node.handle_timer(context, token));
            }
            Event::Change(index) => self.change(index),
        }
        true
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// A node.
    ///
    /// # Panics
    /// When it does not exist.
    pub fn node(&self, id: NodeId) -> &N {
        &self.nodes[id.0 as usize]
    }

    /// A node, to change it between two events.
    ///
    /// # Panics
    /// When it does not exist.
    pub fn node_mut(&mut self, id: NodeId) -> &mut N {
        &mut self.nodes[id.0 as usize]
    }

    /// All nodes, in order of their addition.
    pub fn nodes(&self) -> &[N] {
        &self.nodes
    }

    /// How many directions of links there are; their ids are below this.
    pub fn links(&self) -> u32 {
        self.links.len() as u32
    }

    /// What a direction has done by now.
    ///
    /// # Panics
    /// When it does not exist.
    pub fn link(&mut self, id: LinkId) -> LinkStats {
        self.settle(id);
        self.links[id.0 as usize].stats(self.now)
    }

    /// The node and port at the end of a direction.
    ///
    /// # Panics
    /// When it does not exist.
    pub fn destination(&self, id: LinkId) -> (NodeId, Port) {
        self.links[id.0 as usize].to()
    }

    /// How many events were processed.
    pub fn events_processed(&self) -> u64 {
        self.processed
    }

    /// How many packets are queued or in flight anywhere, or kept by a node.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// The tap.
    pub fn tap(&self) -> &T {
        &self.tap
    }

    /// The tap, when the world has served.
    pub fn into_tap(self) -> T {
        self.tap
    }

    /// The tap, to empty it.
    pub fn tap_mut(&mut self) -> &mut T {
        &mut self.tap
    }

    #[inline]
    fn arrive(&mut self, link: LinkId) {
        let direction = &mut self.links[link.0 as usize];
        if !direction.expects(self.now) {
            return;
        }
        direction.settle(self.now, &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap });
        let arrived = direction.arrived(self.now);
        if let Some(at) = direction.reschedule() {
            self.events.push(at, Event::Arrival(link));
        }
        let Some(packet) = arrived else { return };
        let (node, port) = direction.to();
        if T::ACTIVE {
            self.tap.delivered(self.now, link, self.packets.get(packet));
        }
        self.visit(node, |node, context| node.handle_packet(context, port, packet));
    }

    /// Lets a node handle an event, then puts what it sent into the links.
    #[inline]
    fn visit(&mut self, node: NodeId, handle: impl FnOnce(&mut N, &mut Context<'_, N::Packet>)) {
        let mut context = Context {
            now: self.now,
            node,
            packets: &mut self.packets,
            events: &mut self.events,
            ports: &self.ports[node.0 as usize],
            outbox: &mut self.outbox,
        };
        handle(&mut self.nodes[node.0 as usize], &mut context);
        for index in 0..self.outbox.len() {
            let (link, packet) = self.outbox[index];
            self.offer(link, packet);
        }
        self.outbox.clear();
    }

    #[inline]
    fn offer(&mut self, link: LinkId, packet: PacketId) {
        let direction = &mut self.links[link.0 as usize];
        let fx = &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap };
        if direction.offer(self.now, packet, fx)
            && let Some(at) = direction.reschedule()
        {
            self.events.push(at, Event::Arrival(link));
        }
    }

    fn change(&mut self, index: u32) {
        let (link, change) = self.changes[index as usize].clone();
        let direction = &mut self.links[link.0 as usize];
        let fx = &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap };
        direction.change(self.now, change, fx);
        if let Some(at) = direction.reschedule() {
            self.events.push(at, Event::Arrival(link));
        }
    }

    /// Lets a link catch up. It pushes no event, so that looking at a link changes nothing.
    fn settle(&mut self, link: LinkId) {
        let fx = &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap };
        self.links[link.0 as usize].settle(self.now, fx);
    }
}

//! The world: nodes, links, and the loop that moves time on.

use crate::agenda::{Agenda, Event};
use crate::config::Change;
use crate::ids::{LinkId, NodeId, Port};
use crate::link::{Departures, Direction, Effects, LinkSetup, LinkStats};
use crate::medium::{End, Medium, MediumContext, NoMedium};
use crate::node::{Context, Node};
use crate::packet::{Arena, PacketId};
use crate::tap::{NoTap, Tap};
use ropewalk_units::Instant;

/// This bit marks a port that leads into the medium; the others are the entry.
const MEDIUM_PORT: u32 = 1 << 31;

/// Nodes, links between them, and the events to come.
pub struct World<N: Node, T: Tap<N::Packet> = NoTap, M: Medium<N::Packet> = NoMedium> {
    now: Instant,
    events: Agenda,
    packets: Arena<N::Packet>,
    nodes: Vec<N>,
    /// For each node, the outgoing direction at each port, or the medium's entry with [`MEDIUM_PORT`].
    ports: Vec<Vec<LinkId>>,
    links: Vec<Direction>,
    changes: Vec<(LinkId, Change)>,
    outbox: Vec<(LinkId, PacketId)>,
    tap: T,
    medium: M,
    /// Where the medium's entries lead.
    ends: Vec<Option<End>>,
    /// The links the medium carries, with their entries; by link.
    carried: Vec<(LinkId, u32)>,
    deliveries: Vec<(End, PacketId)>,
    processed: u64,
}

impl<N: Node, T: Tap<N::Packet>> World<N, T> {
    /// An empty world of links at time zero.
    pub fn new(tap: T) -> Self {
        Self::with_medium(tap, NoMedium)
    }
}

impl<N: Node, T: Tap<N::Packet>, M: Medium<N::Packet>> World<N, T, M> {
    /// An empty world of links and a medium at time zero.
    pub fn with_medium(tap: T, medium: M) -> Self {
        Self {
            now: Instant::ZERO,
            events: Agenda::new(),
            packets: Arena::new(),
            nodes: Vec::new(),
            ports: Vec::new(),
            links: Vec::new(),
            changes: Vec::new(),
            outbox: Vec::new(),
            tap,
            medium,
            ends: Vec::new(),
            carried: Vec::new(),
            deliveries: Vec::new(),
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
        let (port_a, port_b) = (self.add_port(a, forward), self.add_port(b, backward));
        let departures = if T::ACTIVE { Departures::AtTheirTime } else { Departures::MayBeForeseen };
        self.links.push(Direction::new(ab, (b, port_b), self.now, departures));
        self.links.push(Direction::new(ba, (a, port_a), self.now, departures));
        (port_a, port_b, [forward, backward])
    }

    /// Connects two nodes through the medium: what `a` sends enters by `entries[0]` and arrives at `b`, what `b` sends
    /// by `entries[1]` at `a`. Returns what [`Self::connect`] does; taps and [`Self::link`] see two directions.
    ///
    /// # Panics
    /// When a node does not exist, or an entry is connected already.
    pub fn connect_medium(&mut self, a: NodeId, b: NodeId, entries: [u32; 2]) -> (Port, Port, [LinkId; 2]) {
        let port_a = self.add_port(a, LinkId(MEDIUM_PORT | entries[0]));
        let port_b = self.add_port(b, LinkId(MEDIUM_PORT | entries[1]));
        let forward = self.carry(entries[0], (b, port_b));
        let backward = self.carry(entries[1], (a, port_a));
        (port_a, port_b, [forward, backward])
    }

    /// Gives a node a broadcast port into the medium, which has no single other end. What the node sends enters by
    /// `entry`. What the medium delivers by `entry` comes to the same port.
    ///
    /// # Panics
    /// When the node does not exist, or the entry is connected already.
    pub fn attach_medium(&mut self, node: NodeId, entry: u32) -> (Port, LinkId) {
        let port = self.add_port(node, LinkId(MEDIUM_PORT | entry));
        (port, self.carry(entry, (node, port)))
    }

    fn add_port(&mut self, node: NodeId, out: LinkId) -> Port {
        let ports = &mut self.ports[node.0 as usize];
        ports.push(out);
        Port(ports.len() as u32 - 1)
    }

    /// A new direction whose packets the medium carries.
    fn carry(&mut self, entry: u32, to: (NodeId, Port)) -> LinkId {
        let link = LinkId(self.links.len() as u32);
        // It keeps the numbers of the others in step and knows its end; no packet ever enters it.
        self.links.push(Direction::unused(to, self.now));
        self.carried.push((link, entry));
        let place = entry as usize;
        if self.ends.len() <= place {
            self.ends.resize(place + 1, None);
        }
        assert!(self.ends[place].is_none(), "entry {entry} is connected already");
        self.ends[place] = Some(End { link, to });
        link
    }

    /// [`Node::handle_timer`] will be called with `token` at `at`, or at once if that has passed.
    pub fn set_timer(&mut self, node: NodeId, at: Instant, token: u32) {
        self.events.push(at.max(self.now), Event::Timer { node, token });
    }

    /// Changes one direction of a link at `at`, or at once if that has passed. A link of the medium does not change.
    pub fn schedule_change(&mut self, at: Instant, link: LinkId, change: Change) {
        let index = self.changes.len() as u32;
        self.changes.push((link, change));
        self.events.push(at.max(self.now), Event::Change(index));
    }

    /// Takes out of a link what is between its transmitter and its receiver: each packet with the time at which it would
    /// have arrived, in that order. For the link they are delivered, though no node and no tap hears of them. What is
    /// queued or in transmission stays.
    ///
    /// # Panics
    /// When the link does not exist, or the medium carries it.
    pub fn take_in_flight(&mut self, link: LinkId) -> Vec<(Instant, N::Packet)> {
        assert!(self.entry(link).is_none(), "the medium carries {link:?}");
        self.settle(link);
        let Self { now, links, packets, .. } = self;
        let flying = links[link.0 as usize].take_in_flight(*now);
        flying.map(|(arrival, id)| (arrival, packets.take(id))).collect()
    }

    /// Puts a packet on its way over a link, to arrive at `arrival`, or at once if that has passed, behind what arrives
    /// then already. No statistic counts it, though a tap hears of its arrival; without reordering, what is sent later does
    /// not overtake it.
    ///
    /// # Panics
    /// When the link does not exist, or the medium carries it.
    pub fn put_in_flight(&mut self, link: LinkId, arrival: Instant, packet: N::Packet) {
        assert!(self.entry(link).is_none(), "the medium carries {link:?}");
        let id = self.packets.insert(packet);
        let direction = &mut self.links[link.0 as usize];
        direction.put_in_flight(self.now, arrival.max(self.now), id);
        if let Some(at) = direction.reschedule() {
            self.events.plan(link, at);
        }
    }

    /// The medium's entry of a link that it carries.
    fn entry(&self, link: LinkId) -> Option<u32> {
        let place = self.carried.binary_search_by_key(&link, |&(link, _)| link).ok()?;
        Some(self.carried[place].1)
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
            Event::Medium { high, low } => {
                let token = u64::from(high) << 32 | u64::from(low);
                self.enter_medium(|medium, context| medium.handle_timer(context, token));
            }
        }
        if M::ACTIVE {
            self.deliver();
        }
        true
    }

    /// Lets the medium change something between two events: a station moves, a route is replaced, a timer is set.
    pub fn touch_medium<R>(
        &mut self,
        handle: impl FnOnce(&mut M, &mut MediumContext<'_, N::Packet, T>) -> R,
    ) -> R {
        let result = self.enter_medium(handle);
        self.deliver();
        result
    }

    fn enter_medium<R>(
        &mut self,
        handle: impl FnOnce(&mut M, &mut MediumContext<'_, N::Packet, T>) -> R,
    ) -> R {
        let mut context = MediumContext {
            now: self.now,
            packets: &mut self.packets,
            events: &mut self.events,
            ends: &self.ends,
            deliveries: &mut self.deliveries,
            tap: &mut self.tap,
        };
        handle(&mut self.medium, &mut context)
    }

    /// Nothing happens before this time: [`Instant::MAX`] if nothing ever will. After [`Self::run_until`] it has not come
    /// yet.
    pub fn next_event(&self) -> Instant {
        self.events.earliest()
    }

    /// The medium.
    pub fn medium(&self) -> &M {
        &self.medium
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
        if M::ACTIVE
            && let Some(entry) = self.entry(id)
        {
            return self.medium.stats(entry, self.now);
        }
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

    fn arrive(&mut self, link: LinkId) {
        let direction = &mut self.links[link.0 as usize];
        if !direction.expects(self.now) {
            return;
        }
        direction.settle(self.now, &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap });
        let arrived = direction.arrived(self.now);
        self.events.follow(link, direction.reschedule());
        let Some(packet) = arrived else { return };
        let (node, port) = direction.to();
        if T::ACTIVE {
            self.tap.delivered(self.now, link, self.packets.get(packet));
        }
        self.visit(node, |node, context| node.handle_packet(context, port, packet));
    }

    /// Lets a node handle an event, then puts what it sent into the links.
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

    /// Brings to the nodes what the medium delivered, until nothing more comes of it.
    fn deliver(&mut self) {
        while !self.deliveries.is_empty() {
            let mut arrived = std::mem::take(&mut self.deliveries);
            for &(End { to: (node, port), .. }, packet) in &arrived {
                self.visit(node, |node, context| node.handle_packet(context, port, packet));
            }
            if self.deliveries.is_empty() {
                // Keeps its room.
                arrived.clear();
                self.deliveries = arrived;
            }
        }
    }

    fn offer(&mut self, link: LinkId, packet: PacketId) {
        if M::ACTIVE && link.0 & MEDIUM_PORT != 0 {
            let entry = link.0 & !MEDIUM_PORT;
            self.enter_medium(|medium, context| medium.offer(context, entry, packet));
            return;
        }
        let direction = &mut self.links[link.0 as usize];
        let fx = &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap };
        if direction.offer(self.now, packet, fx)
            && let Some(at) = direction.reschedule()
        {
            self.events.plan(link, at);
        }
    }

    fn change(&mut self, index: u32) {
        let (link, change) = self.changes[index as usize].clone();
        let direction = &mut self.links[link.0 as usize];
        let fx = &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap };
        direction.change(self.now, change, fx);
        if let Some(at) = direction.reschedule() {
            self.events.plan(link, at);
        }
    }

    /// Lets a link catch up. It pushes no event, so that looking at a link changes nothing.
    fn settle(&mut self, link: LinkId) {
        let fx = &mut Effects { link, packets: &mut self.packets, tap: &mut self.tap };
        self.links[link.0 as usize].settle(self.now, fx);
    }
}

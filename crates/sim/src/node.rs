//! Nodes and what they may do.

use crate::agenda::{Agenda, Event};
use crate::ids::{LinkId, NodeId, Port};
use crate::packet::{Arena, Packet, PacketId};
use ropewalk_units::Instant;

/// A host or a router: it gets packets and timers.
pub trait Node: Sized {
    /// What it exchanges.
    type Packet: Packet;

    /// A packet has come in by `port`. The node takes, forwards or drops it.
    fn handle_packet(&mut self, context: &mut Context<'_, Self::Packet>, port: Port, packet: PacketId);

    /// The time of a timer has come. Timers cannot be cancelled: the node knows the stale ones.
    fn handle_timer(&mut self, context: &mut Context<'_, Self::Packet>, token: u32);
}

/// What a node sees of the world while it handles an event.
pub struct Context<'a, P> {
    pub(crate) now: Instant,
    pub(crate) node: NodeId,
    pub(crate) packets: &'a mut Arena<P>,
    pub(crate) events: &'a mut Agenda,
    /// The outgoing direction at each of the node's ports.
    pub(crate) ports: &'a [LinkId],
    /// What the node sends; it enters the links, in this order, when the node has returned.
    pub(crate) outbox: &'a mut Vec<(LinkId, PacketId)>,
}

impl<P> Context<'_, P> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The node itself.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// How many ports the node has.
    pub fn ports(&self) -> u32 {
        self.ports.len() as u32
    }

    /// A packet that came to the node.
    ///
    /// # Panics
    /// When it was taken, dropped or forwarded.
    pub fn packet(&self, id: PacketId) -> &P {
        self.packets.get(id)
    }

    /// A packet that came to the node, to change it (a router's TTL).
    ///
    /// # Panics
    /// When it was taken, dropped or forwarded.
    pub fn packet_mut(&mut self, id: PacketId) -> &mut P {
        self.packets.get_mut(id)
    }

    /// Moves a packet out of the arena.
    ///
    /// # Panics
    /// When it was taken or dropped before.
    pub fn take(&mut self, id: PacketId) -> P {
        self.packets.take(id)
    }

    /// Drops a packet without moving it.
    pub fn drop_packet(&mut self, id: PacketId) {
        self.packets.discard(id);
    }

    /// Sends a new packet out of a port, now.
    ///
    /// # Panics
    /// When the node has no such port.
    pub fn send(&mut self, port: Port, packet: P) {
        let id = self.packets.insert(packet);
        self.forward(port, id);
    }

    /// The place of the next packet to send. A packet is too large to be moved, so it is written where it stays, over
    /// one that is gone if there is one. [`Self::send_placed`] sends it.
    pub fn place(&mut self) -> &mut Option<P> {
        self.packets.vacant()
    }

    /// Sends the packet that was written into the [`Self::place`] of the moment.
    ///
    /// # Panics
    /// When the node has no such port; in the link if nothing was written.
    pub fn send_placed(&mut self, port: Port) {
        let id = self.packets.claim();
        self.forward(port, id);
    }

    /// Sends on a packet that came in, without moving it.
    ///
    /// # Panics
    /// When the node has no such port.
    pub fn forward(&mut self, port: Port, id: PacketId) {
        self.outbox.push((self.ports[port.0 as usize], id));
    }

    /// [`Node::handle_timer`] will be called with `token` at `at`, or at once if that has passed.
    pub fn set_timer(&mut self, at: Instant, token: u32) {
        self.events.push(at.max(self.now), Event::Timer { node: self.node, token });
    }
}

//! A shared medium beside the links: what several nodes reach at once and links cannot describe, such as radio.
//!
//! The world knows a medium as a set of numbered *entries*, each in one direction. A packet that a node sends out of a
//! medium port is offered to the port's entry. Some time later the medium delivers it to the node at the entry's other
//! end. For nodes, taps and statistics an entry is the direction of a link, with a [`LinkId`].

use crate::agenda::{Agenda, Event};
use crate::ids::{LinkId, NodeId, Port};
use crate::link::LinkStats;
use crate::packet::{Arena, Packet, PacketId};
use crate::tap::{DropReason, Tap};
use ropewalk_units::Instant;

/// A medium that carries packets between entries.
///
/// It must see to it that every offered packet is delivered or dropped once, by its context, or kept.
pub trait Medium<P: Packet> {
    /// Is there a medium? With `false` the world's links pay nothing for the possibility.
    const ACTIVE: bool;

    /// A node has sent a packet into an entry.
    fn offer<T: Tap<P>>(&mut self, context: &mut MediumContext<'_, P, T>, entry: u32, packet: PacketId);

    /// The time of a timer has come. Timers cannot be cancelled: the medium knows the stale ones.
    fn handle_timer<T: Tap<P>>(&mut self, context: &mut MediumContext<'_, P, T>, token: u64);

    /// What has happened to the packets of an entry by `now`.
    fn stats(&self, entry: u32, now: Instant) -> LinkStats;
}

/// There is no medium, only links.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoMedium;

impl<P: Packet> Medium<P> for NoMedium {
    const ACTIVE: bool = false;

    fn offer<T: Tap<P>>(&mut self, context: &mut MediumContext<'_, P, T>, entry: u32, packet: PacketId) {
        context.drop_packet(entry, packet, DropReason::Down);
    }

    fn handle_timer<T: Tap<P>>(&mut self, _: &mut MediumContext<'_, P, T>, _: u64) {}

    fn stats(&self, _: u32, _: Instant) -> LinkStats {
        LinkStats::default()
    }
}

/// Where an entry leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) link: LinkId,
    pub(crate) to: (NodeId, Port),
}

/// What a medium sees of the world while it handles an event.
pub struct MediumContext<'a, P, T> {
    pub(crate) now: Instant,
    pub(crate) packets: &'a mut Arena<P>,
    pub(crate) events: &'a mut Agenda,
    /// By entry.
    pub(crate) ends: &'a [Option<End>],
    /// What arrives at nodes; they are visited, in this order, when the medium has returned.
    pub(crate) deliveries: &'a mut Vec<(End, PacketId)>,
    pub(crate) tap: &'a mut T,
}

impl<P: Packet, T: Tap<P>> MediumContext<'_, P, T> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// A packet in the medium.
    ///
    /// # Panics
    /// When it was delivered or dropped.
    pub fn packet(&self, id: PacketId) -> &P {
        self.packets.get(id)
    }

    /// A packet in the medium, to change it (Congestion Experienced).
    ///
    /// # Panics
    /// When it was delivered or dropped.
    pub fn packet_mut(&mut self, id: PacketId) -> &mut P {
        self.packets.get_mut(id)
    }

    /// A copy of a packet, for a medium that delivers one to several.
    ///
    /// # Panics
    /// When it was delivered or dropped.
    pub fn duplicate(&mut self, id: PacketId) -> PacketId {
        let copy = self.packets.get(id).duplicate();
        self.packets.insert(copy)
    }

    /// Takes away a packet of which copies were delivered; the tap does not hear of it.
    ///
    /// # Panics
    /// When it was delivered or dropped before.
    pub fn remove(&mut self, id: PacketId) {
        self.packets.discard(id);
    }

    /// [`Medium::handle_timer`] will be called with `token` at `at`, or at once if that has passed.
    pub fn set_timer(&mut self, at: Instant, token: u64) {
        self.events.push(at.max(self.now), Event::Medium { high: (token >> 32) as u32, low: token as u32 });
    }

    /// Tells the tap that a packet has left its sender for the first time; it may still be lost.
    pub fn transmitted(&mut self, entry: u32, packet: PacketId) {
        if T::ACTIVE
            && let Some(end) = self.end(entry)
        {
            self.tap.transmitted(self.now, end.link, self.packets.get(packet));
        }
    }

    /// Tells the tap that a frame with this packet goes on the air: on each hop, and again when it is repeated.
    pub fn aired(&mut self, packet: PacketId) {
        if T::ACTIVE {
            self.tap.aired(self.now, self.packets.get(packet));
        }
    }

    /// Delivers a packet to the node at the end of an entry, now. Nodes are visited when the medium has returned.
    ///
    /// # Panics
    /// When the entry leads nowhere.
    pub fn deliver(&mut self, entry: u32, packet: PacketId) {
        let end = self.end(entry).expect("an entry that is connected");
        if T::ACTIVE {
            self.tap.delivered(self.now, end.link, self.packets.get(packet));
        }
        self.deliveries.push((end, packet));
    }

    /// Drops a packet of an entry.
    ///
    /// # Panics
    /// When it was delivered or dropped before.
    pub fn drop_packet(&mut self, entry: u32, packet: PacketId, reason: DropReason) {
        if T::ACTIVE
            && let Some(end) = self.end(entry)
        {
            self.tap.dropped(self.now, end.link, self.packets.get(packet), reason);
        }
        self.packets.discard(packet);
    }

    fn end(&self, entry: u32) -> Option<End> {
        self.ends.get(entry as usize).copied().flatten()
    }
}

//! What the MAC needs of the world around it.

use crate::token::Token;
use ropewalk_sim::{DropReason, MediumContext, Packet, PacketId, Tap};
use ropewalk_units::Instant;

/// The world as the network sees it while it handles an event.
pub(crate) trait Engine {
    fn now(&self) -> Instant;
    fn set_timer(&mut self, at: Instant, token: Token);
    fn wire_len(&self, packet: PacketId) -> u32;
    fn transmitted(&mut self, entry: u32, packet: PacketId);
    /// A frame with this packet begins.
    fn aired(&mut self, packet: PacketId);
    fn deliver(&mut self, entry: u32, packet: PacketId);
    /// Delivers a copy.
    fn deliver_copy(&mut self, entry: u32, packet: PacketId);
    fn drop_packet(&mut self, entry: u32, packet: PacketId, reason: DropReason);
    /// Takes away a packet whose copies were delivered.
    fn remove(&mut self, packet: PacketId);
}

impl<P: Packet, T: Tap<P>> Engine for MediumContext<'_, P, T> {
    #[inline]
    fn now(&self) -> Instant {
        self.now()
    }

    #[inline]
    fn set_timer(&mut self, at: Instant, token: Token) {
        self.set_timer(at, token.into());
    }

    #[inline]
    fn wire_len(&self, packet: PacketId) -> u32 {
        self.packet(packet).wire_len()
    }

    #[inline]
    fn transmitted(&mut self, entry: u32, packet: PacketId) {
        self.transmitted(entry, packet);
    }

    fn aired(&mut self, packet: PacketId) {
        self.aired(packet);
    }

    #[inline]
    fn deliver(&mut self, entry: u32, packet: PacketId) {
        self.deliver(entry, packet);
    }

    fn deliver_copy(&mut self, entry: u32, packet: PacketId) {
        let copy = self.duplicate(packet);
        self.deliver(entry, copy);
    }

    fn drop_packet(&mut self, entry: u32, packet: PacketId, reason: DropReason) {
        self.drop_packet(entry, packet, reason);
    }

    fn remove(&mut self, packet: PacketId) {
        self.remove(packet);
    }
}

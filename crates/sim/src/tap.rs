//! Listening to links.

use crate::ids::LinkId;
use ropewalk_units::Instant;

/// Why a packet did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// Active queue management chose it (RED, CoDel).
    Aqm,
    /// The loss model took it on the medium.
    Loss,
    /// The link was down.
    Down,
}

/// Hears what happens on every link: captures, counters, tests.
///
/// The calls about one link come in order of `at`. Links decide as late as they can. So a call may come after its
/// time, and out of order with the calls of another link. It never comes later than the end of the
/// [`crate::World::run_until`] that passes `at`. What a tap does changes nothing in the world.
pub trait Tap<P> {
    /// Is anybody listening? With `false` the calls cost nothing.
    const ACTIVE: bool;
    /// A packet has left the transmitter; it may still be lost.
    fn transmitted(&mut self, at: Instant, link: LinkId, packet: &P);
    /// A medium has begun to send a frame with this packet.
    fn aired(&mut self, _at: Instant, _packet: &P) {}
    /// A packet has arrived.
    fn delivered(&mut self, at: Instant, link: LinkId, packet: &P);
    /// A packet is gone.
    fn dropped(&mut self, at: Instant, link: LinkId, packet: &P, reason: DropReason);
    /// A queue has set Congestion Experienced on a packet.
    fn marked(&mut self, at: Instant, link: LinkId, packet: &P);
}

/// Nobody listens.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoTap;

impl<P> Tap<P> for NoTap {
    const ACTIVE: bool = false;
    fn transmitted(&mut self, _: Instant, _: LinkId, _: &P) {}
    fn delivered(&mut self, _: Instant, _: LinkId, _: &P) {}
    fn dropped(&mut self, _: Instant, _: LinkId, _: &P, _: DropReason) {}
    fn marked(&mut self, _: Instant, _: LinkId, _: &P) {}
}

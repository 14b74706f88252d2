//! Active queue management: CoDel (RFC 8289) and FQ-CoDel (RFC 8290), for the links of a simulation
//! and for other code that queues packets.
//!
//! Nothing here owns a clock or knows what a packet is. A packet comes with its octets and its
//! arrival time. Its [`Callbacks`] take the packets that are not served.

mod codel;
mod fq_codel;
#[cfg(test)]
mod testing;

pub use codel::{CodelConfig, CodelQueue};
pub use fq_codel::{FqCodel, FqCodelConfig};

use ropewalk_units::Instant;

/// How much a queue holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Packets, the one in transmission included.
    Packets(u32),
    /// Octets, the packet in transmission included.
    Bytes(u64),
}

impl QueueLimit {
    /// Is there room for a packet of `bytes` octets beside `load`?
    pub fn fits(self, load: Load, bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => load.packets < limit,
            Self::Bytes(limit) => load.bytes + u64::from(bytes) <= limit,
        }
    }
}

/// What is held: waiting, and in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Load {
    /// Packets.
    pub packets: u32,
    /// Their octets.
    pub bytes: u64,
}

impl Load {
    /// Adds one packet of `bytes` octets.
    pub fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// A packet in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued<P> {
    /// The packet, or what stands for it.
    pub packet: P,
    /// Its octets.
    pub bytes: u32,
    /// When it came.
    pub enqueued: Instant,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dropped {
    /// The queue was full.
    Full,
    /// CoDel chose it.
    Codel,
}

/// What is done to packets that are dropped or marked. The implementation keeps the counts.
pub trait Callbacks<P> {
    /// Takes a packet that was offered or queued and is not to be served.
    fn discard(&mut self, at: Instant, queued: Queued<P>, reason: Dropped);
    /// Marks a packet if it is ECN-capable. Returns whether it is.
    fn mark(&mut self, at: Instant, packet: &mut P) -> bool;
    /// A hash of the packet's flow, the same for all packets of one flow.
    fn flow_hash(&self, packet: &P) -> u32;
}

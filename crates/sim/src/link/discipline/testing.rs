//! A link around one discipline, for its tests.

use super::{Load, Offer, QueueContext, Queued};
use crate::packet::PacketId;
use crate::tap::DropReason;
use ropewalk_units::Instant;

/// Remembers what was done. Packet ids are chosen by the test; `id / 1000` is the flow.
#[derive(Default)]
pub(super) struct Log {
    pub(super) ecn: bool,
    pub(super) dropped: Vec<(Instant, u32, DropReason)>,
    pub(super) marked: Vec<(Instant, u32)>,
}

impl QueueContext for Log {
    fn discard(&mut self, at: Instant, queued: Queued, reason: DropReason) {
        self.dropped.push((at, queued.packet.0, reason));
    }

    fn mark(&mut self, at: Instant, id: PacketId) -> bool {
        if self.ecn {
            self.marked.push((at, id.0));
        }
        self.ecn
    }

    fn flow_hash(&self, id: PacketId) -> u32 {
        id.0 / 1_000
    }
}

pub(super) fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub(super) fn packet(id: u32, bytes: u32, enqueued: Instant) -> Queued {
    Queued { packet: PacketId(id), bytes, enqueued }
}

/// A packet finds `packets` of 1000 octets; `idle` as in [`Offer`].
pub(super) fn finds(now: Instant, packets: u32, idle: Option<f64>) -> Offer {
    Offer { now, load: Load { packets, bytes: u64::from(packets) * 1_000 }, idle }
}

//! Queue disciplines: who waits, who goes next, who is dropped or marked.

mod codel;
mod drop_tail;
mod fq_codel;
mod red;
#[cfg(test)]
mod testing;

use super::streams::LinkStreams;
use crate::config::{Queue, QueueLimit};
use crate::packet::PacketId;
use crate::tap::DropReason;
use codel::CodelQueue;
use drop_tail::DropTail;
use fq_codel::FqCodel;
use red::Red;
use ropewalk_units::Instant;

/// A packet in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Queued {
    pub(super) packet: PacketId,
    pub(super) bytes: u32,
    pub(super) enqueued: Instant,
}

/// What a link holds: waiting, and in transmission.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Load {
    pub(super) packets: u32,
    pub(super) bytes: u64,
}

impl Load {
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

impl QueueLimit {
    /// Is there room for a packet beside `load`?
    #[inline]
    pub(super) fn fits(self, load: Load, bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => load.packets < limit,
            Self::Bytes(limit) => load.bytes + u64::from(bytes) <= limit,
        }
    }
}

/// The state of the link as a packet comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) now: Instant,
    /// Without the packet.
    pub(super) load: Load,
    /// If the transmitter is idle: how many small packets could have left since it fell idle.
    pub(super) idle: Option<f64>,
}

/// What a discipline does to packets. Whoever implements this keeps the counts.
pub(super) trait Surroundings {
    /// Drops a packet that was offered or queued.
    fn discard(&mut self, at: Instant, queued: Queued, reason: DropReason);
    /// Marks a packet, if it is ECN-capable.
    fn mark(&mut self, at: Instant, id: PacketId) -> bool;
    fn flow_hash(&self, id: PacketId) -> u32;
}

/// The packets that wait, without the one in transmission.
pub(super) enum Discipline {
    DropTail(DropTail),
    Red(Box<Red>),
    Codel(Box<CodelQueue>),
    FqCodel(Box<FqCodel>),
}

impl Discipline {
    pub(super) fn new(queue: Queue) -> Self {
        match queue {
            Queue::DropTail { limit, mark_above } => Self::DropTail(DropTail::new(limit, mark_above)),
            Queue::Red { limit, red } => Self::Red(Box::new(Red::new(limit, red))),
            Queue::Codel { limit, codel } => Self::Codel(Box::new(CodelQueue::new(limit, codel))),
            Queue::FqCodel { limit, fq_codel } => Self::FqCodel(Box::new(FqCodel::new(limit, fq_codel))),
        }
    }

    pub(super) fn limit(&self) -> QueueLimit {
        match self {
            Self::DropTail(queue) => queue.limit(),
            Self::Red(queue) => queue.limit(),
            Self::Codel(queue) => queue.limit(),
            Self::FqCodel(queue) => queue.limit(),
        }
    }

    /// Queues a packet, or drops it, or drops others for it.
    pub(super) fn enqueue(
        &mut self,
        queued: Queued,
        offer: Offer,
        streams: &mut LinkStreams,
        surroundings: &mut impl Surroundings,
    ) {
        match self {
            Self::DropTail(queue) => queue.enqueue(queued, offer, surroundings),
            Self::Red(queue) => queue.enqueue(queued, offer, || streams.queue().uniform(), surroundings),
            Self::Codel(queue) => queue.enqueue(queued, offer, surroundings),
            Self::FqCodel(queue) => queue.enqueue(queued, offer, surroundings),
        }
    }

    /// The next packet to transmit at `at`.
    #[inline]
    pub(super) fn dequeue(&mut self, at: Instant, surroundings: &mut impl Surroundings) -> Option<Queued> {
        if let Self::DropTail(queue) = self {
            return queue.dequeue();
        }
        self.dequeue_managed(at, surroundings)
    }

    fn dequeue_managed(&mut self, at: Instant, surroundings: &mut impl Surroundings) -> Option<Queued> {
        match self {
            Self::DropTail(queue) => queue.dequeue(),
            Self::Red(queue) => queue.dequeue(),
            Self::Codel(queue) => queue.dequeue(at, surroundings),
            Self::FqCodel(queue) => queue.dequeue(at, surroundings),
        }
    }

    /// Takes everything out, in order of arrival.
    pub(super) fn drain(&mut self) -> Vec<Queued> {
        match self {
            Self::DropTail(queue) => queue.drain(),
            Self::Red(queue) => queue.drain(),
            Self::Codel(queue) => queue.drain(),
            Self::FqCodel(queue) => queue.drain(),
        }
    }

    /// Puts a packet of a replaced queue into this new one.
    pub(super) fn restore(&mut self, queued: Queued, surroundings: &mut impl Surroundings) {
        match self {
            Self::DropTail(queue) => queue.restore(queued),
            Self::Red(queue) => queue.restore(queued),
            Self::Codel(queue) => queue.restore(queued),
            Self::FqCodel(queue) => queue.restore(queued, surroundings),
        }
    }
}

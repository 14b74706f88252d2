//! Queue disciplines: which packets wait, which goes next, which are dropped or marked.

mod drop_tail;
mod red;
#[cfg(test)]
mod testing;

use super::streams::LinkStreams;
use crate::config::{Queue, QueueLimit};
use crate::packet::PacketId;
use crate::tap::DropReason;
use drop_tail::DropTail;
use red::Red;
use ropewalk_aqm::{CodelQueue, Dropped, FqCodel};
use ropewalk_units::Instant;

pub(super) use ropewalk_aqm::Load;

/// A packet in a queue.
pub(super) type Queued = ropewalk_aqm::Queued<PacketId>;

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
pub(super) trait QueueContext {
    /// Drops a packet that was offered or queued.
    fn discard(&mut self, at: Instant, queued: Queued, reason: DropReason);
    /// Marks a packet, if it is ECN-capable.
    fn mark(&mut self, at: Instant, id: PacketId) -> bool;
    fn flow_hash(&self, id: PacketId) -> u32;
}

/// The same, as active queue management asks for it.
struct Managed<'a, S>(&'a mut S);

impl<S: QueueContext> ropewalk_aqm::Callbacks<PacketId> for Managed<'_, S> {
    fn discard(&mut self, at: Instant, queued: Queued, reason: Dropped) {
        let reason = match reason {
            Dropped::Full => DropReason::QueueFull,
            Dropped::Codel => DropReason::Aqm,
        };
        self.0.discard(at, queued, reason);
    }

    fn mark(&mut self, at: Instant, packet: &mut PacketId) -> bool {
        self.0.mark(at, *packet)
    }

    fn flow_hash(&self, packet: &PacketId) -> u32 {
        self.0.flow_hash(*packet)
    }
}

/// The packets that wait, without the one in transmission.
pub(super) enum Discipline {
    DropTail(DropTail),
    Red(Box<Red>),
    Codel(Box<CodelQueue<PacketId>>),
    FqCodel(Box<FqCodel<PacketId>>),
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
        context: &mut impl QueueContext,
    ) {
        match self {
            Self::DropTail(queue) => queue.enqueue(queued, offer, context),
            Self::Red(queue) => queue.enqueue(queued, offer, || streams.queue().uniform(), context),
            Self::Codel(queue) => queue.enqueue(offer.now, queued, offer.load, &mut Managed(context)),
            Self::FqCodel(queue) => queue.enqueue(offer.now, queued, offer.load, &mut Managed(context)),
        }
    }

    /// The next packet to transmit at `at`.
    pub(super) fn dequeue(&mut self, at: Instant, context: &mut impl QueueContext) -> Option<Queued> {
        if let Self::DropTail(queue) = self {
            return queue.dequeue();
        }
        self.dequeue_managed(at, context)
    }

    fn dequeue_managed(&mut self, at: Instant, context: &mut impl QueueContext) -> Option<Queued> {
        match self {
            Self::DropTail(queue) => queue.dequeue(),
            Self::Red(queue) => queue.dequeue(),
            Self::Codel(queue) => queue.dequeue(at, &mut Managed(context)),
            Self::FqCodel(queue) => queue.dequeue(at, &mut Managed(context)),
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

    /// Puts a packet behind all that wait, whatever the limit says; into a drop-tail queue alone.
    pub(super) fn append(&mut self, queued: Queued) {
        if let Self::DropTail(queue) = self {
            queue.restore(queued);
        }
    }

    /// Puts a packet of a replaced queue into this new one.
    pub(super) fn restore(&mut self, queued: Queued, context: &mut impl QueueContext) {
        match self {
            Self::DropTail(queue) => queue.restore(queued),
            Self::Red(queue) => queue.restore(queued),
            Self::Codel(queue) => queue.restore(queued),
            Self::FqCodel(queue) => queue.restore(queued, &Managed(context)),
        }
    }
}

//! First in, first out; what does not fit is dropped.

use super::{Offer, QueueContext, Queued};
use crate::config::QueueLimit;
use crate::tap::DropReason;
use std::collections::VecDeque;

pub(in crate::link) struct DropTail {
    limit: QueueLimit,
    /// A packet that finds this many is marked.
    mark_above: u32,
    waiting: VecDeque<Queued>,
}

impl DropTail {
    pub(super) fn new(limit: QueueLimit, mark_above: Option<u32>) -> Self {
        Self { limit, mark_above: mark_above.unwrap_or(u32::MAX), waiting: VecDeque::new() }
    }

    pub(super) fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// May `bytes` that find the link idle go straight to the transmitter?
    pub(in crate::link) fn passes_when_idle(&self, bytes: u32) -> bool {
        self.mark_above > 0 && self.limit.fits(super::Load::default(), bytes)
    }

    pub(in crate::link) fn enqueue(&mut self, queued: Queued, offer: Offer, context: &mut impl QueueContext) {
        if !self.limit.fits(offer.load, queued.bytes) {
            context.discard(offer.now, queued, DropReason::QueueFull);
            return;
        }
        if offer.load.packets >= self.mark_above {
            context.mark(offer.now, queued.packet);
        }
        self.waiting.push_back(queued);
    }

    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        self.waiting.pop_front()
    }

    pub(super) fn drain(&mut self) -> Vec<Queued> {
        self.waiting.drain(..).collect()
    }

    pub(super) fn restore(&mut self, queued: Queued) {
        self.waiting.push_back(queued);
    }
}

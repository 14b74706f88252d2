//! A radio's interface queue: first in, first out, with a limit in frames.

use ropewalk_sim::PacketId;
use ropewalk_units::Instant;
use std::collections::VecDeque;

/// A packet on its way to the next hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) packet: PacketId,
    pub(crate) octets: u32,
    pub(crate) entry: u32,
    /// The radio it goes to, or [`crate::frame::BROADCAST`].
    pub(crate) to: u32,
    pub(crate) since: Instant,
}

#[derive(Debug)]
pub(crate) struct InterfaceQueue {
    waiting: VecDeque<Queued>,
    limit: usize,
}

impl InterfaceQueue {
    pub(crate) fn new(limit: Option<u32>) -> Self {
        Self { waiting: VecDeque::new(), limit: limit.map_or(usize::MAX, |limit| limit as usize) }
    }

    /// Puts a packet at the end; `false` when there is no room.
    pub(crate) fn push(&mut self, queued: Queued) -> bool {
        let fits = self.waiting.len() < self.limit;
        if fits {
            self.waiting.push_back(queued);
        }
        fits
    }

    pub(crate) fn pop(&mut self) -> Option<Queued> {
        self.waiting.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

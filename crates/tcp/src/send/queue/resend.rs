//! Where the segments begin that are lost and not on their way again.

use super::step::step;
use super::{Sent, SentQueue};
use ropewalk_units::Mark;
use std::collections::VecDeque;

/// Starts of segments, the lowest first, each once. A segment that is sent again, SACKed or
/// acknowledged stays until it would come first.
#[derive(Clone, Debug, Default)]
pub(super) struct Resend {
    starts: VecDeque<Mark>,
}

impl Resend {
    pub(super) fn add(&mut self, start: Mark) {
        // Above all others: the rule.
        if self.starts.back().is_none_or(|last| *last < start) {
            return self.starts.push_back(start);
        }
        if let Err(place) = self.starts.binary_search(&start) {
            self.starts.insert(place, start);
        }
    }

    /// The lowest.
    pub(super) fn first(&self) -> Option<Mark> {
        self.starts.front().copied()
    }

    /// The lowest one waits no more.
    pub(super) fn pass(&mut self) {
        self.starts.pop_front();
    }

    /// None waits.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
    }

    pub(super) fn shrink_to(&mut self, capacity: usize) {
        self.starts.shrink_to(capacity);
    }

    /// For audits.
    pub(super) fn holds(&self, start: Mark) -> bool {
        self.starts.binary_search(&start).is_ok()
    }
}

impl SentQueue {
    /// The lowest segment that is lost and not on its way again.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        if self.to_retransmit == 0 {
            return None;
        }
        while let Some(start) = self.resend.first() {
            step();
            let index = self.index_past(start);
            if self.segments.get(index).is_some_and(Sent::waits) {
                return Some(index);
            }
            self.resend.pass();
        }
        None
    }

    /// Segments were cut: their pieces wait each.
    pub(super) fn find_waiting(&mut self) {
        let Some(first) = self.segments.front().map(|front| front.seq) else { return };
        self.resend.clear();
        for sent in self.segments.iter().filter(|sent| sent.waits()) {
            self.resend.add(self.una + sent.seq.since(first));
        }
    }
}

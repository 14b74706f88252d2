//! What a subflow was given of the connection's stream. When it ends, only that is looked through.

use std::collections::VecDeque;
use std::ops::Range;

/// Octets, in the order in which the subflow was given them; what is DATA_ACKed is forgotten in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    ranges: VecDeque<Range<u64>>,
}

impl Given {
    /// It is given these octets. All before `una` is DATA_ACKed.
    #[inline(always)]
    pub(super) fn add(&mut self, octets: Range<u64>, una: u64) {
        match self.ranges.back_mut() {
            Some(last) if last.end == octets.start => last.end = octets.end,
            _ => self.begin(octets, una),
        }
    }

    #[inline(never)]
    fn begin(&mut self, octets: Range<u64>, una: u64) {
        while self.ranges.front().is_some_and(|first| first.end <= una) {
            self.ranges.pop_front();
        }
        self.ranges.push_back(octets);
    }

    /// Forgets all that is DATA_ACKed.
    pub(super) fn prune(&mut self, una: u64) {
        self.ranges.retain(|range| range.end > una);
    }

    /// Nothing is left of the subflow.
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// What is left.
    pub(super) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.ranges.iter()
    }
}

//! What a subflow was given of the connection's stream. When it ends, only that is looked through.

use std::ops::Range;

/// Octets, in the order in which the subflow was given them; what is DATA_ACKed is forgotten in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    ranges: Vec<Range<u64>>,
}

impl Given {
    /// It is given these octets. All before `una` is DATA_ACKed.
    #[inline(always)]
    pub(super) fn add(&mut self, octets: Range<u64>, una: u64) {
        if let Some(last) = self.ranges.last_mut()
            && last.end == octets.start
        {
            last.end = octets.end;
            return;
        }
        if self.ranges.len() == self.ranges.capacity() {
            self.make_room(una);
        }
        self.ranges.push(octets);
    }

    /// Half of it is free afterwards, so this is rare, and what it takes follows from what is not DATA_ACKed.
    #[cold]
    fn make_room(&mut self, una: u64) {
        self.prune(una);
        self.ranges.reserve(self.ranges.len().max(8));
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

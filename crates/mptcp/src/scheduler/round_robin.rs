//! Round robin, the papers' scheduler: one segment each, in turn, leaving out those without room.

use super::{Decision, candidates};
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};

/// Whose turn it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RoundRobin {
    last: Option<SubflowId>,
}

impl RoundRobin {
    /// The next in the cycle that has room.
    #[inline]
    pub(crate) fn pick(&mut self, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        let ready = candidates(subflows).filter(|s| s.has_room(queue.unsent));
        let after = ready.clone().find(|s| Some(s.id) > self.last);
        let Some(chosen) = after.or_else(|| ready.clone().next()) else {
            return Decision::wait("round robin: no subflow has room");
        };
        self.last = Some(chosen.id);
        Decision::segment(chosen, queue, "round robin: next in turn")
    }
}

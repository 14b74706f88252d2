//! Round robin, the papers' scheduler: one segment each, in turn, leaving out those without room.

use super::rule::{Decision, Needs, SchedulingRule, candidates};
use crate::config::Config;
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// Whose turn it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RoundRobin {
    last: Option<SubflowId>,
}

impl SchedulingRule for RoundRobin {
    const NEEDS: Needs = Needs::Rooms;

    fn of(_config: &Config) -> Self {
        Self::default()
    }

    /// The next in the cycle that has room.
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        let ready = candidates(subflows).filter(|s| s.has_room(queue.unsent));
        let after = ready.clone().find(|s| Some(s.id) > self.last);
        let Some(chosen) = after.or_else(|| ready.clone().next()) else {
            return Decision::wait("round robin: no subflow has room");
        };
        self.last = Some(chosen.id);
        Decision::segment(chosen, queue, "round robin: next in turn")
    }
}

//! Weighted round robin: a turn is as many segments as the path's weight.

use super::rule::{Decision, Needs, SchedulingRule, candidates};
use crate::config::{Config, Scheduler};
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// Whose turn it is, and how much of it is left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Weighted {
    weights: Vec<u32>,
    turn: Option<SubflowId>,
    left: u32,
}

impl SchedulingRule for Weighted {
    const NEEDS: Needs = Needs::Rooms;

    fn of(config: &Config) -> Self {
        let weights = match &config.scheduler {
            Scheduler::WeightedRoundRobin { weights } => weights.clone(),
            _ => Vec::new(),
        };
        Self { weights, turn: None, left: 0 }
    }

    /// The subflow whose turn it is while its credit lasts, then the next with room. A subflow without room
    /// forfeits the rest of its turn: waiting for it would idle the others.
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        let ready = candidates(subflows).filter(|s| s.has_room(queue.unsent));
        if self.left > 0
            && let Some(current) = ready.clone().find(|s| Some(s.id) == self.turn)
        {
            self.left -= 1;
            return Decision::segment(current, queue, "weighted round robin: turn goes on");
        }
        let weighty = ready.clone().filter(|s| self.weight(s) > 0);
        let next = weighty.clone().find(|s| Some(s.id) > self.turn).or_else(|| weighty.clone().next());
        if let Some(chosen) = next {
            self.turn = Some(chosen.id);
            self.left = self.weight(chosen) - 1;
            return Decision::segment(chosen, queue, "weighted round robin: next turn");
        }
        ready.clone().next().map_or_else(
            || Decision::wait("weighted round robin: no subflow has room"),
            |spare| Decision::segment(spare, queue, "weighted round robin: weight 0, nothing else has room"),
        )
    }
}

impl Weighted {
    /// By path: a path beyond the list weighs 1, a weight of 0 keeps the path for the case that no other has room.
    fn weight(&self, view: &SubflowView) -> u32 {
        self.weights.get(view.path_index as usize).copied().unwrap_or(1)
    }
}

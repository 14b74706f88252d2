//! Lowest RTT first, the default of the out-of-tree Linux kernel.

use super::rule::{Decision, Needs, SchedulingRule, Standing, candidates};
use crate::config::Config;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::{Duration, Instant};

/// Why a subflow was chosen.
const ROOM: &str = "lowest RTT with room";

/// No state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LowestRtt;

impl SchedulingRule for LowestRtt {
    const NEEDS: Needs = Needs::Rooms;
    const STANDS: bool = true;

    fn of(_config: &Config) -> Self {
        Self
    }

    /// The subflow with the lowest SRTT that has room.
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        lowest_with_room(subflows, queue.unsent).map_or_else(
            || Decision::wait("lowest RTT: no subflow has room"),
            |chosen| Decision::segment(chosen, queue, ROOM),
        )
    }

    fn standing(&self, subflows: &[SubflowView]) -> Standing {
        let (lowest, others) = lowest_and_others(subflows, u64::MAX);
        lowest.map_or(Standing::Nobody, |view| Standing::Subflow { id: view.id, others, reason: ROOM })
    }
}

/// SRTT for comparisons; a subflow without a sample comes last.
pub(super) fn srtt(view: &SubflowView) -> Duration {
    view.srtt.unwrap_or(Duration::MAX)
}

/// The lowest SRTT among those with room and not in Loss state; the earlier subflow wins a tie.
pub(super) fn lowest_with_room(subflows: &[SubflowView], wanted: u64) -> Option<&SubflowView> {
    lowest_and_others(subflows, wanted).0
}

/// As [`lowest_with_room`], and whether others have room too.
pub(super) fn lowest_and_others(subflows: &[SubflowView], wanted: u64) -> (Option<&SubflowView>, bool) {
    let mut lowest: Option<&SubflowView> = None;
    let mut others = false;
    for view in candidates(subflows).filter(|s| !s.in_timeout_recovery && s.has_room(wanted)) {
        others = lowest.is_some();
        if lowest.is_none_or(|lowest| srtt(view) < srtt(lowest)) {
            lowest = Some(view);
        }
    }
    (lowest, others)
}

/// The lowest SRTT whether or not there is room.
pub(super) fn fastest(subflows: &[SubflowView]) -> Option<&SubflowView> {
    candidates(subflows).filter(|s| !s.in_timeout_recovery).min_by_key(|s| srtt(s))
}

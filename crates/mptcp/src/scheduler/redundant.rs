//! Redundant (ReMP, Froemmgen et al., ICC 2016): every subflow carries everything.

use super::rule::{Decision, SchedulingRule, candidates};
use crate::config::Config;
use crate::scheduler::lowest_rtt::srtt;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// No state: the connection keeps one pointer per subflow into its queue.
///
/// The pointer of a subflow starts at DATA_UNA, is moved up to DATA_UNA before each decision (what is DATA_ACKed
/// is skipped) and advances by what was handed over. `own_backlog` is the distance from it to the end of the
/// queue or of the window, whichever is first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Redundant;

impl SchedulingRule for Redundant {
    const OWN_POINTERS: bool = true;

    fn of(_config: &Config) -> Self {
        Self
    }

    /// The fastest subflow that has room and something left to carry.
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], _queue: &QueueView) -> Decision {
        let ready = candidates(subflows).filter(|s| s.own_backlog > 0 && s.has_room(s.own_backlog));
        ready.min_by_key(|s| srtt(s)).map_or_else(
            || Decision::wait("redundant: no subflow has room or data left"),
            |s| Decision::Send {
                subflow: s.id,
                octets: u64::from(s.smss).min(s.own_backlog).min(s.send_space),
                reason: "redundant: own pointer",
            },
        )
    }
}

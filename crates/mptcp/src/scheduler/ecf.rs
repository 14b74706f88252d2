//! ECF, earliest completion first (Lim, Nahum, Towsley, Gibbens, CoNEXT 2017 §4, algorithm 1).

use super::lowest_rtt::{fastest, lowest_with_room};
use super::rule::{Decision, SchedulingRule};
use crate::config::Config;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// Hysteresis of the waiting state (§4: β = 0.25).
const BETA: f64 = 0.25;

/// Whether the last decision was to wait for the fastest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ecf {
    waiting: bool,
}

impl SchedulingRule for Ecf {
    fn of(_config: &Config) -> Self {
        Self::default()
    }

    /// The fastest if it has room; else the next if that completes the transfer earlier than waiting.
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        let Some(slow) = lowest_with_room(subflows, queue.unsent) else {
            return Decision::wait("ecf: no subflow has room");
        };
        let Some(fast) = fastest(subflows) else {
            return Decision::wait("ecf: no subflow is usable");
        };
        if slow.id == fast.id {
            return Decision::segment(slow, queue, "ecf: fastest has room");
        }
        if self.waits(fast, slow, queue) {
            return Decision::wait("ecf: waiting for the fastest is earlier");
        }
        Decision::segment(slow, queue, "ecf: slower subflow completes earlier")
    }
}

impl Ecf {
    fn waits(&mut self, fast: &SubflowView, slow: &SubflowView, queue: &QueueView) -> bool {
        let backlog = queue.unsent as f64;
        let (rtt_fast, rtt_slow) = (fast.rtt_seconds(), slow.rtt_seconds());
        // RFC 6298's RTTVAR is a mean deviation; half of it stands for σ, as in the out-of-tree kernel.
        let delta = fast.rttvar.max(slow.rttvar).as_secs_f64() / 2.0;
        let rounds_fast = 1.0 + (backlog / f64::from(fast.cwnd.max(1))).max(1.0);
        let hysteresis = if self.waiting { 1.0 + BETA } else { 1.0 };
        if rounds_fast * rtt_fast >= hysteresis * (rtt_slow + delta) {
            self.waiting = false;
            return false;
        }
        let rounds_slow = (backlog / f64::from(slow.cwnd.max(1))).max(1.0);
        if rounds_slow * rtt_slow >= 2.0 * rtt_fast + delta {
            self.waiting = true;
            return true;
        }
        false
    }
}

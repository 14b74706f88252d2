//! BLEST (Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016): do not send on the slow subflow what would block
//! the fast one behind the connection-level window.

use super::lowest_rtt::{fastest, lowest_with_room};
use super::rule::{Decision, SchedulingRule};
use crate::config::Config;
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::{Duration, Instant};

/// λ at the start, its bounds and its steps (the out-of-tree kernel's values).
const LAMBDA_START: f64 = 1.2;
const LAMBDA_LEAST: f64 = 1.0;
const LAMBDA_MOST: f64 = 1.3;
const LAMBDA_UP: f64 = 0.04;
const LAMBDA_DOWN: f64 = 0.01;
/// Round trips of slow start that are looked ahead at most.
const LOOK_AHEAD_MOST: u64 = 16;

/// The extremes of one subflow's SRTT.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Extremes {
    least: Duration,
    most: Duration,
}

/// λ, and what it is adapted by.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Blest {
    lambda: f64,
    adapted_at: Option<Instant>,
    retransmissions_seen: u64,
    extremes: Vec<Option<Extremes>>,
}

impl Default for Blest {
    fn default() -> Self {
        Self { lambda: LAMBDA_START, adapted_at: None, retransmissions_seen: 0, extremes: Vec::new() }
    }
}

impl SchedulingRule for Blest {
    fn of(_config: &Config) -> Self {
        Self::default()
    }

    /// The fastest if it has room; another only if what the fastest could send meanwhile still fits the window.
    fn pick(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        self.note(subflows);
        let Some(slow) = lowest_with_room(subflows, queue.unsent) else {
            return Decision::wait("blest: no subflow has room");
        };
        let Some(fast) = fastest(subflows) else {
            return Decision::wait("blest: no subflow is usable");
        };
        if slow.id == fast.id {
            return Decision::segment(slow, queue, "blest: fastest has room");
        }
        self.adapt(now, slow.id, queue);
        if self.would_block(fast, slow, queue) {
            return Decision::wait("blest: would block");
        }
        Decision::segment(slow, queue, "blest: would not block")
    }

    fn forget(&mut self, place: SubflowId) {
        self.forget_place(place);
    }
}

impl Blest {
    /// Another subflow has this place.
    fn forget_place(&mut self, place: SubflowId) {
        if let Some(extremes) = self.extremes.get_mut(place.0 as usize) {
            *extremes = None;
        }
    }

    fn note(&mut self, subflows: &[SubflowView]) {
        for view in subflows {
            let index = view.id.0 as usize;
            if index >= self.extremes.len() {
                self.extremes.resize(index + 1, None);
            }
            let Some(srtt) = view.srtt else { continue };
            let known = self.extremes[index].get_or_insert(Extremes { least: srtt, most: srtt });
            known.least = known.least.min(srtt);
            known.most = known.most.max(srtt);
        }
    }

    /// §4: λ rises after an opportunistic retransmission (blocking did happen) and else sinks slowly; at most
    /// once per least SRTT of the slow subflow.
    fn adapt(&mut self, now: Instant, slow: SubflowId, queue: &QueueView) {
        let Some(extremes) = self.extremes[slow.0 as usize] else { return };
        if self.adapted_at.is_some_and(|at| now.saturating_since(at) < extremes.least) {
            return;
        }
        let blocked = queue.opportunistic_retransmissions > self.retransmissions_seen;
        let step = if blocked { LAMBDA_UP } else { -LAMBDA_DOWN };
        self.lambda = (self.lambda + step).clamp(LAMBDA_LEAST, LAMBDA_MOST);
        self.retransmissions_seen = queue.opportunistic_retransmissions;
        self.adapted_at = Some(now);
    }

    /// X·λ > |W| − MSS_S·(inflight_S + 1), all in octets.
    fn would_block(&self, fast: &SubflowView, slow: &SubflowView, queue: &QueueView) -> bool {
        let window = (queue.in_flight + queue.window_left) as f64;
        let slow_share = slow.queued() as f64 + f64::from(slow.smss);
        self.sent_meanwhile(fast, slow) * self.lambda > window - slow_share
    }

    /// X: octets that the fast subflow could send during one round trip of the slow one.
    fn sent_meanwhile(&self, fast: &SubflowView, slow: &SubflowView) -> f64 {
        let round_trips = self.round_trips(fast, slow);
        let smss = f64::from(fast.smss);
        let mut window = fast.window_segments();
        if fast.in_slow_start {
            let doublings = round_trips.min(LOOK_AHEAD_MOST);
            return smss * window * ((1u64 << doublings) - 1) as f64;
        }
        window = window.max(f64::from(fast.ssthresh) / smss + 1.0);
        let rtts = round_trips as f64;
        smss * (window + (rtts - 1.0) / 2.0) * rtts
    }

    /// RTT_S / RTT_F rounded up.
    fn round_trips(&self, fast: &SubflowView, slow: &SubflowView) -> u64 {
        let mean = self.extremes[fast.id.0 as usize].map_or(1, |e| (e.least + e.most).as_nanos() / 2);
        self.slow_rtt(slow).as_nanos() / mean.max(1) + 1
    }

    /// The slow subflow's SRTT, or what its extremes and its load let expect, whichever is longer.
    fn slow_rtt(&self, slow: &SubflowView) -> Duration {
        let Some(extremes) = self.extremes[slow.id.0 as usize] else { return Duration::ZERO };
        let spread = extremes.most.as_nanos() - extremes.least.as_nanos();
        let load = (slow.queued() as f64 / f64::from(slow.cwnd.max(1))).min(1.0);
        let expected = extremes.least + Duration::from_nanos((spread as f64 * load) as u64);
        slow.srtt.unwrap_or(expected).max(expected)
    }
}

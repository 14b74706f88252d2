//! LIA, linked increases: RFC 6356.

use super::rule::{CouplingRule, coupled, halved};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// No state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Lia;

impl CouplingRule for Lia {
    #[inline(always)]
    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        coupling(flows, index, base)
    }
}

/// RFC 6356 §3, in octets: min(alpha · MSS_i / cwnd_total, MSS_i / cwnd_i) segments for each acknowledged one.
///
/// alpha / cwnd_total = MAX(cwnd_i/rtt_i²) / SUM(cwnd_i/rtt_i)² (eq. 2 without its factor).
#[inline(always)]
fn coupling(flows: &[SubflowView], index: usize, base: f64) -> Coupling {
    let (mut best, mut sum) = (0.0f64, 0.0f64);
    for flow in coupled(flows) {
        let per_rtt = flow.per_rtt();
        let rate = counted_window(flow) * per_rtt;
        sum += rate;
        let share = rate * per_rtt;
        // A plain comparison: `max` would also check for NaN.
        best = if share > best { share } else { best };
    }
    let own = &flows[index];
    let linked = best / (sum * sum) * f64::from(own.smss);
    let increase =
        if is_far_below_alone(linked, own) { linked } else { linked.min(1.0 / own.window_segments()) };
    Coupling { increase, ssthresh_after_loss: halved(base) }
}

/// Is an increase so far below smss / cwnd, that of a flow by itself, that the comparison needs no division?
fn is_far_below_alone(increase: f64, own: &SubflowView) -> bool {
    own.cwnd >= own.smss && increase * f64::from(own.cwnd) < 0.99 * f64::from(own.smss)
}

/// What a flow counts in the sums, in octets.
fn counted_window(flow: &SubflowView) -> f64 {
    let octets = if flow.in_recovery {
        // RFC 6356 §3: the window is inflated during fast retransmit; take ssthresh.
        flow.ssthresh.min(flow.cwnd)
    } else if flow.flight < flow.cwnd / 2 {
        // RFC 6356 §3: min(flight_size, cwnd) while the application limits the flow; less than half a window in
        // flight is RFC 7661 §4.3's sign of that.
        flow.flight
    } else {
        flow.cwnd
    };
    f64::from(octets.max(flow.smss))
}

//! The papers' three algorithms, in segments and with their plain sums.

use super::rule::{CouplingRule, coupled, halved};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// +1/w per ACK, w_i − w/2 after a loss, one segment at least (Kelly & Voice 2005; 003 §3, whose "w_i − 1/2" is a
/// misprint). Both windows are congestion windows: half the total flight would not be a share of one flow's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FullyCoupled;

impl CouplingRule for FullyCoupled {
    fn coupling(&self, flows: &[SubflowView], index: usize, _base: f64) -> Coupling {
        let total: f64 = coupled(flows).map(SubflowView::window_segments).sum();
        let ssthresh_after_loss = (own(flows, index) - total / 2.0).max(1.0);
        Coupling { increase: 1.0 / total, ssthresh_after_loss }
    }
}

/// +α/w per ACK without a cap (003 eq. 3 as 004 prints it).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LinkedIncreases;

impl CouplingRule for LinkedIncreases {
    fn coupling(&self, flows: &[SubflowView], _index: usize, base: f64) -> Coupling {
        Coupling { increase: alpha_over_total(flows), ssthresh_after_loss: halved(base) }
    }
}

/// min(α/w, 1/w_i) per ACK (003 eq. 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RttCompensator;

impl CouplingRule for RttCompensator {
    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        let increase = alpha_over_total(flows).min(1.0 / own(flows, index));
        Coupling { increase, ssthresh_after_loss: halved(base) }
    }
}

fn own(flows: &[SubflowView], index: usize) -> f64 {
    flows[index].window_segments()
}

/// α/w = max(w_i/RTT_i²) / (Σ w_i/RTT_i)²: the total window cancels out.
fn alpha_over_total(flows: &[SubflowView]) -> f64 {
    let (mut best, mut sum) = (0.0f64, 0.0f64);
    for flow in coupled(flows) {
        let per_rtt = flow.per_rtt();
        let rate = flow.window_segments() * per_rtt;
        sum += rate;
        best = best.max(rate * per_rtt);
    }
    best / (sum * sum)
}

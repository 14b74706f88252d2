//! BALIA, balanced linked adaptation (Peng, Walid, Hwang, Low, ToN 2016).

use super::rule::{CouplingRule, coupled};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// Cap of α in the decrease: at most three quarters of the window go.
const DECREASE_CAP: f64 = 1.5;

/// No state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Balia;

impl CouplingRule for Balia {
    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        coupling(flows, index, base)
    }
}

/// With x_r = w_r/rtt_r and α_r = max x_k / x_r: x_r / (rtt_r (Σ x_k)²) · (1+α_r)/2 · (4+α_r)/5 per acknowledged
/// segment; −(w_r/2) min(α_r, 1.5) per loss.
fn coupling(flows: &[SubflowView], index: usize, base: f64) -> Coupling {
    let (mut best, mut sum, mut count) = (0.0f64, 0.0f64, 0u32);
    for flow in coupled(flows) {
        let rate = flow.window_segments() * flow.per_rtt();
        sum += rate;
        best = best.max(rate);
        count += 1;
    }
    let own = &flows[index];
    let rate = own.window_segments() * own.per_rtt();
    let alpha = best / rate;
    let increase = rate * own.per_rtt() / (sum * sum) * (1.0 + alpha) * (4.0 + alpha) * 0.1;
    // Alone it is Reno, RFC 5681's floor of two segments included; else one, as in Linux.
    let floor = if count == 1 { 2.0 } else { 1.0 };
    let ssthresh_after_loss = (base - base / 2.0 * alpha.min(DECREASE_CAP)).max(floor);
    Coupling { increase, ssthresh_after_loss }
}

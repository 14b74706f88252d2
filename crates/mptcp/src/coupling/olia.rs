//! OLIA, the opportunistic linked-increases algorithm (Khalili, Gast, Popovic, Upadhyay, Le Boudec, CoNEXT 2012).

use super::rule::{CouplingRule, PerPlace, WindowUpdate, coupled, halved};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// Octets acknowledged around the losses of one subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Intervals {
    /// ℓ1: between the last two losses.
    between: u64,
    /// ℓ2: since the last loss.
    since: u64,
}

impl Intervals {
    fn on_acked(&mut self, octets: u32) {
        self.since += u64::from(octets);
    }

    fn on_loss(&mut self) {
        self.between = self.since;
        self.since = 0;
    }

    /// ℓ = max(ℓ1, ℓ2).
    fn longest(self) -> u64 {
        self.between.max(self.since)
    }
}

/// The intervals of all subflows.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Olia(PerPlace<Intervals>);

impl CouplingRule for Olia {
    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        coupling(&self.0, flows, index, base)
    }

    fn on_acked(&mut self, flows: &[SubflowView], index: usize, octets: u32) -> Option<WindowUpdate> {
        self.0.at(flows[index].id.0 as usize).on_acked(octets);
        None
    }

    fn on_loss(&mut self, flows: &[SubflowView], index: usize) {
        self.0.at(flows[index].id.0 as usize).on_loss();
    }

    fn forget(&mut self, place: usize) {
        self.0.forget(place);
    }
}

/// (w_r/rtt_r²) / (Σ w_p/rtt_p)² + α_r/w_r per acknowledged segment; half after a loss.
fn coupling(intervals: &PerPlace<Intervals>, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
    let (mut sum, mut best_quality, mut largest) = (0.0f64, 0.0f64, 0.0f64);
    for flow in coupled(flows) {
        let per_rtt = flow.per_rtt();
        sum += flow.window_segments() * per_rtt;
        best_quality = best_quality.max(path_quality(intervals, flow, per_rtt));
        largest = largest.max(compared_window(flow));
    }
    let own = &flows[index];
    let (window, per_rtt) = (own.window_segments(), own.per_rtt());
    let first = window * per_rtt * per_rtt / (sum * sum);
    let increase = first + shift(intervals, flows, own, best_quality, largest) / window;
    Coupling { increase, ssthresh_after_loss: halved(base) }
}

/// α_r: windows move from the largest ones (M) to the best paths with smaller windows (B \ M).
fn shift(
    intervals: &PerPlace<Intervals>,
    flows: &[SubflowView],
    own: &SubflowView,
    best_quality: f64,
    largest: f64,
) -> f64 {
    let is_largest = |flow: &SubflowView| compared_window(flow) >= largest;
    let is_best = |flow: &SubflowView| path_quality(intervals, flow, flow.per_rtt()) >= best_quality;
    let (mut paths, mut largest_count, mut collected_count) = (0u32, 0u32, 0u32);
    for flow in coupled(flows) {
        paths += 1;
        if is_largest(flow) {
            largest_count += 1;
        } else if is_best(flow) {
            collected_count += 1;
        }
    }
    if collected_count == 0 {
        0.0
    } else if is_largest(own) {
        -1.0 / f64::from(paths * largest_count)
    } else if is_best(own) {
        1.0 / f64::from(paths * collected_count)
    } else {
        0.0
    }
}

/// ℓ_p / rtt_p².
fn path_quality(intervals: &PerPlace<Intervals>, flow: &SubflowView, per_rtt: f64) -> f64 {
    let longest = intervals.get(flow.id.0 as usize).map_or(0, |i| i.longest());
    longest as f64 * per_rtt * per_rtt
}

/// The window by which M is found, in whole segments as Linux counts them: ssthresh while in recovery.
fn compared_window(flow: &SubflowView) -> f64 {
    let octets = if flow.in_recovery { flow.ssthresh.min(flow.cwnd) } else { flow.cwnd };
    f64::from(octets / flow.smss.max(1))
}

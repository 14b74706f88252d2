//! OLIA, the opportunistic linked-increases algorithm (Khalili, Gast, Popovic, Upadhyay, Le Boudec, CoNEXT 2012).

use super::{coupled, halved};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// Octets acknowledged around the losses of one subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Intervals {
    /// ℓ1: between the last two losses.
    between: u64,
    /// ℓ2: since the last loss.
    since: u64,
}

impl Intervals {
    pub(super) fn on_acked(&mut self, octets: u32) {
        self.since += u64::from(octets);
    }

    pub(super) fn on_loss(&mut self) {
        self.between = self.since;
        self.since = 0;
    }

    /// ℓ = max(ℓ1, ℓ2).
    fn longest(self) -> u64 {
        self.between.max(self.since)
    }
}

/// (w_r/rtt_r²) / (Σ w_p/rtt_p)² + α_r/w_r per acknowledged segment; half after a loss.
#[inline]
pub(super) fn coupling(intervals: &[Intervals], flows: &[SubflowView], index: usize, base: f64) -> Coupling {
    let own = &flows[index];
    let window = own.window_segments();
    let sum: f64 = coupled(flows).map(|flow| flow.window_segments() / flow.rtt_seconds()).sum();
    let rtt = own.rtt_seconds();
    let first = window / (rtt * rtt) / (sum * sum);
    let increase = first + shift(intervals, flows, index) / window;
    Coupling { increase, ssthresh_after_loss: halved(base) }
}

/// α_r: windows move from the largest ones (M) to the best paths with smaller windows (B \ M).
#[inline]
fn shift(intervals: &[Intervals], flows: &[SubflowView], index: usize) -> f64 {
    let (best_quality, largest) = coupled(flows).fold((-1.0f64, 0u32), |(quality, largest), flow| {
        (quality.max(path_quality(intervals, flow)), largest.max(compared_window(flow)))
    });
    let is_largest = |flow: &SubflowView| compared_window(flow) == largest;
    let is_collected =
        |flow: &SubflowView| !is_largest(flow) && path_quality(intervals, flow) >= best_quality;
    let (mut paths, mut largest_count, mut collected_count) = (0u32, 0u32, 0u32);
    for flow in coupled(flows) {
        paths += 1;
        largest_count += u32::from(is_largest(flow));
        collected_count += u32::from(is_collected(flow));
    }
    let own = &flows[index];
    if collected_count == 0 {
        0.0
    } else if is_collected(own) {
        1.0 / f64::from(paths * collected_count)
    } else if is_largest(own) {
        -1.0 / f64::from(paths * largest_count)
    } else {
        0.0
    }
}

/// ℓ_p / rtt_p².
#[inline]
fn path_quality(intervals: &[Intervals], flow: &SubflowView) -> f64 {
    let longest = intervals.get(flow.id.0 as usize).map_or(0, |i| i.longest());
    let rtt = flow.rtt_seconds();
    longest as f64 / (rtt * rtt)
}

/// The window by which M is found, in whole segments as Linux counts them: ssthresh while in recovery.
#[inline]
fn compared_window(flow: &SubflowView) -> u32 {
    let octets = if flow.in_recovery { flow.ssthresh.min(flow.cwnd) } else { flow.cwnd };
    octets / flow.smss.max(1)
}

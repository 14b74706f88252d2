//! wVegas, weighted Vegas (Cao, Xu, Fu, ICNP 2012): queueing delay as the signal, one step per round trip.

use super::rule::{CouplingRule, PerPlace, WindowUpdate, halved};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// Segments that all subflows together keep in queues.
const TOTAL_ALPHA: f64 = 10.0;
/// Least share of one subflow, and its initial one.
const ALPHA_LEAST: f64 = 2.0;
/// Segments in the queue that end slow start.
const GAMMA: f64 = 1.0;
/// Fewer samples than this say nothing about a round.
const SAMPLES_LEAST: u32 = 3;
/// Least window in segments.
const WINDOW_LEAST: f64 = 2.0;

/// What is remembered of one subflow.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Flow {
    /// Least RTT ever, seconds.
    base_rtt: f64,
    /// Sum and number of the round's RTT samples.
    sampled: f64,
    samples: u32,
    /// The round ends when as many octets are acknowledged.
    round_end: u64,
    /// Segments per second at the last step; the weight's numerator.
    rate: f64,
    /// Segments that it may keep in queues.
    alpha: f64,
    /// Least queueing delay since the last drain, seconds.
    least_queue: f64,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            base_rtt: f64::INFINITY,
            sampled: 0.0,
            samples: 0,
            round_end: 0,
            rate: 0.0,
            alpha: ALPHA_LEAST,
            least_queue: f64::INFINITY,
        }
    }
}

impl Flow {
    fn on_loss(&mut self, timeout: bool) {
        if timeout {
            self.rate = 0.0;
        }
        self.sampled = 0.0;
        self.samples = 0;
    }

    fn sample(&mut self, rtt: f64) {
        self.base_rtt = self.base_rtt.min(rtt);
        self.sampled += rtt;
        self.samples += 1;
    }
}

/// The states of all subflows.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Wvegas(PerPlace<Flow>);

impl CouplingRule for Wvegas {
    /// It keeps a queue on every path, so that each is full whatever the others carry.
    const DEPENDS_ON_OTHERS: bool = false;
    const LOOKS_AFTER_ACK: bool = true;

    /// Between its steps the window stands still in congestion avoidance; Reno's halving after a loss.
    fn coupling(&self, _flows: &[SubflowView], _index: usize, base: f64) -> Coupling {
        Coupling { increase: 0.0, ssthresh_after_loss: halved(base) }
    }

    fn on_acked(&mut self, flows: &[SubflowView], index: usize, _octets: u32) -> Option<WindowUpdate> {
        on_acked(&mut self.0, flows, index)
    }

    fn on_loss(&mut self, flows: &[SubflowView], index: usize) {
        let view = &flows[index];
        self.0.at(view.id.0 as usize).on_loss(view.in_timeout_recovery);
    }

    fn forget(&mut self, place: usize) {
        self.0.forget(place);
    }
}

/// Takes the sample; at the end of a round, the step.
fn on_acked(state: &mut PerPlace<Flow>, flows: &[SubflowView], index: usize) -> Option<WindowUpdate> {
    let view = &flows[index];
    let id = view.id.0 as usize;
    let flow = state.at(id);
    if let Some(rtt) = view.latest_rtt {
        flow.sample(rtt.as_nanos().max(1) as f64 * 1e-9);
    }
    if view.bytes_acked < flow.round_end || view.in_recovery {
        return None;
    }
    flow.round_end = view.bytes_acked + u64::from(view.flight);
    let (samples, sampled) = (flow.samples, flow.sampled);
    flow.samples = 0;
    flow.sampled = 0.0;
    if samples < SAMPLES_LEAST {
        return few_samples(view);
    }
    let rtt = sampled / f64::from(samples);
    step(state, flows, index, rtt)
}

/// Too few samples: one step of Reno for the ACK.
fn few_samples(view: &SubflowView) -> Option<WindowUpdate> {
    if view.in_slow_start {
        return None;
    }
    let window = view.window_segments();
    update(view, window + 1.0 / window, None)
}

fn step(state: &mut PerPlace<Flow>, flows: &[SubflowView], index: usize, rtt: f64) -> Option<WindowUpdate> {
    let view = &flows[index];
    let id = view.id.0 as usize;
    let window = view.window_segments();
    let base = state.at(id).base_rtt;
    let queued = window * (rtt - base) / rtt;
    if view.in_slow_start {
        if queued <= GAMMA {
            return None;
        }
        // Leave slow start at the window that fills the path and no queue.
        let target = window.min(window * base / rtt + 1.0);
        return update(view, target, Some(target - 1.0));
    }
    state.at(id).rate = window / rtt;
    if queued >= state.at(id).alpha {
        let total: f64 = flows.iter().filter_map(|f| state.get(f.id.0 as usize)).map(|f| f.rate).sum();
        let own = state.at(id);
        own.alpha = ALPHA_LEAST.max(own.rate / total * TOTAL_ALPHA);
    }
    let (mut next, mut threshold) = (window, None);
    let own = state.at(id);
    if queued > own.alpha {
        next -= 1.0;
        threshold = Some(next - 1.0);
    } else if queued < own.alpha {
        next += 1.0;
    }
    // Only a queue of at least its share of segments is drained. Where delays are exact, the least queueing delay is
    // next to nothing, and twice that is no congestion.
    if queued >= own.alpha && drains(own, rtt - base) {
        next *= base / (2.0 * rtt);
        threshold = Some(next);
    }
    update(view, next, threshold)
}

/// Once the queueing delay has doubled, the queue is drained so that the base RTT shows again.
fn drains(flow: &mut Flow, queueing: f64) -> bool {
    if queueing < flow.least_queue {
        flow.least_queue = queueing;
    }
    if queueing >= 2.0 * flow.least_queue {
        flow.least_queue = f64::INFINITY;
        return true;
    }
    false
}

/// cwnd = `window` segments, two at least; ssthresh = the lesser of what it was and `threshold`, never above
/// cwnd, so that a step is not followed by slow start.
fn update(view: &SubflowView, window: f64, threshold: Option<f64>) -> Option<WindowUpdate> {
    let smss = f64::from(view.smss);
    let cwnd = (window.max(WINDOW_LEAST) * smss) as u32;
    let ssthresh =
        threshold.map_or(view.ssthresh, |t| view.ssthresh.min((t.max(WINDOW_LEAST) * smss) as u32));
    let update = WindowUpdate { cwnd, ssthresh: ssthresh.min(cwnd) };
    (update != WindowUpdate { cwnd: view.cwnd, ssthresh: view.ssthresh }).then_some(update)
}

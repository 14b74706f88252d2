//! The goodput that a set of paths would yield: a fixed point of the throughput formula, the coupling of the
//! windows and head-of-line blocking.

use crate::config::Coupling;
use crate::coupling::{Control, CoupledControl, Decrease, control_of};
use crate::view::SubflowView;

/// Steps of the fixed-point iteration.
const STEPS: u32 = 8;

/// One path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PathParameters {
    /// Loss events per segment.
    pub(super) loss: f64,
    /// RTT without queues, seconds.
    pub(super) base_rtt: f64,
    /// RTT with the longest queue seen, seconds.
    pub(super) largest_rtt: f64,
    /// Retransmission timeout, seconds.
    pub(super) rto: f64,
    /// Octets per second; infinite if unknown.
    pub(super) capacity: f64,
    /// Octets.
    pub(super) smss: f64,
    /// b: segments for each ACK that lets the window grow (delayed ACKs); 1 where octets are counted.
    pub(super) segments_per_ack: f64,
}

impl PathParameters {
    /// Seconds until a segment is acknowledged whose loss is found by a timeout.
    pub(super) fn longest_repair(&self) -> f64 {
        self.rto + self.base_rtt
    }
}

/// What a set yields.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Prediction {
    /// Octets per second, blocking included.
    pub(super) goodput: f64,
    /// Share of the time in which the window lets the paths send.
    pub(super) efficiency: f64,
    /// Octets per second of each path while nothing blocks.
    pub(super) rates: Vec<f64>,
}

/// The state of one path in the iteration.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Growth and fall relative to Reno's: 1 is Reno.
    aggressiveness: f64,
    /// Segments.
    window: f64,
    /// Seconds, queue included.
    rtt: f64,
    /// Octets per second.
    rate: f64,
}

/// Goodput of `paths` used together, with a connection-level window of `window` octets. `views` are the same
/// paths' subflows: their windows are replaced by the model's.
pub(super) fn predict(
    coupling: Coupling,
    views: &[SubflowView],
    paths: &[PathParameters],
    window: f64,
) -> Prediction {
    let control = control_of(coupling);
    let mut flows: Vec<Flow> = paths.iter().map(|path| flow(control, path, 1.0)).collect();
    if paths.len() > 1 && is_coupled(coupling) {
        for _ in 0..STEPS {
            let next = aggressiveness(coupling, views, paths, &flows);
            for ((flow_now, path), target) in flows.iter_mut().zip(paths).zip(next) {
                // Half a step at a time: the map overshoots for paths that are alike.
                let damped = (flow_now.aggressiveness + target) / 2.0;
                *flow_now = flow(control, path, damped);
            }
        }
    }
    combine(&flows, paths, window)
}

/// Does the window of one subflow depend on the others?
pub(super) fn is_coupled(coupling: Coupling) -> bool {
    CoupledControl::new(coupling, Decrease::FromCwnd).depends_on_others()
}

fn flow(control: Control, path: &PathParameters, aggressiveness: f64) -> Flow {
    let mut window = mean_window(control, path, aggressiveness);
    let unlimited = path.smss / (path.base_rtt / window + timeout_cost(path));
    let rate = soft_least(unlimited, path.capacity);
    // What the path cannot carry waits in its queue, as far as that is known to reach.
    let rtt = (path.base_rtt * unlimited / rate).min(path.largest_rtt).max(path.base_rtt);
    window = window.min(window * rtt / path.base_rtt * rate / unlimited).max(1.0);
    Flow { aggressiveness, window, rtt, rate }
}

/// Mean window in segments under loss rate p.
fn mean_window(control: Control, path: &PathParameters, aggressiveness: f64) -> f64 {
    // PFTK's square-root term (RFC 3819 §8.5 has it for b = 2): √(3/2bp), times √k for an AIMD that is k
    // times as aggressive as Reno.
    let reno = (1.5 * aggressiveness / (path.segments_per_ack * path.loss)).sqrt();
    if control == Control::Bbr && path.loss <= 0.02 {
        // Up to BBR.LossThresh losses do not limit it: the path does.
        return 1e9;
    }
    if control != Control::Cubic {
        return reno;
    }
    // RFC 9438 §5.1 (β = 0.7, C = 0.4): 1.054 RTT^(3/4) / p^(3/4), Reno-friendly where that is more.
    let ratio = (path.base_rtt / path.loss).sqrt();
    reno.max(1.054 * ratio * ratio.sqrt())
}

/// RFC 3819 §8.5, the second term: seconds that timeouts add per segment.
fn timeout_cost(path: &PathParameters) -> f64 {
    let p = path.loss;
    path.rto * p * (1.0 + 32.0 * p * p) * (3.0 * (0.375 * path.segments_per_ack * p).sqrt()).min(1.0)
}

/// (x⁻³ + C⁻³)^(−1/3): the sawtooth of a window that partly fills the path loses some of both.
fn soft_least(x: f64, capacity: f64) -> f64 {
    if !capacity.is_finite() {
        return x;
    }
    let ratio = x / capacity;
    x / libm::cbrt(1.0 + ratio * ratio * ratio)
}

/// How aggressive the coupling makes each path at the present windows: a(2−d)/d over Reno's 3. Here a is the growth
/// per round trip in segments, and d the share of the window that a loss takes.
fn aggressiveness(
    coupling: Coupling,
    views: &[SubflowView],
    paths: &[PathParameters],
    flows: &[Flow],
) -> Vec<f64> {
    let mut control = CoupledControl::new(coupling, Decrease::FromCwnd);
    let supposed: Vec<SubflowView> =
        views.iter().zip(paths).zip(flows).map(|((view, path), flow)| suppose(view, path, flow)).collect();
    for (index, path) in paths.iter().enumerate() {
        // OLIA's measure of a path: octets between two losses.
        let between = (path.smss / path.loss).min(f64::from(u32::MAX)) as u32;
        control.on_acked(&supposed, index, between);
    }
    (0..supposed.len())
        .map(|index| {
            let rule = control.coupling(&supposed, index);
            let window = supposed[index].window_segments();
            let growth = (rule.increase * window).max(0.0);
            let fall = (1.0 - rule.ssthresh_after_loss / window).clamp(0.05, 1.0);
            (growth * (2.0 - fall) / fall / 3.0).clamp(0.01, 4.0)
        })
        .collect()
}

/// The view that the subflow would give at the model's window.
fn suppose(view: &SubflowView, path: &PathParameters, flow: &Flow) -> SubflowView {
    let cwnd = (flow.window * path.smss).max(path.smss) as u32;
    SubflowView {
        coupled: true,
        cwnd,
        ssthresh: cwnd / 2,
        flight: cwnd,
        srtt: Some(ropewalk_units::Duration::from_secs_f64(flow.rtt)),
        in_slow_start: false,
        in_recovery: false,
        in_timeout_recovery: false,
        ..*view
    }
}

/// The sum of the rates, less the time in which a lost segment's repair holds the window shut.
fn combine(flows: &[Flow], paths: &[PathParameters], window: f64) -> Prediction {
    let total: f64 = flows.iter().map(|flow| flow.rate).sum();
    let longest = paths.iter().map(|path| path.base_rtt).fold(0.0, f64::max);
    // A window per round trip of the slowest path in the set.
    let sum = total.min(window / longest);
    let exhausted_after = window / total;
    let stalled: f64 = flows
        .iter()
        .zip(paths)
        .map(|(flow, path)| {
            // The scheduler gives a path no more than what is acknowledged before the window is used up.
            let rtt = flow.rtt.min(path.base_rtt.max(exhausted_after));
            flow.rate / path.smss * path.loss * (repair(flow, path, rtt) - exhausted_after).max(0.0)
        })
        .sum();
    let efficiency = 1.0 / (1.0 + stalled);
    Prediction { goodput: sum * efficiency, efficiency, rates: flows.iter().map(|flow| flow.rate).collect() }
}

/// Seconds from sending a segment that is lost to its acknowledgement.
fn repair(flow: &Flow, path: &PathParameters, rtt: f64) -> f64 {
    // RFC 3819 §8.5 / PFTK: with few segments in flight, fewer than three duplicate ACKs come back.
    let by_timeout = (3.0 / flow.window).min(1.0);
    let fast = 2.0 * rtt + 3.0 * path.smss / flow.rate;
    (1.0 - by_timeout) * fast + by_timeout * (path.rto + rtt)
}

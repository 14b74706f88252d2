//! Goodput guard: leaves a path out while using it would cost more than it brings, and probes it so that it can
//! return. Equations and validation: `docs/models/goodput-guard.md`.
//!
//! Ten times a second each path is measured ([`estimate`]). Twice a second [`model`] predicts the goodput of the best
//! path alone and of sets of paths. It uses loss, RTT, capacity, the receive window and the coupling of the
//! congestion control, and is corrected by the measured goodput. The best set carries data. A path left out counts
//! for no other's congestion window and carries only copies of data that another path carries, so that probing it
//! blocks nobody.

mod correction;
mod estimate;
mod model;

#[cfg(test)]
mod tests;

use super::rule::{Decision, Needs, SchedulingRule, candidates};
use crate::config::{Config, Coupling, GuardConfig, Scheduler};
use crate::coupling::{Control, control_of};
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use correction::{Carried, Correction};
use estimate::PathEstimate;
use ropewalk_units::{Duration, Instant};

/// Between two measurements.
const SAMPLE: Duration = Duration::from_millis(100);
/// Between two verdicts.
const VERDICT: Duration = Duration::from_millis(500);
/// A set of paths must be in force so long before its measured goodput counts.
const SETTLING: Duration = Duration::from_millis(1500);
/// A path that is in use comes under judgement when it has sent as many segments.
const EVIDENCE: u64 = 60;
/// A larger set must promise this much of what the smaller one does …
const STAY_MARGIN: f64 = 1.0;
/// … under coupled congestion control, which means to take no more than one flow on the best path does: what it
/// promises beyond that is within the model's error unless it is more than this …
const COUPLED_MARGIN: f64 = 1.1;
/// … and so much more to come back.
const RETURN_MARGIN: f64 = 1.02;
/// Successful probes double up to this multiple of the configured size; rests after repeated exclusions too.
const PROBE_DOUBLINGS: u32 = 3;
const REST_DOUBLINGS: u32 = 5;
/// After so long in use, earlier exclusions of a path do not count any more.
const REHABILITATED: Duration = Duration::from_secs(10);

/// The scheduler's state.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Guard {
    config: GuardConfig,
    coupling: Coupling,
    segments_per_ack: f64,
    paths: Vec<PathEstimate>,
    carried: Carried,
    /// Measured over predicted goodput of the best path alone, and of several paths together.
    alone: Correction,
    together: Correction,
    /// Largest connection-level window seen lately, octets.
    window: f64,
    best: Option<SubflowId>,
    next_sample: Instant,
    next_verdict: Instant,
    /// Octets on paths that were left out since, to be carried by the best path as well.
    left_behind: u64,
    /// Since when the present set is in force.
    since: Option<Instant>,
}

impl SchedulingRule for Guard {
    const NEEDS: Needs = Needs::Rates;

    fn of(config: &Config) -> Self {
        let guard = match &config.scheduler {
            Scheduler::GoodputGuard(guard) => *guard,
            _ => GuardConfig::default(),
        };
        Self::new(guard, config.coupling, segments_per_ack(config))
    }

    /// The best path while it has room; another in use if that blocks nobody; probes; the paths left out if
    /// nothing else works.
    fn pick(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        self.observe(now, subflows, queue);
        if let Some(copy) =
            self.copy_left_behind(subflows, queue).or_else(|| self.probe(now, subflows, queue))
        {
            return copy;
        }
        let in_use = |s: &&SubflowView| self.is_in_use(s.id) && !s.in_timeout_recovery;
        if !candidates(subflows).any(|s| in_use(&s)) {
            return self.last_resort(subflows, queue);
        }
        let Some(best) = candidates(subflows).filter(in_use).min_by(|a, b| self.order(a, b)) else {
            return Decision::wait("goodput guard: no subflow is usable");
        };
        if best.has_room(queue.unsent) {
            return Decision::segment(best, queue, "goodput guard: best path has room");
        }
        let others =
            candidates(subflows).filter(in_use).filter(|s| s.id != best.id && s.has_room(queue.unsent));
        let Some(other) = others.min_by(|a, b| self.order(a, b)) else {
            return Decision::wait("goodput guard: no path in use has room");
        };
        if self.would_block(best, other, queue) {
            return Decision::wait("goodput guard: would block the best path");
        }
        Decision::segment(other, queue, "goodput guard: brings more than it costs")
    }

    fn pick_blocked(
        &mut self,
        now: Instant,
        subflows: &[SubflowView],
        queue: &QueueView,
        reason: &'static str,
    ) -> Decision {
        self.measure_while_blocked(now, subflows, queue, reason)
    }

    fn participates(&self, id: SubflowId) -> bool {
        self.is_in_use(id)
    }

    fn forget(&mut self, place: SubflowId) {
        self.forget_place(place);
    }
}

impl Guard {
    /// `segments_per_ack`: how many segments each ACK stands for that lets a window grow.
    pub(crate) fn new(config: GuardConfig, coupling: Coupling, segments_per_ack: u32) -> Self {
        Self {
            config,
            coupling,
            segments_per_ack: f64::from(segments_per_ack.max(1)),
            paths: Vec::new(),
            carried: Carried::default(),
            alone: Correction::default(),
            together: Correction::default(),
            window: 0.0,
            best: None,
            next_sample: Instant::ZERO,
            next_verdict: Instant::ZERO,
            left_behind: 0,
            since: None,
        }
    }

    /// Another subflow has this place.
    fn forget_place(&mut self, place: SubflowId) {
        if let Some(path) = self.paths.get_mut(place.0 as usize) {
            *path = PathEstimate::default();
        }
        self.best = self.best.filter(|&best| best != place);
    }

    /// Whether the subflow counts for the others' congestion windows.
    fn is_in_use(&self, id: SubflowId) -> bool {
        self.paths.get(id.0 as usize).is_none_or(|path| path.left_out.is_none())
    }

    /// With nothing new to send, or no window for it, there is still time for measurements and probes.
    fn measure_while_blocked(
        &mut self,
        now: Instant,
        subflows: &[SubflowView],
        queue: &QueueView,
        reason: &'static str,
    ) -> Decision {
        self.observe(now, subflows, queue);
        let copy = self.copy_left_behind(subflows, queue).or_else(|| self.probe(now, subflows, queue));
        copy.unwrap_or(Decision::wait(reason))
    }

    /// What is known of a subflow; nothing of one that came after the last measurement.
    fn path(&self, id: SubflowId) -> PathEstimate {
        self.paths.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Best first, then by expected delay.
    fn order(&self, a: &SubflowView, b: &SubflowView) -> std::cmp::Ordering {
        let rank = |s: &SubflowView| (Some(s.id) != self.best, s.srtt.unwrap_or(Duration::MAX));
        rank(a).cmp(&rank(b))
    }

    /// Every path in use is in trouble: any other path with room carries the next segment.
    fn last_resort(&self, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        let ready = candidates(subflows).filter(|s| s.has_room(queue.unsent));
        ready.min_by(|a, b| self.order(a, b)).map_or_else(
            || Decision::wait("goodput guard: no subflow has room"),
            |s| Decision::segment(s, queue, "goodput guard: paths in use are in trouble"),
        )
    }

    /// Before the segment given to `other` now were acknowledged, the best path would have used the whole
    /// window up (head-of-line blocking) or finished the whole backlog itself.
    fn would_block(&self, best: &SubflowView, other: &SubflowView, queue: &QueueView) -> bool {
        let best_rate = self.path(best.id).rate_now(best);
        let delay = self.path(other.id).delay_of_next(other);
        let window = (queue.in_flight + queue.window_left) as f64;
        if best_rate * delay > window {
            return true;
        }
        best.rtt_seconds() + queue.unsent as f64 / best_rate < delay
    }
}

/// Measuring and judging.
impl Guard {
    fn observe(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) {
        if now < self.next_sample {
            return;
        }
        self.next_sample = now + SAMPLE;
        let mut octets = 0;
        for view in subflows {
            let index = view.id.0 as usize;
            if index >= self.paths.len() {
                self.paths.resize(index + 1, PathEstimate::default());
            }
            let acked = self.paths[index].observe(now, view);
            if self.is_in_use(view.id) {
                octets += acked;
            }
        }
        self.window = ((queue.in_flight + queue.window_left) as f64).max(self.window * 0.99);
        self.carried.add(now, octets, queue.unsent == 0);
        if now >= self.next_verdict {
            self.next_verdict = now + VERDICT;
            self.judge(now, subflows);
        }
    }

    fn judge(&mut self, now: Instant, subflows: &[SubflowView]) {
        let judged: Vec<SubflowView> =
            candidates(subflows).filter(|s| self.path(s.id).is_measured(s)).copied().collect();
        let singles = judged.iter().map(|s| (s, self.predict(&[*s]).goodput));
        let Some((best, promised)) = singles.max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        let best = *best;
        if self.best != Some(best.id) {
            self.best = Some(best.id);
            self.alone = Correction::default();
        }
        self.learn(now, subflows, best.id);
        let (alone, together) = (self.alone.or(&self.together), self.together.or(&self.alone));
        let chosen = self.choose(now, best, promised * alone, together, &judged);
        self.apply(now, &judged, &chosen);
        for view in candidates(subflows) {
            if !self.path(view.id).is_measured(view) {
                self.begin_trial(now, view, &best);
            }
        }
    }

    /// A path that is not known yet, where the repair of a single loss would outlast the window: probes first.
    fn begin_trial(&mut self, now: Instant, view: &SubflowView, best: &SubflowView) {
        let repair = self.path(view.id).parameters(view, self.segments_per_ack).longest_repair();
        let blocks = self.path(best.id).rate_now(best) * repair > self.window;
        let path = &mut self.paths[view.id.0 as usize];
        if blocks && path.left_out.is_none() {
            self.left_behind += view.queued();
            path.leave_out_until_measured(now);
        }
    }

    /// Compares what the paths in use carried since the last verdict with the prediction for them.
    fn learn(&mut self, now: Instant, subflows: &[SubflowView], best: SubflowId) {
        let Some(carried) = self.carried.take(now) else { return };
        if self.since.is_none_or(|since| now.saturating_since(since) < SETTLING) {
            return;
        }
        let in_use: Vec<SubflowView> =
            candidates(subflows).filter(|s| self.is_in_use(s.id)).copied().collect();
        let (learns, rests) = match in_use.as_slice() {
            [] => return,
            [one] if one.id != best => return,
            [_] => (&mut self.alone, &mut self.together),
            _ => (&mut self.together, &mut self.alone),
        };
        rests.age(learns, carried.seconds);
        let promised = self.predict(&in_use).goodput;
        let learns = if in_use.len() == 1 { &mut self.alone } else { &mut self.together };
        learns.add(carried.rate / promised, carried.seconds);
    }

    fn predict(&self, set: &[SubflowView]) -> model::Prediction {
        let paths: Vec<model::PathParameters> =
            set.iter().map(|s| self.path(s.id).parameters(s, self.segments_per_ack)).collect();
        model::predict(self.coupling, set, &paths, self.window)
    }

    /// The set to use: paths are added to the best one, fastest first, while each promises an improvement over
    /// `worth`, what the best path yields alone.
    fn choose(
        &self,
        now: Instant,
        best: SubflowView,
        mut worth: f64,
        correction: f64,
        judged: &[SubflowView],
    ) -> Vec<SubflowView> {
        let mut others: Vec<SubflowView> = judged.iter().filter(|s| s.id != best.id).copied().collect();
        others.sort_by(|a, b| self.predict(&[*b]).goodput.total_cmp(&self.predict(&[*a]).goodput));
        let mut chosen = vec![best];
        for other in others {
            let left_out = self.path(other.id).left_out;
            if left_out.is_some_and(|until| now < until) {
                continue;
            }
            let stay = if model::is_coupled(self.coupling) { COUPLED_MARGIN } else { STAY_MARGIN };
            let margin = if left_out.is_some() { stay * RETURN_MARGIN } else { stay };
            chosen.push(other);
            let promised = self.predict(&chosen).goodput * correction;
            if promised >= worth * margin {
                worth = promised;
            } else {
                chosen.pop();
            }
        }
        chosen
    }

    fn apply(&mut self, now: Instant, judged: &[SubflowView], chosen: &[SubflowView]) {
        let mut changed = self.since.is_none();
        for view in judged {
            let used = chosen.iter().any(|s| s.id == view.id);
            let path = &mut self.paths[view.id.0 as usize];
            if used == path.left_out.is_none() {
                continue;
            }
            changed = true;
            if used {
                path.return_to_use(now);
            } else {
                self.left_behind += view.queued();
                path.leave_out(now, self.config.probe_interval);
            }
        }
        if changed {
            self.since = Some(now);
        }
    }

    /// What a path that was left out still carries would block the stream until its repair: the best path
    /// carries it as well.
    fn copy_left_behind(&mut self, subflows: &[SubflowView], queue: &QueueView) -> Option<Decision> {
        if self.left_behind == 0 {
            return None;
        }
        if queue.in_flight == 0 {
            self.left_behind = 0;
            return None;
        }
        let best = subflows.iter().find(|s| Some(s.id) == self.best && s.usable)?;
        let octets = u64::from(best.smss).min(best.send_space);
        if !best.has_room(octets) {
            return None;
        }
        self.left_behind = self.left_behind.saturating_sub(octets);
        Some(Decision::Copy {
            subflow: best.id,
            octets,
            reason: "goodput guard: reinjection from a path left out",
        })
    }

    /// The next copy of a probe that is due.
    fn probe(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Option<Decision> {
        if queue.in_flight == 0 {
            return None;
        }
        for view in subflows.iter().filter(|s| s.usable) {
            let Some(path) = self.paths.get_mut(view.id.0 as usize) else { continue };
            if path.left_out.is_none() || !path.probe_due(now, view, &self.config) {
                continue;
            }
            let octets = u64::from(view.smss).min(view.send_space);
            // A few at a time: a probe must not measure the queue that it builds itself.
            let few = view.queued() < u64::from(self.config.probe_segments) * u64::from(view.smss);
            if few && view.has_room(octets) {
                path.probe_left -= 1;
                return Some(Decision::Copy { subflow: view.id, octets, reason: "goodput guard: probe" });
            }
        }
        None
    }
}

/// How many segments each ACK stands for that lets a window grow. The peer is taken to delay its ACKs as this end
/// does: nothing on the wire says so.
fn segments_per_ack(config: &Config) -> u32 {
    let counts_octets = match control_of(config.coupling) {
        Control::Cubic | Control::Bbr => true,
        Control::NewReno | Control::Coupled => config.byte_counting,
    };
    if counts_octets { 1 } else { config.tcp.delayed_ack.segments }
}

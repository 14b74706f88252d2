//! ProbeBW: down, cruise, refill, up, and round again.

use super::{Bbr, State, UNBOUNDED};
use crate::rate_sample::RateSample;
use crate::window::Window;
use ropewalk_units::{Duration, Instant};

/// BBR.Headroom: the part of inflight_longterm that is left to others.
const HEADROOM: f64 = 0.15;
/// The least wait between probes; as much again is drawn at random.
pub(crate) const PROBE_WAIT: Duration = Duration::from_secs(2);
const PROBE_WAIT_SPREAD: u64 = 1_000_000_000;
/// The most round trips between probes.
const RENO_ROUNDS: u32 = 63;

/// BBR.ack_phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The variables of the cycle.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    pub(super) ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    pub(super) rounds_since_probe_up: u32,
    pub(super) prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    cycle_stamp: Instant,
    bw_probe_wait: Duration,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: u32,
    probe_up_acked_per_inc: u32,
}

impl Cycle {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            rounds_since_probe_up: 0,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cycle_stamp: now,
            bw_probe_wait: Duration::ZERO,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: UNBOUNDED,
        }
    }
}

impl Bbr {
    /// StartProbeBW_DOWN.
    pub(super) fn start_probe_bw_down(&mut self, now: Instant) {
        self.model.reset_congestion_signals();
        self.cycle.probe_up_acked_per_inc = UNBOUNDED;
        self.pick_probe_wait();
        self.cycle.cycle_stamp = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// StartProbeBW_CRUISE.
    pub(super) fn start_probe_bw_cruise(&mut self) {
        self.state = State::ProbeBwCruise;
    }

    /// StartProbeBW_REFILL.
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.model.reset_short_term();
        self.cycle.bw_probe_up_rounds = 0;
        self.cycle.bw_probe_up_acked = 0;
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// StartProbeBW_UP.
    fn start_probe_bw_up(&mut self, sample: &RateSample, window: &Window) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full_pipe.reset_to(sample.delivery_rate);
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope(window);
    }

    /// PickProbeWait.
    fn pick_probe_wait(&mut self) {
        self.cycle.rounds_since_probe_up = (self.random.next() & 1) as u32;
        self.cycle.bw_probe_wait = PROBE_WAIT + Duration::from_nanos(self.random.next() % PROBE_WAIT_SPREAD);
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, now: Instant, sample: &RateSample, window: &Window) {
        if !self.full_pipe.full_bw_reached || self.adapt_long_term_model(sample, window) {
            return;
        }
        match self.state {
            State::ProbeBwDown => {
                if !self.check_time_to_probe_bw(now, window) && self.is_time_to_cruise(sample, window) {
                    self.start_probe_bw_cruise();
                }
            }
            State::ProbeBwCruise => {
                self.check_time_to_probe_bw(now, window);
            }
            State::ProbeBwRefill => {
                if self.round_start {
                    self.cycle.is_bw_probe_sample = true;
                    self.start_probe_bw_up(sample, window);
                }
            }
            State::ProbeBwUp => {
                if self.is_time_to_go_down(sample, window) {
                    self.cycle.prev_probe_too_high = false;
                    self.start_probe_bw_down(now);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// IsTimeToProbeBW.
    fn check_time_to_probe_bw(&mut self, now: Instant, window: &Window) -> bool {
        let elapsed = now > self.cycle.cycle_stamp.saturating_add(self.cycle.bw_probe_wait);
        if elapsed || self.is_reno_coexistence_probe_time(window) {
            self.start_probe_bw_refill();
            return true;
        }
        false
    }

    /// IsRenoCoexistenceProbeTime: as often as Reno would have got back to the window.
    fn is_reno_coexistence_probe_time(&self, window: &Window) -> bool {
        let reno_rounds = self.target_inflight(window) / window.smss;
        self.cycle.rounds_since_probe_up >= reno_rounds.min(RENO_ROUNDS)
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self, window: &Window) -> u32 {
        self.bdp_multiple(1.0, self.model.bw()).min(window.cwnd)
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, sample: &RateSample, window: &Window) -> bool {
        sample.inflight <= self.inflight_with_headroom(window)
            && sample.inflight <= self.inflight(1.0, self.model.max_bw(), window)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, sample: &RateSample, window: &Window) -> bool {
        // Precautionary probing: the last probe went too high, so no further than it.
        if self.cycle.prev_probe_too_high && sample.inflight >= self.model.inflight_longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if sample.is_cwnd_limited && window.cwnd >= self.model.inflight_longterm {
            // inflight_longterm, not the path, limits the rate.
            self.full_pipe.reset_to(sample.delivery_rate);
            return false;
        }
        self.full_pipe.full_bw_now
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self, window: &Window) -> u32 {
        let bound = self.model.inflight_longterm;
        if bound == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = super::volume::octets(HEADROOM * f64::from(bound)).max(window.smss);
        bound.saturating_sub(headroom).max(Self::min_pipe_cwnd(window))
    }

    /// RaiseInflightLongtermSlope: the bound grows twice as fast in each round.
    fn raise_inflight_longterm_slope(&mut self, window: &Window) {
        let growth_this_round = 1_u32 << self.cycle.bw_probe_up_rounds;
        self.cycle.bw_probe_up_rounds = (self.cycle.bw_probe_up_rounds + 1).min(30);
        self.cycle.probe_up_acked_per_inc = (window.cwnd / growth_this_round).max(window.smss);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_inflight_longterm_upward(&mut self, sample: &RateSample, window: &Window) {
        if !sample.is_cwnd_limited || window.cwnd < self.model.inflight_longterm {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.bw_probe_up_acked = cycle.bw_probe_up_acked.saturating_add(sample.newly_acked);
        let delta = cycle.bw_probe_up_acked / cycle.probe_up_acked_per_inc;
        cycle.bw_probe_up_acked -= delta * cycle.probe_up_acked_per_inc;
        let raised = self.model.inflight_longterm.saturating_add(delta.saturating_mul(window.smss));
        self.model.inflight_longterm = raised.min(UNBOUNDED - 1);
        if self.round_start {
            self.raise_inflight_longterm_slope(window);
        }
    }

    /// AdaptLongTermModel. True if it has decided a transition.
    fn adapt_long_term_model(&mut self, sample: &RateSample, window: &Window) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping
            && self.round_start
            && self.end_of_probe_feedback(sample)
        {
            return true;
        }
        if self.is_inflight_too_high(sample.lost, sample.tx_in_flight)
            || self.model.inflight_longterm == UNBOUNDED
        {
            return false;
        }
        self.model.inflight_longterm = self.model.inflight_longterm.max(sample.tx_in_flight);
        if self.state == State::ProbeBwUp {
            self.probe_inflight_longterm_upward(sample, window);
        }
        false
    }

    /// The last samples of a probe have come. True if the next probe begins at once.
    fn end_of_probe_feedback(&mut self, sample: &RateSample) -> bool {
        self.cycle.is_bw_probe_sample = false;
        self.cycle.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !sample.is_app_limited {
            self.model.advance_max_bw_filter();
        }
        // Precautionary probing went well: probe again, in earnest.
        let again = self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high;
        if again {
            self.start_probe_bw_refill();
        }
        again
    }
}

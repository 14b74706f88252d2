//! Startup and Drain: find the bandwidth by doubling, then let the queue of that run empty.

use super::{Bbr, State, UNBOUNDED};
use crate::rate_sample::RateSample;
use crate::signals::{Acknowledgements, LossRange};
use crate::window::{UNLIMITED, Window};
use ropewalk_units::Instant;

/// A rate that grows by less is none that grows.
pub(crate) const GROWTH: f64 = 1.25;
/// Rounds without growth after which the pipe is full.
const FULL_BW_ROUNDS: u8 = 3;
/// BBRStartupFullLossCnt: sequence ranges lost in one round.
pub(crate) const FULL_LOSS_COUNT: u32 = 6;
/// Rounds that Drain takes at the most.
const DRAIN_ROUNDS: u64 = 3;

/// The estimator of the full pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) full_bw_reached: bool,
    pub(super) full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u8,
    /// Discontiguous sequence ranges lost in this round.
    lost_ranges: u32,
}

impl FullPipe {
    /// ResetFullBW.
    pub(super) fn reset(&mut self) {
        self.reset_to(0.0);
    }

    /// ResetFullBW with a baseline.
    pub(super) fn reset_to(&mut self, rate: f64) {
        self.full_bw = rate;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// CheckFullBWReached.
    pub(super) fn check(&mut self, round_start: bool, sample: &RateSample) {
        if self.full_bw_now || !round_start || sample.is_app_limited {
            return;
        }
        if sample.delivery_rate >= self.full_bw * GROWTH {
            return self.reset_to(sample.delivery_rate);
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// A packet was lost.
    pub(super) fn note_lost_range(&mut self, range: LossRange) {
        self.lost_ranges += u32::from(range == LossRange::Begins);
    }
}

impl Bbr {
    /// EnterStartup.
    pub(super) fn enter_startup(&mut self, window: &mut Window) {
        self.state = State::Startup;
        window.ssthresh = UNLIMITED;
    }

    /// What is known of the path's rate is of another time. It is searched for as by a flow that begins.
    pub(crate) fn begin_anew(&mut self, window: &mut Window) {
        self.enter_startup(window);
        self.full_pipe = FullPipe::default();
        self.model.inflight_longterm = UNBOUNDED;
        self.model.reset_short_term();
    }

    /// Is the path's rate being searched for?
    pub(crate) fn is_starting(&self) -> bool {
        self.state == State::Startup
    }

    /// CheckStartupDone.
    pub(super) fn check_startup_done(&mut self, sample: &RateSample, window: &mut Window) {
        self.check_startup_high_loss(sample, window);
        if self.state == State::Startup && self.full_pipe.full_bw_reached {
            self.enter_drain(window);
        }
    }

    /// CheckStartupHighLoss: at the end of a whole round since the first loss, in fast recovery.
    fn check_startup_high_loss(&mut self, sample: &RateSample, window: &Window) {
        let round_over = self.model.loss_round_start();
        let enough = if self.acknowledgements == Acknowledgements::Selective {
            round_over
                && self.full_pipe.lost_ranges >= FULL_LOSS_COUNT
                && self.is_inflight_too_high(sample.lost, sample.tx_in_flight)
        } else {
            self.full_pipe.lost_ranges > 0
        };
        if self.state == State::Startup && self.in_loss_recovery && enough {
            self.leave_startup_by_losses(window);
        }
        if round_over {
            self.full_pipe.lost_ranges = 0;
        }
    }

    /// The bottleneck is full: its losses say so.
    pub(super) fn leave_startup_by_losses(&mut self, window: &Window) {
        self.undo.note(State::Startup);
        self.full_pipe.full_bw_reached = true;
        self.full_pipe.full_bw_now = true;
        let bdp = self.bdp_multiple(1.0, self.model.bw());
        let safe = bdp.max(self.model.inflight_latest());
        self.model.inflight_longterm = safe.max(Self::min_pipe_cwnd(window));
    }

    /// EnterDrain.
    fn enter_drain(&mut self, window: &mut Window) {
        self.state = State::Drain;
        self.drain_start_round = self.round_count;
        // Nobody asks for ssthresh: it only tells that slow start, which this was, is over.
        window.ssthresh = Self::min_pipe_cwnd(window);
    }

    /// CheckDrainDone.
    pub(super) fn check_drain_done(&mut self, now: Instant, sample: &RateSample, window: &Window) {
        if self.state != State::Drain {
            return;
        }
        let drained = sample.inflight <= self.inflight(1.0, self.model.bw(), window);
        if drained || self.round_count > self.drain_start_round + DRAIN_ROUNDS {
            self.start_probe_bw_down(now);
        }
    }
}

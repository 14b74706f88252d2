//! BBR.min_rtt, and ProbeRTT: now and then, send so little that the queue drains and the propagation delay shows.

use super::probe_bw::AckPhase;
use super::{Bbr, State};
use crate::rate_sample::RateSample;
use crate::window::Window;
use ropewalk_units::{Duration, Instant};

/// BBR.MinRTTFilterLen.
pub const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// BBR.ProbeRTTInterval.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// BBR.ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

/// The filter of round-trip times, and ProbeRTT's schedule.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    /// BBR.min_rtt; `None` is infinity.
    min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    probe_rtt_min_delay: Option<Duration>,
    probe_rtt_min_stamp: Instant,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Instant>,
    probe_rtt_round_done: bool,
}

impl MinRtt {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            min_rtt: None,
            min_rtt_stamp: now,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: now,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
        }
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// A round trip with our own queue drained: what a ProbeRTT would have found now.
    pub(super) fn set(&mut self, now: Instant, rtt: Duration) {
        (self.min_rtt, self.min_rtt_stamp) = (Some(rtt), now);
        (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (Some(rtt), now);
    }

    /// UpdateMinRTT.
    pub(super) fn update(&mut self, now: Instant, rtt: Option<Duration>) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp.saturating_add(PROBE_RTT_INTERVAL);
        if let Some(rtt) = rtt
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = now;
        }
        let expired = now > self.min_rtt_stamp.saturating_add(MIN_RTT_FILTER_LEN);
        let lower = self.probe_rtt_min_delay.is_some_and(|delay| self.min_rtt.is_none_or(|min| delay < min));
        if lower || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }
}

impl Bbr {
    /// Our own queue was drained by another hand, and a round trip took this long then.
    pub(crate) fn on_drained(&mut self, now: Instant, rtt: Duration) {
        self.min_rtt.set(now, rtt);
    }

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, now: Instant, sample: &RateSample, window: &mut Window) {
        if self.state != State::ProbeRtt && self.min_rtt.probe_rtt_expired && !self.idle_restart {
            self.enter_probe_rtt(window);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(now, sample, window);
        }
        if sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn enter_probe_rtt(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.state = State::ProbeRtt;
        self.min_rtt.probe_rtt_done_stamp = None;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
    }

    /// HandleProbeRTT. That samples are limited meanwhile is the caller's to note: [`Self::limits_itself`].
    fn handle_probe_rtt(&mut self, now: Instant, sample: &RateSample, window: &mut Window) {
        if self.min_rtt.probe_rtt_done_stamp.is_some() {
            self.min_rtt.probe_rtt_round_done |= self.round_start;
            if self.min_rtt.probe_rtt_round_done {
                self.check_probe_rtt_done(now, window);
            }
        } else if sample.inflight <= self.probe_rtt_cwnd(window) {
            self.min_rtt.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
            self.min_rtt.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    /// CheckProbeRTTDone.
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant, window: &mut Window) {
        if self.min_rtt.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt.probe_rtt_min_stamp = now;
        self.restore_cwnd(window);
        self.exit_probe_rtt(now, window);
    }

    /// ExitProbeRTT.
    fn exit_probe_rtt(&mut self, now: Instant, window: &mut Window) {
        self.model.reset_short_term();
        if self.full_pipe.full_bw_reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup(window);
        }
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self, window: &Window) -> u32 {
        let gain = State::ProbeRtt.cwnd_gain();
        self.bdp_multiple(gain, self.model.bw()).max(Self::min_pipe_cwnd(window))
    }

    /// Does BBR hold the flow below what the path could take? Samples are then marked as limited by the application.
    pub(crate) fn limits_itself(&self) -> bool {
        self.state == State::ProbeRtt
    }
}

//! The outputs: pacing rate, send quantum, congestion window.

use super::volume::octets;
use super::{Bbr, State, UNBOUNDED};
use crate::pacing;
use crate::rate_sample::RateSample;
use crate::window::Window;
use ropewalk_units::{Duration, Rate};

/// BBR.PacingMarginPercent, as the factor that it leaves.
const PACING_MARGIN: f64 = 0.99;
/// What stands for the round-trip time before it is known.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

impl Bbr {
    /// UpdateControlParameters.
    pub(super) fn update_control_parameters(&mut self, sample: &RateSample, window: &mut Window) {
        self.set_pacing_rate_with_gain(self.state.pacing_gain());
        self.send_quantum = pacing::send_quantum(rate(self.pacing_rate), window.smss);
        self.set_cwnd(sample, window);
    }

    /// InitPacingRate.
    pub(super) fn init_pacing_rate(&mut self, srtt: Option<Duration>, window: &Window) {
        self.paced_by_rtt = srtt.is_some();
        let rtt = srtt.filter(|rtt| !rtt.is_zero()).unwrap_or(NOMINAL_RTT);
        let nominal_bandwidth = f64::from(self.initial_cwnd) / rtt.as_secs_f64();
        self.pacing_rate = State::Startup.pacing_gain() * nominal_bandwidth;
        self.send_quantum = pacing::send_quantum(rate(self.pacing_rate), window.smss);
    }

    /// SetPacingRateWithGain: until the pipe was full once, the rate never falls.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.model.bw() * PACING_MARGIN;
        if rate > self.pacing_rate || (self.full_pipe.full_bw_reached && rate > 0.0) {
            self.pacing_rate = rate;
        }
    }

    /// BDPMultiple, at a bandwidth.
    pub(super) fn bdp_multiple(&self, gain: f64, bw: f64) -> u32 {
        match self.min_rtt.get() {
            Some(min_rtt) => octets(gain * bw * min_rtt.as_secs_f64()),
            None => self.initial_cwnd,
        }
    }

    /// Inflight: what fills the pipe at a bandwidth, and what pipelining needs.
    pub(super) fn inflight(&self, gain: f64, bw: f64, window: &Window) -> u32 {
        self.quantization_budget(self.bdp_multiple(gain, bw), window)
    }

    /// QuantizationBudget, with TCP's offload budget of three quanta.
    fn quantization_budget(&self, inflight_cap: u32, window: &Window) -> u32 {
        let offload_budget = self.send_quantum.saturating_mul(3);
        let cap = inflight_cap.max(offload_budget).max(Self::min_pipe_cwnd(window));
        if self.state == State::ProbeBwUp { cap.saturating_add(2 * window.smss) } else { cap }
    }

    /// UpdateMaxInflight.
    fn max_inflight(&self, window: &Window) -> u32 {
        let full = self.full_pipe.full_bw_reached;
        let extra_acked =
            if full { self.extra_acked.of_all_rounds() } else { self.extra_acked.of_this_round() };
        let cap = self.bdp_multiple(self.state.cwnd_gain(), self.model.bw());
        self.quantization_budget(cap.saturating_add(extra_acked), window)
    }

    /// SetCwnd.
    fn set_cwnd(&self, sample: &RateSample, window: &mut Window) {
        let max_inflight = self.max_inflight(window);
        let grown = window.cwnd.saturating_add(sample.newly_acked);
        let mut cwnd = window.cwnd;
        if self.full_pipe.full_bw_reached {
            cwnd = grown.min(max_inflight);
        } else if cwnd < max_inflight || sample.total_delivered < u64::from(self.initial_cwnd) {
            cwnd = grown;
        }
        cwnd = cwnd.max(Self::min_pipe_cwnd(window));
        if self.state == State::ProbeRtt {
            // BoundCwndForProbeRTT.
            cwnd = cwnd.min(self.probe_rtt_cwnd(window));
        }
        window.set_cwnd(self.bound_cwnd_for_model(cwnd, window));
    }

    /// BoundCwndForModel.
    fn bound_cwnd_for_model(&self, cwnd: u32, window: &Window) -> u32 {
        let cap = match self.state {
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(window),
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.model.inflight_longterm,
            State::Startup | State::Drain => UNBOUNDED,
        };
        cwnd.min(cap.min(self.model.inflight_shortterm).max(Self::min_pipe_cwnd(window)))
    }
}

/// A rate of octets per second.
pub(crate) fn rate(octets_per_second: f64) -> Rate {
    // `as` saturates.
    Rate::from_bits_per_sec((octets_per_second * 8.0) as u64)
}

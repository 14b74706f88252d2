//! BBR (draft-ietf-ccwg-bbr, BBRv3), under the draft's names. It models the path from delivery rates, round-trip
//! times and losses. The model gives the sending rate and the octets to have in flight.
//!
//! The pieces: [`model`](self) in `bbr/model.rs`, what losses do to it in `loss.rs` and `undo.rs`, the state machine in
//! `startup.rs`, `probe_bw.rs` and `probe_rtt.rs`, and the three outputs in `control.rs`.

mod algorithm;
mod control;
pub(crate) use control::rate;
mod loss;
mod model;
mod probe_bw;
pub(crate) use probe_bw::PROBE_WAIT;
mod probe_rtt;
pub use probe_rtt::MIN_RTT_FILTER_LEN;
mod random;
mod startup;
pub(crate) use startup::{FULL_LOSS_COUNT, GROWTH};
mod undo;
mod volume;

#[cfg(test)]
mod tests;

use crate::aggregation::AckAggregation;
use crate::rate_sample::{LostPacket, RateSample};
use crate::signals::Acknowledgements;
use crate::window::Window;
use model::Model;
use probe_bw::Cycle;
use probe_rtt::MinRtt;
use random::Random;
use ropewalk_units::{Duration, Instant};
use startup::FullPipe;
use undo::Undo;

/// "Infinity" of a volume.
const UNBOUNDED: u32 = u32::MAX;
/// BBR.LossThresh: the loss rate of one round trip that probing tolerates.
pub(crate) const LOSS_THRESH: f64 = 0.02;
/// BBR.Beta: what a round with losses leaves of the short-term bounds.
pub(crate) const BETA: f64 = 0.7;
/// BBR.MinPipeCwnd, in segments.
pub(crate) const MIN_PIPE_CWND: u32 = 4;

/// BBR.state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

/// 4 ln 2: the least gain with which the rate doubles in each round.
pub const STARTUP_GAIN: f64 = 2.77;

impl State {
    /// BBR.pacing_gain.
    fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_GAIN,
            Self::Drain => 0.5,
            Self::ProbeBwDown => 0.9,
            Self::ProbeBwUp => 1.25,
            Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeRtt => 1.0,
        }
    }

    /// BBR.cwnd_gain.
    fn cwnd_gain(self) -> f64 {
        match self {
            Self::ProbeBwUp => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// IsInAProbeBWState.
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::ProbeBwDown | Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeBwUp)
    }

    /// IsProbingBW.
    fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp)
    }
}

/// One flow's BBR. cwnd lives in the [`Window`] that every call is given.
#[derive(Clone, Debug)]
pub(crate) struct Bbr {
    state: State,
    random: Random,
    /// C.has_selective_acks.
    acknowledgements: Acknowledgements,
    /// Between the begin of a loss recovery and its end.
    in_loss_recovery: bool,
    model: Model,
    full_pipe: FullPipe,
    cycle: Cycle,
    min_rtt: MinRtt,
    undo: Undo,
    extra_acked: AckAggregation,
    /// C.delivered.
    delivered: u64,
    /// A congestion mark came, and the ACK that brought it is not judged yet.
    marked: bool,
    /// BBR.round_count and what ends the round.
    round_count: u64,
    next_round_delivered: u64,
    round_start: bool,
    drain_start_round: u64,
    idle_restart: bool,
    /// A first round-trip time was seen, which the initial pacing rate is made from.
    paced_by_rtt: bool,
    /// C.InitialCwnd.
    initial_cwnd: u32,
    prior_cwnd: u32,
    /// C.pacing_rate in octets per second, and C.send_quantum.
    pacing_rate: f64,
    send_quantum: u32,
}

impl Bbr {
    /// OnInit. Everything drawn at random follows from `seed`, which should differ between flows.
    pub(crate) fn new(seed: u64, now: Instant, window: &Window) -> Self {
        let mut bbr = Self {
            state: State::Startup,
            random: Random::new(seed),
            acknowledgements: Acknowledgements::Selective,
            in_loss_recovery: false,
            model: Model::new(),
            full_pipe: FullPipe::default(),
            cycle: Cycle::new(now),
            min_rtt: MinRtt::new(now),
            undo: Undo::default(),
            extra_acked: AckAggregation::new(now),
            delivered: 0,
            marked: false,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            drain_start_round: 0,
            idle_restart: false,
            paced_by_rtt: false,
            initial_cwnd: window.cwnd,
            prior_cwnd: 0,
            pacing_rate: 0.0,
            send_quantum: 2 * window.smss,
        };
        bbr.init_pacing_rate(None, window);
        bbr
    }

    /// Whether the peer reports what arrives out of order.
    pub(crate) fn set_acknowledgements(&mut self, acknowledgements: Acknowledgements) {
        self.acknowledgements = acknowledgements;
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// A first estimate of the round-trip time, before any data (from a handshake).
    pub(crate) fn on_first_rtt(&mut self, srtt: Duration, window: &Window) {
        if !self.paced_by_rtt {
            self.init_pacing_rate(Some(srtt), window);
        }
    }

    /// UpdateOnACK: one ACK with the rate sample taken from it, after the losses that it showed.
    pub(crate) fn on_ack(&mut self, now: Instant, sample: &RateSample, window: &mut Window) {
        if let Some(rtt) = sample.rtt {
            self.on_first_rtt(rtt, window);
        }
        self.delivered = sample.total_delivered;
        if std::mem::take(&mut self.marked) {
            self.react_to_mark(now, sample, window);
        }
        self.update_model_and_state(now, sample, window);
        self.update_control_parameters(sample, window);
    }

    fn update_model_and_state(&mut self, now: Instant, sample: &RateSample, window: &mut Window) {
        self.model.update_latest_delivery_signals(sample);
        self.update_congestion_signals(sample, window);
        self.update_ack_aggregation(now, sample, window);
        self.full_pipe.check(self.round_start, sample);
        self.check_startup_done(sample, window);
        self.check_drain_done(now, sample, window);
        self.update_probe_bw_cycle_phase(now, sample, window);
        self.min_rtt.update(now, sample.rtt);
        self.check_probe_rtt(now, sample, window);
        self.model.advance_latest_delivery_signals(sample);
        self.model.bound_bw();
    }

    /// UpdateCongestionSignals.
    fn update_congestion_signals(&mut self, sample: &RateSample, window: &Window) {
        self.update_round(sample);
        self.model.update_max_bw(sample);
        if !self.model.loss_round_start() {
            return;
        }
        if !self.state.is_probing() {
            self.model.adapt_lower_bounds(window.cwnd);
        }
        self.model.end_loss_round();
    }

    /// UpdateRound.
    fn update_round(&mut self, sample: &RateSample) {
        self.round_start = sample.has_packet && sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.cycle.rounds_since_probe_up += 1;
        }
    }

    /// StartRound.
    fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// UpdateACKAggregation: how much more arrives at once than the bandwidth explains.
    fn update_ack_aggregation(&mut self, now: Instant, sample: &RateSample, window: &Window) {
        let (round, bandwidth) = (self.round_count, self.model.bw());
        self.extra_acked.update(now, round, sample.newly_acked, bandwidth, window.cwnd);
    }

    /// HandleRestartFromIdle: a packet is about to leave while none is on its way.
    pub(crate) fn on_restart_from_idle(&mut self, now: Instant, window: &mut Window) {
        self.idle_restart = true;
        self.extra_acked.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, window);
        }
    }

    /// HandleLostPacket.
    pub(crate) fn on_lost(&mut self, now: Instant, packet: &LostPacket, window: &mut Window) {
        self.delivered = packet.total_delivered;
        self.note_loss(window);
        self.full_pipe.note_lost_range(packet.range);
        if !self.cycle.is_bw_probe_sample {
            return;
        }
        if self.is_inflight_too_high(packet.lost, packet.tx_in_flight) {
            let inflight = loss::inflight_at_loss(packet);
            self.handle_inflight_too_high(now, inflight, packet.is_app_limited, window);
        }
    }

    /// C.pacing_rate in octets per second.
    pub(crate) fn pacing_rate(&self) -> f64 {
        self.pacing_rate
    }

    /// C.send_quantum.
    pub(crate) fn send_quantum(&self) -> u32 {
        self.send_quantum
    }

    /// BBR.bw in octets per second.
    pub(crate) fn bw(&self) -> f64 {
        self.model.bw()
    }

    /// BBR.min_rtt.
    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.get()
    }

    /// BBR.MinPipeCwnd.
    fn min_pipe_cwnd(window: &Window) -> u32 {
        window.smss.saturating_mul(MIN_PIPE_CWND)
    }
}

//! BBR on a path: TCP's, with a round trip of losses in the place of a recovery.

use super::{INITIAL_WINDOW, PathController, PathSample};
use crate::bbr::{self, Bbr};
use crate::rate_sample::LostPacket;
use crate::window::{UNLIMITED, Window};
use ropewalk_units::{Duration, Instant, Rate};

/// BBRv3 (draft-ietf-ccwg-bbr) on a path.
#[derive(Clone, Debug)]
pub struct PathBbr {
    bbr: Bbr,
    window: Window,
    /// Losses are one event until this much is delivered.
    recovery_until: Option<u64>,
}

impl PathBbr {
    /// For packets of `packet_size` octets. What is drawn at random follows from `seed`, which should differ between
    /// paths.
    pub fn new(seed: u64, packet_size: u32, now: Instant) -> Self {
        let size = packet_size.max(1);
        let window = Window::new(size.saturating_mul(INITIAL_WINDOW), UNLIMITED, size);
        Self { bbr: Bbr::new(seed, now, &window), window, recovery_until: None }
    }

    /// The path's own queue was drained, and a round trip took this long then.
    pub(super) fn on_drained(&mut self, now: Instant, rtt: Duration) {
        self.bbr.on_drained(now, rtt);
    }

    /// Is the path's rate being searched for?
    pub(super) fn is_starting(&self) -> bool {
        self.bbr.is_starting()
    }

    /// Another controller has yielded to others until now.
    pub(super) fn begin_anew(&mut self) {
        self.bbr.begin_anew(&mut self.window);
    }
}

impl PathController for PathBbr {
    fn on_restart_from_idle(&mut self, now: Instant) {
        self.bbr.on_restart_from_idle(now, &mut self.window);
    }

    fn on_sent(&mut self, _now: Instant, _size: u32, _inflight: u32) {}

    fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        if self.recovery_until.is_none() {
            self.bbr.on_enter_fast_recovery(&self.window);
            self.recovery_until = Some(packet.total_delivered);
        }
        self.bbr.on_lost(now, packet, &mut self.window);
    }

    fn on_report(&mut self, now: Instant, sample: &PathSample) {
        let rate = &sample.rate;
        // The report that ends the round is judged as a part of it: CheckStartupHighLoss asks for a whole round in recovery.
        self.bbr.on_ack(now, rate, &mut self.window);
        let over = |until| rate.has_packet && rate.prior_delivered >= until;
        if self.recovery_until.is_some_and(over) {
            self.recovery_until = None;
            self.bbr.on_exit_recovery(&mut self.window);
        }
    }

    fn on_timeout(&mut self, _now: Instant) {
        self.bbr.on_enter_rto(0, &mut self.window);
        self.recovery_until = Some(0);
    }

    fn inflight_bound(&self) -> u32 {
        self.window.cwnd
    }

    fn pacing_rate(&self, _now: Instant) -> Option<Rate> {
        Some(bbr::rate(self.bbr.pacing_rate()))
    }

    fn bandwidth(&self) -> Option<Rate> {
        let bandwidth = self.bbr.bw();
        (bandwidth > 0.0).then(|| bbr::rate(bandwidth))
    }

    fn base_rtt(&self) -> Option<Duration> {
        self.bbr.min_rtt()
    }

    fn limits_itself(&self) -> bool {
        self.bbr.limits_itself()
    }
}

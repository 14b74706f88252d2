//! BBR as one of the congestion controls.

use super::{Bbr, rate};
use crate::algorithm::Algorithm;
use crate::config::Config;
use crate::rate_sample::{LostPacket, RateSample};
use crate::signals::Acknowledgements;
use crate::window::{UNLIMITED, Window};
use ropewalk_units::{Duration, Instant, Rate};

/// Apart from the others: it is many times as large.
impl Algorithm for Box<Bbr> {
    const MODELS_PATH: bool = true;

    fn new(config: &Config, now: Instant, window: &mut Window) -> Self {
        window.ssthresh = UNLIMITED;
        Self::new(Bbr::new(config.seed, now, window))
    }

    fn on_loss(&mut self, window: &mut Window, _base: u32) {
        self.on_enter_fast_recovery(window);
    }

    fn on_ecn(&mut self, _window: &mut Window, _base: u32) {
        (**self).on_ecn();
    }

    fn on_timeout(&mut self, window: &mut Window, inflight: u32) {
        self.on_enter_rto(inflight, window);
    }

    fn exit_recovery(&mut self, window: &mut Window) {
        self.on_exit_recovery(window);
    }

    fn on_sample(&mut self, now: Instant, sample: &RateSample, window: &mut Window) {
        self.on_ack(now, sample, window);
    }

    fn on_lost(&mut self, now: Instant, packet: &LostPacket, window: &mut Window) {
        (**self).on_lost(now, packet, window);
    }

    fn on_restart_from_idle(&mut self, now: Instant, window: &mut Window) {
        (**self).on_restart_from_idle(now, window);
    }

    fn on_established(&mut self, srtt: Option<Duration>, acks: Acknowledgements, window: &Window) {
        self.set_acknowledgements(acks);
        if let Some(srtt) = srtt {
            self.on_first_rtt(srtt, window);
        }
    }

    fn on_spurious_recovery(&mut self, window: &mut Window) {
        (**self).on_spurious_recovery(window);
    }

    fn limits_itself(&self) -> bool {
        (**self).limits_itself()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(rate((**self).pacing_rate()))
    }

    fn send_quantum(&self) -> Option<u32> {
        Some((**self).send_quantum())
    }

    fn bandwidth(&self) -> Option<Rate> {
        Some(rate(self.bw()))
    }
}

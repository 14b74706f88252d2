//! What losses say about the volume in flight.

use super::volume::octets;
use super::{BETA, Bbr, LOSS_THRESH, State};
use crate::rate_sample::{LostPacket, RateSample};
use crate::signals::Acknowledgements;
use crate::window::Window;
use ropewalk_units::Instant;

impl Bbr {
    /// NoteLoss.
    pub(super) fn note_loss(&mut self, window: &Window) {
        if self.model.note_loss(self.delivered) {
            self.save_state_upon_loss(window);
        }
    }

    /// IsInflightTooHigh.
    pub(super) fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u32) -> bool {
        lost as f64 > f64::from(tx_in_flight) * LOSS_THRESH
            || (lost > 0 && self.acknowledgements == Acknowledgements::Cumulative)
    }

    /// HandleInflightTooHigh, with what was on its way when losses crossed the threshold.
    pub(super) fn handle_inflight_too_high(
        &mut self,
        now: Instant,
        inflight: u32,
        is_app_limited: bool,
        window: &Window,
    ) {
        self.cycle.prev_probe_too_high = true;
        // Only one reaction for each probe.
        self.cycle.is_bw_probe_sample = false;
        if !is_app_limited {
            let floor = octets(BETA * f64::from(self.target_inflight(window)));
            self.model.inflight_longterm = inflight.max(floor);
        }
        if self.state == State::ProbeBwUp {
            self.undo.note(State::ProbeBwUp);
            self.start_probe_bw_down(now);
        }
    }

    /// The peer echoed a congestion mark; judged with the ACK that brought it.
    pub(crate) fn on_ecn(&mut self) {
        self.marked = true;
    }

    /// Marks are to be treated as congestion: as a round with a loss, and while probing as one that lost too much.
    pub(super) fn react_to_mark(&mut self, now: Instant, sample: &RateSample, window: &Window) {
        self.note_loss(window);
        if self.state == State::Startup {
            self.leave_startup_by_losses(window);
        } else if self.cycle.is_bw_probe_sample {
            self.handle_inflight_too_high(now, sample.tx_in_flight, sample.is_app_limited, window);
        }
    }
}

/// InflightAtLoss: how much was on its way when losses crossed the threshold, perhaps within the packet.
pub(super) fn inflight_at_loss(packet: &LostPacket) -> u32 {
    let size = f64::from(packet.size);
    let inflight_prev = f64::from(packet.tx_in_flight) - size;
    let lost_prev = packet.lost as f64 - size;
    let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
    octets(inflight_prev + lost_prefix)
}

//! RFC 5681: additive increase, multiplicative decrease.

use crate::ack_sample::AckSample;
use crate::algorithm::Algorithm;
use crate::config::Config;
use crate::window::Window;
use ropewalk_units::Instant;

/// Congestion avoidance of RFC 5681 §3.1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct NewReno {
    byte_counting: bool,
    /// Octets acknowledged since cwnd last grew by a segment (RFC 3465 §2.1).
    acked: u32,
}

impl NewReno {
    /// RFC 3465: by octets that are acknowledged, not by ACKs.
    pub(crate) fn counting_octets() -> Self {
        Self { byte_counting: true, acked: 0 }
    }

    /// Congestion avoidance: one ACK for `octets` new octets.
    pub(crate) fn grow(&mut self, window: &mut Window, octets: u32) {
        if !self.byte_counting {
            // RFC 5681 §3.1 eq. (3): SMSS * SMSS / cwnd for every ACK of new data.
            let smss = f64::from(window.smss);
            window.shift(smss / window.segments());
            return;
        }
        // RFC 3465 §2.1: one segment for each window's worth of acknowledged octets.
        self.acked = self.acked.saturating_add(octets);
        while self.acked >= window.cwnd {
            self.acked -= window.cwnd;
            window.grow(window.smss);
        }
    }

    /// The count towards the next segment starts anew with every decrease.
    pub(crate) fn reset(&mut self) {
        self.acked = 0;
    }
}

impl Algorithm for NewReno {
    fn new(config: &Config, _now: Instant, _window: &mut Window) -> Self {
        Self { byte_counting: config.congestion_control.counts_octets(), acked: 0 }
    }

    #[inline]
    fn avoid(&mut self, window: &mut Window, _now: Instant, octets: u32, sample: &AckSample) {
        if sample.cwnd_limited {
            self.grow(window, octets);
        }
    }

    /// RFC 5681 §3.1 eq. (4).
    fn on_loss(&mut self, window: &mut Window, base: u32) {
        self.reset();
        window.set_ssthresh(base / 2, 2);
    }

    fn exit_recovery(&mut self, _window: &mut Window) {
        self.reset();
    }
}

//! DCTCP (RFC 8257): the window falls by as much as the share of marked octets says.

use crate::ack_sample::AckSample;
use crate::algorithm::Algorithm;
use crate::config::Config;
use crate::newreno::NewReno;
use crate::window::Window;
use ropewalk_units::Instant;

/// RFC 8257 §4.2: DCTCP.Gain, g.
const GAIN: f64 = 1.0 / 16.0;

/// The sender's half. The receiver's echo is the transport's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Dctcp {
    /// DCTCP.Alpha: the averaged share of octets that were marked.
    alpha: f64,
    /// Growth is Reno's (RFC 8257 §3.4).
    growth: NewReno,
    /// The window of observation: octets acknowledged at its begin, and where it ends.
    begin: u64,
    end: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl Dctcp {
    /// RFC 8257 §3.3: an ACK; `acked` octets are acknowledged so far and `sent` sent. At the end of a window of
    /// observation Alpha takes the window's share of marks in.
    fn on_acked(&mut self, acked: u64, sent: u64) {
        if acked < self.end {
            return;
        }
        let observed = acked.saturating_sub(self.begin);
        if observed > 0 && self.end > 0 {
            let share = (self.marked as f64 / observed as f64).min(1.0);
            self.alpha = (1.0 - GAIN) * self.alpha + GAIN * share;
        }
        self.marked = 0;
        self.begin = acked;
        self.end = sent;
    }
}

impl Algorithm for Dctcp {
    /// RFC 8257 §3.3: Alpha begins at 1, so that the first mark halves.
    fn new(_config: &Config, _now: Instant, _window: &mut Window) -> Self {
        Self { alpha: 1.0, growth: NewReno::counting_octets(), begin: 0, end: 0, marked: 0 }
    }

    fn observe(&mut self, _now: Instant, sample: &AckSample) {
        self.on_acked(sample.acked, sample.sent);
    }

    fn avoid(&mut self, window: &mut Window, now: Instant, octets: u32, sample: &AckSample) {
        self.growth.avoid(window, now, octets, sample);
    }

    /// RFC 8257 §3.5: a loss is what it is to Reno.
    fn on_loss(&mut self, window: &mut Window, base: u32) {
        self.growth.on_loss(window, base);
    }

    /// RFC 8257 §3.3 eq. (2), once for each window.
    fn on_ecn(&mut self, window: &mut Window, _base: u32) {
        self.growth.reset();
        window.set_ssthresh_f64(f64::from(window.cwnd) * (1.0 - self.alpha / 2.0), 2);
    }

    fn exit_recovery(&mut self, _window: &mut Window) {
        self.growth.reset();
    }

    fn on_marked(&mut self, octets: u32, acked: u64, sent: u64) {
        self.marked += u64::from(octets);
        self.on_acked(acked, sent);
    }

    /// DCTCP.Alpha.
    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }
}

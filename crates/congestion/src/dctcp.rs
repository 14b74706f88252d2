//! DCTCP (RFC 8257): the window falls by as much as the share of marked octets says.

use crate::newreno::NewReno;
use crate::window::Window;

/// RFC 8257 §4.2: DCTCP.Gain, g.
const GAIN: f64 = 1.0 / 16.0;

/// The sender's half. The receiver's echo is the transport's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Dctcp {
    /// DCTCP.Alpha: the averaged share of octets that were marked.
    alpha: f64,
    /// Growth is Reno's (RFC 8257 §3.4).
    pub(crate) growth: NewReno,
    /// The window of observation: octets acknowledged at its begin, and where it ends.
    begin: u64,
    end: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl Dctcp {
    /// RFC 8257 §3.3: Alpha begins at 1, so that the first mark halves.
    pub(crate) fn new() -> Self {
        Self { alpha: 1.0, growth: NewReno::new(true), begin: 0, end: 0, marked: 0 }
    }

    /// `octets` of those acknowledged were marked.
    pub(crate) fn on_marked(&mut self, octets: u32) {
        self.marked += u64::from(octets);
    }

    /// RFC 8257 §3.3: an ACK; `acked` octets are acknowledged so far and `sent` sent. At the end of a window of
    /// observation Alpha takes the window's share of marks in.
    pub(crate) fn observe(&mut self, acked: u64, sent: u64) {
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

    /// RFC 8257 §3.3 eq. (2), once for each window.
    pub(crate) fn on_ecn(&mut self, window: &mut Window) {
        self.growth.reset();
        window.set_ssthresh_f64(f64::from(window.cwnd) * (1.0 - self.alpha / 2.0), 2);
    }

    /// DCTCP.Alpha.
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }
}

//! The two numbers every algorithm moves, and how they may move.

/// The largest window a receiver can advertise (RFC 7323 §2.3): growing beyond it has no effect.
const MAX_WINDOW: u32 = 1 << 30;
/// RFC 5681 §3.1: an initial ssthresh "arbitrarily high".
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// cwnd and ssthresh in octets, with the fraction of an octet that growth has earned but not shown yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    pub(crate) smss: u32,
    fraction: f64,
}

impl Window {
    pub(crate) fn new(cwnd: u32, ssthresh: u32, smss: u32) -> Self {
        Self { cwnd, ssthresh, smss, fraction: 0.0 }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// cwnd in segments, with its fraction.
    pub(crate) fn segments(&self) -> f64 {
        (f64::from(self.cwnd) + self.fraction) / f64::from(self.smss)
    }

    /// Adds whole octets.
    pub(crate) fn grow(&mut self, octets: u32) {
        self.cwnd = self.cwnd.saturating_add(octets).min(MAX_WINDOW.max(self.smss));
    }

    /// Moves cwnd by a real number of octets, to one segment at least. The fraction is kept for the next call, so
    /// that many small steps add up to the same as one large step.
    pub(crate) fn shift(&mut self, octets: f64) {
        let target = f64::from(self.cwnd) + self.fraction + octets;
        let floor = f64::from(self.smss);
        let limit = f64::from(MAX_WINDOW.max(self.smss));
        // A step that is not a number comes only from outside, and changes nothing.
        if target.is_nan() {
            return;
        }
        let target = target.clamp(floor, limit);
        self.cwnd = target as u32;
        self.fraction = target - f64::from(self.cwnd);
    }

    /// Sets cwnd, to one segment at the lowest.
    pub(crate) fn set_cwnd(&mut self, octets: u32) {
        self.cwnd = octets.clamp(self.smss, MAX_WINDOW.max(self.smss));
        self.fraction = 0.0;
    }

    /// Sets ssthresh, to `segments` segments at the lowest.
    pub(crate) fn set_ssthresh(&mut self, octets: u32, segments: u32) {
        self.ssthresh = octets.max(self.smss.saturating_mul(segments));
    }

    /// Cuts ssthresh down to whole segments.
    pub(crate) fn round_ssthresh(&mut self) {
        self.ssthresh -= self.ssthresh % self.smss;
    }

    /// Sets ssthresh from a real number of octets, to the nearest octet.
    pub(crate) fn set_ssthresh_f64(&mut self, octets: f64, segments: u32) {
        // `as` saturates, and turns what is not a number into 0, which the floor lifts.
        self.set_ssthresh((octets + 0.5) as u32, segments);
    }
}

//! One-way delays of one path: those of a reporting interval, and the extremes of late.

use ropewalk_units::{Duration, Instant};

/// Least one-way delay since the last report, as the wrapping difference of two clocks.
#[derive(Clone, Copy, Default)]
pub(super) struct IntervalDelays {
    least: Option<u32>,
    /// That of the interval before, for a report that has nothing new to say.
    before: u32,
}

impl IntervalDelays {
    #[inline]
    pub(super) fn note(&mut self, delay: u32) {
        let is_less = |least: u32| (delay.wrapping_sub(least) as i32) < 0;
        if self.least.is_none_or(is_less) {
            self.least = Some(delay);
        }
    }

    /// The least, and whether there was any.
    pub(super) fn take(&mut self) -> (u32, bool) {
        let is_fresh = self.least.is_some();
        if let Some(least) = self.least.take() {
            self.before = least;
        }
        (self.before, is_fresh)
    }
}

/// Half the window over which extremes are kept.
const HALF_WINDOW: Duration = Duration::from_millis(500);

/// Least and greatest of the last half to whole second, in µs relative to the endpoint's first delay.
#[derive(Clone, Copy)]
pub(crate) struct Extremes {
    current: Option<(i64, i64)>,
    before: Option<(i64, i64)>,
    since: Instant,
}

impl Extremes {
    pub(super) fn new(now: Instant) -> Self {
        Self { current: None, before: None, since: now }
    }

    #[inline]
    pub(super) fn note(&mut self, now: Instant, delay: i64) {
        if now.saturating_since(self.since) >= HALF_WINDOW {
            self.before = self.current.take();
            self.since = now;
        }
        let (least, most) = self.current.unwrap_or((delay, delay));
        self.current = Some((least.min(delay), most.max(delay)));
    }

    /// The greatest, if anything came at all of late.
    #[inline]
    pub(crate) fn most(&self) -> Option<i64> {
        match (self.current, self.before) {
            (Some((_, a)), Some((_, b))) => Some(a.max(b)),
            (Some((_, most)), None) | (None, Some((_, most))) => Some(most),
            (None, None) => None,
        }
    }

    /// The least, likewise.
    #[inline]
    pub(crate) fn least(&self) -> Option<i64> {
        match (self.current, self.before) {
            (Some((a, _)), Some((b, _))) => Some(a.min(b)),
            (Some((least, _)), None) | (None, Some((least, _))) => Some(least),
            (None, None) => None,
        }
    }
}

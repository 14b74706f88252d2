//! The least and the greatest recent one-way delay of one path.

use ropewalk_congestion::UNKNOWN;
use ropewalk_units::Instant;

/// Least and greatest of the last half to whole second, in µs relative to the endpoint's first
/// delay.
#[derive(Clone, Copy)]
pub(crate) struct Extremes {
    current: Option<(i64, i64)>,
    before: Option<(i64, i64)>,
    since: Instant,
}

impl Extremes {
    pub(crate) fn new(now: Instant) -> Self {
        Self { current: None, before: None, since: now }
    }

    #[inline]
    pub(crate) fn note(&mut self, now: Instant, delay: i64) {
        if now.saturating_since(self.since) >= UNKNOWN / 2 {
            self.before = self.current.take();
            self.since = now;
        }
        let (least, most) = self.current.unwrap_or((delay, delay));
        self.current = Some((least.min(delay), most.max(delay)));
    }

    /// The greatest delay; `None`: nothing has come.
    #[inline]
    pub(crate) fn most(&self) -> Option<i64> {
        match (self.current, self.before) {
            (Some((_, a)), Some((_, b))) => Some(a.max(b)),
            (Some((_, most)), None) | (None, Some((_, most))) => Some(most),
            (None, None) => None,
        }
    }

    /// The least delay; `None`: nothing has come.
    #[inline]
    pub(crate) fn least(&self) -> Option<i64> {
        match (self.current, self.before) {
            (Some((a, _)), Some((b, _))) => Some(a.min(b)),
            (Some((least, _)), None) | (None, Some((least, _))) => Some(least),
            (None, None) => None,
        }
    }
}

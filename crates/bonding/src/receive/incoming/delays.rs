//! The least and the greatest recent one-way delay of one path.

use crate::path::liveness::UNKNOWN;
use ropewalk_units::{Duration, Instant};

/// Length of a half of the time that is remembered.
const HALF: Duration = Duration::from_nanos(UNKNOWN.as_nanos() / 2);

/// Least and greatest of the last half to whole second, in µs relative to the endpoint's first
/// delay.
///
/// All paths forget at the same times. Else, after a clock was set, one path would know delays from
/// before and another one not, and they could not be compared.
#[derive(Clone, Copy)]
pub(crate) struct Extremes {
    current: Option<(i64, i64)>,
    before: Option<(i64, i64)>,
    /// The number of the current half second.
    half: u64,
}

fn half(now: Instant) -> u64 {
    now.as_nanos() / HALF.as_nanos()
}

impl Extremes {
    pub(super) fn new(now: Instant) -> Self {
        Self { current: None, before: None, half: half(now) }
    }

    #[inline]
    pub(super) fn note(&mut self, now: Instant, delay: i64) {
        let half = half(now);
        if half != self.half {
            self.before = self.current.take();
            self.half = half;
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

    /// The least delay of the last half to whole second. If nothing has come meanwhile, that of the
    /// last half second in which something came, if it ended less than `longer` ago.
    pub(super) fn least_since(&self, now: Instant, longer: Duration) -> Option<i64> {
        match half(now).saturating_sub(self.half) {
            0 => self.least(),
            halves if HALF * (halves - 1) <= longer => self.current.map(|(least, _)| least),
            _ => None,
        }
    }
}

//! How closely a path is watched. A path that rests has its keepalives far apart and carries no
//! reports. It rests if it may and nobody uses it.

use ropewalk_congestion::UNKNOWN;
use ropewalk_units::{Duration, Instant};

/// Whether a path rests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    /// Time between keepalives while it rests.
    apart: Duration,
    is_resting: bool,
    used_at: Instant,
}

impl Watch {
    pub(crate) fn new(apart: Duration, now: Instant) -> Self {
        Self { apart, is_resting: false, used_at: now }
    }

    /// The path is used from now on. Returns whether it rested.
    #[inline]
    pub(crate) fn wake(&mut self, now: Instant) -> bool {
        self.used_at = now;
        std::mem::take(&mut self.is_resting)
    }

    /// The path rests from now on if nobody has used it for [`UNKNOWN`].
    pub(crate) fn rest_if_idle(&mut self, now: Instant) {
        self.is_resting |= now.saturating_since(self.used_at) >= UNKNOWN;
    }

    pub(crate) fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// The time between its keepalives, `usual` if it does not rest.
    pub(crate) fn interval(&self, usual: Duration) -> Duration {
        if self.is_resting { usual.max(self.apart) } else { usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_when_it_was_not_used_for_a_second_and_wakes_when_it_is() {
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let usual = Duration::from_millis(50);
        let mut watch = Watch::new(Duration::from_secs(2), at(0));
        watch.rest_if_idle(at(999));
        assert_eq!(watch.interval(usual), usual);
        watch.rest_if_idle(at(1000));
        assert_eq!(watch.interval(usual), Duration::from_secs(2));
        assert!(watch.wake(at(1500)) && !watch.wake(at(1600)));
        watch.rest_if_idle(at(2599));
        assert!(!watch.is_resting());
    }
}

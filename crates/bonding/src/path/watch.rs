//! How closely a path is watched. One that may rest and that nobody uses has its keepalives far apart, and carries no reports.

use ropewalk_units::{Duration, Instant};

/// Unused for so long, a path may rest.
const IDLE: Duration = Duration::from_secs(1);
/// Between keepalives of a path that rests: less than 10 MB a day, in both directions.
const RESTING: Duration = Duration::from_secs(2);

/// Whether a path rests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    is_resting: bool,
    used_at: Instant,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self { is_resting: false, used_at: now }
    }

    /// It is used from now on. Did it rest?
    #[inline]
    pub(crate) fn wake(&mut self, now: Instant) -> bool {
        self.used_at = now;
        std::mem::take(&mut self.is_resting)
    }

    /// It rests from now on, if nobody uses it.
    pub(crate) fn rest_if_idle(&mut self, now: Instant) {
        self.is_resting |= now.saturating_since(self.used_at) >= IDLE;
    }

    pub(crate) fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// The time between its keepalives, `usual` if it does not rest.
    pub(crate) fn interval(&self, usual: Duration) -> Duration {
        if self.is_resting { usual.max(RESTING) } else { usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_when_it_was_not_used_for_a_second_and_wakes_when_it_is() {
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let usual = Duration::from_millis(50);
        let mut watch = Watch::new(at(0));
        watch.rest_if_idle(at(999));
        assert_eq!(watch.interval(usual), usual);
        watch.rest_if_idle(at(1000));
        assert_eq!(watch.interval(usual), RESTING);
        assert!(watch.wake(at(1500)) && !watch.wake(at(1600)));
        watch.rest_if_idle(at(2599));
        assert!(!watch.is_resting());
    }
}

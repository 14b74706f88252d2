//! A path's round trip without queues.

use ropewalk_congestion::MIN_RTT_FILTER_LEN;
use ropewalk_units::{Duration, Instant};

/// The least round trip of the last 5 to 10 s.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseRtt {
    current: Option<Duration>,
    before: Option<Duration>,
    since: Instant,
}

impl BaseRtt {
    pub(super) fn new(now: Instant) -> Self {
        Self { current: None, before: None, since: now }
    }

    pub(super) fn note(&mut self, now: Instant, rtt: Duration) {
        if now.saturating_since(self.since) >= MIN_RTT_FILTER_LEN / 2 {
            self.before = self.current.take();
            self.since = now;
        }
        self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
    }

    #[inline]
    pub(super) fn get(&self) -> Option<Duration> {
        match (self.current, self.before) {
            (Some(current), Some(before)) => Some(current.min(before)),
            (current, before) => current.or(before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_forgotten_after_two_halves() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut base = BaseRtt::new(at(0));
        assert_eq!(base.get(), None);
        base.note(at(0), Duration::from_millis(10));
        base.note(at(4), Duration::from_millis(30));
        base.note(at(6), Duration::from_millis(20));
        assert_eq!(base.get(), Some(Duration::from_millis(10)));
        base.note(at(12), Duration::from_millis(40));
        assert_eq!(base.get(), Some(Duration::from_millis(20)));
    }
}

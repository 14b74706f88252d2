//! How long reports wait on their way: in queues there, or before a gateway that is late. None of it is a delay of the path that they tell of.

use super::Extremes;
use ropewalk_units::{Duration, Instant};

/// µs: the unit in which reports tell when they were made.
const UNIT: u64 = 64;
/// After a longer silence clocks may have drifted apart.
const FRESH: Duration = Duration::from_secs(1);

/// The time of a report in that unit, wrapping.
pub(crate) fn made_at(now: Instant) -> u16 {
    (now.as_micros() / UNIT) as u16
}

/// The one-way delays of the reports that came by a path.
pub(super) struct WayBackDelays {
    /// In units, from the first one's.
    of_late: Extremes,
    last: Option<(i64, u16, Instant)>,
}

impl WayBackDelays {
    pub(super) fn new(now: Instant) -> Self {
        Self { of_late: Extremes::new(now), last: None }
    }

    /// A report came: how much longer it took than the quickest of late. Clocks are compared over a second only, in which drift is little.
    pub(super) fn note(&mut self, now: Instant, report_made_at: u16) -> Duration {
        let delay = made_at(now).wrapping_sub(report_made_at);
        let before = self.last.filter(|(_, _, at)| now.saturating_since(*at) < FRESH);
        if before.is_none() {
            self.of_late = Extremes::new(now);
        }
        let relative = before.map_or(0, |(last, raw, _)| last + i64::from(delay.wrapping_sub(raw) as i16));
        self.last = Some((relative, delay, now));
        self.of_late.note(now, relative);
        let waited = relative - self.of_late.least().unwrap_or(relative);
        Duration::from_micros(waited.max(0) as u64 * UNIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_report_took_longer_than_the_quickest_is_its_wait_whatever_the_clocks() {
        let mut delays = WayBackDelays::new(Instant::ZERO);
        let mut note = |sent_ms: u64, took_us: u64| {
            let now = Instant::ZERO + Duration::from_micros(sent_ms * 1_000 + took_us);
            // The peer's clock is far ahead, and wraps.
            let peers = Instant::ZERO + Duration::from_micros(sent_ms * 1_000 + 4_190_000);
            delays.note(now, made_at(peers)).as_micros()
        };
        assert_eq!(note(0, 10_240), 0);
        assert_eq!(note(64, 15_360), 5_120);
        assert_eq!(note(128, 8_320), 0);
        assert_eq!(note(192, 10_240), 1_920);
        // A second later nothing of this counts.
        assert_eq!(note(1_600, 20_480), 0);
    }
}

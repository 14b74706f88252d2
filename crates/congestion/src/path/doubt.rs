//! Round trips that are shorter than any before: true, or an error of a clock?

use super::UNKNOWN;
use ropewalk_units::{Duration, Instant};

/// Round trips that seem too short, and have been coming with no more than [`UNKNOWN`] between them: an error of a clock ends after so
/// long, when nothing is known any more that was seen before the clock was set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// When the first and the last of them came.
    seen: Option<(Instant, Instant)>,
}

impl Doubt {
    /// The round trip `rtt`, which should not be less than `floor`. It counts as the floor until
    /// shorter ones have come for longer than an error of a clock lasts.
    pub(super) fn settle(&mut self, now: Instant, rtt: Duration, floor: Duration) -> Duration {
        if rtt >= floor {
            return rtt;
        }
        let goes_on = self.seen.filter(|(_, last)| now.saturating_since(*last) <= UNKNOWN);
        let since = goes_on.map_or(now, |(since, _)| since);
        self.seen = Some((since, now));
        if now.saturating_since(since) > UNKNOWN { rtt } else { floor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_below_the_floor_counts_when_such_ones_have_come_for_a_second() {
        let ms = Duration::from_millis;
        let mut doubt = Doubt::default();
        let mut settled =
            |at, rtt| doubt.settle(Instant::ZERO + ms(at), ms(rtt), ms(30)).as_nanos() / 1_000_000;
        assert_eq!(settled(0, 40), 40);
        assert_eq!([10, 500, 1_000].map(|at| settled(at, 20)), [30; 3]);
        assert_eq!(settled(1_005, 35), 35);
        assert_eq!(settled(1_020, 22), 22);
        // None for longer than a second: doubts begin again.
        assert_eq!(settled(2_030, 20), 30);
    }
}

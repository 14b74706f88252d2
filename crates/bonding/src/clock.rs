//! The wrapping microsecond clocks of the headers, and delays between two of them.

use ropewalk_units::{Duration, Instant};

/// The clock in headers: µs, wrapping at 2³².
#[inline]
pub(crate) fn micros(now: Instant) -> u32 {
    now.as_micros() as u32
}

/// Turns one-way delays into differences from the first one.
///
/// A measured one-way delay contains the unknown offset between two clocks. The offset is the same
/// on all paths, so the differences of different paths can be compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DelayReference(Option<u32>);

impl DelayReference {
    /// By how many µs `delay` is more (or less) than the first one.
    #[inline]
    pub(crate) fn relative(&mut self, delay: u32) -> i64 {
        let reference = *self.0.get_or_insert(delay);
        i64::from(delay.wrapping_sub(reference) as i32)
    }
}

/// An endpoint's own time. It follows the driver's time, but never goes back and never jumps.
///
/// An endpoint asks to be called often. If no call comes for much longer, either the clock was set
/// forward or the driver slept: the endpoint cannot tell which. In both cases the silence says
/// nothing about the paths, and no time that spans it is a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteadyClock {
    /// The driver's time at the last call.
    called_at: Instant,
    /// What this clock showed at the last call.
    shows: Instant,
    /// The longest time between two calls of a driver that calls when it was asked to.
    longest: Duration,
}

/// What a reading of the clock found, with the endpoint's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// Time has passed.
    Steady(Instant),
    /// The driver's clock was set, or the driver slept: the endpoint's time has stood still.
    Jumped(Instant),
}

impl SteadyClock {
    /// A clock that shows `now`. The driver was asked to call each `interval`; a gap of up to two
    /// intervals is normal.
    pub(crate) fn new(now: Instant, interval: Duration) -> Self {
        Self { called_at: now, shows: now, longest: interval * 2 }
    }

    /// Reads this clock when the driver's time is `now`.
    #[inline]
    pub(crate) fn read(&mut self, now: Instant) -> Reading {
        let is_back = now < self.called_at;
        let passed = now.saturating_since(self.called_at);
        self.called_at = now;
        if is_back || passed > self.longest {
            return Reading::Jumped(self.shows);
        }
        self.shows = self.shows.saturating_add(passed);
        Reading::Steady(self.shows)
    }

    /// The driver's time at which this clock shows `at`.
    #[inline]
    pub(crate) fn drivers(&self, at: Instant) -> Instant {
        if at == Instant::MAX {
            return at;
        }
        if at >= self.shows {
            return self.called_at.saturating_add(at.saturating_since(self.shows));
        }
        Instant::ZERO + self.called_at.saturating_since(Instant::ZERO + self.shows.saturating_since(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_clock_that_is_set_goes_on_where_it_was() {
        let mut clock = SteadyClock::new(at(1_000), Duration::from_millis(20));
        assert_eq!(clock.read(at(1_040)), Reading::Steady(at(1_040)));
        // The driver's clock is set forward by a second, and later back by a second.
        assert_eq!(clock.read(at(2_041)), Reading::Jumped(at(1_040)));
        assert_eq!(clock.read(at(2_046)), Reading::Steady(at(1_045)));
        assert_eq!((clock.drivers(at(1_050)), clock.drivers(at(1_000))), (at(2_051), at(2_001)));
        assert_eq!(clock.read(at(1_001)), Reading::Jumped(at(1_045)));
        assert_eq!(clock.drivers(at(1_050)), at(1_006));
        assert_eq!(clock.drivers(Instant::MAX), Instant::MAX);
    }
}

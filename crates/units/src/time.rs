//! Simulated time: integer nanoseconds.

use crate::parse::{self, ParseQuantityError};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

/// A point in time, in nanoseconds since the start of the run (or of the process, for a live driver).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A span of time in nanoseconds. Never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

/// The time in other units: of an [`Instant`] since the start, of a [`Duration`] as a whole.
macro_rules! readings {
    ($($time:ty),*) => {$(
        impl $time {
            /// In nanoseconds.
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// In microseconds, rounded down.
            pub const fn as_micros(self) -> u64 {
                self.0 / 1_000
            }

            /// In milliseconds, rounded down.
            pub const fn as_millis(self) -> u64 {
                self.0 / 1_000_000
            }

            /// In seconds.
            pub fn as_secs_f64(self) -> f64 {
                self.0 as f64 / 1e9
            }
        }
    )*};
}

readings!(Instant, Duration);

impl Instant {
    /// The start of time.
    pub const ZERO: Self = Self(0);
    /// Later than every event: 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// From nanoseconds since the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The later sum, or [`Instant::MAX`] when it does not fit.
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span: 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// From nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// From milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// From seconds, rounded to the nearest nanosecond; zero for negative or NaN, saturating at the top.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9).round() as u64)
    }

    /// Is it no time at all?
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, or [`Duration::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// The absolute difference.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// Scaled by a non-negative factor, rounded to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration.0)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration.0;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// Panics in debug builds when `earlier` is later: time ran backwards.
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0 - earlier.0)
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0 - duration.0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

const EXPECTED: &str = "a time such as \"10 ms\" (units ns, us, ms, s, min, h)";

impl FromStr for Duration {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (value, unit) = parse::split(text, EXPECTED)?;
        let scale = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            _ => return Err(ParseQuantityError::new(text, EXPECTED)),
        };
        parse::scaled(text, value, scale, EXPECTED).map(Self)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        parse::print(f, self.0, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_parse_in_every_unit() {
        for (text, nanos) in [
            ("0 s", 0),
            ("7 ns", 7),
            ("10 us", 10_000),
            ("10 µs", 10_000),
            ("12.5 ms", 12_500_000),
            ("60s", 60_000_000_000),
            ("1e-3 s", 1_000_000),
            ("2 min", 120_000_000_000),
            ("1 h", 3_600_000_000_000),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().as_nanos(), nanos, "{text}");
        }
    }

    #[test]
    fn whole_seconds_are_whole_as_floating_point_too() {
        for seconds in [1, 3, 60, 86_400] {
            assert_eq!(Duration::from_secs(seconds).as_secs_f64().to_bits(), (seconds as f64).to_bits());
        }
    }

    #[test]
    fn wrong_times_say_what_is_right() {
        for text in ["", "10", "-1 s", "ms", "10 m", "inf s", "nan ms", "1e40 h", "1 0 ms"] {
            let error = text.parse::<Duration>().expect_err(text);
            assert!(error.to_string().contains("10 ms"), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn printed_times_parse_back(nanos in 0u64..4_000_000_000_000_000) {
            let duration = Duration::from_nanos(nanos);
            proptest::prop_assert_eq!(duration.to_string().parse::<Duration>().unwrap(), duration);
        }
    }
}

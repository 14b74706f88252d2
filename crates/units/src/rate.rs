//! Bit rates.

use crate::parse::{self, ParseQuantityError};
use crate::time::Duration;
use std::fmt;
use std::str::FromStr;

/// A rate in bits per second. Zero means "nothing passes".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// Nothing passes.
    pub const ZERO: Self = Self(0);

    /// From bits per second.
    pub const fn from_bits_per_sec(bits: u64) -> Self {
        Self(bits)
    }

    /// In bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.0
    }

    /// In megabits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// How long `bytes` take to serialise, rounded to the nearest nanosecond. [`Duration::MAX`] at rate zero.
    ///
    /// Exact for any frame below 2 GiB.
    pub const fn transmission_time(self, bytes: u32) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // u32 * 8e9 fits a u64 up to 2.3e9 bytes.
        Duration::from_nanos((bytes as u64 * 8_000_000_000 + self.0 / 2) / self.0)
    }

    /// How many whole bytes pass in `duration`.
    pub const fn bytes_in(self, duration: Duration) -> u64 {
        (self.0 as u128 * duration.as_nanos() as u128 / 8_000_000_000) as u64
    }
}

const EXPECTED: &str = "a rate such as \"10 Mbit/s\" (units bit/s, kbit/s, Mbit/s, Gbit/s)";

impl FromStr for Rate {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (value, unit) = parse::split(text, EXPECTED)?;
        let scale = match unit {
            "bit/s" | "bps" => 1.0,
            "kbit/s" | "kbps" => 1e3,
            "Mbit/s" | "Mbps" => 1e6,
            "Gbit/s" | "Gbps" => 1e9,
            _ => return Err(ParseQuantityError::new(text, EXPECTED)),
        };
        parse::scaled(text, value, scale, EXPECTED).map(Self)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(
            f,
            self.0,
            &[(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")],
        )
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_parse_and_print() {
        for (text, bits, printed) in [
            ("10 Mbit/s", 10_000_000, "10 Mbit/s"),
            ("1.5Gbps", 1_500_000_000, "1.5 Gbit/s"),
            ("64 kbit/s", 64_000, "64 kbit/s"),
            ("0 bit/s", 0, "0 bit/s"),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.bits_per_sec(), rate.to_string().as_str()), (bits, printed));
        }
        assert!("10 MB/s".parse::<Rate>().is_err());
        assert!("-10 Mbit/s".parse::<Rate>().is_err());
    }

    #[test]
    fn serialisation_time_is_exact() {
        let rate = Rate::from_bits_per_sec(10_000_000);
        assert_eq!(rate.transmission_time(1400), Duration::from_micros(1120));
        assert_eq!(rate.bytes_in(Duration::from_micros(1120)), 1400);
        assert_eq!(Rate::ZERO.transmission_time(1), Duration::MAX);
    }
}

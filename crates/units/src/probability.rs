//! Probabilities.

use crate::parse::{self, ParseQuantityError};
use std::fmt;
use std::str::FromStr;

/// A probability in [0, 1]; in texts either a plain number (`"0.005"`) or per cent (`"0.5 %"`).
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);

    /// Always.
    pub const ONE: Self = Self(1.0);

    /// `None` outside [0, 1] or for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// As a number in [0, 1].
    pub const fn get(self) -> f64 {
        self.0
    }
}

const EXPECTED: &str = "a probability from 0 to 1, such as 0.005 or \"0.5 %\"";

impl FromStr for Probability {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (value, unit) = parse::split(text, EXPECTED)?;
        let value = match unit {
            "" => value,
            "%" => value / 100.0,
            _ => return Err(ParseQuantityError::new(text, EXPECTED)),
        };
        Self::new(value).ok_or_else(|| ParseQuantityError::new(text, EXPECTED))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nine decimals of a per cent, without the noise of 0.1 + 0.2.
        let percent = format!("{:.9}", self.0 * 100.0);
        write!(f, "{} %", percent.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_parse_and_print() {
        for (text, value, printed) in
            [("0.5 %", 0.005, "0.5 %"), ("0.07", 0.07, "7 %"), ("1", 1.0, "100 %"), ("0%", 0.0, "0 %")]
        {
            let p: Probability = text.parse().unwrap();
            assert!((p.get() - value).abs() < 1e-15);
            assert_eq!(p.to_string(), printed);
        }
        for text in ["1.2", "120 %", "-0.1", "x", ""] {
            assert!(text.parse::<Probability>().is_err(), "{text}");
        }
    }
}

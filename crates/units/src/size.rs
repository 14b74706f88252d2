//! Sizes in bytes.

use crate::parse::{self, ParseQuantityError};
use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// From a count of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The count of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

const EXPECTED: &str = "a size such as \"64 kB\" (units B, kB, MB, GB, KiB, MiB, GiB)";

impl FromStr for Bytes {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (value, unit) = parse::split(text, EXPECTED)?;
        let scale = match unit {
            "B" => 1.0,
            "kB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            _ => return Err(ParseQuantityError::new(text, EXPECTED)),
        };
        parse::scaled(text, value, scale, EXPECTED).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(f, self.0, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")])
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_and_print() {
        for (text, bytes, printed) in [
            ("1400 B", 1400, "1.4 kB"),
            ("64 kB", 64_000, "64 kB"),
            ("4MB", 4_000_000, "4 MB"),
            ("64 KiB", 65_536, "65.536 kB"),
            ("0 B", 0, "0 B"),
        ] {
            let size: Bytes = text.parse().unwrap();
            assert_eq!((size.get(), size.to_string().as_str()), (bytes, printed));
        }
        assert!("64 kbit".parse::<Bytes>().is_err());
        assert!("64".parse::<Bytes>().is_err());
    }
}

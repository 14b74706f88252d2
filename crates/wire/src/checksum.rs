//! The Internet checksum (RFC 1071) and Multipath TCP's over a mapping (RFC 8684 §3.3.1).

use ropewalk_units::{Dsn, Ssn};

/// A ones' complement sum of 16-bit words in network order, in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds one word.
    #[must_use]
    pub const fn add_u16(self, word: u16) -> Self {
        Self(self.0 + word as u64)
    }

    /// Adds two words, the more significant first.
    #[must_use]
    pub const fn add_u32(self, words: u32) -> Self {
        Self(self.0 + words as u64)
    }

    /// Adds four words.
    #[must_use]
    pub const fn add_u64(self, words: u64) -> Self {
        Self(self.0 + (words >> 32) + (words & 0xffff_ffff))
    }

    /// Adds octets; an odd one out at the end is padded with a zero, so only the last call may bring one.
    #[must_use]
    pub fn add_octets(self, octets: &[u8]) -> Self {
        let (words, rest) = octets.as_chunks::<8>();
        let sum = words.iter().fold(self, |sum, word| sum.add_u64(u64::from_be_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum.add_u64(u64::from_be_bytes(last))
    }

    /// Adds another sum.
    #[must_use]
    pub const fn add(self, other: Self) -> Self {
        Self(self.0 + other.folded() as u64)
    }

    /// The sum as if every octet had stood in the other half of its word (RFC 1071 §2 (B)).
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self(self.folded().swap_bytes() as u64)
    }

    /// The checksum: the complement of the 16-bit sum.
    pub const fn complement(self) -> u16 {
        !self.folded()
    }

    /// Carries added back in until 16 bits remain.
    const fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }
}

/// The checksum of a DSS mapping (RFC 8684 §3.3.1). It covers the 64-bit DSN (even if only 32 bits of it were sent),
/// the relative SSN, the data-level length including a DATA_FIN's octet, and the payload.
pub fn dss_checksum(dsn: Dsn, ssn: Ssn, len: u16, payload: Sum) -> u16 {
    payload.add_u64(dsn.get()).add_u32(ssn.get()).add_u16(len).complement()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // §3: 0001 f203 f4f5 f6f7 sum to ddf2.
        let sum = Sum::default().add_octets(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.complement(), !0xddf2);
    }

    #[test]
    fn a_lone_data_fin() {
        // As a Linux sender does: no payload, SSN 0, length 1.
        let checksum = dss_checksum(Dsn::new(0x60c8_106c_c5dc_73e7), Ssn::new(0), 1, Sum::default());
        assert_eq!(checksum, 0x5506);
    }

    #[test]
    fn sums_never_overflow_over_the_longest_mapping() {
        let sum = Sum::default().add_octets(&vec![0xff; 65_536]);
        assert_eq!(sum.complement(), 0);
    }
}

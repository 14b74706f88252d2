//! Sequence numbers of three spaces that must not be mixed: a DSN and an SSN are different types.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Comparisons of numbers that wrap: of two less than half the circle apart, the earlier is less (RFC 9293 §3.4).
macro_rules! circle {
    ($number:ty, $distance:ty) => {
        impl $number {
            /// `self < other` in the circle.
            pub const fn before(self, other: Self) -> bool {
                (self.0.wrapping_sub(other.0) as $distance) < 0
            }

            /// `self <= other` in the circle.
            pub const fn before_eq(self, other: Self) -> bool {
                !other.before(self)
            }

            /// `self > other` in the circle.
            pub const fn after(self, other: Self) -> bool {
                other.before(self)
            }

            /// `self >= other` in the circle.
            pub const fn after_eq(self, other: Self) -> bool {
                !self.before(other)
            }
        }
    };
}

circle!(Seq, i32);
circle!(Dsn, i64);

/// A TCP sequence number: 32 bits that wrap (RFC 9293 §3.4). There is no `Ord`: ask [`Seq::before`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(u32);

impl Seq {
    /// From the 32 bits on the wire.
    pub const fn new(value: u32) -> Self {
        Self(value)
    }

    /// The 32 bits on the wire.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The later of two.
    pub const fn max(self, other: Self) -> Self {
        if self.before(other) { other } else { self }
    }

    /// The earlier of two.
    pub const fn min(self, other: Self) -> Self {
        if self.before(other) { self } else { other }
    }

    /// Octets from `earlier` to `self`; wraps, so ask only when `earlier` is not later.
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }
}

impl Add<u32> for Seq {
    type Output = Self;
    fn add(self, octets: u32) -> Self {
        Self(self.0.wrapping_add(octets))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, octets: u32) {
        self.0 = self.0.wrapping_add(octets);
    }
}

impl Sub<u32> for Seq {
    type Output = Self;
    fn sub(self, octets: u32) -> Self {
        Self(self.0.wrapping_sub(octets))
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seq {}", self.0)
    }
}

/// A place in one direction of a TCP connection that is remembered: octets of sequence space since the initial sequence
/// number, in 64 bits, which no connection fills. A [`Seq`] compares only with numbers less than 2³¹ octets away (RFC 9293
/// §3.4); what may be older than that when it is looked at is a mark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mark(u64);

impl Mark {
    /// The place of the initial sequence number itself.
    pub const START: Self = Self(0);

    /// From the octets since the initial sequence number.
    pub const fn new(octets: u64) -> Self {
        Self(octets)
    }

    /// Octets since the initial sequence number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Octets from `earlier` to `self`; none if it is not earlier.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The place so many octets before; `None` before the initial sequence number.
    pub fn before(self, octets: u32) -> Option<Self> {
        self.0.checked_sub(u64::from(octets)).map(Self)
    }
}

impl Add<u32> for Mark {
    type Output = Self;
    fn add(self, octets: u32) -> Self {
        Self(self.0 + u64::from(octets))
    }
}

impl AddAssign<u32> for Mark {
    fn add_assign(&mut self, octets: u32) {
        self.0 += u64::from(octets);
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mark {}", self.0)
    }
}

/// A data sequence number of a Multipath TCP connection: 64 bits that wrap (RFC 8684 §3.3). No `Ord`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dsn(u64);

impl Dsn {
    /// From the 64-bit number.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The 64-bit number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Octets from `earlier` to `self`.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.wrapping_sub(earlier.0)
    }

    /// The full number nearest to `self` whose low 32 bits are `low` (RFC 8684 §3.3.1: a shortened DSN or
    /// DATA_ACK is completed by the receiver).
    pub const fn nearest(self, low: u32) -> Self {
        let difference = low.wrapping_sub(self.0 as u32) as i32;
        Self(self.0.wrapping_add(difference as i64 as u64))
    }
}

impl Add<u64> for Dsn {
    type Output = Self;
    fn add(self, octets: u64) -> Self {
        Self(self.0.wrapping_add(octets))
    }
}

impl AddAssign<u64> for Dsn {
    fn add_assign(&mut self, octets: u64) {
        self.0 = self.0.wrapping_add(octets);
    }
}

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dsn {}", self.0)
    }
}

/// A subflow sequence number as DSS mappings carry it: relative to the subflow's initial sequence number, so
/// that the first octet of data is 1 (RFC 8684 §3.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ssn(u32);

impl Ssn {
    /// From the relative number on the wire.
    pub const fn new(value: u32) -> Self {
        Self(value)
    }

    /// The relative number on the wire.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Relative to the initial sequence number `iss`.
    pub const fn from_seq(seq: Seq, iss: Seq) -> Self {
        Self(seq.since(iss))
    }
}

impl fmt::Debug for Ssn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ssn {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        let last = Seq::new(u32::MAX);
        assert!(last.before(last + 1));
        assert_eq!((last + 1).get(), 0);
        assert_eq!((last + 10).since(last), 10);
        assert_eq!(last.max(last + 1), last + 1);
        assert!((last + 1).after_eq(last));
    }

    #[test]
    fn marks_do_not_wrap() {
        let start = Mark::START + 1;
        let later = (0..8).fold(start, |mark, _| mark + (1 << 30));
        assert!(later > start && later.since(start) == 1 << 33);
        assert_eq!((start.before(1), start.before(2)), (Some(Mark::START), None));
    }

    #[test]
    fn shortened_data_sequence_numbers_complete_to_the_nearest() {
        let near_wrap = Dsn::new(0x1_ffff_fff0);
        assert_eq!(near_wrap.nearest(0x10), Dsn::new(0x2_0000_0010));
        assert_eq!(near_wrap.nearest(0xffff_ff00), Dsn::new(0x1_ffff_ff00));
    }
}

//! Path numbers, and sequence numbers of three spaces that must not be mixed.

use std::fmt;

/// The most paths of one bond.
pub const MAX_PATHS: usize = 8;

/// A path of the bond: its place in [`crate::Config::paths`]. Both gateways number the paths alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PathId(pub u8);

impl PathId {
    /// As an index into a list of the paths.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of paths, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PathSet(u8);

impl PathSet {
    pub(crate) const EMPTY: Self = Self(0);

    #[inline]
    pub(crate) const fn one(path: PathId) -> Self {
        Self(1 << path.0)
    }

    #[inline]
    pub(crate) fn insert(&mut self, path: PathId) {
        self.0 |= 1 << path.0;
    }

    #[inline]
    pub(crate) fn remove(&mut self, path: PathId) {
        self.0 &= !(1 << path.0);
    }

    #[inline]
    pub(crate) const fn contains(self, path: PathId) -> bool {
        self.0 & (1 << path.0) != 0
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) const fn is_single(self) -> bool {
        self.0.is_power_of_two()
    }

    /// The paths of the set for which `is_wanted` is true.
    #[inline]
    pub(crate) fn filter(self, is_wanted: impl Fn(PathId) -> bool) -> Self {
        let mut set = Self::EMPTY;
        self.iter().filter(|&id| is_wanted(id)).for_each(|id| set.insert(id));
        set
    }

    /// The path with the lowest number.
    #[inline]
    pub(crate) const fn first(self) -> Option<PathId> {
        if self.0 == 0 { None } else { Some(PathId(self.0.trailing_zeros() as u8)) }
    }

    /// The paths, lowest number first.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = PathId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let path = Self(left).first()?;
            left &= left - 1;
            Some(path)
        })
    }
}

macro_rules! serial {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        ///
        /// 32 bits that wrap. There is no `Ord`: use [`Self::before`] (serial number arithmetic,
        /// RFC 1982 §3).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(u32);

        impl $name {
            /// From the 32 bits on the wire.
            pub const fn new(value: u32) -> Self {
                Self(value)
            }

            /// The 32 bits on the wire.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// Is `self` before `other` on the circle of numbers?
            #[inline]
            pub const fn before(self, other: Self) -> bool {
                (self.0.wrapping_sub(other.0) as i32) < 0
            }

            /// How many numbers from `earlier` to `self`. It wraps, so `earlier` must not be later.
            #[inline]
            pub const fn since(self, earlier: Self) -> u32 {
                self.0.wrapping_sub(earlier.0)
            }

            /// The number `count` places after.
            #[inline]
            pub const fn plus(self, count: u32) -> Self {
                Self(self.0.wrapping_add(count))
            }

            /// The next number.
            #[inline]
            pub const fn next(self) -> Self {
                self.plus(1)
            }

            /// The number `count` places before.
            #[inline]
            pub const fn minus(self, count: u32) -> Self {
                Self(self.0.wrapping_sub(count))
            }

            /// The number nearest to `self` whose lowest `bits` bits are those of `low` (RFC 9000
            /// §A.3).
            #[inline]
            pub const fn nearest(self, low: u32, bits: u32) -> Self {
                let unknown = u32::BITS - bits;
                // The difference's lowest bits, as a number with a sign.
                let ahead = (low.wrapping_sub(self.0) << unknown) as i32 >> unknown;
                self.plus(ahead as u32)
            }

            /// The number before.
            #[inline]
            pub const fn previous(self) -> Self {
                self.minus(1)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

serial! {
    /// Number of a packet among all packets of one direction of the bond. Copies share it.
    GlobalSeq
}
serial! {
    /// Number of a data packet among those of one direction of one path. Loss is counted by it.
    PathSeq
}
serial! {
    /// Number of a packet among the ordered ones of its flow bucket. Order is restored by it.
    FlowSeq
}

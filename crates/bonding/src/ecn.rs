//! Explicit congestion notification through the tunnel (RFC 6040). The ingress derives the field of
//! the outer header from the inner one. The egress derives the field of the packet that leaves from
//! both. Drivers use it, because they write the headers.

/// The ECN field: two bits of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ecn {
    /// Not-ECT, 00.
    NotCapable,
    /// ECT(1), 01.
    Capable1,
    /// ECT(0), 10.
    Capable0,
    /// CE, 11.
    Congested,
}

impl Ecn {
    /// From the two lowest bits of a TOS or traffic class octet.
    pub const fn from_bits(octet: u8) -> Self {
        match octet & 3 {
            0 => Self::NotCapable,
            1 => Self::Capable1,
            2 => Self::Capable0,
            _ => Self::Congested,
        }
    }

    /// As the two lowest bits.
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotCapable => 0,
            Self::Capable1 => 1,
            Self::Capable0 => 2,
            Self::Congested => 3,
        }
    }

    /// The outer field of a packet with this inner one: the same (RFC 6040 §4.1, normal mode).
    #[must_use]
    pub const fn outer(self) -> Self {
        self
    }

    /// The field of the packet that leaves the tunnel, from its own field and the `outer` one
    /// (RFC 6040 §4.2, figure 4). `None`: the packet is to be dropped. The path was congested, and
    /// the packet's sender does not understand a mark.
    pub const fn leaving(self, outer: Self) -> Option<Self> {
        match (self, outer) {
            (Self::NotCapable, Self::Congested) => None,
            (Self::NotCapable, _) => Some(Self::NotCapable),
            (Self::Congested, _) | (_, Self::Congested) => Some(Self::Congested),
            (_, Self::Capable1) => Some(Self::Capable1),
            (inner, _) => Some(inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_is_figure_4_of_rfc_6040() {
        use Ecn::{Capable0 as Zero, Capable1 as One, Congested as Ce, NotCapable as Not};
        // The columns are the outer fields Not-ECT, ECT(0), ECT(1) and CE.
        let figure = [
            (Not, [Some(Not), Some(Not), Some(Not), None]),
            (Zero, [Some(Zero), Some(Zero), Some(One), Some(Ce)]),
            (One, [Some(One), Some(One), Some(One), Some(Ce)]),
            (Ce, [Some(Ce), Some(Ce), Some(Ce), Some(Ce)]),
        ];
        for (inner, leaving) in figure {
            assert_eq!([Not, Zero, One, Ce].map(|outer| inner.leaving(outer)), leaving, "{inner:?}");
            assert_eq!((inner.outer(), Ecn::from_bits(0xfc | inner.bits())), (inner, inner));
        }
    }
}

//! Numbers that stand for something on the wire.

/// Kinds of TCP options (IANA, TCP parameters).
pub(crate) mod kind {
    pub(crate) const END: u8 = 0;
    pub(crate) const NOP: u8 = 1;
    pub(crate) const MSS: u8 = 2;
    pub(crate) const WINDOW_SCALE: u8 = 3;
    pub(crate) const SACK_PERMITTED: u8 = 4;
    pub(crate) const SACK: u8 = 5;
    pub(crate) const TIMESTAMPS: u8 = 8;
    pub(crate) const MPTCP: u8 = 30;
}

/// Multipath TCP's subtypes (RFC 8684 §8, table 3), in the upper half of the option's third octet.
pub(crate) mod subtype {
    pub(crate) const CAPABLE: u8 = 0x00;
    pub(crate) const JOIN: u8 = 0x10;
    pub(crate) const DSS: u8 = 0x20;
    pub(crate) const ADD_ADDRESS: u8 = 0x30;
    pub(crate) const REMOVE_ADDRESS: u8 = 0x40;
    pub(crate) const PRIORITY: u8 = 0x50;
    pub(crate) const FAIL: u8 = 0x60;
    pub(crate) const FAST_CLOSE: u8 = 0x70;
    pub(crate) const RESET: u8 = 0x80;
}

/// Flags of MP_CAPABLE (RFC 8684 §3.1).
pub(crate) mod capable {
    /// The version that we speak.
    pub(crate) const VERSION: u8 = 1;
    /// A: checksums are required.
    pub(crate) const A: u8 = 0x80;
    /// B: an extension that this version does not know.
    pub(crate) const B: u8 = 0x40;
    /// C: no further subflows to the sender's address.
    pub(crate) const C: u8 = 0x20;
    /// H: HMAC-SHA256.
    pub(crate) const H: u8 = 0x01;
}

/// Flags of the DSS (RFC 8684 §3.3, figure 9).
pub(crate) mod dss {
    /// A: there is a DATA_ACK.
    pub(crate) const ACK: u8 = 0x01;
    /// a: the DATA_ACK has 8 octets.
    pub(crate) const LONG_ACK: u8 = 0x02;
    /// M: there is a mapping.
    pub(crate) const MAPPING: u8 = 0x04;
    /// m: the DSN has 8 octets.
    pub(crate) const LONG_DSN: u8 = 0x08;
    /// F: DATA_FIN.
    pub(crate) const FIN: u8 = 0x10;
}

/// Protocol numbers (IANA), in the header of IPv4 and the last of IPv6's.
pub mod protocol {
    /// ICMP for IPv4 (RFC 792).
    pub const ICMP: u8 = 1;
    /// TCP (RFC 9293).
    pub const TCP: u8 = 6;
    /// UDP (RFC 768).
    pub const UDP: u8 = 17;
    /// ICMP for IPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
}

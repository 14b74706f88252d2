//! A UDP datagram as a value.

use crate::segment::{Ecn, Payload};

/// A UDP datagram as a value. Ports and addresses belong to the packet that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Datagram {
    /// The data.
    pub payload: Payload,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
}

impl Datagram {
    /// The UDP header (RFC 768).
    pub const HEADER: u32 = 8;

    /// Octets of UDP header and data.
    pub const fn wire_len(&self) -> u32 {
        Self::HEADER + self.payload.len
    }
}

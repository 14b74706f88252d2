//! Why a packet has no bytes.

use crate::segment::Options;
use std::fmt;
use std::net::IpAddr;

/// Why a packet has no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// Source and destination are of different families.
    MixedFamilies {
        /// The packet's source.
        source: IpAddr,
        /// The packet's destination.
        destination: IpAddr,
    },
    /// TCP options of this many octets, above [`Options::SPACE`].
    OptionsTooLong(u32),
    /// A packet of this many octets, above what the length field of its IP header can say.
    PacketTooLong(u64),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MixedFamilies { source, destination } => {
                write!(f, "a packet from {source} to {destination}: the addresses are of different families")
            }
            Self::OptionsTooLong(len) => {
                write!(f, "TCP options of {len} octets: the header has room for {}", Options::SPACE)
            }
            Self::PacketTooLong(len) => write!(f, "a packet of {len} octets: IP can express 65535"),
        }
    }
}

impl std::error::Error for EmitError {}

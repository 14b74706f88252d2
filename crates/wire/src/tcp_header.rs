//! The fixed TCP header as a value.

use crate::segment::Flags;
use ropewalk_units::Seq;

/// The fixed part of a TCP header (RFC 9293 §3.1) without data offset and checksum, which follow from the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgement number.
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// The four bits between data offset and control bits. The lowest is AE of RFC 9768.
    pub reserved: u8,
    /// The window field, not scaled.
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
}

//! UDP datagrams.

use super::cursor::Cursor;
use super::{IpPacket, ReadError};
use crate::codes::protocol::UDP;
use crate::datagram::Datagram;
use std::net::IpAddr;

/// A UDP datagram in octets (RFC 768).
#[derive(Clone, Copy, Debug)]
pub struct UdpPacket<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// The checksum field; 0 says that there is none, in IPv4 only.
    pub checksum: u16,
    /// The data, as far as they are there.
    pub payload: &'a [u8],
    /// Octets of data that the header speaks of.
    pub payload_len: usize,
}

impl<'a> UdpPacket<'a> {
    /// Reads the datagram in an IP packet. What stands between its end and the packet's is left out.
    ///
    /// # Errors
    /// [`ReadError`], also if the packet carries another protocol or is a later fragment.
    pub fn read(ip: &IpPacket<'a>) -> Result<Self, ReadError> {
        const HEADER: &str = "UDP";
        let header = Datagram::HEADER as usize;
        let (mut cursor, payload) = Cursor::split(ip.transport(UDP)?, header, HEADER)?;
        let (source_port, destination_port) = (cursor.u16()?, cursor.u16()?);
        let (len, checksum) = (usize::from(cursor.u16()?), cursor.u16()?);
        if len < header || (ip.fragment.is_none() && len > ip.payload_len) {
            return Err(ReadError::Length { header: HEADER, octets: len });
        }
        let payload_len = len - header;
        let payload = &payload[..payload_len.min(payload.len())];
        Ok(Self { source_port, destination_port, checksum, payload, payload_len })
    }

    /// Does the checksum hold, in the packet that it was read from? `None` where the data are not all there. A datagram
    /// without checksum is right in IPv4 and wrong in IPv6 (RFC 8200 §8.1).
    pub fn checksum_holds(&self, ip: &IpPacket<'_>) -> Option<bool> {
        if self.checksum == 0 {
            return Some(matches!(ip.header.source, IpAddr::V4(_)));
        }
        Some(ip.transport_sum()? == 0)
    }
}

//! TCP segments.

use super::cursor::Cursor;
use super::{IpPacket, ReadError, TcpOptions};
use crate::codes::protocol::TCP;
use crate::segment::{Ecn, Flags, Options, Payload, Segment};
use crate::tcp_header::TcpHeader;
use ropewalk_units::{Dsn, Seq};

/// A TCP segment in octets (RFC 9293 §3.1).
#[derive(Clone, Copy, Debug)]
pub struct TcpPacket<'a> {
    /// The fixed part of the header.
    pub header: TcpHeader,
    /// The checksum field.
    pub checksum: u16,
    /// The option area.
    pub options: &'a [u8],
    /// The data, as far as it is there.
    pub payload: &'a [u8],
    /// Octets of data that the headers speak of.
    pub payload_len: usize,
    ecn: Ecn,
}

impl<'a> TcpPacket<'a> {
    /// Reads the segment in an IP packet.
    ///
    /// # Errors
    /// [`ReadError`], also if the packet carries another protocol or is a later fragment.
    pub fn read(ip: &IpPacket<'a>) -> Result<Self, ReadError> {
        const HEADER: &str = "TCP";
        let octets = ip.transport(TCP)?;
        let (mut cursor, _) = Cursor::split(octets, Segment::HEADER as usize, HEADER)?;
        let (source_port, destination_port) = (cursor.u16()?, cursor.u16()?);
        let (seq, ack) = (Seq::new(cursor.u32()?), Seq::new(cursor.u32()?));
        let (offset, flags) = (cursor.u8()?, Flags::from_bits(cursor.u8()?));
        let (window, checksum, urgent) = (cursor.u16()?, cursor.u16()?, cursor.u16()?);
        let len = usize::from(offset >> 4) * 4;
        if len < Segment::HEADER as usize {
            return Err(ReadError::Length { header: HEADER, octets: len });
        }
        let (header, payload) = Cursor::split(octets, len, HEADER)?;
        let reserved = offset & 0x0f;
        Ok(Self {
            header: TcpHeader { source_port, destination_port, seq, ack, flags, reserved, window, urgent },
            checksum,
            options: &header.rest()[Segment::HEADER as usize..],
            payload,
            payload_len: ip.payload_len - len,
            ecn: ip.header.ecn,
        })
    }

    /// The options, one at a time.
    pub fn options(&self) -> TcpOptions<'a> {
        TcpOptions::new(self.options)
    }

    /// The segment as the stack takes it. A DSN of 32 bits is the one nearest to `near`: the connection's next. Where the
    /// data stand in the application's stream is not in the packet: [`Payload::offset`] is 0.
    pub fn segment(&self, near: Dsn) -> Segment {
        Segment {
            seq: self.header.seq,
            ack: self.header.ack,
            flags: self.header.flags,
            window: self.header.window,
            payload: Payload { offset: 0, len: self.payload_len as u32 },
            options: Options::read(self.options, near),
            ecn: self.ecn,
        }
    }

    /// Does the checksum hold, in the packet that it was read from? `None` where the data are not all there.
    pub fn checksum_holds(&self, ip: &IpPacket<'_>) -> Option<bool> {
        Some(ip.transport_sum()? == 0)
    }
}

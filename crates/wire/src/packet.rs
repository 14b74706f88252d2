//! Whole IP packets: IPv4 or IPv6, then TCP or UDP, with real checksums.

use crate::codes::protocol::UDP;
use crate::datagram::Datagram;
use crate::emit_error::EmitError;
use crate::ip::IpHeader;
use crate::segment::{Ecn, Options, Payload, Segment};
use crate::stream::fill_stream;
use crate::tcp_header::TcpHeader;
use std::net::IpAddr;

/// What a packet's headers need beyond the segment or datagram in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketHeader {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same family.
    pub destination: IpAddr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Identification of the IPv4 header; IPv6 has none.
    pub identification: u16,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
}

impl PacketHeader {
    /// The IP header: "don't fragment" is set, as by hosts that discover the path MTU.
    fn ip(&self, ecn: Ecn) -> IpHeader {
        let &Self { source, destination, dscp, ttl, identification, .. } = self;
        IpHeader { source, destination, dscp, ecn, ttl, identification, dont_fragment: true, flow_label: 0 }
    }

    /// Octets of the IP header.
    pub fn ip_len(&self) -> u32 {
        self.ip(Ecn::NotEct).wire_len()
    }

    /// Appends the IP packet that carries `segment`, with octets of the generated stream: [`PacketHeader::ip_len`] +
    /// [`Segment::wire_len`] octets.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit_segment(&self, segment: &Segment, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let options = self.emit_options_of(segment)?;
        self.tcp(segment).emit_with(
            &self.ip(segment.ecn),
            &options,
            u64::from(segment.payload.len),
            out,
            |out| {
                emit_payload(segment.payload, out);
            },
        )
    }

    /// Appends the IP packet that carries `segment` with these octets as its data; the segment's own range is not looked at.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit_segment_with(
        &self,
        segment: &Segment,
        octets: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let options = self.emit_options_of(segment)?;
        self.tcp(segment).emit_with(&self.ip(segment.ecn), &options, octets.len() as u64, out, |out| {
            out.extend_from_slice(octets);
        })
    }

    /// The option area of a segment's header.
    fn emit_options_of(&self, segment: &Segment) -> Result<Vec<u8>, EmitError> {
        let len = segment.options.wire_len();
        if len > Options::SPACE {
            return Err(EmitError::OptionsTooLong(len));
        }
        let mut octets = Vec::with_capacity(len as usize);
        segment.options.emit(&mut octets);
        Ok(octets)
    }

    /// The TCP header of a segment.
    fn tcp(&self, segment: &Segment) -> TcpHeader {
        TcpHeader {
            source_port: self.source_port,
            destination_port: self.destination_port,
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            reserved: 0,
            window: segment.window,
            urgent: 0,
        }
    }

    /// Appends the IP packet that carries `datagram`: [`PacketHeader::ip_len`] + [`Datagram::wire_len`] octets.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit_datagram(&self, datagram: &Datagram, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let len = u64::from(datagram.payload.len);
        self.emit_udp(datagram.ecn, len, out, |out| emit_payload(datagram.payload, out))
    }

    /// Appends the IP packet of a UDP datagram with these octets: a tunnel's.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit_tunnelled(&self, octets: &[u8], ecn: Ecn, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.emit_udp(ecn, octets.len() as u64, out, |out| out.extend_from_slice(octets))
    }

    fn emit_udp(
        &self,
        ecn: Ecn,
        payload: u64,
        out: &mut Vec<u8>,
        emit_payload: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), EmitError> {
        let len = u64::from(Datagram::HEADER) + payload;
        let (addresses, len) = self.ip(ecn).emit(UDP, len, out)?;
        let start = out.len();
        out.extend(self.source_port.to_be_bytes());
        out.extend(self.destination_port.to_be_bytes());
        out.extend((len as u16).to_be_bytes());
        out.extend([0; 2]); // checksum
        emit_payload(out);
        let sum = addresses.pseudo_header(UDP, len).add_octets(&out[start..]);
        // RFC 768: a checksum that comes out as zero is sent as all ones; zero means "none".
        let checksum = match sum.complement() {
            0 => u16::MAX,
            checksum => checksum,
        };
        out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }
}

/// Appends the octets that the range stands for.
fn emit_payload(payload: Payload, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + payload.len as usize, 0);
    fill_stream(payload.offset, &mut out[start..]);
}

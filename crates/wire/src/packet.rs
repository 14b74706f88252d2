//! Whole IP packets: IPv4 or IPv6, then TCP or UDP, with real checksums.

use crate::checksum::Sum;
use crate::segment::{Ecn, Options, Payload, Segment};
use crate::stream::fill_stream;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The fixed IPv4 header (RFC 791 §3.1); we send no IPv4 options.
const IPV4_HEADER: u32 = 20;
/// The IPv6 header (RFC 8200 §3).
const IPV6_HEADER: u32 = 40;

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
    #[inline]
    pub const fn wire_len(&self) -> u32 {
        Self::HEADER + self.payload.len
    }
}

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

/// Source and destination of one family.
#[derive(Clone, Copy)]
enum Addresses {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// The pseudo-header's part of a transport checksum (RFC 9293 §3.1, RFC 8200 §8.1).
    fn pseudo_header(self, protocol: u8, len: u32) -> Sum {
        let sum = Sum::default().add_u16(u16::from(protocol)).add_u32(len);
        match self {
            Self::V4(source, destination) => sum.add_u32(source.to_bits()).add_u32(destination.to_bits()),
            Self::V6(source, destination) => {
                sum.add_octets(&source.octets()).add_octets(&destination.octets())
            }
        }
    }
}

impl PacketHeader {
    /// Octets of the IP header.
    #[inline]
    pub const fn ip_len(&self) -> u32 {
        match self.source {
            IpAddr::V4(_) => IPV4_HEADER,
            IpAddr::V6(_) => IPV6_HEADER,
        }
    }

    /// Appends the IP packet that carries `segment`: [`PacketHeader::ip_len`] + [`Segment::wire_len`] octets.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit_segment(&self, segment: &Segment, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let options = segment.options.wire_len();
        if options > Options::SPACE {
            return Err(EmitError::OptionsTooLong(options));
        }
        let len = u64::from(Segment::HEADER + options) + u64::from(segment.payload.len);
        let (addresses, len) = self.emit_ip(TCP, segment.ecn, len, out)?;
        let start = out.len();
        out.extend(self.source_port.to_be_bytes());
        out.extend(self.destination_port.to_be_bytes());
        out.extend(segment.seq.get().to_be_bytes());
        out.extend(segment.ack.get().to_be_bytes());
        let words = (Segment::HEADER + options) / 4;
        out.extend([(words as u8) << 4, segment.flags.bits()]);
        out.extend(segment.window.to_be_bytes());
        out.extend([0; 4]); // checksum, urgent pointer
        segment.options.emit(out);
        emit_payload(segment.payload, out);
        let sum = addresses.pseudo_header(TCP, len).add_octets(&out[start..]);
        out[start + 16..start + 18].copy_from_slice(&sum.complement().to_be_bytes());
        Ok(())
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
        let (addresses, len) = self.emit_ip(UDP, ecn, len, out)?;
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

    /// The addresses, if they are of one family.
    fn addresses(&self) -> Result<Addresses, EmitError> {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Ok(Addresses::V4(source, destination)),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Ok(Addresses::V6(source, destination)),
            (source, destination) => Err(EmitError::MixedFamilies { source, destination }),
        }
    }

    /// Appends the IP header for `len` octets of `protocol`; returns what the transport checksum needs.
    fn emit_ip(
        &self,
        protocol: u8,
        ecn: Ecn,
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<(Addresses, u32), EmitError> {
        let addresses = self.addresses()?;
        // IPv4's total length counts its header, IPv6's payload length does not.
        let counted = match addresses {
            Addresses::V4(..) => len + u64::from(IPV4_HEADER),
            Addresses::V6(..) => len,
        };
        let Ok(counted) = u16::try_from(counted) else {
            return Err(EmitError::PacketTooLong(len + u64::from(self.ip_len())));
        };
        match addresses {
            Addresses::V4(source, destination) => {
                self.emit_ipv4(protocol, ecn, counted, (source, destination), out);
            }
            Addresses::V6(source, destination) => {
                let class = self.dscp << 2 | ecn.bits();
                out.extend([0x60 | class >> 4, class << 4, 0, 0]);
                out.extend(counted.to_be_bytes());
                out.extend([protocol, self.ttl]);
                out.extend(source.octets());
                out.extend(destination.octets());
            }
        }
        Ok((addresses, len as u32))
    }

    /// RFC 791 §3.1: no options, "don't fragment" set as by hosts that discover the path MTU.
    fn emit_ipv4(
        &self,
        protocol: u8,
        ecn: Ecn,
        total: u16,
        (source, destination): (Ipv4Addr, Ipv4Addr),
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        out.extend([0x45, self.dscp << 2 | ecn.bits()]);
        out.extend(total.to_be_bytes());
        out.extend(self.identification.to_be_bytes());
        out.extend([0x40, 0, self.ttl, protocol, 0, 0]);
        out.extend(source.octets());
        out.extend(destination.octets());
        let checksum = Sum::default().add_octets(&out[start..]).complement();
        out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Appends the octets that the range stands for.
fn emit_payload(payload: Payload, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + payload.len as usize, 0);
    fill_stream(payload.offset, &mut out[start..]);
}

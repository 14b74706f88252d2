//! ICMP (RFC 792) and ICMPv6 (RFC 4443), as far as hosts need them: path MTU, unreachable, time exceeded, echo.

use super::cursor::Cursor;
use super::{IpPacket, ReadError};
use crate::codes::protocol::{ICMP, ICMPV6};
use crate::emit_error::EmitError;
use crate::ip::IpHeader;
use ropewalk_units::Seq;
use std::net::IpAddr;

/// Octets before what a message quotes.
const HEADER: usize = 8;

/// The numbers of one family.
#[derive(Clone, Copy)]
struct Family {
    protocol: u8,
    unreachable: u8,
    time_exceeded: u8,
    echo_request: u8,
    echo_reply: u8,
}

const V4: Family =
    Family { protocol: ICMP, unreachable: 3, time_exceeded: 11, echo_request: 8, echo_reply: 0 };
const V6: Family =
    Family { protocol: ICMPV6, unreachable: 1, time_exceeded: 3, echo_request: 128, echo_reply: 129 };
/// "Fragmentation needed" is a code of ICMP's unreachable (RFC 1191 §4), a type of its own in ICMPv6 (RFC 8201 §4).
const FRAGMENTATION_NEEDED: u8 = 4;
const PACKET_TOO_BIG: u8 = 2;

impl Family {
    fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { V4 } else { V6 }
    }
}

/// An ICMP or ICMPv6 message. Codes are those of the packet's family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Icmp<'a> {
    /// A packet was longer than the next link carries.
    PacketTooBig {
        /// That link's MTU, in octets; 0 from routers older than RFC 1191.
        mtu: u32,
        /// The packet's first octets.
        quoted: &'a [u8],
    },
    /// A packet's destination cannot be reached.
    Unreachable {
        /// Why.
        code: u8,
        /// The packet's first octets.
        quoted: &'a [u8],
    },
    /// A packet's hops or a reassembly's time ran out.
    TimeExceeded {
        /// Which.
        code: u8,
        /// The packet's first octets.
        quoted: &'a [u8],
    },
    /// An echo request or reply.
    Echo {
        /// Is it the reply?
        reply: bool,
        /// Who asked.
        identifier: u16,
        /// The request's number.
        sequence: u16,
        /// What comes back as it is.
        data: &'a [u8],
    },
    /// Another message.
    Other {
        /// Its type.
        kind: u8,
        /// Its code.
        code: u8,
        /// What stands behind the checksum.
        body: &'a [u8],
    },
}

impl<'a> Icmp<'a> {
    /// Reads the message in an IP packet.
    ///
    /// # Errors
    /// [`ReadError`], also if the packet carries another protocol or is a later fragment.
    pub fn read(ip: &IpPacket<'a>) -> Result<Self, ReadError> {
        let family = Family::of(ip.header.source);
        let mut cursor = Cursor::new(ip.transport(family.protocol)?, "ICMP");
        let (kind, code, _checksum) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
        let body = cursor.rest();
        let too_big = (kind, family.protocol) == (PACKET_TOO_BIG, ICMPV6);
        let fragmentation = (kind, code, family.protocol) == (family.unreachable, FRAGMENTATION_NEEDED, ICMP);
        Ok(if too_big {
            Self::PacketTooBig { mtu: cursor.u32()?, quoted: cursor.rest() }
        } else if fragmentation {
            let (_unused, mtu) = (cursor.u16()?, cursor.u16()?);
            Self::PacketTooBig { mtu: u32::from(mtu), quoted: cursor.rest() }
        } else if kind == family.unreachable {
            cursor.u32()?;
            Self::Unreachable { code, quoted: cursor.rest() }
        } else if kind == family.time_exceeded {
            cursor.u32()?;
            Self::TimeExceeded { code, quoted: cursor.rest() }
        } else if kind == family.echo_request || kind == family.echo_reply {
            let (identifier, sequence) = (cursor.u16()?, cursor.u16()?);
            Self::Echo { reply: kind == family.echo_reply, identifier, sequence, data: cursor.rest() }
        } else {
            Self::Other { kind, code, body }
        })
    }

    /// Does the checksum hold? ICMPv6's covers the addresses (RFC 4443 §2.3), ICMP's does not. `None` where the message
    /// is not all there.
    pub fn checksum_holds(ip: &IpPacket<'_>) -> Option<bool> {
        match ip.header.source {
            IpAddr::V6(_) => Some(ip.transport_sum()? == 0),
            IpAddr::V4(_) => (ip.is_whole() && ip.fragment.is_none())
                .then(|| crate::Sum::default().add_octets(ip.payload).complement() == 0),
        }
    }

    /// Appends the IP packet that carries the message.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit(&self, ip: &IpHeader, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let family = Family::of(ip.source);
        let (kind, code, word, body) = self.parts(family);
        let len = 4 + word.map_or(0, |word| word.len()) + body.len();
        let (addresses, len) = ip.emit(family.protocol, len as u64, out)?;
        let start = out.len();
        out.extend([kind, code, 0, 0]);
        out.extend(word.into_iter().flatten());
        out.extend_from_slice(body);
        let sum = match family.protocol {
            ICMPV6 => addresses.pseudo_header(ICMPV6, len),
            _ => crate::Sum::default(),
        };
        let checksum = sum.add_octets(&out[start..]).complement();
        out[start + 2..start + 4].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    /// Type, code, the word behind the checksum, and what follows.
    fn parts(&self, family: Family) -> (u8, u8, Option<[u8; 4]>, &'a [u8]) {
        match *self {
            Self::PacketTooBig { mtu, quoted } if family.protocol == ICMP => {
                let mtu = mtu.min(u32::from(u16::MAX)).to_be_bytes();
                (family.unreachable, FRAGMENTATION_NEEDED, Some(mtu), quoted)
            }
            Self::PacketTooBig { mtu, quoted } => (PACKET_TOO_BIG, 0, Some(mtu.to_be_bytes()), quoted),
            Self::Unreachable { code, quoted } => (family.unreachable, code, Some([0; 4]), quoted),
            Self::TimeExceeded { code, quoted } => (family.time_exceeded, code, Some([0; 4]), quoted),
            Self::Echo { reply, identifier, sequence, data } => {
                let kind = if reply { family.echo_reply } else { family.echo_request };
                let [a, b] = identifier.to_be_bytes();
                let [c, d] = sequence.to_be_bytes();
                (kind, 0, Some([a, b, c, d]), data)
            }
            Self::Other { kind, code, body } => (kind, code, None, body),
        }
    }
}

/// The packet that an ICMP message is about, as far as the message quotes it: the first octets of its headers. A host
/// compares them with what it has in flight before it believes the message (RFC 5927 §4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quoted {
    /// Its source: the host that gets the message.
    pub source: IpAddr,
    /// Its destination.
    pub destination: IpAddr,
    /// Its protocol.
    pub protocol: u8,
    /// Its source port.
    pub source_port: u16,
    /// Its destination port.
    pub destination_port: u16,
    /// What stands behind the ports: TCP's sequence number.
    pub seq: Seq,
    /// Octets of the whole packet's payload, by its own header.
    pub payload_len: usize,
}

impl Quoted {
    /// Reads what a message quotes: an IP header and eight octets at least (RFC 792).
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn read(octets: &[u8]) -> Result<Self, ReadError> {
        let ip = IpPacket::read(octets)?;
        let (mut cursor, _) = Cursor::split(ip.transport(ip.protocol)?, HEADER, "quoted transport")?;
        Ok(Self {
            source: ip.header.source,
            destination: ip.header.destination,
            protocol: ip.protocol,
            source_port: cursor.u16()?,
            destination_port: cursor.u16()?,
            seq: Seq::new(cursor.u32()?),
            payload_len: ip.payload_len,
        })
    }
}

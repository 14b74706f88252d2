//! IPv4 and IPv6 packets.

use super::ReadError;
use super::cursor::Cursor;
use crate::checksum::Sum;
use crate::ip::{Addresses, IPV4_HEADER, IPV6_HEADER, IpHeader};
use crate::segment::Ecn;
use std::net::IpAddr;

/// IPv6 extension headers (RFC 8200 §4) and how long each is.
mod extension {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION: u8 = 60;
}

/// Where a fragment stands in its packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// First octet's place in the packet's payload.
    pub offset: u32,
    /// Are there more behind it?
    pub more: bool,
    /// What the fragments of one packet have in common.
    pub identification: u32,
}

/// An IP packet in octets.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    /// The header.
    pub header: IpHeader,
    /// The protocol of the payload: behind the last extension header in IPv6.
    pub protocol: u8,
    /// Options of IPv4, extension headers of IPv6.
    pub extensions: &'a [u8],
    /// Is it a part of a packet, and which?
    pub fragment: Option<Fragment>,
    /// The payload, as far as it is there.
    pub payload: &'a [u8],
    /// Octets of payload that the header speaks of; more than are there if the packet was cut short.
    pub payload_len: usize,
    /// The octets of the header with its options, for the checksum.
    octets: &'a [u8],
}

impl<'a> IpPacket<'a> {
    /// Reads a packet that begins with its IP header. What stands behind the packet's end is left out.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn read(octets: &'a [u8]) -> Result<Self, ReadError> {
        match octets.first().map(|first| first >> 4) {
            Some(4) => Self::read_v4(octets),
            Some(6) => Self::read_v6(octets),
            Some(version) => Err(ReadError::Version(version)),
            None => Err(ReadError::Truncated { header: "IP", needed: 1, available: 0 }),
        }
    }

    /// RFC 791 §3.1.
    fn read_v4(octets: &'a [u8]) -> Result<Self, ReadError> {
        const HEADER: &str = "IPv4";
        let fixed = IPV4_HEADER as usize;
        let (mut cursor, _) = Cursor::split(octets, fixed, HEADER)?;
        let len = usize::from(cursor.u8()? & 0x0f) * 4;
        if len < fixed {
            return Err(ReadError::Length { header: HEADER, octets: len });
        }
        let class = cursor.u8()?;
        let total = usize::from(cursor.u16()?);
        let identification = cursor.u16()?;
        let flags_and_offset = cursor.u16()?;
        let (ttl, protocol, _checksum) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
        let (source, destination) = (cursor.take::<4>()?, cursor.take::<4>()?);
        let (header, payload) = Cursor::split(octets, len, HEADER)?;
        let payload_len =
            total.checked_sub(len).ok_or(ReadError::Length { header: HEADER, octets: total })?;
        let offset = u32::from(flags_and_offset & 0x1fff) * 8;
        let more = flags_and_offset & 0x2000 != 0;
        Ok(Self {
            header: IpHeader {
                source: source.into(),
                destination: destination.into(),
                dscp: class >> 2,
                ecn: Ecn::from_bits(class),
                ttl,
                identification,
                dont_fragment: flags_and_offset & 0x4000 != 0,
                flow_label: 0,
            },
            protocol,
            extensions: &header.rest()[fixed..],
            fragment: (more || offset > 0).then_some(Fragment {
                offset,
                more,
                identification: u32::from(identification),
            }),
            payload: &payload[..payload_len.min(payload.len())],
            payload_len,
            octets: header.rest(),
        })
    }

    /// RFC 8200 §3.
    fn read_v6(octets: &'a [u8]) -> Result<Self, ReadError> {
        let (mut cursor, behind) = Cursor::split(octets, IPV6_HEADER as usize, "IPv6")?;
        let header = cursor.rest();
        let first = cursor.u32()?;
        let class = (first >> 20) as u8;
        let len = usize::from(cursor.u16()?);
        let (next, ttl) = (cursor.u8()?, cursor.u8()?);
        let (source, destination) = (cursor.take::<16>()?, cursor.take::<16>()?);
        let behind = &behind[..len.min(behind.len())];
        let chain = Extensions::read(next, behind)?;
        Ok(Self {
            header: IpHeader {
                source: source.into(),
                destination: destination.into(),
                dscp: class >> 2,
                ecn: Ecn::from_bits(class),
                ttl,
                identification: 0,
                dont_fragment: true,
                flow_label: first & 0x000f_ffff,
            },
            protocol: chain.protocol,
            extensions: &behind[..chain.len],
            fragment: chain.fragment,
            payload: &behind[chain.len..],
            payload_len: len - chain.len,
            octets: header,
        })
    }

    /// Is the whole payload there?
    pub fn is_whole(&self) -> bool {
        self.payload.len() == self.payload_len
    }

    /// Does the checksum of the IPv4 header hold? IPv6 has none.
    pub fn checksum_holds(&self) -> bool {
        match self.header.source {
            IpAddr::V4(_) => Sum::default().add_octets(self.octets).complement() == 0,
            IpAddr::V6(_) => true,
        }
    }

    /// The payload, if it begins with a header of `protocol`.
    pub(super) fn transport(&self, protocol: u8) -> Result<&'a [u8], ReadError> {
        if self.protocol != protocol {
            return Err(ReadError::Protocol(self.protocol));
        }
        match self.fragment {
            Some(Fragment { offset: 1.., .. }) => Err(ReadError::Fragment),
            _ => Ok(self.payload),
        }
    }

    /// The sum over pseudo-header and payload, which is 0 where the transport's checksum holds; `None` for a part of
    /// a packet, and for one that was cut short.
    pub(super) fn transport_sum(&self) -> Option<u16> {
        let whole = self.is_whole() && self.fragment.is_none();
        let addresses = match (self.header.source, self.header.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Addresses::V4(source, destination),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Addresses::V6(source, destination),
            _ => return None,
        };
        let sum = addresses.pseudo_header(self.protocol, self.payload_len as u32);
        whole.then(|| sum.add_octets(self.payload).complement())
    }
}

/// The extension headers of an IPv6 packet.
struct Extensions {
    /// Octets of all of them.
    len: usize,
    /// What follows them.
    protocol: u8,
    fragment: Option<Fragment>,
}

impl Extensions {
    /// Walks the chain (RFC 8200 §4). Each header takes eight octets at least, so the walk ends; it also ends at a fragment
    /// that is not the first, behind which no header stands.
    fn read(next: u8, octets: &[u8]) -> Result<Self, ReadError> {
        let mut all = Self { len: 0, protocol: next, fragment: None };
        while all.fragment.is_none_or(|fragment| fragment.offset == 0) {
            let rest = &octets[all.len..];
            let words = |octet: Option<&u8>| octet.map_or(0, |octet| usize::from(*octet));
            let len = match all.protocol {
                extension::HOP_BY_HOP | extension::ROUTING | extension::DESTINATION => {
                    8 * (words(rest.get(1)) + 1)
                }
                // RFC 4302 §2.2 counts in words of four octets.
                extension::AUTHENTICATION => 4 * (words(rest.get(1)) + 2),
                extension::FRAGMENT => 8,
                _ => break,
            };
            let (mut header, _) = Cursor::split(rest, len, "IPv6 extension")?;
            let is_fragment = all.protocol == extension::FRAGMENT;
            all.protocol = header.u8()?;
            all.len += len;
            if is_fragment {
                all.fragment = Some(Self::fragment(header)?);
            }
        }
        Ok(all)
    }

    /// RFC 8200 §4.5, behind the "next header" octet.
    fn fragment(mut header: Cursor<'_>) -> Result<Fragment, ReadError> {
        let (_reserved, offset) = (header.u8()?, header.u16()?);
        Ok(Fragment {
            offset: u32::from(offset & 0xfff8),
            more: offset & 1 != 0,
            identification: header.u32()?,
        })
    }
}

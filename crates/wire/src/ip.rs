//! The IP header as a value, and its bytes.

use crate::checksum::Sum;
use crate::emit_error::EmitError;
use crate::segment::Ecn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The fixed IPv4 header (RFC 791 §3.1), in octets.
pub(crate) const IPV4_HEADER: u32 = 20;
/// The IPv6 header (RFC 8200 §3), in octets.
pub(crate) const IPV6_HEADER: u32 = 40;

/// An IPv4 or IPv6 header without options and extension headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpHeader {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same family.
    pub destination: IpAddr,
    /// Differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// The ECN field (RFC 3168 §5).
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Identification of the IPv4 header; 0 in IPv6, which has none.
    pub identification: u16,
    /// DF of the IPv4 header; true in IPv6, where no router fragments.
    pub dont_fragment: bool,
    /// The IPv6 flow label (RFC 6437), 20 bits; 0 in IPv4.
    pub flow_label: u32,
}

/// Can a host have this address? Not one that means many hosts, or none (RFC 1122 §3.2.1.3). Which ones are broadcast
/// addresses of a subnet only its hosts know.
pub const fn is_of_one_host(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !address.is_multicast() && !address.is_unspecified() && !broadcast
}

/// Source and destination of one family: what a transport checksum covers beside the transport's octets.
#[derive(Clone, Copy)]
pub(crate) enum Addresses {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// The pseudo-header's part of a transport checksum (RFC 9293 §3.1, RFC 8200 §8.1).
    pub(crate) fn pseudo_header(self, protocol: u8, len: u32) -> Sum {
        let sum = Sum::default().add_u16(u16::from(protocol)).add_u32(len);
        match self {
            Self::V4(source, destination) => sum.add_u32(source.to_bits()).add_u32(destination.to_bits()),
            Self::V6(source, destination) => {
                sum.add_octets(&source.octets()).add_octets(&destination.octets())
            }
        }
    }
}

impl IpHeader {
    /// Octets of the header.
    pub const fn wire_len(&self) -> u32 {
        match self.source {
            IpAddr::V4(_) => IPV4_HEADER,
            IpAddr::V6(_) => IPV6_HEADER,
        }
    }

    /// The addresses, if they are of one family.
    pub(crate) fn addresses(&self) -> Result<Addresses, EmitError> {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Ok(Addresses::V4(source, destination)),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Ok(Addresses::V6(source, destination)),
            (source, destination) => Err(EmitError::MixedFamilies { source, destination }),
        }
    }

    /// Appends the header of a packet with `payload` octets of `protocol` behind it; returns what a transport checksum
    /// needs: the addresses, and `payload`.
    pub(crate) fn emit(
        &self,
        protocol: u8,
        payload: u64,
        out: &mut Vec<u8>,
    ) -> Result<(Addresses, u32), EmitError> {
        let addresses = self.addresses()?;
        // IPv4's total length counts its header, IPv6's payload length does not.
        let counted = match addresses {
            Addresses::V4(..) => payload + u64::from(IPV4_HEADER),
            Addresses::V6(..) => payload,
        };
        let Ok(counted) = u16::try_from(counted) else {
            return Err(EmitError::PacketTooLong(payload + u64::from(self.wire_len())));
        };
        match addresses {
            Addresses::V4(source, destination) => {
                self.emit_v4(protocol, counted, (source, destination), out);
            }
            Addresses::V6(source, destination) => {
                self.emit_v6(protocol, counted, (source, destination), out);
            }
        }
        Ok((addresses, payload as u32))
    }

    /// RFC 791 §3.1, without options.
    fn emit_v4(
        &self,
        protocol: u8,
        total: u16,
        (source, destination): (Ipv4Addr, Ipv4Addr),
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        out.extend([0x45, self.dscp << 2 | self.ecn.bits()]);
        out.extend(total.to_be_bytes());
        out.extend(self.identification.to_be_bytes());
        out.extend([u8::from(self.dont_fragment) << 6, 0, self.ttl, protocol, 0, 0]);
        out.extend(source.octets());
        out.extend(destination.octets());
        let checksum = Sum::default().add_octets(&out[start..]).complement();
        out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
    }

    /// RFC 8200 §3.
    fn emit_v6(
        &self,
        protocol: u8,
        payload: u16,
        (source, destination): (Ipv6Addr, Ipv6Addr),
        out: &mut Vec<u8>,
    ) {
        let class = u32::from(self.dscp << 2 | self.ecn.bits());
        out.extend((0x6000_0000 | class << 20 | self.flow_label & 0x000f_ffff).to_be_bytes());
        out.extend(payload.to_be_bytes());
        out.extend([protocol, self.ttl]);
        out.extend(source.octets());
        out.extend(destination.octets());
    }
}

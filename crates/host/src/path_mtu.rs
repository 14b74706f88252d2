//! What a router says of the path's MTU: ICMP "fragmentation needed" (RFC 1191), ICMPv6 "packet too
//! big" (RFC 8201).

use crate::tuple::FourTuple;
use ropewalk_units::Seq;
use ropewalk_wire::Segment;
use ropewalk_wire::protocol::{ICMP, ICMPV6, TCP};
use ropewalk_wire::read::{Icmp, IpPacket, Quoted};
use std::net::{IpAddr, SocketAddr};

/// Octets of an IPv4 header without options.
const IPV4_HEADER: u32 = 20;
/// Octets of an IPv6 header.
const IPV6_HEADER: u32 = 40;
/// No message makes packets of IPv4 shorter than this (Linux's `net.ipv4.route.min_pmtu`). RFC 791
/// allows 68, which would help an attacker.
const LEAST_V4: u32 = 552;
/// RFC 8201 §4: every link of IPv6 carries so much.
const LEAST_V6: u32 = 1280;
/// Likely MTUs, for routers that do not tell theirs (RFC 1191 §7.1, table 7-1), down to the least.
const PLATEAUS: [u32; 8] = [32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, LEAST_V4];

/// Is it a message of ICMP, of the packet's own family?
pub(crate) fn is_icmp(ip: &IpPacket<'_>) -> bool {
    ip.protocol == if ip.header.source.is_ipv4() { ICMP } else { ICMPV6 }
}

/// A segment of ours that was too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLong {
    /// Where it went.
    pub(crate) tuple: FourTuple,
    /// Where it began.
    pub(crate) seq: Seq,
    /// The MSS that the path has: its MTU less the fixed headers of IP and TCP.
    pub(crate) mss: u16,
}

impl TooLong {
    /// Reads a message. `None` unless it is about a segment of the host that gets it, and that
    /// segment was longer than the MTU that it names.
    pub(crate) fn read(ip: &IpPacket<'_>) -> Option<Self> {
        let Ok(Icmp::PacketTooBig { mtu, quoted }) = Icmp::read(ip) else { return None };
        let quoted = Quoted::read(quoted).ok()?;
        if quoted.protocol != TCP || quoted.source != ip.header.destination {
            return None;
        }
        let (header, least) = match quoted.source {
            IpAddr::V4(_) => (IPV4_HEADER, LEAST_V4),
            IpAddr::V6(_) => (IPV6_HEADER, LEAST_V6),
        };
        let len = header + u32::try_from(quoted.payload_len).ok()?;
        let mtu = if mtu == 0 { PLATEAUS.into_iter().find(|plateau| *plateau < len)? } else { mtu };
        // RFC 8201 §4: a message with less than the least MTU of IPv6 is ignored.
        if mtu >= len || (quoted.source.is_ipv6() && mtu < least) {
            return None;
        }
        let mss = mtu.max(least) - header - Segment::HEADER;
        Some(Self {
            tuple: FourTuple {
                local: SocketAddr::new(quoted.source, quoted.source_port),
                remote: SocketAddr::new(quoted.destination, quoted.destination_port),
            },
            seq: quoted.seq,
            mss: u16::try_from(mss).ok()?,
        })
    }
}

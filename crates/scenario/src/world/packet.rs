//! The packet of every scenario: addresses, ports, and a TCP segment or a UDP datagram.

use crate::plan::{AddressFamily, AddressIndex};
use ropewalk_bonding::{Control, DataHeader};
use ropewalk_sim as sim;
use ropewalk_units::Instant;
use ropewalk_wire::{Ecn, Flags, Payload, Segment};
use std::fmt;

/// A UDP header.
pub(crate) const UDP_HEADER: u32 = 8;
/// Hops a packet may take, as most systems send it.
pub(crate) const INITIAL_TTL: u8 = 64;

/// A UDP datagram with the number its application gave it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Datagram {
    /// Counted from 0 by the sending application.
    pub(crate) number: u64,
    /// When it was sent, for the receiver to measure its delay.
    pub(crate) sent: Instant,
    /// The octets.
    pub(crate) payload: Payload,
}

/// What a packet carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
    /// A packet between the gateways of a bond. Boxed, so that every other packet stays within two cache lines.
    Bonded(Box<Bonded>),
    /// What the gateways of a bond tell each other.
    BondControl(Box<Control>),
}

/// A packet on a member link of a bond.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bonded {
    /// Its numbers.
    pub(crate) header: DataHeader,
    /// The packet that a router handed to the bond.
    pub(crate) inner: Packet,
}

/// One end of a flow: an interface's address and a port, and how long the IP headers before them are. In one word, since every
/// packet's are compared: 16 bits of port, 32 of address, and the header's octets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Socket(u64);

impl Socket {
    /// From an address and a port.
    pub(crate) const fn new(family: AddressFamily, address: AddressIndex, port: u16) -> Self {
        Self((family.header() as u64) << 48 | (address.0 as u32 as u64) << 16 | port as u64)
    }

    /// Another port at the same address.
    #[inline]
    pub(crate) const fn with_port(self, port: u16) -> Self {
        Self(self.0 & !0xffff | port as u64)
    }

    /// Octets of the IP header of what it sends.
    #[inline]
    const fn ip_header(self) -> u32 {
        (self.0 >> 48) as u32
    }

    /// The address.
    #[inline]
    pub(crate) fn address(self) -> AddressIndex {
        AddressIndex((self.0 >> 16) as u32 as usize)
    }

    /// The port.
    #[inline]
    pub(crate) fn port(self) -> u16 {
        self.0 as u16
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.address().0, self.port())
    }
}

/// An IP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    /// From.
    pub(crate) source: Socket,
    /// To.
    pub(crate) destination: Socket,
    /// Hops left.
    pub(crate) ttl: u8,
    /// Differentiated services code point (RFC 2474), which tells a bond how to treat the packet.
    pub(crate) dscp: u8,
    /// What it carries.
    pub(crate) body: Body,
}

impl Packet {
    /// A fresh packet from `source` to `destination`.
    pub(crate) fn new(source: Socket, destination: Socket, body: Body) -> Self {
        Self { source, destination, ttl: INITIAL_TTL, dscp: 0, body }
    }

    /// Does it open a connection of TCP?
    pub(crate) fn opens(&self) -> bool {
        matches!(&self.body, Body::Tcp(segment) if segment.flags.contains(Flags::SYN))
    }

    /// Is it an acknowledgement of TCP, and nothing else?
    pub(crate) fn is_ack(&self) -> bool {
        let is_bare = |segment: &Segment| segment.sequence_len() == 0 && !segment.flags.contains(Flags::RST);
        matches!(&self.body, Body::Tcp(segment) if segment.flags.contains(Flags::ACK) && is_bare(segment))
    }

    /// A packet to be written over.
    pub(crate) fn blank() -> Self {
        Self::new(Socket::default(), Socket::default(), Body::Tcp(Segment::default()))
    }

    /// Where its segment goes, whatever it carried before.
    #[inline]
    pub(crate) fn segment_to_write(&mut self) -> &mut Segment {
        if !matches!(self.body, Body::Tcp(_)) {
            self.body = Body::Tcp(Segment::default());
        }
        match &mut self.body {
            Body::Tcp(segment) => segment,
            _ => unreachable!("it has just become one"),
        }
    }

    /// A fresh header around what it carries.
    #[inline]
    pub(crate) fn address(&mut self, source: Socket, destination: Socket, dscp: u8) {
        self.source = source;
        self.destination = destination;
        self.ttl = INITIAL_TTL;
        self.dscp = dscp;
    }

    /// The ECN field of its IP header; a bond's packet has its inner packet's (RFC 6040, normal mode).
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Tcp(segment) => segment.ecn,
            Body::Bonded(bonded) => bonded.inner.ecn(),
            Body::Udp(_) | Body::BondControl(_) => Ecn::NotEct,
        }
    }

    /// [`sim::Packet::wire_len`] of what is no TCP segment.
    #[inline(never)]
    fn other_wire_len(&self) -> u32 {
        let payload = match &self.body {
            Body::Tcp(segment) => segment.wire_len(),
            Body::Udp(datagram) => UDP_HEADER + datagram.payload.len,
            Body::Bonded(bonded) => UDP_HEADER + DataHeader::LEN + sim::Packet::wire_len(&bonded.inner),
            Body::BondControl(control) => UDP_HEADER + control.wire_len(),
        };
        self.source.ip_header() + payload
    }

    /// A hash of its addresses, ports and protocol with a router's salt: all packets of a flow have the same there.
    #[inline]
    pub(crate) fn way_hash(&self, salt: u64) -> u64 {
        let protocol = u64::from(!matches!(self.body, Body::Tcp(_)));
        // The finisher of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), once for each end.
        finish(finish((self.source.0 << 1) ^ protocol ^ salt) ^ self.destination.0)
    }

    /// With a code point.
    #[inline]
    pub(crate) fn with_dscp(mut self, dscp: u8) -> Self {
        self.dscp = dscp;
        self
    }
}

/// Spreads every bit over all.
#[inline]
const fn finish(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl sim::Packet for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        // Apart, so that the rest, which calls itself, does not keep it out of line.
        if let Body::Tcp(segment) = &self.body {
            return self.source.ip_header() + segment.wire_len();
        }
        self.other_wire_len()
    }

    #[inline]
    fn is_data(&self) -> bool {
        match &self.body {
            Body::Tcp(segment) => segment.payload.len > 0,
            Body::Udp(_) => true,
            Body::Bonded(bonded) => bonded.inner.is_data(),
            Body::BondControl(_) => false,
        }
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        self.ecn() != Ecn::NotEct
    }

    fn mark_ce(&mut self) {
        match &mut self.body {
            Body::Tcp(segment) => segment.ecn = Ecn::Ce,
            Body::Bonded(bonded) => bonded.inner.mark_ce(),
            Body::Udp(_) | Body::BondControl(_) => {}
        }
    }

    fn flow_hash(&self) -> u32 {
        let protocol = u64::from(!matches!(self.body, Body::Tcp(_)));
        // Fibonacci hashing of the 5-tuple: the golden ratio's odd 64-bit multiplier spreads close numbers.
        let mixed = (self.source.0 << 1 | protocol).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ self.destination.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as u32
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syn_opens_a_connection() {
        let opens = |flags| {
            let segment = Segment { flags, ..Segment::default() };
            Packet::new(Socket::default(), Socket::default(), Body::Tcp(segment)).opens()
        };
        assert!(opens(Flags::SYN) && opens(Flags::SYN | Flags::ACK));
        assert!(!opens(Flags::ACK));
    }

    #[test]
    fn an_acknowledgement_is_a_segment_that_needs_none_itself() {
        let is_ack = |flags, len| {
            let payload = Payload { len, ..Payload::default() };
            let segment = Segment { flags, payload, ..Segment::default() };
            Packet::new(Socket::default(), Socket::default(), Body::Tcp(segment)).is_ack()
        };
        assert!(is_ack(Flags::ACK, 0));
        assert!(!is_ack(Flags::ACK, 1) && !is_ack(Flags::NONE, 0));
        for more in [Flags::SYN, Flags::FIN, Flags::RST] {
            assert!(!is_ack(Flags::ACK | more, 0));
        }
    }

    #[test]
    fn a_packet_fills_two_cache_lines_at_most() {
        assert!(size_of::<Option<Packet>>() <= 128, "{} octets", size_of::<Option<Packet>>());
    }
}

//! A packet as a kernel wrote it, with what links and routers must know of it.

use ropewalk_sim::Packet;
use ropewalk_wire::protocol;
use ropewalk_wire::read::{IpPacket, TcpPacket};
use ropewalk_wire::{Ecn, Sum};
use std::net::{IpAddr, Ipv4Addr};

/// Places of fields in an IPv4 header (RFC 791 §3.1).
const CLASS: usize = 1;
const TTL: usize = 8;
const CHECKSUM: std::ops::Range<usize> = 10..12;
/// The bits of the second octet that are the ECN field (RFC 3168 §5).
const ECN: u8 = 0b11;

/// An IPv4 packet in octets. Its buffer stays when the packet is gone, and the next one is written over it.
#[derive(Clone, Debug)]
pub(super) struct Octets {
    /// As long as the longest packet so far; the packet is in front.
    buffer: Vec<u8>,
    len: usize,
    destination: Ipv4Addr,
    is_data: bool,
    ecn_capable: bool,
    flow_hash: u32,
}

impl Octets {
    /// Room for a packet.
    pub(super) fn with_room(len: usize) -> Self {
        Self {
            buffer: vec![0; len],
            len: 0,
            destination: Ipv4Addr::UNSPECIFIED,
            is_data: false,
            ecn_capable: false,
            flow_hash: 0,
        }
    }

    /// Where to write a packet of at most so many octets.
    pub(super) fn room(&mut self, most: usize) -> &mut [u8] {
        if self.buffer.len() < most {
            self.buffer.resize(most, 0);
        }
        &mut self.buffer[..most]
    }

    /// Takes the first `len` octets of its room as the packet. False: it is none of IPv4.
    pub(super) fn read(&mut self, len: usize) -> bool {
        self.len = len;
        let Ok(ip) = IpPacket::read(&self.buffer[..len]) else { return false };
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (ip.header.source, ip.header.destination) else {
            return false;
        };
        let tcp = TcpPacket::read(&ip).ok();
        // A fragment behind the first has no ports: it is a flow with the others of its kind.
        let first = ip.fragment.is_none_or(|fragment| fragment.offset == 0);
        let ports =
            ip.payload.first_chunk::<4>().filter(|_| first).map_or(0, |ports| u32::from_be_bytes(*ports));
        self.is_data = ip.protocol == protocol::UDP || tcp.is_some_and(|tcp| tcp.payload_len > 0);
        self.flow_hash = flow_hash(source, destination, ports, ip.protocol);
        self.ecn_capable = ip.header.ecn != Ecn::NotEct;
        self.destination = destination;
        true
    }

    /// The packet.
    pub(super) fn octets(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Where it goes.
    pub(super) const fn destination(&self) -> Ipv4Addr {
        self.destination
    }

    /// One hop less to live. False: it has none left.
    pub(super) fn hop(&mut self) -> bool {
        let ttl = self.buffer[TTL].saturating_sub(1);
        self.set(TTL, ttl);
        ttl > 0
    }

    /// Changes an octet of the header, and the header's checksum (RFC 1624 eq. 3).
    fn set(&mut self, place: usize, octet: u8) {
        let word = place & !1;
        let read = |octets: &[u8], at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
        let (before, checksum) = (read(&self.buffer, word), read(&self.buffer, CHECKSUM.start));
        self.buffer[place] = octet;
        let after = read(&self.buffer, word);
        let sum = Sum::default().add_u16(!checksum).add_u16(!before).add_u16(after);
        self.buffer[CHECKSUM].copy_from_slice(&sum.complement().to_be_bytes());
    }
}

/// Fibonacci hashing of the 5-tuple, by the golden ratio's odd 64-bit multiplier.
fn flow_hash(source: Ipv4Addr, destination: Ipv4Addr, ports: u32, protocol: u8) -> u32 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let addresses = u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits());
    let mixed = addresses.wrapping_mul(GOLDEN) ^ (u64::from(ports) << 8 | u64::from(protocol));
    (mixed.wrapping_mul(GOLDEN) >> 32) as u32
}

impl Packet for Octets {
    fn wire_len(&self) -> u32 {
        self.len as u32
    }

    fn is_data(&self) -> bool {
        self.is_data
    }

    fn ecn_capable(&self) -> bool {
        self.ecn_capable
    }

    fn mark_ce(&mut self) {
        self.set(CLASS, self.buffer[CLASS] | ECN);
    }

    fn flow_hash(&self) -> u32 {
        self.flow_hash
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_wire::{Datagram, PacketHeader, Payload, Segment};

    fn header(port: u16) -> PacketHeader {
        PacketHeader {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port: port,
            destination_port: 5001,
            identification: 0,
            ttl: 2,
            dscp: 0,
        }
    }

    fn read(octets: &[u8]) -> Octets {
        let mut packet = Octets::with_room(0);
        packet.room(octets.len()).copy_from_slice(octets);
        assert!(packet.read(octets.len()), "it is IPv4");
        packet
    }

    fn segment(len: u32, ecn: Ecn) -> Vec<u8> {
        let segment = Segment { payload: Payload { offset: 0, len }, ecn, ..Segment::default() };
        let mut octets = Vec::new();
        header(1).emit_segment(&segment, &mut octets).expect("a segment");
        octets
    }

    #[test]
    fn data_are_segments_with_payload_and_datagrams() {
        assert!(!read(&segment(0, Ecn::NotEct)).is_data());
        assert!(read(&segment(1, Ecn::NotEct)).is_data());
        let datagram = Datagram { payload: Payload { offset: 0, len: 0 }, ecn: Ecn::NotEct };
        let mut octets = Vec::new();
        header(1).emit_datagram(&datagram, &mut octets).expect("a datagram");
        assert!(read(&octets).is_data());
    }

    #[test]
    fn a_hop_and_a_mark_keep_the_checksum_right() {
        let mut packet = read(&segment(9, Ecn::Ect0));
        assert!(packet.ecn_capable() && packet.hop());
        packet.mark_ce();
        let ip = IpPacket::read(packet.octets()).expect("still a packet");
        assert!(ip.checksum_holds());
        assert_eq!((ip.header.ttl, ip.header.ecn), (1, Ecn::Ce));
        assert!(!packet.hop(), "no hop is left");
    }

    #[test]
    fn flows_differ_and_a_flow_stays_one() {
        let hash = |port: u16, len: u32| {
            let datagram = Datagram { payload: Payload { offset: 0, len }, ecn: Ecn::NotEct };
            let mut octets = Vec::new();
            header(port).emit_datagram(&datagram, &mut octets).expect("a datagram");
            read(&octets).flow_hash()
        };
        assert_eq!(hash(1, 10), hash(1, 20));
        assert_ne!(hash(1, 10), hash(2, 10));
    }

    #[test]
    fn what_is_no_ipv4_is_left_out() {
        let mut packet = Octets::with_room(64);
        packet.room(64).fill(0);
        assert!(!packet.read(0) && !packet.read(64));
        packet.room(64)[0] = 0x60;
        assert!(!packet.read(64), "IPv6");
    }
}

//! A packet as a kernel wrote it, with what links and routers must know of it.

use ropewalk_sim::Packet;
use ropewalk_wire::protocol;
use ropewalk_wire::read::{IpPacket, TcpPacket};
use ropewalk_wire::{Ecn, Sum};
use std::net::{IpAddr, Ipv4Addr};

/// Where the checksum of an IPv4 header is (RFC 791 §3.1). IPv6 has none.
const CHECKSUM: std::ops::Range<usize> = 10..12;
/// The octet of both headers in which the ECN field is.
const ECN: usize = 1;

/// Where the hops left to live are (RFC 791 §3.1, RFC 8200 §3).
const fn hops(destination: IpAddr) -> usize {
    match destination {
        IpAddr::V4(_) => 8,
        IpAddr::V6(_) => 7,
    }
}

/// The bits that are the ECN field (RFC 3168 §5): IPv6's traffic class begins within the first
/// octet.
const fn ecn_bits(destination: IpAddr) -> u8 {
    match destination {
        IpAddr::V4(_) => 0b11,
        IpAddr::V6(_) => 0b11 << 4,
    }
}

/// An IP packet in octets. Its buffer stays when the packet is gone, and the next one is written
/// over it.
#[derive(Clone, Debug)]
pub(crate) struct Octets {
    /// As long as the longest packet so far; the packet is in front.
    buffer: Vec<u8>,
    len: usize,
    destination: IpAddr,
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
            destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
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

    /// Takes the first `len` octets of its room as the packet. False: it is none, or for many: no
    /// host of a scenario sends to a group.
    pub(super) fn read(&mut self, len: usize) -> bool {
        self.len = len;
        let Ok(ip) = IpPacket::read(&self.buffer[..len]) else { return false };
        let (source, destination) = (ip.header.source, ip.header.destination);
        if destination.is_multicast() {
            return false;
        }
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
    pub(super) const fn destination(&self) -> IpAddr {
        self.destination
    }

    /// One hop less to live. False: it has none left.
    pub(super) fn hop(&mut self) -> bool {
        let place = hops(self.destination);
        let left = self.buffer[place].saturating_sub(1);
        self.set(place, left);
        left > 0
    }

    /// Changes an octet of the header, and the header's checksum (RFC 1624 eq. 3), if it has one.
    fn set(&mut self, place: usize, octet: u8) {
        if self.destination.is_ipv6() {
            self.buffer[place] = octet;
            return;
        }
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
fn flow_hash(source: IpAddr, destination: IpAddr, ports: u32, protocol: u8) -> u32 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let addresses = u64::from(word(source)) << 32 | u64::from(word(destination));
    let mixed = addresses.wrapping_mul(GOLDEN) ^ (u64::from(ports) << 8 | u64::from(protocol));
    (mixed.wrapping_mul(GOLDEN) >> 32) as u32
}

/// An address in 32 bits: of IPv6, the ends of its network and of its host.
const fn word(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            ((bits >> 64) as u32).rotate_left(16) ^ bits as u32
        }
    }
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
        self.set(ECN, self.buffer[ECN] | ecn_bits(self.destination));
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
    fn a_hop_and_a_mark_of_ipv6_change_nothing_else() {
        let [source, destination] =
            ["fd72::1", "fd72::2"].map(|address| address.parse().expect("an address"));
        let header = PacketHeader { source, destination, dscp: 63, ..header(1) };
        let segment = Segment { ecn: Ecn::Ect0, ..Segment::default() };
        let mut octets = Vec::new();
        header.emit_segment(&segment, &mut octets).expect("a segment");
        let mut packet = read(&octets);
        assert!(packet.ecn_capable() && !packet.is_data() && packet.hop());
        packet.mark_ce();
        let ip = IpPacket::read(packet.octets()).expect("still a packet");
        assert_eq!((ip.header.ttl, ip.header.ecn, ip.header.dscp), (1, Ecn::Ce, 63));
        assert_eq!(packet.octets().len(), octets.len());
        let changed = octets.iter().zip(packet.octets()).enumerate().filter(|(_, (a, b))| a != b);
        assert_eq!(changed.map(|(at, _)| at).collect::<Vec<_>>(), [1, 7]);
        assert!(!packet.hop(), "no hop is left");
    }

    #[test]
    fn what_is_no_packet_for_one_host_is_left_out() {
        let mut packet = Octets::with_room(64);
        packet.room(64).fill(0);
        assert!(!packet.read(0) && !packet.read(64));
        packet.room(64)[0] = 0x60;
        assert!(!packet.read(64), "it ends too early");
        let group = PacketHeader { destination: [224, 0, 0, 1].into(), ..header(1) };
        let mut octets = Vec::new();
        group.emit_segment(&Segment::default(), &mut octets).expect("a segment");
        packet.room(octets.len()).copy_from_slice(&octets);
        assert!(!packet.read(octets.len()), "it is for many");
    }
}

//! IP packets of the inside: their flows, marks, and the segment sizes that TCP announces in them.

mod ack;
mod mss;
mod too_long;

pub use mss::clamp_mss;
pub use too_long::too_long;

use ropewalk_bonding::Payload;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

const TCP: u8 = 6;
/// Where TCP's header has its own length, in words of four octets and the higher half of an octet, and its flags.
const TCP_OFFSET_AT: usize = 12;
const TCP_FLAGS_AT: usize = 13;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
const UDP: u8 = 17;
const UDP_LITE: u8 = 136;
const SCTP: u8 = 132;
/// The two bits of ECN (RFC 3168 §5), and what they say.
const ECN: u8 = 3;
const NOT_CAPABLE: u8 = 0;
const CE: u8 = 3;

/// An inner packet. Copies share its octets: one that is kept for a repair costs no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet(Rc<[u8]>);

impl Packet {
    /// A packet with these octets.
    pub fn new(octets: &[u8]) -> Self {
        Self(Rc::from(octets))
    }

    /// Its octets.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

impl Payload for Packet {
    fn wire_len(&self) -> u32 {
        self.0.len() as u32
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn mark_ce(&mut self) -> bool {
        mark_ce(Rc::make_mut(&mut self.0))
    }

    fn supersedes(&self, earlier: &Self) -> bool {
        ack::supersedes(&self.0, &earlier.0)
    }
}

/// What a packet's header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Who sent it.
    pub source: IpAddr,
    /// To whom.
    pub destination: IpAddr,
    /// Differentiated services code point.
    pub dscp: u8,
    /// The transport protocol; of IPv6 the first header behind the fixed one.
    pub protocol: u8,
    /// Where the transport protocol's header begins.
    pub transport_at: usize,
    /// May ports follow? Not in a fragment of IPv4, not even in the first, so that all fragments of
    /// a packet are in one flow. Always true for IPv6.
    pub has_ports: bool,
}

impl Header {
    /// Reads the header of a packet. `None`: it is neither IPv4 nor IPv6, or shorter than it says.
    /// Never panics.
    pub fn read(octets: &[u8]) -> Option<Self> {
        match octets.first()? >> 4 {
            4 => Self::read_v4(octets),
            6 => Self::read_v6(octets),
            _ => None,
        }
    }

    /// Does the packet open a connection of TCP? The header was read from `octets`.
    pub fn opens_connection(&self, octets: &[u8]) -> bool {
        self.tcp_flags(octets).is_some_and(|flags| flags & SYN != 0)
    }

    /// Is the packet an acknowledgement of TCP, and nothing else? The header was read from `octets`.
    pub fn is_ack(&self, octets: &[u8]) -> bool {
        let is_bare = |offset: u8| self.transport_at + usize::from(offset >> 4) * 4 == octets.len();
        self.tcp_flags(octets).is_some_and(|flags| flags & (ACK | SYN | FIN | RST) == ACK)
            && octets.get(self.transport_at + TCP_OFFSET_AT).is_some_and(|&offset| is_bare(offset))
    }

    /// The flags of a packet of TCP.
    fn tcp_flags(&self, octets: &[u8]) -> Option<u8> {
        let flags = octets.get(self.transport_at + TCP_FLAGS_AT)?;
        (self.protocol == TCP && self.has_ports).then_some(*flags)
    }

    fn read_v4(octets: &[u8]) -> Option<Self> {
        let fixed = octets.first_chunk::<20>()?;
        let transport_at = usize::from(fixed[0] & 0xf) * 4;
        let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        if transport_at < 20 || total < transport_at || octets.len() < total {
            return None;
        }
        let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
        Some(Self {
            source: address(12).into(),
            destination: address(16).into(),
            dscp: fixed[1] >> 2,
            protocol: fixed[9],
            transport_at,
            has_ports: u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff == 0,
        })
    }

    fn read_v6(octets: &[u8]) -> Option<Self> {
        let fixed = octets.first_chunk::<40>()?;
        let payload = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        if octets.len() < 40 + payload {
            return None;
        }
        let address = |at: usize| Some(Ipv6Addr::from(*fixed[at..].first_chunk::<16>()?));
        Some(Self {
            source: address(8)?.into(),
            destination: address(24)?.into(),
            dscp: (fixed[0] & 0xf) << 2 | fixed[1] >> 6,
            protocol: fixed[6],
            transport_at: 40,
            has_ports: true,
        })
    }
}

/// Hashes flows with a key of this process, so that nobody outside can choose flows that collide.
#[derive(Clone, Copy, Debug)]
pub struct FlowHasher([u64; 2]);

impl FlowHasher {
    /// A hasher with this key.
    pub const fn new(key: [u64; 2]) -> Self {
        Self(key)
    }

    /// The hash of the addresses, the protocol and, if there are any, the ports.
    pub fn hash(self, header: &Header, octets: &[u8]) -> u32 {
        let mut hasher = SipHasher13::new_with_keys(self.0[0], self.0[1]);
        for address in [header.source, header.destination] {
            match address {
                IpAddr::V4(address) => hasher.write(&address.octets()),
                IpAddr::V6(address) => hasher.write(&address.octets()),
            }
        }
        hasher.write_u8(header.protocol);
        let knows_ports = matches!(header.protocol, TCP | UDP | UDP_LITE | SCTP) && header.has_ports;
        let ports = octets.get(header.transport_at..).and_then(|rest| rest.first_chunk::<4>());
        if let Some(ports) = ports.filter(|_| knows_ports) {
            hasher.write(ports);
        }
        hasher.finish() as u32
    }
}

/// Sets Congestion Experienced if the packet is ECN-capable (RFC 3168 §5). Returns whether it is.
fn mark_ce(octets: &mut [u8]) -> bool {
    match octets.first().map(|first| first >> 4) {
        Some(4) if octets.len() >= 20 => {
            let before = [octets[0], octets[1]];
            if before[1] & ECN == NOT_CAPABLE {
                return false;
            }
            octets[1] |= CE;
            let after = [octets[0], octets[1]];
            patch(octets, 10, before, after);
            true
        }
        Some(6) if octets.len() >= 40 => {
            let is_capable = octets[1] >> 4 & ECN != NOT_CAPABLE;
            octets[1] |= if is_capable { CE << 4 } else { 0 };
            is_capable
        }
        _ => false,
    }
}

/// Corrects the checksum at `at` for a word that has changed (RFC 1624 §3).
fn patch(octets: &mut [u8], at: usize, before: [u8; 2], after: [u8; 2]) {
    let word = |pair: [u8; 2]| u32::from(u16::from_be_bytes(pair));
    let sum = word([!octets[at], !octets[at + 1]]) + word([!before[0], !before[1]]) + word(after);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    octets[at..at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 packet with a right checksum.
    pub(super) fn ipv4(tos: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let total = (20 + payload.len()) as u16;
        let mut octets = vec![0x45, tos, (total >> 8) as u8, total as u8, 0, 1, 0, 0, 64, protocol, 0, 0];
        octets.extend_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = !sum(&octets);
        octets[10..12].copy_from_slice(&sum.to_be_bytes());
        octets.extend_from_slice(payload);
        octets
    }

    /// The one's complement sum: 0xffff over what has a right checksum.
    pub(super) fn sum(octets: &[u8]) -> u16 {
        let words = octets
            .chunks(2)
            .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])));
        let mut sum = words.sum::<u32>();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for tos in 0..=255 {
            let mut octets = ipv4(tos, UDP, &[0; 8]);
            assert_eq!(mark_ce(&mut octets), tos & ECN != 0, "type of service {tos}");
            assert_eq!(sum(&octets[..20]), 0xffff, "type of service {tos}");
            assert_eq!(octets[1], if tos & ECN == 0 { tos } else { tos | CE });
        }
    }

    #[test]
    fn a_syn_opens_a_connection() {
        let opens = |protocol, flags: u8| {
            let octets = ipv4(0, protocol, &[&[0; TCP_FLAGS_AT][..], &[flags, 0, 0, 0, 0, 0, 0]].concat());
            Header::read(&octets).expect("a packet").opens_connection(&octets)
        };
        assert!(opens(TCP, SYN) && opens(TCP, SYN | 0x10));
        assert!(!opens(TCP, 0x10) && !opens(UDP, SYN));
        // A packet that ends before the flags.
        let short = ipv4(0, TCP, &[0; 13]);
        assert!(!Header::read(&short).expect("a packet").opens_connection(&short));
    }

    #[test]
    fn an_acknowledgement_has_no_data_and_asks_for_none() {
        let is_ack = |protocol, words: u8, flags: u8, data: usize| {
            let mut segment = vec![0; usize::from(words) * 4 + data];
            (segment[TCP_OFFSET_AT], segment[TCP_FLAGS_AT]) = (words << 4, flags);
            let octets = ipv4(0, protocol, &segment);
            Header::read(&octets).expect("a packet").is_ack(&octets)
        };
        assert!(is_ack(TCP, 5, ACK, 0) && is_ack(TCP, 15, ACK, 0), "with options and without");
        assert!(!is_ack(TCP, 5, ACK, 1) && !is_ack(UDP, 5, ACK, 0) && !is_ack(TCP, 5, 0, 0));
        for more in [SYN, FIN, RST] {
            assert!(!is_ack(TCP, 5, ACK | more, 0), "{more}");
        }
        // A packet that ends before the flags.
        let short = ipv4(0, TCP, &[0; 13]);
        assert!(!Header::read(&short).expect("a packet").is_ack(&short));
    }

    #[test]
    fn a_flow_is_its_addresses_protocol_and_ports() {
        let hasher = FlowHasher::new([1, 2]);
        let hash = |octets: &[u8]| hasher.hash(&Header::read(octets).expect("a packet"), octets);
        let packet = |protocol, ports: [u8; 4]| ipv4(0, protocol, &[&ports[..], &[0; 16]].concat());
        let first = hash(&packet(TCP, [1, 2, 3, 4]));
        assert_eq!(first, hash(&packet(TCP, [1, 2, 3, 4])));
        assert_ne!(first, hash(&packet(TCP, [1, 2, 3, 5])));
        assert_ne!(first, hash(&packet(UDP, [1, 2, 3, 4])));
        // ICMP has no ports there.
        assert_eq!(hash(&packet(1, [8, 0, 3, 4])), hash(&packet(1, [8, 0, 9, 9])));
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(version in 0u8..16, mut octets in prop::collection::vec(any::<u8>(), 0..120)) {
            if let Some(first) = octets.first_mut() {
                *first = version << 4 | *first & 0xf;
            }
            if let Some(header) = Header::read(&octets) {
                FlowHasher::new([0, 0]).hash(&header, &octets);
                prop_assert!(header.transport_at <= octets.len());
            }
            let len = octets.len();
            clamp_mss(&mut octets, 1200);
            mark_ce(&mut octets);
            prop_assert_eq!(octets.len(), len);
            prop_assert!(!ack::supersedes(&octets, &octets), "what is the same tells as much");
        }
    }
}

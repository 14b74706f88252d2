//! The ICMP message to the sender of a packet that is longer than the tunnel carries.

use super::Header;
use ropewalk_wire::read::Icmp;
use ropewalk_wire::{Ecn, IpHeader, is_of_one_host};

const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
/// Types of ICMP messages that are errors. No error answers an error (RFC 1122 §3.2.2). The errors
/// of ICMPv6 are the types below 128 (RFC 4443 §2.1).
const ERRORS: [u8; 5] = [3, 4, 5, 11, 12];
/// The longest error of IPv4 (RFC 1812 §4.3.2.3) and of IPv6 (RFC 4443 §2.4).
const LONGEST_V4: usize = 576;
const LONGEST_V6: usize = 1280;
/// Octets of the IP header and of the ICMP header with the word behind it.
const HEADERS_V4: usize = 28;
const HEADERS_V6: usize = 48;

/// The answer to a packet that is longer than `mtu` octets: "fragmentation needed" (RFC 1191 §4),
/// or "packet too big" (RFC 4443 §3.2). `None`: the packet may have no answer. The answer's source
/// is the packet's destination, which leads into the tunnel.
pub fn too_long(octets: &[u8], mtu: u16) -> Option<Vec<u8>> {
    let header = Header::read(octets)?;
    if !may_be_answered(&header, octets) {
        return None;
    }
    let is_v4 = header.source.is_ipv4();
    let room = if is_v4 { LONGEST_V4 - HEADERS_V4 } else { LONGEST_V6 - HEADERS_V6 };
    let message = Icmp::PacketTooBig { mtu: u32::from(mtu), quoted: &octets[..octets.len().min(room)] };
    let ip = IpHeader {
        source: header.destination,
        destination: header.source,
        dscp: 0,
        ecn: Ecn::default(),
        ttl: 64,
        identification: 0,
        dont_fragment: true,
        flow_label: 0,
    };
    let mut answer = Vec::new();
    message.emit(&ip, &mut answer).ok()?;
    Some(answer)
}

/// May an error answer this packet? Not if it is an error, a later fragment, or from or to more
/// than one host (RFC 1122 §3.2.2).
fn may_be_answered(header: &Header, octets: &[u8]) -> bool {
    let kind = octets.get(header.transport_at).copied().unwrap_or(0);
    let is_error = match header.protocol {
        ICMP => ERRORS.contains(&kind),
        ICMP_V6 => kind < 128,
        _ => false,
    };
    let is_first = octets[0] >> 4 != 4 || u16::from_be_bytes([octets[6], octets[7]]) & 0x1fff == 0;
    is_of_one_host(header.source) && is_of_one_host(header.destination) && !is_error && is_first
}

#[cfg(test)]
mod tests {
    use super::super::tests::ipv4;
    use super::*;
    use ropewalk_wire::read::IpPacket;

    #[test]
    fn a_sender_is_told_how_long_a_packet_may_be() {
        let octets = ipv4(0, 17, &[7; 1400]);
        let answer = too_long(&octets, 1312).expect("an answer");
        let ip = IpPacket::read(&answer).expect("a packet");
        assert!(ip.checksum_holds() && Icmp::checksum_holds(&ip) == Some(true) && answer.len() == LONGEST_V4);
        let header = Header::read(&octets).expect("a packet");
        assert_eq!((ip.header.source, ip.header.destination), (header.destination, header.source));
        let Ok(Icmp::PacketTooBig { mtu: 1312, quoted }) = Icmp::read(&ip) else { panic!("{ip:?}") };
        assert_eq!(quoted, &octets[..quoted.len()]);
    }

    #[test]
    fn errors_and_fragments_have_no_answer() {
        assert_eq!(too_long(&ipv4(0, ICMP, &[3; 1400]), 1312), None);
        assert!(too_long(&ipv4(0, ICMP, &[8; 1400]), 1312).is_some());
        let mut fragment = ipv4(0, 17, &[0; 1400]);
        fragment[7] = 1;
        assert_eq!(too_long(&fragment, 1312), None);
        let mut many = ipv4(0, 17, &[0; 1400]);
        many[16] = 224;
        assert_eq!(too_long(&many, 1312), None);
    }
}

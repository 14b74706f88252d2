//! Acknowledgements of TCP that a later one makes needless.

use ropewalk_units::Dsn;
use ropewalk_wire::read::{IpPacket, ReadMptcp, TcpOption, TcpPacket};

/// Does the acknowledgement tell all that the `earlier` one of its connection tells ([`ropewalk_wire::Segment::supersedes`])?
/// What cannot be read, or has an option that we do not know, is never superseded.
pub(super) fn supersedes(own: &[u8], earlier: &[u8]) -> bool {
    let (Some((own_ip, own)), Some((earlier_ip, earlier))) = (read(own), read(earlier)) else {
        return false;
    };
    let is_of_one_connection = (own_ip.header.source, own_ip.header.destination)
        == (earlier_ip.header.source, earlier_ip.header.destination)
        && (own.header.source_port, own.header.destination_port)
            == (earlier.header.source_port, earlier.header.destination_port);
    let near = Dsn::new(0);
    is_of_one_connection
        && own_ip.header.dscp == earlier_ip.header.dscp
        && own.header.reserved == earlier.header.reserved
        && own.segment(near).supersedes(&earlier.segment(near))
}

/// A segment all of whose options we know.
fn read(octets: &[u8]) -> Option<(IpPacket<'_>, TcpPacket<'_>)> {
    let ip = IpPacket::read(octets).ok()?;
    let tcp = TcpPacket::read(&ip).ok()?;
    let is_known = |option: TcpOption<'_>| match option {
        TcpOption::Unknown { .. } | TcpOption::Broken(_) => false,
        TcpOption::Mptcp(option) => !matches!(option, ReadMptcp::Unknown(_)),
        _ => true,
    };
    (ip.fragment.is_none() && tcp.options().all(is_known)).then_some((ip, tcp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Seq;
    use ropewalk_wire::{Flags, PacketHeader, Segment, Timestamps};
    use std::net::IpAddr;

    fn header(family: &str) -> PacketHeader {
        let [source, destination] = match family {
            "IPv4" => ["10.0.0.1", "10.0.0.2"],
            _ => ["fd00::1", "fd00::2"],
        };
        let parse = |text: &str| text.parse::<IpAddr>().expect("an address");
        PacketHeader {
            source: parse(source),
            destination: parse(destination),
            source_port: 4000,
            destination_port: 443,
            identification: 1,
            ttl: 64,
            dscp: 0,
        }
    }

    fn octets(header: PacketHeader, ack: u32, blocks: &[(u32, u32)]) -> Vec<u8> {
        let mut segment = Segment { ack: Seq::new(ack), flags: Flags::ACK, ..Segment::default() };
        segment.options.timestamps = Some(Timestamps { value: ack, echo: 1 });
        blocks.iter().for_each(|&(left, right)| segment.options.sack.push(Seq::new(left), Seq::new(right)));
        let mut octets = Vec::new();
        header.emit_segment(&segment, &mut octets).expect("it fits");
        octets
    }

    #[test]
    fn a_later_acknowledgement_of_the_same_connection_supersedes() {
        for family in ["IPv4", "IPv6"] {
            let own = header(family);
            let earlier = octets(own, 1000, &[(3000, 4000)]);
            assert!(supersedes(&octets(own, 4000, &[]), &earlier), "{family}");
            assert!(supersedes(&octets(own, 1000, &[(3000, 5000)]), &earlier), "{family}");
            assert!(!supersedes(&octets(own, 2000, &[]), &earlier), "{family}: a block is told by none");
            assert!(!supersedes(&earlier, &earlier), "{family}");
            let others = [
                PacketHeader { source_port: 4001, ..own },
                PacketHeader { destination_port: 80, ..own },
                PacketHeader { source: own.destination, ..own },
                PacketHeader { dscp: 46, ..own },
            ];
            for other in others {
                assert!(!supersedes(&octets(other, 4000, &[]), &earlier), "{other:?}");
            }
        }
    }

    /// In the place of the timestamps and the two NOPs before them.
    #[test]
    fn one_with_an_option_that_we_do_not_know_is_not_superseded() {
        let own = header("IPv4");
        let plain = [octets(own, 1000, &[]), octets(own, 2000, &[])];
        assert!(supersedes(&plain[1], &plain[0]));
        // AccECN (RFC 9768), an authentication (RFC 5925), MPTCP's reserved subtype 15, and what is no list.
        for area in [&[1, 1, 172, 10][..], &[1, 1, 29, 10], &[1, 1, 30, 10, 0xf0], &[1, 1, 8, 0]] {
            let mut unknown = plain.clone();
            for octets in &mut unknown {
                octets[40..40 + area.len()].copy_from_slice(area);
            }
            assert!(!supersedes(&unknown[1], &unknown[0]), "{area:?}");
        }
    }

    /// The AE flag counts marks together with CWR and ECE (RFC 9768).
    #[test]
    fn one_with_other_flags_of_ecn_is_not_superseded() {
        let own = header("IPv4");
        let [earlier, mut later] = [octets(own, 1000, &[]), octets(own, 2000, &[])];
        later[20 + 12] |= 1;
        assert!(!supersedes(&later, &earlier));
    }

    #[test]
    fn a_fragment_is_not_superseded() {
        let own = header("IPv4");
        let [earlier, later] = [octets(own, 1000, &[]), octets(own, 2000, &[])];
        // More fragments follow.
        let mut first = earlier.clone();
        first[6] = 0x20;
        assert!(!supersedes(&later, &first));
    }
}

//! Any octets are a packet or an error. What was read and written again reads the same.

use ropewalk_units::Dsn;
use ropewalk_wire::Options;
use ropewalk_wire::read::{Icmp, IpPacket, Quoted, TcpOption, TcpOptions, TcpPacket, UdpPacket};

/// Reads the octets as a packet, as the payload of one in both families, and as an option area.
pub fn run(octets: &[u8]) {
    packet(octets);
    for header in [&V4[..], &V6] {
        for protocol in [1, 6, 17, 58] {
            packet(&behind(header, protocol, octets));
        }
    }
    option_area(&octets[..octets.len().min(Options::SPACE as usize)]);
}

/// A header of IPv4 and of IPv6, without lengths and protocol.
const V4: [u8; 20] = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 0, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
const V6: [u8; 40] = {
    let mut header = [0; 40];
    (header[0], header[7], header[23], header[39]) = (0x60, 64, 1, 2);
    header
};

/// The octets as the payload of a packet.
fn behind(header: &[u8], protocol: u8, octets: &[u8]) -> Vec<u8> {
    let mut packet = header.to_vec();
    packet.extend_from_slice(octets);
    let is_v4 = header.len() == V4.len();
    let (at, len) = if is_v4 { (2, packet.len()) } else { (4, octets.len()) };
    packet[at..at + 2].copy_from_slice(&(len.min(65_535) as u16).to_be_bytes());
    packet[if is_v4 { 9 } else { 6 }] = protocol;
    packet
}

fn packet(octets: &[u8]) {
    let Ok(ip) = IpPacket::read(octets) else { return };
    assert!(ip.payload.len() <= ip.payload_len);
    let _ = ip.checksum_holds();
    if let Ok(tcp) = TcpPacket::read(&ip) {
        assert!(tcp.payload.len() <= tcp.payload_len);
        let _ = tcp.checksum_holds(&ip);
        segment(&ip, &tcp);
    }
    if let Ok(udp) = UdpPacket::read(&ip) {
        assert!(udp.payload.len() <= udp.payload_len);
        let _ = udp.checksum_holds(&ip);
    }
    if let Ok(icmp) = Icmp::read(&ip) {
        let _ = Icmp::checksum_holds(&ip);
        message(&ip, &icmp);
    }
}

/// A segment that was read and written again reads the same.
fn segment(ip: &IpPacket<'_>, tcp: &TcpPacket<'_>) {
    let options: Vec<TcpOption<'_>> = tcp.options().collect();
    let mut written = Vec::new();
    tcp.header.emit(&ip.header, &options, tcp.payload, &mut written).expect("what was read has room");
    let again = IpPacket::read(&written).expect("a packet");
    assert!(again.checksum_holds());
    let again_tcp = TcpPacket::read(&again).expect("a segment");
    assert_eq!(again_tcp.checksum_holds(&again), Some(true));
    assert_eq!((again.header, again_tcp.header), (ip.header, tcp.header));
    assert_eq!(again_tcp.options().collect::<Vec<_>>(), options);
    assert_eq!(again_tcp.payload, tcp.payload);
}

/// So does a message.
fn message(ip: &IpPacket<'_>, icmp: &Icmp<'_>) {
    let mut written = Vec::new();
    icmp.emit(&ip.header, &mut written).expect("what was read has room");
    let again = IpPacket::read(&written).expect("a packet");
    assert_eq!(Icmp::checksum_holds(&again), Some(true));
    assert_eq!(Icmp::read(&again).as_ref(), Ok(icmp));
    if let Icmp::PacketTooBig { quoted, .. } | Icmp::Unreachable { quoted, .. } = icmp {
        let _ = Quoted::read(quoted);
    }
}

/// What the stack takes out of an option area it takes out of its own writing of it.
fn option_area(area: &[u8]) {
    let written = |options: &Options| {
        let mut written = Vec::new();
        options.emit(&mut written);
        assert_eq!(written.len() as u32, options.wire_len(), "{options:?}");
        written
    };
    let octets: usize = TcpOptions::new(area)
        .map(|option| {
            let mut octets = Vec::new();
            option.emit(&mut octets);
            octets.len()
        })
        .sum();
    assert_eq!(octets, area.len(), "the options are the area");
    let options = Options::read(area, Dsn::new(1 << 40));
    assert_eq!(Options::read(&written(&options), Dsn::new(1 << 40)), options);
}

//! The reader against what this crate writes, against etherparse, and against octets at random.

mod support;

use etherparse::{IcmpEchoHeader, PacketBuilder};
use proptest::collection::vec;
use proptest::prelude::*;
use ropewalk_units::{Dsn, Seq, Ssn};
use ropewalk_wire::read::{
    Fragment, Icmp, IpPacket, Quoted, ReadDss, ReadError, ReadMapping, ReadMptcp, TcpOption, TcpOptions,
    TcpPacket, UdpPacket, WireDsn,
};
use ropewalk_wire::{
    DataAck, Datagram, Ecn, Flags, IpHeader, MptcpOption, Options, PacketHeader, Payload, ResetReason,
    Segment, TcpHeader, protocol,
};
use std::net::IpAddr;
use support::generate;

/// A strategy for every option that a header can have, as it stands there.
fn option() -> impl Strategy<Value = TcpOption<'static>> {
    const UNKNOWN: [&[u8]; 3] = [&[], &[1], &[1, 2, 3, 4, 5, 6]];
    prop_oneof![
        Just(TcpOption::Nop),
        any::<u16>().prop_map(TcpOption::Mss),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        generate::options().prop_filter_map("blocks", |options| {
            (!options.sack.is_empty()).then_some(TcpOption::Sack(options.sack))
        }),
        (prop::sample::select(vec![9, 29, 34, 253]), prop::sample::select(UNKNOWN.to_vec()))
            .prop_map(|(kind, body)| TcpOption::Unknown { kind, body }),
        generate::mptcp_option().prop_map(|option| TcpOption::Mptcp(ReadMptcp::Rare(option))),
        dss().prop_map(|dss| TcpOption::Mptcp(ReadMptcp::Dss(dss))),
    ]
}

/// A strategy for a data sequence signal in all its lengths.
fn dss() -> impl Strategy<Value = ReadDss> {
    let dsn = prop_oneof![
        any::<u32>().prop_map(WireDsn::Short),
        any::<u64>().prop_map(|dsn| WireDsn::Long(Dsn::new(dsn))),
    ];
    let mapping = (dsn, any::<u32>(), any::<u16>(), proptest::option::of(any::<u16>()))
        .prop_map(|(dsn, ssn, len, checksum)| ReadMapping { dsn, ssn: Ssn::new(ssn), len, checksum });
    (generate::dss(), proptest::option::of(mapping)).prop_map(|(dss, mapping)| ReadDss {
        data_ack: dss.data_ack(),
        mapping,
        data_fin: dss.data_fin(),
    })
}

fn written(options: &[TcpOption<'_>]) -> Vec<u8> {
    let mut octets = Vec::new();
    options.iter().for_each(|option| option.emit(&mut octets));
    octets
}

proptest! {
    #[test]
    fn options_read_back_one_by_one(options in vec(option(), 0..8)) {
        let octets = written(&options);
        prop_assert_eq!(TcpOptions::new(&octets).collect::<Vec<_>>(), options);
    }

    #[test]
    fn segments_read_back(header in generate::header(), segment in generate::segment(), near in any::<u64>()) {
        let mut packet = Vec::new();
        header.emit_segment(&segment, &mut packet).unwrap();
        packet.extend([0xee; 6]); // an Ethernet trailer
        let ip = IpPacket::read(&packet).unwrap();
        let tcp = TcpPacket::read(&ip).unwrap();
        prop_assert!(ip.is_whole() && ip.checksum_holds());
        prop_assert_eq!(tcp.checksum_holds(&ip), Some(true));
        prop_assert_eq!((ip.header.source, ip.header.destination), (header.source, header.destination));
        prop_assert_eq!((ip.header.ttl, ip.header.dscp), (header.ttl, header.dscp));
        let mut expected = segment.clone();
        expected.payload.offset = 0;
        prop_assert_eq!(tcp.segment(Dsn::new(near)), expected);
        // The octets that were read are the ones to write.
        let mut again = Vec::new();
        header.emit_segment_with(&segment, tcp.payload, &mut again).unwrap();
        prop_assert_eq!(&again, &packet[..again.len()]);
    }

    #[test]
    fn a_flipped_bit_shows_in_a_checksum(
        header in generate::header(), segment in generate::segment(), bit in any::<prop::sample::Index>(),
    ) {
        let mut packet = Vec::new();
        header.emit_segment(&segment, &mut packet).unwrap();
        // Of the IPv6 header the pseudo-header covers lengths, protocol and addresses only.
        let from = if header.source.is_ipv4() { 0 } else { 4 };
        let bit = from * 8 + bit.index((packet.len() - from) * 8);
        packet[bit / 8] ^= 1 << (bit % 8);
        prop_assume!(header.source.is_ipv4() || bit / 8 != 7); // the hop limit is in no sum
        let holds = IpPacket::read(&packet).ok().is_some_and(|ip| {
            let tcp = TcpPacket::read(&ip).ok();
            ip.checksum_holds() && tcp.is_some_and(|tcp| tcp.checksum_holds(&ip) == Some(true))
        });
        prop_assert!(!holds, "bit {bit}");
    }

    #[test]
    fn datagrams_read_back(header in generate::header(), len in 0u32..1472) {
        let datagram = Datagram { payload: Payload { offset: 5, len }, ecn: Ecn::Ect1 };
        let mut packet = Vec::new();
        header.emit_datagram(&datagram, &mut packet).unwrap();
        let ip = IpPacket::read(&packet).unwrap();
        let udp = UdpPacket::read(&ip).unwrap();
        prop_assert_eq!(udp.checksum_holds(&ip), Some(true));
        prop_assert_eq!((udp.source_port, udp.destination_port), (header.source_port, header.destination_port));
        prop_assert_eq!((udp.payload_len, udp.payload.len()), (len as usize, len as usize));
        prop_assert_eq!(ip.header.ecn, Ecn::Ect1);
    }

    #[test]
    fn packets_cut_short_say_so(header in generate::header(), segment in generate::segment(), cut in any::<prop::sample::Index>()) {
        let mut packet = Vec::new();
        header.emit_segment(&segment, &mut packet).unwrap();
        let cut = cut.index(packet.len());
        let headers = packet.len() - segment.payload.len as usize;
        match IpPacket::read(&packet[..cut]).and_then(|ip| Ok((ip, TcpPacket::read(&ip)?))) {
            Ok((ip, tcp)) => {
                prop_assert!(cut >= headers && !ip.is_whole());
                prop_assert_eq!(tcp.payload_len, segment.payload.len as usize);
                prop_assert_eq!(tcp.payload.len(), cut - headers);
                prop_assert_eq!(tcp.checksum_holds(&ip), None);
            }
            Err(ReadError::Truncated { .. }) => prop_assert!(cut < headers),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn messages_of_another_writer_are_read(data in vec(any::<u8>(), 0..100), id in any::<u16>(), seq in any::<u16>()) {
        let echo = IcmpEchoHeader { id, seq };
        let expected = |reply| Icmp::Echo { reply, identifier: id, sequence: seq, data: &data };
        let mut v4 = Vec::new();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .icmpv4_echo_request(echo.id, echo.seq).write(&mut v4, &data).unwrap();
        let ip = IpPacket::read(&v4).unwrap();
        prop_assert_eq!(Icmp::checksum_holds(&ip), Some(true));
        prop_assert_eq!(Icmp::read(&ip).unwrap(), expected(false));
        let mut v6 = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64)
            .icmpv6_echo_reply(echo.id, echo.seq).write(&mut v6, &data).unwrap();
        let ip = IpPacket::read(&v6).unwrap();
        prop_assert_eq!(Icmp::checksum_holds(&ip), Some(true));
        prop_assert_eq!(Icmp::read(&ip).unwrap(), expected(true));
    }
}

fn ip_header(v6: bool) -> IpHeader {
    let address = |last: u8| -> IpAddr {
        if v6 {
            [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last].into()
        } else {
            [10, 0, 0, last].into()
        }
    };
    IpHeader {
        source: address(1),
        destination: address(2),
        dscp: 46,
        ecn: Ecn::Ect0,
        ttl: 61,
        identification: if v6 { 0 } else { 0x1234 },
        dont_fragment: true,
        flow_label: if v6 { 0x0006_789a } else { 0 },
    }
}

#[test]
fn messages_about_a_packet_name_it() {
    for v6 in [false, true] {
        let segment = Segment { seq: Seq::new(0x0102_0304), flags: Flags::ACK, ..Segment::default() };
        let (source, destination) = (ip_header(v6).source, ip_header(v6).destination);
        let header = PacketHeader {
            source,
            destination,
            source_port: 40_000,
            destination_port: 443,
            identification: 1,
            ttl: 64,
            dscp: 0,
        };
        let mut sent = Vec::new();
        let data = Payload { offset: 0, len: 1000 };
        header.emit_segment(&Segment { payload: data, ..segment }, &mut sent).unwrap();
        let quoted = &sent[..header.ip_len() as usize + 8];
        for message in [
            Icmp::PacketTooBig { mtu: 1280, quoted },
            Icmp::Unreachable { code: 3, quoted },
            Icmp::TimeExceeded { code: 0, quoted },
        ] {
            let mut packet = Vec::new();
            message.emit(&ip_header(v6), &mut packet).unwrap();
            let ip = IpPacket::read(&packet).unwrap();
            assert_eq!(ip.header, ip_header(v6));
            assert_eq!(ip.protocol, if v6 { protocol::ICMPV6 } else { protocol::ICMP });
            assert_eq!(Icmp::checksum_holds(&ip), Some(true));
            assert_eq!(Icmp::read(&ip), Ok(message));
            let expected = Quoted {
                source,
                destination,
                protocol: protocol::TCP,
                source_port: 40_000,
                destination_port: 443,
                seq: segment.seq,
                payload_len: 1020,
            };
            assert_eq!(Quoted::read(quoted), Ok(expected));
            assert!(matches!(Quoted::read(&quoted[..quoted.len() - 1]), Err(ReadError::Truncated { .. })));
        }
    }
}

/// The option behind kind and length of these octets.
fn mptcp(body: &[u8]) -> ReadMptcp<'_> {
    let mut area = vec![30, body.len() as u8 + 2];
    area.extend_from_slice(body);
    match TcpOptions::new(Vec::leak(area)).next() {
        Some(TcpOption::Mptcp(option)) => option,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lengths_that_an_option_cannot_have_make_it_unknown() {
    let zeros = [0; 40];
    let lengths = |first: [u8; 2], known: &[usize]| {
        for len in 2..=38 {
            let mut body = zeros[..len].to_vec();
            body[..2].copy_from_slice(&first);
            let is_known = !matches!(mptcp(&body), ReadMptcp::Unknown(_));
            assert_eq!(is_known, known.contains(&(len + 2)), "subtype {:#x}, length {}", first[0], len + 2);
        }
    };
    // RFC 8684 §§ 3.1 to 3.6; lengths with kind and length octet.
    lengths([0x01, 0x01], &[4, 12, 20, 22, 24]);
    lengths([0x10, 0], &[12, 16, 24]);
    lengths([0x20, 0x00], &[4]);
    lengths([0x20, 0x01], &[8]);
    lengths([0x20, 0x03], &[12]);
    lengths([0x20, 0x04], &[14, 16]);
    lengths([0x20, 0x0c], &[18, 20]);
    lengths([0x20, 0x05], &[18, 20]);
    lengths([0x20, 0x1f], &[26, 28]);
    lengths([0x20, 0x02], &[4]);
    lengths([0x30, 0], &[16, 18, 28, 30]);
    lengths([0x31, 0], &[8, 10, 20, 22]);
    lengths([0x40, 0], &(4..=40).collect::<Vec<_>>());
    lengths([0x60, 0], &[12]);
    lengths([0x70, 0], &[12]);
    lengths([0x80, 0], &[4]);
    lengths([0x90, 0], &[]);
    assert_eq!(
        mptcp(&[0x51]),
        ReadMptcp::Rare(MptcpOption::Priority(ropewalk_wire::Priority { backup: true }))
    );
}

#[test]
fn a_handshake_that_we_do_not_speak_is_no_multipath_handshake() {
    let unknown = |body: &[u8]| matches!(mptcp(body), ReadMptcp::Unknown(_));
    assert!(!unknown(&[0x01, 0x81]), "version 1, A and H");
    assert!(unknown(&[0x00, 0x81]), "version 0");
    assert!(unknown(&[0x02, 0x81]), "version 2");
    assert!(unknown(&[0x01, 0x80]), "no H");
    assert!(unknown(&[0x01, 0x41]), "B");
    assert_eq!(
        mptcp(&[0x81, 0x2a]),
        ReadMptcp::Rare(MptcpOption::Reset { transient: true, reason: ResetReason::Unspecified }),
    );
}

/// RFC 8684 §3.2, §3.3, §3.4.1 and §3.6: bits without a meaning are ignored.
#[test]
fn reserved_bits_change_nothing() {
    let same = |body: &[u8], octet: usize, bits: u8| {
        let mut other = body.to_vec();
        other[octet] |= bits;
        assert!(!matches!(mptcp(body), ReadMptcp::Unknown(_)));
        assert_eq!(mptcp(&other), mptcp(body), "{body:?}");
    };
    same(&[0x10, 7, 1, 2, 3, 4, 5, 6, 7, 8], 0, 0x0e);
    same(&[0x20, 0x01, 1, 2, 3, 4], 0, 0x0f);
    same(&[0x20, 0x01, 1, 2, 3, 4], 1, 0xe0);
    same(&[0x30, 7, 10, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8], 0, 0x0e);
    same(&[0x31, 7, 10, 0, 0, 1], 0, 0x0e);
    same(&[0x40, 7], 0, 0x0f);
    same(&[0x50], 0, 0x0e);
    same(&[0x60, 0, 1, 2, 3, 4, 5, 6, 7, 8], 1, 0xff);
    same(&[0x70, 0, 1, 2, 3, 4, 5, 6, 7, 8], 1, 0xff);
    same(&[0x80, 1], 0, 0x0e);
}

#[test]
fn short_numbers_are_the_nearest() {
    let dsn = WireDsn::Short(0x0000_0005);
    assert_eq!(dsn.near(Dsn::new(0x1_ffff_fff0)), Dsn::new(0x2_0000_0005));
    assert_eq!(dsn.near(Dsn::new(0x2_0000_0010)), Dsn::new(0x2_0000_0005));
    let area = written(&[TcpOption::Mptcp(ReadMptcp::Dss(ReadDss {
        data_ack: Some(DataAck::Short(9)),
        mapping: Some(ReadMapping { dsn, ssn: Ssn::new(1), len: 100, checksum: Some(7) }),
        data_fin: true,
    }))]);
    assert_eq!(area[1], 20, "RFC 8684 §3.3: 4 + 4 + 4 + 4 + 2 + 2");
    let dss = Options::read(&area, Dsn::new(0x1_ffff_fff0)).mptcp.dss.unwrap();
    assert_eq!(dss.mapping().unwrap().dsn, Dsn::new(0x2_0000_0005));
    assert_eq!((dss.data_ack(), dss.data_fin()), (Some(DataAck::Short(9)), true));
}

/// RFC 9293, MUST-6 and MUST-64: what is unknown is stepped over, and nothing need begin on a word boundary.
#[test]
fn options_are_found_behind_unknown_ones_wherever_they_begin() {
    let area = [253, 5, 1, 2, 3, 2, 4, 5, 0xb4, 34, 2, 3, 3, 7, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 4, 4, 2];
    let options = Options::read(&area, Dsn::new(0));
    assert_eq!((options.mss, options.window_scale, options.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!(options.timestamps.map(|stamps| (stamps.value, stamps.echo)), Some((9, 4)));
}

#[test]
fn a_broken_list_ends_where_it_breaks() {
    let broken: [&[u8]; 4] = [&[1, 3, 0], &[1, 3, 1, 7], &[1, 3], &[1, 8, 10, 0, 0]];
    for area in broken {
        let options: Vec<_> = TcpOptions::new(area).collect();
        assert_eq!(options, [TcpOption::Nop, TcpOption::Broken(&area[1..])]);
        assert_eq!(Options::read(area, Dsn::new(0)), Options::default());
    }
    let ended = [2, 4, 5, 0xb4, 0, 3, 3, 7];
    assert_eq!(Options::read(&ended, Dsn::new(0)), Options { mss: Some(1460), ..Options::default() });
}

/// A packet of IPv6 with these headers between its own and the payload.
fn with_extensions(next: u8, extensions: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(((extensions.len() + payload.len()) as u16).to_be_bytes());
    packet.extend([next, 64]);
    packet.extend([1; 16]);
    packet.extend([2; 16]);
    packet.extend_from_slice(extensions);
    packet.extend_from_slice(payload);
    packet
}

#[test]
fn extension_headers_are_walked_over() {
    let udp = [0x9c, 0x40, 0, 53, 0, 12, 0, 1, 1, 2, 3, 4];
    #[rustfmt::skip]
    let extensions = [
        60, 1, 1, 4, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 1, 0, // hop by hop, 16 octets
        44, 0, 1, 4, 0, 0, 0, 0, // destination options
        17, 0, 0, 1, 0, 0, 0, 77, // the first fragment of more
    ];
    let packet = with_extensions(0, &extensions, &udp);
    let ip = IpPacket::read(&packet).unwrap();
    assert_eq!((ip.protocol, ip.extensions), (17, &extensions[..]));
    assert_eq!(ip.fragment, Some(Fragment { offset: 0, more: true, identification: 77 }));
    let datagram = UdpPacket::read(&ip).unwrap();
    assert_eq!((datagram.destination_port, datagram.payload), (53, &[1, 2, 3, 4][..]));
    assert_eq!(datagram.checksum_holds(&ip), None, "a part of a packet has no checksum");

    let later = with_extensions(44, &[17, 0, 0, 8, 0, 0, 0, 77], &udp);
    let ip = IpPacket::read(&later).unwrap();
    assert_eq!(ip.fragment, Some(Fragment { offset: 8, more: false, identification: 77 }));
    assert_eq!(UdpPacket::read(&ip).unwrap_err(), ReadError::Fragment);

    let cut = with_extensions(0, &[17, 4, 0, 0], &[]);
    assert!(matches!(IpPacket::read(&cut), Err(ReadError::Truncated { .. })));
}

#[test]
fn lengths_that_contradict_their_header_are_refused() {
    let mut packet = Vec::new();
    TcpHeader::default().emit(&ip_header(false), &[TcpOption::Nop], b"data", &mut packet).unwrap();
    let changed = |at: usize, to: u8| {
        let mut packet = packet.clone();
        packet[at] = to;
        IpPacket::read(&packet).and_then(|ip| TcpPacket::read(&ip).map(|tcp| tcp.payload_len))
    };
    assert_eq!(changed(0, 0x45), Ok(4));
    assert_eq!(changed(0, 0x44), Err(ReadError::Length { header: "IPv4", octets: 16 }));
    assert_eq!(changed(0, 0x55), Err(ReadError::Version(5)));
    assert_eq!(changed(3, 19), Err(ReadError::Length { header: "IPv4", octets: 19 }));
    assert_eq!(changed(9, 17), Err(ReadError::Protocol(17)));
    assert_eq!(changed(32, 0x40), Err(ReadError::Length { header: "TCP", octets: 16 }));
    assert_eq!(changed(32, 0xf0), Err(ReadError::Truncated { header: "TCP", needed: 60, available: 28 }));
    assert_eq!(
        IpPacket::read(&[]).unwrap_err(),
        ReadError::Truncated { header: "IP", needed: 1, available: 0 }
    );
}

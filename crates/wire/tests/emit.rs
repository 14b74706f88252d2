//! The emitter against the crate's lengths, against a reader, and against etherparse as an independent one.

mod support;

use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use proptest::prelude::*;
use ropewalk_units::{Dsn, Seq, Ssn};
use ropewalk_wire::{
    DataAck, Datagram, Dss, Ecn, EmitError, Flags, Mapping, MptcpOption, Options, PacketHeader, Payload,
    Segment, Timestamps, fill_stream,
};
use std::net::IpAddr;
use support::generate;

fn emitted(options: &Options) -> Vec<u8> {
    let mut octets = Vec::new();
    options.emit(&mut octets);
    octets
}

fn stream(payload: Payload) -> Vec<u8> {
    let mut octets = vec![0; payload.len as usize];
    fill_stream(payload.offset, &mut octets);
    octets
}

/// Checks addresses, ECN, TTL and the IPv4 checksum; returns the addresses' octets for the transport's.
fn check_ip(net: Option<NetHeaders>, header: &PacketHeader, ecn: Ecn) -> NetHeaders {
    let net = net.expect("an IP header");
    match &net {
        NetHeaders::Ipv4(ip, _) => {
            assert_eq!(IpAddr::from(ip.source), header.source);
            assert_eq!(IpAddr::from(ip.destination), header.destination);
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!((ip.identification, ip.time_to_live), (header.identification, header.ttl));
            assert!(ip.dont_fragment && !ip.more_fragments);
            assert_eq!((ip.dscp.value(), ip.ecn.value()), (header.dscp, ecn.bits()));
        }
        NetHeaders::Ipv6(ip, _) => {
            assert_eq!(IpAddr::from(ip.source), header.source);
            assert_eq!(IpAddr::from(ip.destination), header.destination);
            assert_eq!((ip.hop_limit, ip.traffic_class), (header.ttl, header.dscp << 2 | ecn.bits()));
        }
        NetHeaders::Arp(_) => panic!("ARP"),
    }
    net
}

proptest! {
    #[test]
    fn options_take_the_octets_they_claim_and_read_back(options in generate::options()) {
        let octets = emitted(&options);
        prop_assert_eq!(octets.len(), options.wire_len() as usize);
        prop_assert_eq!(Options::read(&octets, Dsn::new(0)), options);
    }

    #[test]
    fn segments_read_back_by_another_reader(header in generate::header(), segment in generate::segment()) {
        let mut packet = vec![0xaa; 3];
        header.emit_segment(&segment, &mut packet).unwrap();
        let packet = &packet[3..];
        prop_assert_eq!(packet.len(), (header.ip_len() + segment.wire_len()) as usize);
        let parsed = PacketHeaders::from_ip_slice(packet).unwrap();
        let net = check_ip(parsed.net, &header, segment.ecn);
        let Some(TransportHeader::Tcp(tcp)) = parsed.transport else { panic!("not TCP") };
        let payload = parsed.payload.slice();
        prop_assert_eq!(payload, stream(segment.payload));
        let checksum = match net {
            NetHeaders::Ipv4(ip, _) => tcp.calc_checksum_ipv4(&ip, payload),
            NetHeaders::Ipv6(ip, _) => tcp.calc_checksum_ipv6(&ip, payload),
            NetHeaders::Arp(_) => unreachable!(),
        };
        prop_assert_eq!(tcp.checksum, checksum.unwrap());
        prop_assert_eq!((tcp.source_port, tcp.destination_port), (header.source_port, header.destination_port));
        prop_assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (segment.seq.get(), segment.ack.get()));
        prop_assert_eq!((tcp.window_size, tcp.urgent_pointer, tcp.urg), (segment.window, 0, false));
        let flags = [
            (tcp.fin, Flags::FIN), (tcp.syn, Flags::SYN), (tcp.rst, Flags::RST), (tcp.psh, Flags::PSH),
            (tcp.ack, Flags::ACK), (tcp.ece, Flags::ECE), (tcp.cwr, Flags::CWR),
        ];
        for (set, flag) in flags {
            prop_assert_eq!(set, segment.flags.contains(flag));
        }
        prop_assert_eq!(Options::read(tcp.options.as_slice(), Dsn::new(0)), segment.options);
    }

    #[test]
    fn datagrams_read_back_by_another_reader(
        header in generate::header(), offset in 0u64..1 << 40, len in 0u32..1472,
    ) {
        let datagram = Datagram { payload: Payload { offset, len }, ecn: Ecn::Ect0 };
        let mut packet = Vec::new();
        header.emit_datagram(&datagram, &mut packet).unwrap();
        prop_assert_eq!(packet.len(), (header.ip_len() + datagram.wire_len()) as usize);
        let parsed = PacketHeaders::from_ip_slice(&packet).unwrap();
        let net = check_ip(parsed.net, &header, datagram.ecn);
        let Some(TransportHeader::Udp(udp)) = parsed.transport else { panic!("not UDP") };
        let payload = parsed.payload.slice();
        prop_assert_eq!(payload, stream(datagram.payload));
        let checksum = match net {
            NetHeaders::Ipv4(ip, _) => udp.calc_checksum_ipv4(&ip, payload),
            NetHeaders::Ipv6(ip, _) => udp.calc_checksum_ipv6(&ip, payload),
            NetHeaders::Arp(_) => unreachable!(),
        };
        prop_assert_eq!(udp.checksum, checksum.unwrap());
        prop_assert_eq!((udp.source_port, udp.destination_port), (header.source_port, header.destination_port));
        // A tunnel's packet is the same, its octets given instead of generated.
        let mut tunnelled = Vec::new();
        header.emit_tunnelled(&stream(datagram.payload), datagram.ecn, &mut tunnelled).unwrap();
        prop_assert_eq!(tunnelled, packet);
    }
}

fn header() -> PacketHeader {
    PacketHeader {
        source: IpAddr::from([10, 0, 1, 1]),
        destination: IpAddr::from([10, 0, 1, 2]),
        source_port: 40_000,
        destination_port: 5001,
        identification: 7,
        ttl: 64,
        dscp: 0,
    }
}

#[test]
fn a_syn_looks_like_linux_s() {
    let mut options = Options {
        mss: Some(1460),
        window_scale: Some(10),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x8e78_fdd1, echo: 0 }),
        ..Options::default()
    };
    options.mptcp.push(MptcpOption::Capable {
        checksum_required: true,
        no_more_subflows: false,
        sender_key: None,
        receiver_key: None,
        data: None,
    });
    #[rustfmt::skip]
    let expected = [
        2, 4, 0x05, 0xb4, // MSS
        4, 2, 8, 10, 0x8e, 0x78, 0xfd, 0xd1, 0, 0, 0, 0, // SACK permitted, timestamps
        1, 3, 3, 10, // NOP, window scale
        30, 4, 0x01, 0x81, // MP_CAPABLE, version 1, A and H
    ];
    assert_eq!(emitted(&options), expected);
}

#[test]
fn an_infinite_mapping_is_a_mapping_of_length_zero() {
    let mut options = Options::default();
    options.mptcp.dss = Some(Dss::new(
        Some(DataAck::Short(0x0102_0304)),
        Some(Mapping { dsn: Dsn::new(0x1122_3344_5566_7788), ssn: Ssn::new(9), len: 0, checksum: None }),
    ));
    #[rustfmt::skip]
    let expected = [
        30, 22, 0x20, 0x0d, 1, 2, 3, 4,
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0, 0, 9, 0, 0, 1, 1,
    ];
    assert_eq!(emitted(&options), expected);
}

#[test]
fn what_has_no_bytes_is_refused_and_leaves_the_buffer_alone() {
    let mut out = vec![1, 2, 3];
    let mixed = PacketHeader { destination: IpAddr::from([0; 16]), ..header() };
    let error = mixed.emit_segment(&Segment::default(), &mut out).unwrap_err();
    assert!(matches!(error, EmitError::MixedFamilies { .. }), "{error}");

    let mut long = Segment::default();
    for n in 0..4 {
        long.options.sack.push(Seq::new(n), Seq::new(n + 1));
    }
    long.options.timestamps = Some(Timestamps::default());
    assert_eq!(header().emit_segment(&long, &mut out), Err(EmitError::OptionsTooLong(48)));

    let fits = Datagram { payload: Payload { offset: 0, len: 65_535 - 28 }, ecn: Ecn::NotEct };
    header().emit_datagram(&fits, &mut Vec::new()).unwrap();
    let huge = Datagram { payload: Payload { offset: 0, len: 65_536 - 28 }, ecn: Ecn::NotEct };
    assert_eq!(header().emit_datagram(&huge, &mut out), Err(EmitError::PacketTooLong(65_536)));
    assert_eq!(out, [1, 2, 3]);
}

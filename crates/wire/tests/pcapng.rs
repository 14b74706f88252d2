//! The capture writer, read back by another library and by tshark.

mod support;

use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use ropewalk_units::{Dsn, Instant, Seq, Ssn};
use ropewalk_wire::pcapng::Writer;
use ropewalk_wire::{
    AddAddress, DataAck, Datagram, Dss, Ecn, FastClose, Flags, Join, Mapping, MptcpOption, PacketHeader,
    Payload, Priority, RemoveAddress, ResetReason, Segment, Timestamps,
};
use std::io;
use std::net::IpAddr;
use std::process::Command;
use support::generate;

fn header(v6: bool) -> PacketHeader {
    let address = |last: u8| match v6 {
        false => IpAddr::from([10, 0, 1, last]),
        true => IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)]),
    };
    PacketHeader {
        source: address(1),
        destination: address(2),
        source_port: 40_000,
        destination_port: 5001,
        identification: 1,
        ttl: 64,
        dscp: 0,
    }
}

#[test]
fn another_library_reads_what_was_written() {
    let mut writer = Writer::new(Vec::new(), "ropewalk test").unwrap();
    let dsl = writer.add_interface("dsl", "").unwrap();
    let lte = writer.add_interface("lte: client->server", "2 Mbit/s").unwrap();
    let packets = [
        (dsl, 0, vec![0x45; 20], ""),
        (lte, 1_234_567_890_123_456_789, vec![0x45; 21], "reinjected: dsn 7"),
        (dsl, u64::MAX, vec![0x60; 1500], "é"),
    ];
    for (interface, nanos, octets, comment) in &packets {
        writer.packet(*interface, Instant::from_nanos(*nanos), octets, comment).unwrap();
    }
    let file = writer.finish().unwrap();

    let mut reader = PcapNgReader::new(file.as_slice()).unwrap();
    let mut read = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            let comment = packet.options.iter().find_map(|option| match option {
                EnhancedPacketOption::Comment(text) => Some(text.to_string()),
                _ => None,
            });
            let nanos = packet.timestamp.as_nanos() as u64;
            read.push((packet.interface_id, nanos, packet.data.to_vec(), comment.unwrap_or_default()));
            assert_eq!(packet.original_len as usize, packet.data.len());
        }
    }
    let expected: Vec<_> = packets
        .iter()
        .map(|(interface, nanos, octets, comment)| {
            (u32::from(*interface == lte), *nanos, octets.clone(), (*comment).to_string())
        })
        .collect();
    assert_eq!(read, expected);
    let interfaces = reader.interfaces();
    assert!(interfaces.iter().all(|interface| interface.linktype == DataLink::RAW));
    assert!(interfaces.iter().all(|i| i.options.contains(&InterfaceDescriptionOption::IfTsResol(9))));
    assert_eq!(interfaces[0].options[0], InterfaceDescriptionOption::IfName("dsl".into()));
    assert_eq!(interfaces[1].options[1], InterfaceDescriptionOption::IfDescription("2 Mbit/s".into()));
}

/// Fails once after `room` octets, then takes everything.
struct Full {
    room: usize,
    taken: Vec<u8>,
}

impl io::Write for Full {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if self.taken.len() + octets.len() > self.room {
            self.room = usize::MAX;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.taken.extend(octets);
        Ok(octets.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_and_does_not_leak_into_the_next_block() {
    let mut writer = Writer::new(Full { room: 120, taken: Vec::new() }, "ropewalk test").unwrap();
    let interface = writer.add_interface("a", "").unwrap();
    let at = Instant::from_nanos(1);
    let error = writer.packet(interface, at, &[0x45; 200], "").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    writer.packet(interface, at, &[0x45; 20], "").unwrap();
    let taken = writer.finish().unwrap().taken;
    assert_eq!(taken[taken.len() - 4..], 52_u32.to_le_bytes(), "the second packet's block alone");
}

/// One segment for every shape of every Multipath TCP option, as a stack would send it.
fn every_option() -> Vec<Segment> {
    let capable = |keys: usize, data| MptcpOption::Capable {
        checksum_required: false,
        no_more_subflows: false,
        sender_key: (keys > 0).then_some(1),
        receiver_key: (keys > 1).then_some(2),
        data,
    };
    let address = |address: IpAddr, port, hmac| {
        MptcpOption::AddAddress(AddAddress { address_id: 1, address, port, hmac })
    };
    let (v4, v6) = (IpAddr::from([10, 0, 2, 1]), IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 2, 1]));
    let ack = Flags::ACK;
    let mut segments: Vec<Segment> = [
        (Flags::SYN, capable(0, None), 0),
        (Flags::SYN | ack, capable(1, None), 0),
        (ack, capable(2, None), 0),
        (ack, capable(2, Some((100, None))), 100),
        (ack, capable(2, Some((100, Some(7)))), 100),
        (Flags::SYN, MptcpOption::Join(Join::Syn { backup: true, address_id: 2, token: 3, nonce: 4 }), 0),
        (
            Flags::SYN | ack,
            MptcpOption::Join(Join::SynAck { backup: false, address_id: 2, hmac: 3, nonce: 4 }),
            0,
        ),
        (ack, MptcpOption::Join(Join::Ack { hmac: [9; 20] }), 0),
        (ack, address(v4, None, Some(8)), 0),
        (ack, address(v4, Some(99), Some(8)), 0),
        (ack, address(v4, None, None), 0),
        (ack, address(v6, None, Some(8)), 0),
        (ack, address(v6, Some(99), None), 0),
        (ack, MptcpOption::RemoveAddress(RemoveAddress { address_ids: vec![1, 2, 3] }), 0),
        (ack, MptcpOption::Priority(Priority { backup: true }), 0),
        (ack, MptcpOption::Fail(Dsn::new(77)), 0),
        (ack, MptcpOption::FastClose(FastClose { receiver_key: 5 }), 0),
        (Flags::RST | ack, MptcpOption::Reset { transient: true, reason: ResetReason::Performance }, 0),
    ]
    .into_iter()
    .map(|(flags, option, len)| {
        let mut segment = Segment { flags, payload: Payload { offset: 0, len }, ..Segment::default() };
        segment.options.mptcp.push(option);
        segment
    })
    .collect();
    segments.extend(every_dss());
    segments
}

fn every_dss() -> Vec<Segment> {
    let mapping = |checksum| Mapping { dsn: Dsn::new(1 << 40), ssn: Ssn::new(1), len: 100, checksum };
    let acks = [None, Some(DataAck::Short(5)), Some(DataAck::Long(Dsn::new(6)))];
    let mappings = [None, Some(mapping(None)), Some(mapping(Some(0x1234)))];
    let mut segments = Vec::new();
    for (data_ack, mapping) in acks.into_iter().flat_map(|ack| mappings.map(|mapping| (ack, mapping))) {
        let len = mapping.map_or(0, |mapping| u32::from(mapping.len));
        let mut segment =
            Segment { flags: Flags::ACK, payload: Payload { offset: 0, len }, ..Segment::default() };
        segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
        segment.options.mptcp.dss = Some(Dss::new(data_ack, mapping));
        segments.push(segment);
    }
    segments
}

/// A capture of the segments, over IPv4 and IPv6, and a datagram each.
fn capture_of(segments: &[Segment]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "ropewalk test").unwrap();
    let mut packet = Vec::new();
    for v6 in [false, true] {
        let interface = writer.add_interface(if v6 { "six" } else { "four" }, "").unwrap();
        for (number, segment) in (1_u16..).zip(segments) {
            packet.clear();
            // A flow each: the options make no sense one after the other.
            let header = PacketHeader { source_port: 40_000 + number, ..header(v6) };
            header.emit_segment(segment, &mut packet).unwrap();
            let at = Instant::from_nanos(u64::from(number) * 1001);
            writer.packet(interface, at, &packet, "an option").unwrap();
        }
        packet.clear();
        let datagram = Datagram { payload: Payload { offset: 0, len: 100 }, ecn: Ecn::NotEct };
        header(v6).emit_datagram(&datagram, &mut packet).unwrap();
        writer.packet(interface, Instant::from_nanos(1_000_000_000), &packet, "").unwrap();
    }
    writer.finish().unwrap()
}

/// What tshark says of a capture: one line per packet, the fields separated by tabs; `None`, with a notice,
/// where there is no tshark.
fn tshark(name: &str, capture: &[u8], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let path = std::env::temp_dir().join(format!("ropewalk-{name}-{}.pcapng", std::process::id()));
    std::fs::write(&path, capture).unwrap();
    let mut command = Command::new("tshark");
    for preference in ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE"] {
        command.args(["-o", preference]);
    }
    command.arg("-r").arg(&path).args(["-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output();
    std::fs::remove_file(&path).unwrap();
    let Ok(output) = output else {
        println!("skipped: tshark is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| line.split('\t').map(String::from).collect()).collect())
}

#[test]
fn tshark_dissects_every_option() {
    let segments = every_option();
    let fields = [
        "_ws.malformed",
        "tcp.options.mptcp.subtype",
        "tcp.checksum.status",
        "udp.checksum.status",
        "frame.time_epoch",
        "frame.interface_name",
        "frame.comment",
    ];
    let Some(lines) = tshark("options", &capture_of(&segments), &fields) else { return };
    assert_eq!(lines.len(), 2 * (segments.len() + 1));
    let rare = [0, 0, 0, 0, 0, 1, 1, 1, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8];
    let subtypes: Vec<u8> = rare.into_iter().chain([2; 9]).collect();
    for (interface, lines) in ["four", "six"].into_iter().zip(lines.chunks(segments.len() + 1)) {
        for (number, (line, subtype)) in (1..).zip(lines.iter().zip(&subtypes)) {
            let expected: [&str; 7] = [
                "",
                &subtype.to_string(),
                "1",
                "",
                &format!("0.{:09}", number * 1001),
                interface,
                "an option",
            ];
            assert_eq!(line, &expected, "packet {number} of {interface}");
        }
        let expected = ["", "", "", "1", "1.000000000", interface, ""];
        assert_eq!(lines[segments.len()], expected, "the datagram");
    }
}

#[test]
fn tshark_finds_no_malformed_packet_among_many() {
    let mut runner = TestRunner::deterministic();
    let mut segments = Vec::new();
    while segments.len() < 300 {
        let mut segment = generate::segment().new_tree(&mut runner).unwrap().current();
        segment.seq = Seq::new(1000);
        // tshark tells the shapes of these two apart by the SYN and ACK bits, and aborts where they disagree.
        let handshake =
            |option: &MptcpOption| matches!(option, MptcpOption::Capable { .. } | MptcpOption::Join(_));
        if !segment.options.mptcp.rare().iter().any(handshake) {
            segments.push(segment);
        }
    }
    let fields = ["_ws.malformed", "tcp.checksum.status", "tcp.len"];
    let Some(lines) = tshark("many", &capture_of(&segments), &fields) else { return };
    for lines in lines.chunks(segments.len() + 1) {
        for (line, segment) in lines.iter().zip(&segments) {
            assert_eq!(line, &["", "1", &segment.payload.len.to_string()], "{segment:?}");
        }
    }
}

//! Captures with octets changed at random, cut, or made up: a report or an error, never a panic. What
//! is left of a capture that lacks packets is told.

use proptest::prelude::*;
use ropewalk_analyse::{CaptureError, Kind, Settings, analyse};
use ropewalk_units::{Dsn, Instant, Seq, Ssn};
use ropewalk_wire::pcapng::Writer;
use ropewalk_wire::{
    DataAck, Dss, Flags, Join, Mapping, MptcpOption, Options, PacketHeader, Payload, Segment,
};

/// A segment with numbers that anybody may make up.
fn segment() -> impl Strategy<Value = (bool, u16, Segment)> {
    let number =
        prop_oneof![0u64..5000, any::<u64>(), (0u64..5000).prop_map(|small| 0u64.wrapping_sub(small))];
    let numbers = (number.clone(), number.clone(), number.clone(), number);
    let shape = (any::<bool>(), 0u16..3, any::<u8>(), 0u32..2000, any::<u16>(), 0u8..6, any::<bool>());
    (numbers, shape).prop_map(|((seq, ack, dsn, ssn), (up, port, flags, len, mapped, kind, fin))| {
        let mut options = Options::default();
        let mapping = Mapping {
            dsn: Dsn::new(dsn),
            ssn: Ssn::new(ssn as u32),
            len: if fin { mapped % 2 } else { mapped },
            checksum: None,
        };
        match kind {
            0 => options.mptcp.push(MptcpOption::Capable {
                checksum_required: false,
                no_more_subflows: false,
                sender_key: (mapped % 3 > 0).then_some(7),
                receiver_key: (mapped % 3 > 1).then_some(8),
                data: (mapped % 3 > 1 && fin).then_some((mapped, None)),
            }),
            1 => options.mptcp.push(MptcpOption::Join(Join::Syn {
                backup: fin,
                address_id: 1,
                token: ropewalk_mptcp::keys::token(7 + u64::from(fin)),
                nonce: 1,
            })),
            2..=4 => {
                let dss = Dss::new(Some(DataAck::Long(Dsn::new(ack))), Some(mapping));
                options.mptcp.dss = Some(if fin { dss.ending() } else { dss });
            }

            _ => {}
        }
        let segment = Segment {
            seq: Seq::new(seq as u32),
            ack: Seq::new(ack as u32),
            flags: Flags::from_bits(flags),
            payload: Payload { offset: 0, len },
            options,
            ..Segment::default()
        };
        (up, port, segment)
    })
}

fn capture(segments: &[(bool, u16, Segment)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "test").unwrap();
    let interface = writer.add_interface("a", "").unwrap();
    for (number, (up, port, segment)) in (0..).zip(segments) {
        let ends = [([10, 0, 0, 1], 1000 + port), ([10, 0, 0, 2], 80)];
        let [from, to] = if *up { ends } else { [ends[1], ends[0]] };
        let header = PacketHeader {
            source: from.0.into(),
            destination: to.0.into(),
            source_port: from.1,
            destination_port: to.1,
            identification: 0,
            ttl: 64,
            dscp: 0,
        };
        let mut packet = Vec::new();
        header.emit_segment(segment, &mut packet).unwrap();
        writer.packet(interface, Instant::from_nanos(number * 1_000_000), &packet, "").unwrap();
    }
    writer.finish().unwrap()
}

/// A segment of the client.
fn sent(seq: u32, len: u32, flags: Flags, options: Options) -> (bool, u16, Segment) {
    let payload = Payload { offset: 0, len };
    (true, 0, Segment { seq: Seq::new(seq), flags, payload, options, ..Segment::default() })
}

/// A SYN that asks for Multipath TCP.
fn asking() -> (bool, u16, Segment) {
    let mut options = Options::default();
    options.mptcp.push(MptcpOption::Capable {
        checksum_required: false,
        no_more_subflows: false,
        sender_key: None,
        receiver_key: None,
        data: None,
    });
    sent(999, 0, Flags::SYN, options)
}

#[test]
fn a_mapping_shows_what_is_spoken_if_the_answer_is_not_in_the_capture() {
    let mapped = |ssn: u32, dsn: u64| {
        let mapping = Mapping { dsn: Dsn::new(dsn), ssn: Ssn::new(ssn), len: 100, checksum: None };
        let mut options = Options::default();
        options.mptcp.dss = Some(Dss::new(None, Some(mapping)));
        options
    };
    let plain = sent(1000, 100, Flags::ACK, Options::default());
    let second = sent(1100, 100, Flags::ACK, mapped(101, 7100));
    for (segments, kind) in [
        (vec![asking(), plain.clone()], Kind::FellBack),
        (vec![asking(), sent(1000, 100, Flags::ACK, mapped(1, 7000)), second.clone()], Kind::Mptcp),
        // The segment with the first mapping is not in the capture, but one that it maps too.
        (vec![asking(), plain, second], Kind::Mptcp),
    ] {
        let report = analyse(&capture(&segments)[..], &Settings::default()).unwrap();
        let [connection] = &report.connections[..] else { panic!("one connection: {report:?}") };
        assert_eq!(connection.kind, kind);
        let octets = 100 * (segments.len() as u64 - 1);
        assert_eq!(connection.streams[0].octets, octets, "{connection:?}");
        assert_eq!(connection.subflows[0].flows[0].fresh_octets, octets, "{connection:?}");
    }
}

#[test]
fn a_packet_of_an_unknown_interface_is_told_with_its_place() {
    let mut file = capture(&[asking(), asking(), asking()]);
    // The third Enhanced Packet Block, of type 6, names another interface.
    let (mut at, mut packets) = (0, 0);
    loop {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        packets += u32::from(word(at) == 6);
        if packets == 3 {
            break;
        }
        at += word(at + 4) as usize;
    }
    file[at + 8] = 7;
    let error = analyse(&file[..], &Settings::default()).unwrap_err();
    assert!(matches!(&error, CaptureError::Malformed { packets: 2, .. }), "{error}");
}

proptest! {
    #[test]
    fn made_up_segments_are_sorted_and_none_is_counted_twice(segments in prop::collection::vec(segment(), 0..60)) {
        let file = capture(&segments);
        let report = analyse(&file[..], &Settings::default()).unwrap();
        prop_assert_eq!(report.packets, segments.len() as u64);
        for flow in report.connections.iter().flat_map(|found| &found.subflows).flat_map(|subflow| &subflow.flows) {
            let sorted = flow.fresh_octets + flow.retransmitted_octets + flow.reinjected_octets + flow.unmapped_octets;
            prop_assert_eq!(sorted, flow.octets);
        }
    }

    #[test]
    fn changed_and_cut_files_are_a_report_or_an_error(
        segments in prop::collection::vec(segment(), 0..20),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..30),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut file = capture(&segments);
        for (at, octet) in changes {
            let at = at.index(file.len());
            file[at] = octet;
        }
        file.truncate(cut.index(file.len()) + 1);
        let _ = analyse(&file[..], &Settings::default());
    }
}

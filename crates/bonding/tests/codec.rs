//! Headers and control packets come back as they were encoded, and no octets make the decoder
//! panic.

use proptest::prelude::*;
use ropewalk_bonding::{
    Class, CompactHeader, Control, DataHeader, DecodeError, FlowSeq, GlobalSeq, Keepalive, KeepaliveReply,
    MAX_PATHS, Missing, MissingRange, Nearby, PathId, PathReport, PathSeq, Report, TrainPacket, Transmission,
};

fn class() -> impl Strategy<Value = Class> {
    prop_oneof![
        Just(Class::Normal),
        Just(Class::Unordered),
        Just(Class::Duplicated),
        Just(Class::DuplicatedUnordered)
    ]
}

fn transmission() -> impl Strategy<Value = Transmission> {
    prop_oneof![Just(Transmission::Only), Just(Transmission::First), Just(Transmission::Repair)]
}

fn path() -> impl Strategy<Value = PathId> {
    (0..MAX_PATHS as u8).prop_map(PathId)
}

fn header() -> impl Strategy<Value = DataHeader> {
    (path(), class(), transmission(), 0u8..16, 0u16..4096, any::<[u32; 4]>()).prop_map(
        |(path, class, transmission, solo, bucket, fields)| {
            let [flow, global, on_path, timestamp] = fields;
            DataHeader {
                path,
                class,
                transmission,
                solo,
                bucket,
                flow_seq: FlowSeq::new(flow),
                global_seq: GlobalSeq::new(global),
                path_seq: PathSeq::new(on_path),
                timestamp,
            }
        },
    )
}

fn path_report() -> impl Strategy<Value = PathReport> {
    any::<[u32; 8]>().prop_map(|fields| {
        let [next, received_packets, received_bytes, lost_packets, newest, excess, train, held] = fields;
        PathReport {
            next: PathSeq::new(next),
            received_packets,
            received_bytes,
            lost_packets,
            newest,
            excess: (excess >> 16) as u16,
            reordering: excess as u16,
            train,
            held,
        }
    })
}

fn control() -> impl Strategy<Value = Control> {
    let report = (any::<[u32; 2]>(), any::<u8>(), proptest::collection::vec(path_report(), 0..=MAX_PATHS))
        .prop_map(|([number, made], gaps, paths)| {
            let mut report = Report::new(number, made, &paths);
            report.gaps = gaps;
            Control::Report(report)
        });
    let keepalive = (path(), any::<u16>(), any::<[u32; 4]>()).prop_map(|(path, rest, numbers)| {
        let [number, timestamp, on_path, global] = numbers;
        let (next_path_seq, next_global_seq) = (PathSeq::new(on_path), GlobalSeq::new(global));
        Control::Keepalive(Keepalive { path, rest, number, timestamp, next_path_seq, next_global_seq })
    });
    let reply = (path(), any::<[u32; 2]>()).prop_map(|(path, [number, echoed])| {
        Control::KeepaliveReply(KeepaliveReply { path, number, echoed })
    });
    let train = (path(), any::<[u32; 2]>())
        .prop_map(|(path, [number, timestamp])| Control::Train(TrainPacket { path, number, timestamp }));
    let range =
        any::<[u32; 2]>().prop_map(|[from, packets]| MissingRange { from: PathSeq::new(from), packets });
    let missing = (path(), proptest::collection::vec(range, 0..=Missing::MOST)).prop_map(|(path, ranges)| {
        let mut missing = Missing::new(path);
        assert!(ranges.into_iter().all(|range| missing.push(range)));
        Control::Missing(missing)
    });
    prop_oneof![report, keepalive, reply, missing, train]
}

proptest! {
    #[test]
    fn headers_survive(header in header(), rest: Vec<u8>) {
        let mut octets = header.encode().to_vec();
        prop_assert_eq!(octets.len() as u32, DataHeader::LEN);
        octets.extend(rest);
        prop_assert_eq!(DataHeader::decode(&octets), Ok(header));
        prop_assert_eq!(DataHeader::decode(&octets[..19]), Err(DecodeError::Truncated));
    }

    /// Numbers may be up to half of what their bits tell before or after what is known.
    #[test]
    fn compact_headers_survive(
        header in header(),
        flow in -(1 << 23) + 1..1 << 23,
        [global, on_path] in prop::array::uniform2(-(1 << 19) + 1..1 << 19),
        rest: Vec<u8>,
    ) {
        let nearby = Nearby {
            flow_seq: header.flow_seq.plus(flow as u32),
            global_seq: header.global_seq.plus(global as u32),
            path_seq: header.path_seq.plus(on_path as u32),
        };
        let mut octets = CompactHeader::encode(&header).to_vec();
        prop_assert_eq!(octets.len() as u32, CompactHeader::LEN);
        octets.extend(rest);
        prop_assert!(CompactHeader::is_first_of(&octets));
        let decoded = CompactHeader::decode(&octets);
        prop_assert_eq!(decoded.map(|decoded| decoded.complete(nearby)), Ok(header));
        prop_assert_eq!(decoded.map(|decoded| (decoded.path(), decoded.bucket())), Ok((header.path, header.bucket)));
        prop_assert_eq!(CompactHeader::decode(&octets[..14]), Err(DecodeError::Truncated));
    }

    #[test]
    fn control_packets_survive(control in control()) {
        let mut octets = Vec::new();
        control.encode(&mut octets);
        prop_assert_eq!(octets.len() as u32, control.wire_len());
        prop_assert_eq!(Control::decode(&octets), Ok(control));
        prop_assert_eq!(Control::decode(&octets[..octets.len() - 1]), Err(DecodeError::Truncated));
    }

    #[test]
    fn a_control_packet_is_no_data(control in control(), header in header()) {
        let mut octets = Vec::new();
        control.encode(&mut octets);
        let refused = matches!(DataHeader::decode(&octets), Err(DecodeError::Kind(_)));
        prop_assert!(refused);
        let refused = matches!(Control::decode(&header.encode()), Err(DecodeError::Kind(0)));
        prop_assert!(refused);
        prop_assert!(!CompactHeader::is_first_of(&octets));
        let refused = matches!(CompactHeader::decode(&octets), Err(DecodeError::Kind(_)));
        prop_assert!(refused);
    }

    #[test]
    fn no_octets_make_it_panic(mut octets: Vec<u8>, first in 0x10u8..0x17) {
        let read = |octets: &[u8]| {
            let _ = (DataHeader::decode(octets), CompactHeader::decode(octets), Control::decode(octets));
        };
        read(&octets);
        if let Some(octet) = octets.first_mut() {
            *octet = first;
        }
        read(&octets);
    }
}

/// As the protocol's page draws it.
#[test]
fn a_compact_header_is_these_octets() {
    let header = DataHeader {
        path: PathId(5),
        class: Class::Unordered,
        transmission: Transmission::First,
        solo: 0xa,
        bucket: 0xbcd,
        flow_seq: FlowSeq::new(0x1122_3344),
        global_seq: GlobalSeq::new(0x5566_7788),
        path_seq: PathSeq::new(0x99aa_bbcc),
        timestamp: 0xddee_ff00,
    };
    let octets =
        [0b1010_1101, 0xab, 0xcd, 0x22, 0x33, 0x44, 0x67, 0x78, 0x8a, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00];
    assert_eq!(CompactHeader::encode(&header), octets);
}

#[test]
fn what_is_wrong_is_said() {
    let octets = [0x20; 32];
    assert_eq!(DataHeader::decode(&octets), Err(DecodeError::Version(2)));
    let mut octets = [0; 40];
    octets[0] = 0x10;
    octets[1] = 0x08;
    assert_eq!(DataHeader::decode(&octets), Err(DecodeError::Path(8)));
    octets[1] = 0xc0;
    assert_eq!(DataHeader::decode(&octets), Err(DecodeError::Class(12)));
    assert_eq!(CompactHeader::decode(&[0xe0; 40]), Err(DecodeError::Class(12)));
    octets[0] = 0x11;
    octets[1] = 9;
    assert_eq!(Control::decode(&octets), Err(DecodeError::TooManyPaths(9)));
    octets[..4].copy_from_slice(&[0x15, 0, 9, 0]);
    assert_eq!(Control::decode(&[octets, octets].concat()), Err(DecodeError::TooManyRanges(9)));
    assert_eq!(Control::decode(&[0x16]), Err(DecodeError::Kind(6)));
}

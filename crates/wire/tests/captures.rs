//! Captures of Linux's own Multipath TCP as test vectors: read every option, emit it again, compare octets.

mod support;

use ropewalk_units::{Dsn, Ssn};
use ropewalk_wire::{Mapping, MptcpOption, Options, Sum, dss_checksum};
use std::collections::BTreeMap;
use std::path::PathBuf;
use support::read;

const CAPTURES: [&str; 6] = ["simple", "full", "clijoin", "backup", "csum", "fastclose"];

/// A TCP segment of a capture.
struct Captured {
    ports: (u16, u16),
    seq: u32,
    syn: bool,
    options: Vec<u8>,
    payload: Vec<u8>,
}

/// Octets before the IP header, by link type: none in LINKTYPE_RAW, 20 in LINKTYPE_LINUX_SLL2.
fn link_header(link_type: u32) -> usize {
    match link_type {
        101 => 0,
        276 => 20,
        other => panic!("link type {other}"),
    }
}

/// The segments of a classic little-endian pcap of IPv4; `None`, with a notice, when it is not there.
fn capture(name: &str) -> Option<Vec<Captured>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/captures")
        .join(name)
        .with_extension("pcap");
    let Ok(file) = std::fs::read(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    assert_eq!(file[..4], [0xd4, 0xc3, 0xb2, 0xa1], "a little-endian pcap with microseconds");
    let link_header = link_header(u32::from_le_bytes(file[20..24].try_into().unwrap()));
    let mut segments = Vec::new();
    let mut rest = &file[24..];
    while rest.len() >= 16 {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        segments.extend(tcp(&rest[16 + link_header..16 + len]));
        rest = &rest[16 + len..];
    }
    Some(segments)
}

fn tcp(packet: &[u8]) -> Option<Captured> {
    if packet[0] >> 4 != 4 || packet[9] != 6 {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let tcp = &packet[usize::from(packet[0] & 0x0f) * 4..total];
    let header = usize::from(tcp[12] >> 4) * 4;
    let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    Some(Captured {
        ports: (port(0), port(2)),
        seq: u32::from_be_bytes(tcp[4..8].try_into().unwrap()),
        syn: tcp[13] & 0x02 != 0,
        options: tcp[20..header].to_vec(),
        payload: tcp[header..].to_vec(),
    })
}

#[test]
fn every_option_of_linux_is_emitted_octet_for_octet() {
    for name in CAPTURES {
        let Some(segments) = capture(name) else { return };
        let mut with_mptcp = 0;
        for (number, segment) in (1..).zip(&segments) {
            let options = read::options(&segment.options);
            let mut octets = Vec::new();
            options.emit(&mut octets);
            assert_eq!(octets, segment.options, "{name}, segment {number}: {options:?}");
            with_mptcp += usize::from(!options.mptcp.is_empty());
        }
        assert!(with_mptcp > 40, "{name}: only {with_mptcp} segments with Multipath TCP options");
    }
}

/// The mapping of a segment, whether a DSS or the first data's MP_CAPABLE brought it.
fn mapping(options: &Options, idsn: Option<Dsn>) -> Option<(Mapping, bool)> {
    if let Some(dss) = options.mptcp.dss {
        return dss.mapping().map(|mapping| (mapping, dss.data_fin()));
    }
    options.mptcp.rare().iter().find_map(|option| match option {
        // RFC 8684 §3.1: the first data is mapped from IDSN + 1 to the subflow's first octet.
        MptcpOption::Capable { data: Some((len, checksum)), .. } => {
            Some((Mapping { dsn: idsn? + 1, ssn: Ssn::new(1), len: *len, checksum: *checksum }, false))
        }
        _ => None,
    })
}

/// What is known of a subflow's one direction, by its ports.
#[derive(Default)]
struct Direction {
    iss: u32,
    octets: BTreeMap<u32, Vec<u8>>,
    mappings: BTreeMap<u64, (Mapping, bool)>,
}

impl Direction {
    /// The mapping's octets, from the segments that carried them.
    fn payload(&self, ssn: u32, len: usize) -> Option<Vec<u8>> {
        let mut octets = Vec::new();
        while octets.len() < len {
            octets.extend(self.octets.get(&(ssn + octets.len() as u32))?);
        }
        octets.truncate(len);
        Some(octets)
    }
}

#[test]
fn checksums_of_linux_s_mappings_are_ours() {
    let Some(segments) = capture("csum") else { return };
    // The captured client's, as the capture's notes give it: it is in no option.
    let idsn = Dsn::new(0x60c8_106c_c5da_ed41);
    let mut directions: BTreeMap<(u16, u16), Direction> = BTreeMap::new();
    for segment in &segments {
        let direction = directions.entry(segment.ports).or_default();
        if segment.syn {
            direction.iss = segment.seq;
        }
        if !segment.payload.is_empty() {
            direction.octets.insert(segment.seq.wrapping_sub(direction.iss), segment.payload.clone());
        }
        if let Some((mapping, fin)) = mapping(&read::options(&segment.options), Some(idsn)) {
            direction.mappings.insert(mapping.dsn.get(), (mapping, fin));
        }
    }
    let (mut with_data, mut alone) = (0, 0);
    for direction in directions.values() {
        for (mapping, fin) in direction.mappings.values() {
            let len = usize::from(mapping.len) - usize::from(*fin);
            let Some(octets) = direction.payload(mapping.ssn.get(), len) else { continue };
            let sum = Sum::default().add_octets(&octets);
            let checksum = dss_checksum(mapping.dsn, mapping.ssn, mapping.len, sum);
            assert_eq!(Some(checksum), mapping.checksum, "{mapping:?}");
            *if len > 0 { &mut with_data } else { &mut alone } += 1;
        }
    }
    assert!(with_data >= 4 && alone >= 2, "{with_data} mappings with data, {alone} without");
}

//! The IP packets of the captures in `shared/captures`: classic little-endian pcap files.

use std::path::PathBuf;

/// Every capture of Linux's own Multipath TCP.
pub(crate) const CAPTURES: [&str; 6] = ["simple", "full", "clijoin", "backup", "csum", "fastclose"];

/// Octets before the IP header, by link type: none in LINKTYPE_RAW, 20 in LINKTYPE_LINUX_SLL2.
fn link_header(link_type: u32) -> usize {
    match link_type {
        101 => 0,
        276 => 20,
        other => panic!("link type {other}"),
    }
}

/// The packets of a capture; `None`, with a notice, when it is not there.
pub(crate) fn packets(name: &str) -> Option<Vec<Vec<u8>>> {
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
    let mut packets = Vec::new();
    let mut rest = &file[24..];
    while rest.len() >= 16 {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        packets.push(rest[16 + link_header..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    Some(packets)
}

//! Captures of Linux's own Multipath TCP as test vectors: read every option, emit it again, compare octets.

mod support;

use ropewalk_units::{Dsn, Ssn};
use ropewalk_wire::read::{IpPacket, TcpOption, TcpPacket};
use ropewalk_wire::{Flags, Mapping, MptcpOption, Options, Sum, dss_checksum};
use std::collections::BTreeMap;
use support::pcap::{CAPTURES, packets};

/// A packet's headers.
fn tcp(packet: &[u8]) -> (IpPacket<'_>, TcpPacket<'_>) {
    let ip = IpPacket::read(packet).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
    let tcp = TcpPacket::read(&ip).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
    (ip, tcp)
}

#[test]
fn every_packet_of_linux_is_read_and_written_again_octet_for_octet() {
    for name in CAPTURES {
        let Some(packets) = packets(name) else { return };
        assert!(packets.len() > 40, "{name}: {} packets", packets.len());
        for (number, packet) in (1..).zip(&packets) {
            let (ip, tcp) = tcp(packet);
            assert!(ip.checksum_holds(), "{name}, packet {number}");
            let options: Vec<TcpOption<'_>> = tcp.options().collect();
            let strange = |option: &TcpOption<'_>| {
                matches!(option, TcpOption::Unknown { .. } | TcpOption::Broken(_) | TcpOption::End(_))
            };
            assert!(!options.iter().any(strange), "{name}, packet {number}: {options:?}");
            let mut octets = Vec::new();
            tcp.header.emit(&ip.header, &options, tcp.payload, &mut octets).unwrap();
            // Between two namespaces the kernel leaves the checksum to a card that is not there: only the sum of the
            // pseudo-header stands in the field.
            if tcp.checksum_holds(&ip) != Some(true) {
                octets[36..38].copy_from_slice(&packet[36..38]);
            }
            assert_eq!(&octets, packet, "{name}, packet {number}");
        }
    }
}

#[test]
fn every_option_of_linux_is_emitted_octet_for_octet() {
    for name in CAPTURES {
        let Some(packets) = packets(name) else { return };
        let mut with_mptcp = 0;
        for (number, packet) in (1..).zip(&packets) {
            let (_, tcp) = tcp(packet);
            let options = Options::read(tcp.options, Dsn::new(0));
            let mut octets = Vec::new();
            options.emit(&mut octets);
            assert_eq!(octets, tcp.options, "{name}, packet {number}: {options:?}");
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
    let Some(packets) = packets("csum") else { return };
    // The captured client's, as the capture's notes give it: it is in no option.
    let idsn = Dsn::new(0x60c8_106c_c5da_ed41);
    let mut directions: BTreeMap<(u16, u16), Direction> = BTreeMap::new();
    for packet in &packets {
        let (_, tcp) = tcp(packet);
        let header = &tcp.header;
        let direction = directions.entry((header.source_port, header.destination_port)).or_default();
        if header.flags.contains(Flags::SYN) {
            direction.iss = header.seq.get();
        }
        if !tcp.payload.is_empty() {
            direction.octets.insert(header.seq.get().wrapping_sub(direction.iss), tcp.payload.to_vec());
        }
        if let Some((mapping, fin)) = mapping(&Options::read(tcp.options, idsn), Some(idsn)) {
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

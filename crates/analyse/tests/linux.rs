//! Captures of Linux's own Multipath TCP: what is found in them is what tshark counts, and what the
//! captures' notes say.

use ropewalk_analyse::{Connection, EventKind, Kind, Report, Settings, analyse};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/captures")
        .join(name)
        .with_extension("pcap")
}

/// What is found in a capture; `None`, with a notice, when it is not there.
fn report(name: &str) -> Option<Report> {
    let path = path(name);
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    Some(analyse(file, &Settings::default()).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// The one Multipath TCP connection of a capture.
fn only(report: &Report) -> &Connection {
    let mut multipath = report.connections.iter().filter(|connection| connection.kind == Kind::Mptcp);
    let first = multipath.next().expect("a Multipath TCP connection");
    assert!(multipath.next().is_none(), "one only");
    first
}

#[test]
fn subflows_join_their_connection_and_every_octet_is_placed() {
    for (name, subflows) in
        [("simple", 2), ("full", 3), ("clijoin", 2), ("backup", 2), ("csum", 2), ("fastclose", 2)]
    {
        let Some(report) = report(name) else { return };
        println!("{name}: {report:#?}");
        let connection = only(&report);
        assert_eq!(connection.subflows.len(), subflows, "{name}");
        for (at, stream) in connection.streams.iter().enumerate() {
            let fresh: u64 = connection.subflows.iter().map(|subflow| subflow.flows[at].fresh_octets).sum();
            assert_eq!(fresh, stream.octets, "{name}");
            assert_eq!(stream.missing_octets, 0, "{name}");
        }
        for flow in connection.subflows.iter().flat_map(|subflow| &subflow.flows) {
            assert_eq!(flow.unmapped_octets, 0, "{name}: {flow:?}");
            let sorted = flow.fresh_octets + flow.retransmitted_octets + flow.reinjected_octets;
            assert_eq!(sorted, flow.octets, "{name}: {flow:?}");
            let sampled: u64 = flow.samples.iter().map(|sample| sample.octets).sum();
            assert_eq!(sampled, flow.fresh_octets, "{name}");
        }
    }
}

#[test]
fn what_the_notes_of_the_captures_say_is_found() {
    let Some(full) = report("full") else { return };
    let events =
        |report: &Report| only(report).events.iter().map(|event| event.kind.clone()).collect::<Vec<_>>();
    let has = |events: &[EventKind], wanted: fn(&EventKind) -> bool| events.iter().any(wanted);
    let of_full = events(&full);
    assert!(has(&of_full, |kind| matches!(kind, EventKind::AddAddress { port: Some(_), .. })));
    assert!(has(&of_full, |kind| matches!(kind, EventKind::Priority { .. })));
    assert!(has(&of_full, |kind| matches!(kind, EventKind::RemoveAddress(_))));
    assert!(has(&of_full, |kind| *kind == EventKind::DataFin));
    let fastclose = events(&report("fastclose").unwrap());
    assert!(has(&fastclose, |kind| *kind == EventKind::FastClose));
    let reset = fastclose.iter().filter(|kind| matches!(kind, EventKind::Reset(Some(_)))).count();
    assert!(reset >= 1, "MP_TCPRST: {fastclose:?}");
    let backup = report("backup").unwrap();
    assert!(only(&backup).subflows.iter().any(|subflow| subflow.backup));
}

/// Octets of TCP payload by source and destination port, as tshark counts them; `None` where it is
/// not installed.
fn counted_by_tshark(name: &str) -> Option<BTreeMap<(u16, u16), u64>> {
    let fields = ["tcp.srcport", "tcp.dstport", "tcp.len"].map(|field| ["-e", field]).concat();
    let output = Command::new("tshark")
        .arg("-r")
        .arg(path(name))
        .args(["-Y", "tcp", "-T", "fields"])
        .args(fields)
        .output();
    let Ok(output) = output else {
        println!("skipped: tshark is not installed");
        return None;
    };
    let mut octets = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let numbers: Vec<u64> = line.split('\t').map(|field| field.parse().expect("a number")).collect();
        *octets.entry((numbers[0] as u16, numbers[1] as u16)).or_default() += numbers[2];
    }
    Some(octets)
}

#[test]
fn octets_are_those_that_tshark_counts() {
    for name in ["simple", "full", "clijoin", "backup", "csum", "fastclose"] {
        let Some(report) = report(name) else { return };
        let Some(expected) = counted_by_tshark(name) else { return };
        let mut found = BTreeMap::new();
        for subflow in report.connections.iter().flat_map(|connection| &connection.subflows) {
            let (client, server) = (subflow.client.port(), subflow.server.port());
            *found.entry((client, server)).or_default() += subflow.flows[0].octets;
            *found.entry((server, client)).or_default() += subflow.flows[1].octets;
        }
        found.retain(|_, octets| *octets > 0);
        let expected: BTreeMap<_, _> = expected.into_iter().filter(|(_, octets)| *octets > 0).collect();
        assert_eq!(found, expected, "{name}");
    }
}

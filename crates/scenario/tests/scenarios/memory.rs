//! The estimate of a run's memory follows what fills it: windows, queues, samples and events. What runs really take is
//! compared in `tests/python/test_isolated.py`.

use crate::support::{Overrides, scenario};
use ropewalk_scenario::{EventRow, LinkSeriesRow, Memory, SeriesRow};

/// Octets that each packet under way counts for, and the copies that are made of a row.
const PER_PACKET: u64 = 640;
const COPIES: u64 = 3;

/// 8 Mbit/s, 10 ms and 100 packets: 11 data packets of 972 octets are under way at a time.
const TEXT: &str = r#"
[scenario]
name = "memory"
duration = "10 s"
[hosts.a]
[hosts.b]
[links.l]
between = ["a", "b"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[connections.x]
from = "a"
to = "b"
[connections.x.application]
kind = "bulk"
"#;

/// The same link with datagrams of 1000 octets.
const DATAGRAMS: &Overrides<'_> = &[
    ("connections.x.protocol", "udp"),
    ("connections.x.application.kind", "constant-rate"),
    ("connections.x.application.rate", "1 Mbit/s"),
    ("connections.x.application.packet_size", "1000 B"),
];

fn of(overrides: &Overrides<'_>) -> Memory {
    scenario(TEXT, overrides).memory()
}

fn of_datagrams(more: &Overrides<'_>) -> Memory {
    of(&[DATAGRAMS, more].concat())
}

#[test]
fn a_window_counts_as_full() {
    let with = |octets: &str| {
        let buffers = [("tcp.receive_buffer", octets), ("tcp.send_buffer", "64 kB"), ("tcp.mss", "1000")];
        of(&buffers).world
    };
    assert_eq!(with("1064 kB") - with("64 kB"), 1_000 * PER_PACKET);
    assert_eq!(with("64500 B") - with("64 kB"), PER_PACKET, "a part of a segment is a packet");
    assert_eq!(with("10 kB"), with("64 kB"), "the larger of the two counts");
}

#[test]
fn datagrams_count_by_the_room_of_the_way() {
    let with = |key: &str, value: &str| of_datagrams(&[(key, value)]).world;
    let hundred = of_datagrams(&[]).world;
    assert_eq!(with("links.l.queue", "150 packets") - hundred, 50 * PER_PACKET);
    assert_eq!(with("links.l.queue", "150 kB") - hundred, 50 * PER_PACKET, "150 of 1000 octets");
    assert_eq!(with("links.l.delay", "110 ms") - hundred, 100 * PER_PACKET, "100 ms more of 8 Mbit/s");
    assert_eq!(with("links.l.backward.delay", "110 ms"), hundred, "nothing comes back");
}

#[test]
fn series_count_by_their_samples() {
    let rows = 2 * size_of::<SeriesRow>() + 2 * size_of::<LinkSeriesRow>();
    let series = |interval: &str| of(&[("scenario.sample_interval", interval)]).series;
    // One more than intervals, of a connection with one subflow and of a link with two directions.
    assert_eq!(series("100 ms"), 101 * rows as u64 * COPIES);
    assert_eq!(series("10 ms"), 1_001 * rows as u64 * COPIES);
}

#[test]
fn events_count_by_kind_and_packet() {
    let with = |kinds: &str, more: &Overrides<'_>| {
        let kinds: &Overrides<'_> = &[("scenario.events", kinds)];
        of_datagrams(&[kinds, more].concat()).events / (size_of::<EventRow>() as u64 * COPIES)
    };
    assert_eq!(with("[]", &[]), 0);
    // 8 Mbit/s for 10 s in datagrams of 1000 octets: 10 000 of them.
    assert_eq!(with("[\"timeout\"]", &[]), 10_000, "kinds that come with few packets");
    assert_eq!(with("[\"segment\"]", &[]), 20_000);
    assert_eq!(with("[\"segment\", \"drop\"]", &[]), 30_000);
    assert_eq!(with("[\"segment\"]", &[("connections.x.start", "5 s")]), 10_000, "half of the time");
    let slower = [("links.l.backward.rate", "4 Mbit/s")];
    assert_eq!(with("[\"segment\"]", &slower), 20_000, "data goes the other way");
    let longest = [("scenario.duration", "100000 s")];
    assert_eq!(with("[\"segment\"]", &longest), 8_000_000, "no more are kept");
}

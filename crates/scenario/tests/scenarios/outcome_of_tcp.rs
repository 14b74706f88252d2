//! What the columns say of TCP and Multipath TCP, where arithmetic knows it, and which are empty.

use crate::support::{Overrides, outcome};
use arrow_array::{Array, RecordBatch, UInt64Array};
use ropewalk_scenario::{LinkRow, Outcome};

/// 1 MB over 8 Mbit/s and 10 ms each way: an octet takes a microsecond.
const TRANSFER: &str = r#"
[scenario]
name = "transfer"
duration = "5 s"
[hosts.a]
[hosts.b]
[links.l]
between = ["a", "b"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "1000 packets"
[connections.x]
from = "a"
to = "b"
start = "1 s"
application = { kind = "bulk", bytes = "1 MB" }
"#;

/// Headers of IPv4 and TCP with timestamps.
const HEADERS: u64 = 52;
/// What a SYN has beside them: MSS, SACK and window scale.
const SYN_OPTIONS: u64 = 8;

fn link<'a>(outcome: &'a Outcome, direction: &str) -> &'a LinkRow {
    outcome.links.iter().find(|row| row.direction == direction).expect("a direction")
}

#[test]
fn octets_segments_and_times_of_a_transfer_add_up() {
    let outcome = outcome(TRANSFER, &[]);
    let (row, subflow) = (&outcome.connections[0], &outcome.subflows[0]);
    assert_eq!((row.bytes, row.completed, row.error.as_deref()), (1_000_000, true, None));
    assert_eq!((subflow.bytes, subflow.retransmissions, subflow.timeouts), (1_000_000, 0, Some(0)));
    let forward = link(&outcome, "a->b");
    assert_eq!(forward.packets, subflow.segments);
    assert_eq!(forward.bytes, 1_000_000 + HEADERS * forward.packets + SYN_OPTIONS);
    assert_eq!((forward.offered, forward.delivered), (forward.packets, forward.packets));
    let start = (row.start - ropewalk_units::Instant::ZERO).as_secs_f64();
    let took = row.end.map(|end| (end - row.start).as_secs_f64()).expect("it ended");
    assert!((start - 1.0).abs() < 1e-12);
    assert!((row.goodput_mbps * took - 8.0).abs() < 1e-9, "8 Mbit in the time it took");
    assert!((subflow.throughput_mbps - row.goodput_mbps).abs() < 0.3, "{subflow:?}");
    // A handshake of 20 ms, 1.036 s of transmission, 10 ms of way: the window opens in a few round trips of 20 ms.
    assert!((1.06..1.16).contains(&took), "{took}");
    assert!(subflow.srtt_ms.is_some_and(|srtt| srtt > 20.0), "{subflow:?}");
}

#[test]
fn samples_add_up_to_the_rows() {
    let outcome = outcome(TRANSFER, &[("scenario.sample_interval", "50 ms")]);
    let (of_subflows, whole): (Vec<_>, Vec<_>) = outcome.series.iter().partition(|row| row.subflow.is_some());
    assert_eq!(whole.len(), 81, "from 1 s to 5 s");
    for rows in [&whole, &of_subflows] {
        let megabits: f64 = rows.iter().map(|row| row.throughput_mbps * 0.05).sum();
        assert!((megabits - 8.0).abs() < 1e-6, "{megabits}");
    }
    for (index, row) in outcome.links.iter().enumerate() {
        let samples = outcome.link_series.iter().filter(|sample| sample.link as usize == index);
        let octets: f64 = samples.clone().map(|sample| sample.throughput_mbps * 0.05e6 / 8.0).sum();
        assert!((octets - row.bytes as f64).abs() < 1.0, "{octets} of {}", row.bytes);
        assert_eq!(samples.map(|sample| sample.drops_queue).sum::<u64>(), row.drops_queue);
    }
    // Before it opens there is no subflow, and at the end no octet is in flight.
    assert!(of_subflows.iter().all(|row| row.time.as_secs_f64() >= 1.0));
    let last = of_subflows.last().and_then(|row| row.subflow).expect("a sample");
    assert_eq!(last.flight, 0);
}

#[test]
fn a_connection_of_multipath_tcp_is_sampled_while_it_is_open() {
    let multipath = ("connections.x.protocol", "mptcp");
    let outcome = outcome(TRANSFER, &[("scenario.sample_interval", "50 ms"), multipath]);
    let rows = &outcome.mptcp_series;
    let seconds = |place: usize| rows[place].time.as_secs_f64();
    let end = outcome.connections[0].end.map(ropewalk_units::Instant::as_secs_f64).expect("it ended");
    assert!((1.04..1.11).contains(&seconds(0)), "after a handshake of 20 ms: {}", seconds(0));
    assert!(seconds(rows.len() - 1) < end + 1.0, "none when it is over: {}", seconds(rows.len() - 1));
    let [first, last] = [&rows[0].sample, &rows[rows.len() - 1].sample];
    for row in rows {
        let sample = row.sample;
        assert_eq!((sample.subflows, sample.further_subflows), (Some(1), Some(0)));
        assert_eq!((sample.is_fallen_back, sample.retransmits), (Some(false), None));
        // DSNs and octets count from the same beginning.
        let beginning = sample.snd_una.zip(sample.acked_bytes).map(|(dsn, octets)| dsn.wrapping_sub(octets));
        assert_eq!(
            beginning,
            first.snd_una.zip(first.acked_bytes).map(|(dsn, octets)| dsn.wrapping_sub(octets))
        );
        assert!(
            sample.acked_bytes <= sample.sent_bytes && sample.sent_bytes <= Some(1_000_000),
            "{sample:?}"
        );
        assert_eq!((sample.rcv_nxt, sample.received_bytes), (first.rcv_nxt, Some(0)), "nothing comes back");
    }
    assert!(rows.iter().map(|row| row.sample.acked_bytes).is_sorted());
    assert_eq!((last.sent_bytes, last.reinjected_bytes), (Some(1_000_000), Some(0)));
    // The last sample is at most 50 ms before the last octet is acknowledged.
    assert!(last.acked_bytes >= Some(950_000), "{last:?}");
    let table = outcome.mptcp_series_table();
    let unacked = octets(&table, "unacked_bytes");
    let expected = rows.iter().map(|row| Some(row.sample.write_seq? - row.sample.snd_una?));
    assert_eq!(unacked, expected.collect::<Vec<_>>());
    assert!(unacked.iter().all(|octets| octets.is_some_and(|octets| octets <= 1_000_000)));
}

/// A column of octets.
fn octets(table: &RecordBatch, name: &str) -> Vec<Option<u64>> {
    let column = table.column_by_name(name).expect("a column").as_any();
    column.downcast_ref::<UInt64Array>().expect("of whole numbers").iter().collect()
}

#[test]
fn what_is_no_multipath_tcp_has_no_samples_of_it() {
    let outcome = outcome(TRANSFER, &[]);
    assert!(outcome.mptcp_series.is_empty());
    assert!(outcome.special_tables().iter().all(|(name, _)| *name != "mptcp_series"));
}

#[test]
fn a_lost_segment_is_one_loss_one_recovery_and_one_retransmission() {
    let outcome = outcome(TRANSFER, &[("links.l.loss", "{ model = \"exact\", packets = [100] }")]);
    let (subflow, forward) = (&outcome.subflows[0], link(&outcome, "a->b"));
    assert_eq!((forward.drops_loss, forward.drops_queue, forward.packets - forward.delivered), (1, 0, 1));
    assert_eq!((subflow.retransmissions, subflow.timeouts, subflow.fast_recoveries), (1, Some(0), Some(1)));
    assert_eq!(subflow.spurious_retransmissions, Some(0));
    assert_eq!(outcome.connections[0].bytes, 1_000_000);
    // The segment went over the line twice.
    assert_eq!(forward.bytes, 1_000_000 + 1448 + HEADERS * forward.packets + SYN_OPTIONS);
}

#[test]
fn the_last_segment_comes_back_by_a_probe_or_by_a_timeout() {
    // 13 full segments and one of 1176 octets.
    let few = ("connections.x.application.bytes", "20 kB");
    let last = ("links.l.loss", "{ model = \"exact\", packets = [14] }");
    let probed = outcome(TRANSFER, &[few, last]);
    assert_eq!((probed.subflows[0].retransmissions, probed.subflows[0].timeouts), (1, Some(0)));
    let timed = outcome(TRANSFER, &[few, last, ("tcp.tail_loss_probe", "false")]);
    assert_eq!((timed.subflows[0].retransmissions, timed.subflows[0].timeouts), (1, Some(1)));
}

#[test]
fn exchanges_are_counted_and_timed() {
    let what = "{ kind = \"request-response\", request = \"100 B\", response = \"1 kB\", think = \"100 ms\", count = 7 }";
    let outcome = outcome(TRANSFER, &[("connections.x.application", what)]);
    let row = &outcome.connections[0];
    assert_eq!((row.transactions, row.completed, row.bytes), (7, true, 7_000));
    // There and back, and 152 and 1052 octets at a microsecond each. The first waits for the handshake: there and back with
    // 60 octets each, and an ACK of 52.
    let mean = row.mean_response_s.expect("a time");
    assert!((mean - (0.021_204 + 0.020_172 / 7.0)).abs() < 1e-9, "{mean}");
}

#[test]
fn a_connection_without_an_answer_says_why_it_failed() {
    let down = ("links.l.changes", "[{ at = \"0 s\", state = \"down\" }]");
    let outcome = outcome(TRANSFER, &[down, ("tcp.max_syn_retransmissions", "1")]);
    let row = &outcome.connections[0];
    assert_eq!((row.bytes, row.completed, row.goodput_mbps), (0, false, 0.0));
    assert_eq!(row.error.as_deref(), Some("the peer stopped answering"));
    let forward = link(&outcome, "a->b");
    assert_eq!((forward.offered, forward.drops_loss + forward.drops_queue, forward.delivered), (2, 2, 0));
}

#[test]
fn what_the_end_cuts_off_is_not_completed() {
    let outcome = outcome(TRANSFER, &[("scenario.duration", "1500 ms")]);
    let row = &outcome.connections[0];
    assert!(!row.completed && row.bytes > 300_000 && row.bytes < 500_000, "{row:?}");
    assert_eq!(row.error, None);
    let forward = link(&outcome, "a->b");
    assert_eq!(forward.offered, forward.delivered + forward.queued, "the rest waits or is on its way");
    assert!(forward.queued > 0);
}

const TWO_PATHS: &[(&str, &str)] = &[
    (
        "links.m",
        "{ between = [\"a\", \"b\"], rate = \"8 Mbit/s\", delay = \"30 ms\", queue = \"1000 packets\" }",
    ),
    ("connections.x.protocol", "mptcp"),
    ("connections.x.application.bytes", "4 MB"),
];

#[test]
fn subflows_of_a_connection_add_up_to_it() {
    let outcome = outcome(TRANSFER, TWO_PATHS);
    let row = &outcome.connections[0];
    assert_eq!((row.protocol, row.bytes, row.completed), ("mptcp", 4_000_000, true));
    let [first, second] = outcome.subflows.as_slice() else { panic!("{:?}", outcome.subflows) };
    assert_eq!((&*first.path, &*second.path, first.subflow, second.subflow), ("l", "m", 0, 1));
    assert!(first.bytes > 500_000 && second.bytes > 500_000, "both carry: {first:?} {second:?}");
    // What was sent on two subflows counts on both.
    let (twice, again) = (row.reinjected_bytes.expect("of mptcp"), row.duplicate_bytes.expect("of mptcp"));
    assert_eq!(first.bytes + second.bytes, 4_000_000 + twice);
    assert!(again <= twice, "{again} of {twice}");
    assert!(row.hol_blocked_s.is_some_and(|time| time > 0.0), "30 ms are behind 10 ms: {row:?}");
    assert!(row.reorder_buffer_max.is_some_and(|octets| octets > 1_448), "{row:?}");
}

/// The columns of a table that are empty in its first row.
fn empty(table: &RecordBatch) -> Vec<String> {
    let schema = table.schema();
    let fields = schema.fields().iter().zip(table.columns());
    fields.filter(|(_, column)| column.is_null(0)).map(|(field, _)| field.name().clone()).collect()
}

#[test]
fn columns_that_do_not_apply_are_empty_and_no_others() {
    let of_udp =
        ["datagrams_sent", "datagrams_received", "datagrams_reordered", "delay_median_ms", "delay_p99_ms"];
    let udp: &Overrides<'_> = &[
        ("connections.x.protocol", "udp"),
        ("connections.x.application", "{ kind = \"constant-rate\", rate = \"1 Mbit/s\" }"),
    ];
    let table = |overrides: &Overrides<'_>| empty(&outcome(TRANSFER, overrides).connections_table());
    let other = ["mean_response_s", "error"];
    let of_streams = [&other[..1], &of_udp, &other[1..]].concat();
    assert_eq!(table(&[]), of_streams);
    assert_eq!(table(TWO_PATHS), of_streams);
    assert_eq!(table(udp), other);
    let rows = |overrides: &Overrides<'_>| empty(&outcome(TRANSFER, overrides).subflows_table());
    assert_eq!(rows(&[]), [""; 0]);
    assert_eq!(rows(udp), ["srtt_ms"]);
}

#[test]
fn the_summary_says_what_the_rows_say() {
    let outcome = outcome(TRANSFER, TWO_PATHS);
    let summary: serde_json::Value = serde_json::from_str(&outcome.summary_json()).expect("JSON");
    let (row, said) = (&outcome.connections[0], &summary["connections"][0]);
    assert_eq!((summary["scenario"].as_str(), summary["seed"].as_u64()), (Some("transfer"), Some(1)));
    assert_eq!(summary["duration_s"].as_f64(), Some(5.0));
    assert_eq!((said["name"].as_str(), said["bytes"].as_u64()), (Some("x"), Some(row.bytes)));
    assert_eq!(
        (said["goodput_mbps"].as_f64(), said["start_s"].as_f64()),
        (Some(row.goodput_mbps), Some(1.0))
    );
    assert_eq!(said["reinjected_bytes"].as_u64(), row.reinjected_bytes);
    let subflows = said["subflows"].as_array().expect("a list");
    assert_eq!(subflows.len(), outcome.subflows.len());
    for (subflow, said) in outcome.subflows.iter().zip(subflows) {
        assert_eq!(
            (said["path"].as_str(), said["bytes"].as_u64()),
            (Some(&*subflow.path), Some(subflow.bytes))
        );
        assert_eq!(said["retransmissions"].as_u64(), Some(subflow.retransmissions));
    }
    let links = summary["links"].as_array().expect("a list");
    let octets = |said: &serde_json::Value| said["bytes"].as_u64().expect("a number");
    assert_eq!(
        links.iter().map(octets).collect::<Vec<_>>(),
        outcome.links.iter().map(|row| row.bytes).collect::<Vec<_>>()
    );
}

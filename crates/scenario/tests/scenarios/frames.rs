//! Frames of voice and video: when they leave, when they are whole, and what is refused.

use crate::support::{outcome, refuses, scenario};
use arrow_array::Array;
use ropewalk_units::{Duration, Instant};

/// A line of 1 Mbit/s and 10 ms, 8 ms for 1000 octets; a call over it of 10 frames.
const CALL: &str = r#"[scenario]
name = "call"
duration = "2 s"
[hosts.a]
[hosts.b]
[links.l]
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
[connections.call]
protocol = "udp"
from = "a"
to = "b"
start = "1 s"
application = { kind = "frames", interval = "50 ms", packet_size = "972 B", packets = 2, spread = "20 ms", duration = "500 ms" }
"#;
const WHAT: &str = "connections.call.application";

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_frame_is_whole_when_its_last_packet_is_through() {
    let outcome = outcome(CALL, &[]);
    assert_eq!(outcome.frames.len(), 10);
    for (row, number) in outcome.frames.iter().zip(0..) {
        assert_eq!((&*row.connection, row.frame, row.packets), ("call", number, 2));
        assert_eq!(row.captured, Instant::ZERO + ms(1_000) + ms(50) * number);
        // The second packet leaves 10 ms later, and takes 8 ms to send and 10 to arrive.
        assert_eq!(row.arrival.complete_at, Some(row.captured + ms(28)));
    }
    let counts = outcome.connections[0].datagrams.expect("of UDP");
    assert_eq!((counts.sent, counts.received, outcome.connections[0].error.as_ref()), (20, 20, None));
    let table = outcome.frames_table();
    assert_eq!((table.num_rows(), table["complete_s"].null_count()), (10, 0));
    assert!(outcome.special_tables().iter().any(|(name, _)| *name == "frames"));
}

#[test]
fn key_frames_are_larger_and_what_is_lost_is_never_whole() {
    let video = "{ kind = \"frames\", interval = \"100 ms\", packets = 1, key_every = 3, key_packets = 4, duration = \"600 ms\" }";
    let down = "[{ at = \"1.25 s\", state = \"down\" }, { at = \"1.35 s\", state = \"up\" }]";
    let outcome = outcome(CALL, &[(WHAT, video), ("links.l.changes", down)]);
    let packets: Vec<u64> = outcome.frames.iter().map(|row| row.packets).collect();
    assert_eq!(packets, [4, 1, 1, 4, 1, 1]);
    let whole: Vec<bool> = outcome.frames.iter().map(|row| row.arrival.complete_at.is_some()).collect();
    assert_eq!(whole, [true, true, true, false, true, true], "the key frame at 1.3 s falls into the gap");
}

#[test]
fn there_are_no_frames_without_such_an_application() {
    let constant = "{ kind = \"constant-rate\", rate = \"100 kbit/s\" }";
    let outcome = outcome(CALL, &[(WHAT, constant)]);
    assert!(outcome.frames.is_empty());
    assert!(outcome.special_tables().iter().all(|(name, _)| *name != "frames"));
}

#[test]
fn a_file_says_it_again_as_it_was_read() {
    let said = scenario(CALL, &[]).canonical_json();
    assert!(said.contains("\"kind\":\"frames\"") && said.contains("\"packets\":2"), "{said}");
    assert!(!said.contains("key_every"), "what has its default is not said: {said}");
}

#[test]
fn frames_that_cannot_be() {
    let cases = [
        ("interval = \"0 s\"", "interval", "no time between two frames", "a time above zero"),
        (
            "interval = \"10 ms\", spread = \"10 ms\"",
            "spread",
            "a frame would not have left before the next one comes",
            "a time below `interval`",
        ),
        (
            "interval = \"10 ms\", packets = 0",
            "packets",
            "a frame has a packet, and key frames come",
            "a number from 1",
        ),
        (
            "interval = \"10 ms\", key_every = 5",
            "key_every",
            "half of what key frames need",
            "both `key_every` and `key_packets`",
        ),
        (
            "interval = \"10 ms\", key_packets = 5",
            "key_packets",
            "half of what key frames need",
            "both `key_every` and `key_packets`",
        ),
        (
            "interval = \"10 ms\", duration = \"0 s\"",
            "duration",
            "nothing would be sent in no time",
            "a time above zero",
        ),
    ];
    for (said, name, message, expected) in cases {
        let (said, key) = (format!("{{ kind = \"frames\", {said} }}"), format!("{WHAT}.{name}"));
        refuses(CALL, &[(&[(WHAT, &said)], &key, message, expected)]);
    }
    let stream = "frames are lost and late, which a stream does not let them be";
    let other = "protocol = \"udp\", or another application";
    refuses(CALL, &[(&[("connections.call.protocol", "tcp")], WHAT, stream, other)]);
}

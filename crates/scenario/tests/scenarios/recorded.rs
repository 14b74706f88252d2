//! Recorded traffic: datagrams leave at their times with their lengths, files are known by what is in them, and mistakes name their line.

use crate::support::{Folder, mistake, ran};
use ropewalk_scenario::Scenario;

/// A line of 1 Mbit/s and 10 ms, 8 ms for 1000 octets with headers.
const RECORDING: &str = r#"[scenario]
name = "recording"
duration = "2 s"
[hosts.a]
[hosts.b]
[links.l]
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
[connections.flow]
protocol = "udp"
from = "a"
to = "b"
start = "1 s"
application = { kind = "recorded", file = "flow.csv" }
"#;

fn recording(folder: &Folder, lines: &str) -> Scenario {
    folder.write("flow.csv", lines);
    folder.load(RECORDING).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn datagrams_leave_at_their_times_with_their_lengths() {
    let folder = Folder::new("recorded");
    let outcome = ran(&recording(&folder, "0,972\n100000,472\n100000,222\n"));
    let row = &outcome.connections[0];
    let counts = row.datagrams.expect("of UDP");
    assert_eq!((counts.sent, counts.received, row.bytes), (3, 3, 972 + 472 + 222));
    // 8, 4, and 4 + 2 ms to send, and 10 to arrive: the last is the slowest but for the first.
    assert!(counts.delay_median_ms.is_some_and(|delay| (delay - 16.0).abs() < 0.02), "{counts:?}");
    assert!(counts.delay_p99_ms.is_some_and(|delay| (delay - 18.0).abs() < 0.02), "{counts:?}");
    // The last one comes 116 ms after the start.
    assert!(row.end.is_some_and(|end| (end.as_secs_f64() - 1.116).abs() < 1e-6), "{:?}", row.end);
    assert_eq!(row.error, None);
}

#[test]
fn none_leaves_after_the_end() {
    let folder = Folder::new("recorded-end");
    let outcome = ran(&recording(&folder, "0,100\n999999,100\n1000000,100\n"));
    assert_eq!(outcome.connections[0].datagrams.expect("of UDP").sent, 2);
}

#[test]
fn a_file_is_known_by_what_is_in_it() {
    let folder = Folder::new("recorded-hash");
    let first = recording(&folder, "0,100\n").hash();
    assert_eq!(recording(&folder, "0,100\n").hash(), first);
    assert_ne!(recording(&folder, "0,101\n").hash(), first);
}

#[test]
fn mistakes_name_their_file_and_line() {
    let folder = Folder::new("recorded-mistakes");
    for (lines, line, word) in
        [("0,100\n1;100\n", 2, "no time and length"), ("0,1473\n", 1, "1473 octets where 1 to 1472")]
    {
        folder.write("flow.csv", lines);
        let error = folder.load(RECORDING).expect_err("it is wrong");
        assert!(error.to_string().contains(&format!("flow.csv:{line}:1")), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    let over_tcp = RECORDING.replace("protocol = \"udp\"", "protocol = \"tcp\"");
    assert!(mistake(&over_tcp, &[]).to_string().contains("leave at their times"));
    assert!(mistake(RECORDING, &[]).to_string().contains("cannot be read"));
}

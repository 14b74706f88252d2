//! Routers that take TCP options out: what becomes of connections.

use crate::support::{self, mistake};
use ropewalk_scenario::{Outcome, RunOptions, Scenario, run};

/// Two paths of two links, with a router on each.
const TWO: &str = r#"
[scenario]
name = "middlebox"
duration = "30 s"
[tcp]
preset = "linux"
[hosts.client]
[hosts.server]
[routers.ra]
[routers.rb]
[links]
a1 = { between = ["client", "ra"], rate = "10 Mbit/s", delay = "5 ms" }
a2 = { between = ["ra", "server"], rate = "10 Mbit/s", delay = "5 ms" }
b1 = { between = ["client", "rb"], rate = "10 Mbit/s", delay = "10 ms" }
b2 = { between = ["rb", "server"], rate = "10 Mbit/s", delay = "10 ms" }
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
paths = ["a1", "b1"]
application = { kind = "bulk", bytes = "5 MB" }
"#;

fn scenario(ra: &str, rb: &str) -> Scenario {
    let text = TWO.replace("[routers.ra]\n", &format!("[routers.ra]\n{ra}\n"));
    let text = text.replace("[routers.rb]\n", &format!("[routers.rb]\n{rb}\n"));
    support::scenario(&text, &[])
}

fn outcome(ra: &str, rb: &str) -> Outcome {
    run(&scenario(ra, rb), &RunOptions::default()).expect("a run")
}

/// Octets by path, the connection having delivered all of its own.
fn paths(outcome: &Outcome) -> [u64; 2] {
    let row = &outcome.connections[0];
    assert!(row.completed && row.bytes == 5_000_000, "{row:?}");
    ["a1", "b1"].map(|path| {
        outcome.subflows.iter().filter(|subflow| subflow.path == path).map(|subflow| subflow.bytes).sum()
    })
}

const STRIPS: &str = "strips = [\"mptcp\"]";

#[test]
fn without_a_middlebox_both_paths_carry() {
    let [a, b] = paths(&outcome("", ""));
    assert!(a > 1_000_000 && b > 1_000_000, "{a}, {b}");
}

#[test]
fn a_connection_whose_first_path_strips_is_plain_tcp() {
    // RFC 8684 §3.1: no MP_CAPABLE comes back, so that no subflow can ever join.
    for from in ["", "\nstrips_from = \"syn\""] {
        assert_eq!(paths(&outcome(&format!("{STRIPS}{from}"), "")), [5_000_000, 0]);
    }
}

#[test]
fn a_path_that_strips_cannot_join() {
    // RFC 8684 §3.2: the SYN/ACK has no MP_JOIN, and the subflow is reset.
    assert_eq!(paths(&outcome("", STRIPS)), [5_000_000, 0]);
}

#[test]
fn options_that_vanish_after_the_handshake_end_in_fallback() {
    // RFC 8684 §3.7: the third ACK has no MP_CAPABLE, so the server goes on in plain TCP, and so does the client when it
    // sees no DSS.
    assert_eq!(paths(&outcome(&format!("{STRIPS}\nstrips_from = \"established\""), "")), [5_000_000, 0]);
}

#[test]
fn tcp_lives_without_its_options() {
    for option in ["sack", "timestamps", "window-scale", "mss"] {
        let text = TWO.replace("protocol = \"mptcp\"", "protocol = \"tcp\"").replace(", \"b1\"]", "]");
        let text =
            text.replace("rate = \"10 Mbit/s\", delay", "rate = \"10 Mbit/s\", loss = \"0.3 %\", delay");
        let strips = format!("[routers.ra]\nstrips = [\"{option}\"]\n");
        let scenario = support::scenario(&text.replace("[routers.ra]\n", &strips), &[]);
        let outcome = run(&scenario, &RunOptions::default()).expect("a run");
        assert!(outcome.connections[0].completed, "without {option}: {:?}", outcome.connections[0]);
    }
}

#[test]
fn it_is_explained_and_mistakes_are_named() {
    let text = scenario(&format!("{STRIPS}\nstrips_from = \"syn\""), "").explain();
    assert!(text.contains("(ra) strips Multipath TCP from segments with SYN"), "{text}");
    for (table, key) in
        [("strips_from = \"syn\"", "routers.ra.strips_from"), ("strips = [\"sak\"]", "routers.ra.strips[0]")]
    {
        let text = TWO.replace("[routers.ra]\n", &format!("[routers.ra]\n{table}\n"));
        let error = mistake(&text, &[]);
        assert_eq!(error.key, key, "{error}");
    }
}

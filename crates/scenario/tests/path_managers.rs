//! Path managers in whole scenarios: which subflows come up, and what becomes of paths that die and return.

use ropewalk_scenario::{Outcome, RunOptions, load, run};

/// Two disjoint paths.
const TWO: &str = r#"
[scenario]
name = "paths"
duration = "120 s"
[tcp]
preset = "linux"
[hosts.client]
[hosts.server]
[links]
a = { between = ["client", "server"], rate = "10 Mbit/s", delay = "5 ms" }
b = { between = ["client", "server"], rate = "10 Mbit/s", delay = "10 ms" }
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
application = { kind = "bulk", bytes = "5 MB" }
"#;

fn outcome(text: &str) -> Outcome {
    let scenario = load(text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).expect("a run")
}

/// Octets by subflow, with the path's name; every connection has delivered all of its own.
fn subflows(outcome: &Outcome) -> Vec<(String, u64)> {
    for row in &outcome.connections {
        assert!(row.completed && row.error.is_none(), "{row:?}");
    }
    outcome.subflows.iter().map(|subflow| (subflow.path.clone(), subflow.bytes)).collect()
}

#[test]
fn ndiffports_opens_several_subflows_over_one_path_each_from_its_own_port() {
    for count in [2, 3, 8] {
        let text =
            TWO.to_owned() + &format!("mptcp = {{ path_manager = \"ndiffports\", subflows = {count} }}");
        let subflows = subflows(&outcome(&text));
        assert_eq!(subflows.len(), count);
        for (path, bytes) in subflows {
            assert!(path == "a" && bytes > 100_000, "{path}: {bytes}");
        }
    }
}

#[test]
fn a_script_may_open_a_second_subflow_on_a_path_in_use() {
    let steps = r#"mptcp = { path_manager = "scripted", steps = [
        { at = "100 ms", path = "a", action = "open" }, { at = "100 ms", path = "b", action = "open" },
        { at = "200 ms", path = "b", action = "open" } ] }"#;
    let subflows = subflows(&outcome(&(TWO.to_owned() + steps)));
    let paths: Vec<&str> = subflows.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["a", "a", "b", "b"]);
    assert!(subflows.iter().all(|(_, bytes)| *bytes > 100_000), "{subflows:?}");
}

/// A path that is down from 1 s to 40 s; few retransmissions, so that its subflow ends before.
fn dying(path: &str, manager: &str) -> String {
    let changes = "changes = [{ at = \"1 s\", state = \"down\" }, { at = \"40 s\", state = \"up\" }]";
    let text = TWO.replace("bytes = \"5 MB\"", "bytes = \"100 MB\"");
    let text = text.replace("preset = \"linux\"\n", "preset = \"linux\"\nmax_retransmissions = 4\n");
    let start = format!("{path} = {{ ");
    format!("{}{manager}\n", text.replace(&start, &format!("{start}{changes}, ")))
}

#[test]
fn a_path_that_returns_is_used_again_by_a_new_subflow() {
    for path in ["a", "b"] {
        let outcome = outcome(&dying(path, "mptcp = { path_manager = \"full-mesh\" }"));
        let on_it: Vec<u64> =
            subflows(&outcome).into_iter().filter(|(name, _)| name == path).map(|(_, bytes)| bytes).collect();
        let (last, others) = on_it.split_last().expect("subflows");
        assert!(!others.is_empty(), "{path}: {on_it:?}");
        assert!(*last > 10_000_000, "{path}: {on_it:?}");
    }
}

#[test]
fn hosts_that_are_clients_and_servers_mix_no_ports_up() {
    // The ports of clients and of servers would meet, 30 000 connections apart.
    let text = TWO.replace("duration = \"120 s\"", "duration = \"4 s\"");
    let text =
        text.replace("protocol = \"mptcp\"\n", "protocol = \"tcp\"\ncount = 30010\nspread = \"1 s\"\n");
    let text = text.replace("5 MB", "1 B").replace("10 Mbit/s", "1 Gbit/s");
    let back = "\n[connections.back]\nprotocol = \"tcp\"\nfrom = \"server\"\nto = \"client\"\ncount = 10\nspread = \"1 s\"\napplication = { kind = \"bulk\", bytes = \"1 B\" }\n";
    let outcome = outcome(&(text + back));
    assert!(outcome.connections.iter().all(|row| row.completed));
}

//! Path managers in whole scenarios: which subflows come up, and what becomes of paths that die and return.

use crate::support::{self, scenario};
use proptest::prelude::*;
use ropewalk_scenario::{Outcome, load};

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
    support::outcome(text, &[])
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

/// Three disjoint paths between two hosts that each have an address on every one of them.
const THREE: &str = r#"
[scenario]
name = "endpoints"
duration = "60 s"
[tcp]
preset = "linux"
[hosts.c]
[hosts.s]
[links]
1 = { between = ["c", "s"], rate = "10 Mbit/s", delay = "5 ms" }
2 = { between = ["c", "s"], rate = "10 Mbit/s", delay = "5 ms" }
3 = { between = ["c", "s"], rate = "10 Mbit/s", delay = "5 ms" }
[connections.bulk]
protocol = "mptcp"
from = "c"
to = "s"
application = { kind = "bulk", bytes = "4 MB" }
[mptcp]
path_manager = "kernel"
scheduler = "round-robin"
"#;

/// `ip mptcp` of one host: limits, and endpoints such as "2 subflow backup": its address on link 2.
fn host(name: &str, limits: [u8; 2], endpoints: &[&str]) -> [String; 2] {
    let limits = format!("{name} = {{ subflows = {}, add_addr_accepted = {} }}", limits[0], limits[1]);
    let table = |line: &&str| {
        let (link, flags) = line.split_once(' ').expect("flags");
        let flags: Vec<String> = flags.split(' ').map(|flag| format!("\"{flag}\"")).collect();
        format!("{{ host = \"{name}\", link = \"{link}\", flags = [{}] }}", flags.join(", "))
    };
    [limits, endpoints.iter().map(table).collect::<Vec<_>>().join(", ")]
}

fn kernel(client: ([u8; 2], &[&str]), server: ([u8; 2], &[&str])) -> Outcome {
    let [[c_limits, c], [s_limits, s]] = [host("c", client.0, client.1), host("s", server.0, server.1)];
    let both: Vec<String> = [c, s].into_iter().filter(|text| !text.is_empty()).collect();
    let keys = format!("endpoints = [{}]\nlimits = {{ {c_limits}, {s_limits} }}\n", both.join(", "));
    outcome(&(THREE.to_owned() + &keys))
}

/// The pairs of addresses that carried data, client's link first.
fn pairs(outcome: &Outcome) -> Vec<String> {
    let mut pairs: Vec<String> = subflows(outcome)
        .into_iter()
        .filter(|(_, bytes)| *bytes > 10_000)
        .map(|(path, _)| if path.contains('>') { path } else { format!("{path}>{path}") })
        .collect();
    pairs.sort();
    pairs
}

/// Limits and endpoints of the client and of the server, and the pairs of addresses with a subflow.
type Case = (([u8; 2], &'static [&'static str]), ([u8; 2], &'static [&'static str]), &'static str);

/// What Linux 6.18 did between two namespaces with three pairs of interfaces, the policy routes letting every address reach
/// every other (docs/models/mptcp.md).
const MEASURED: [Case; 19] = [
    (([2, 0], &[]), ([2, 0], &[]), "1>1"),
    (([2, 0], &["2 subflow", "3 subflow"]), ([2, 0], &[]), "1>1 2>1 3>1"),
    (([1, 0], &["2 subflow", "3 subflow"]), ([2, 0], &[]), "1>1 2>1"),
    (([2, 0], &["2 subflow", "3 subflow"]), ([1, 0], &[]), "1>1 2>1"),
    (([2, 0], &["2 subflow", "3 subflow"]), ([0, 0], &[]), "1>1"),
    (([8, 0], &["1 subflow", "2 subflow"]), ([8, 0], &[]), "1>1 2>1"),
    (([2, 0], &[]), ([2, 0], &["2 signal"]), "1>1"),
    (([0, 4], &[]), ([4, 0], &["2 signal"]), "1>1"),
    (([8, 2], &[]), ([8, 0], &["2 signal", "3 signal"]), "1>1 2>2 3>3"),
    (([8, 1], &[]), ([8, 0], &["2 signal", "3 signal"]), "1>1 2>2"),
    (([8, 8], &["2 subflow"]), ([8, 8], &["2 signal"]), "1>1 2>1 2>2"),
    (([8, 8], &["1 subflow fullmesh", "2 subflow fullmesh"]), ([8, 8], &["2 signal"]), "1>1 1>2 2>1 2>2"),
    (
        ([8, 8], &["1 subflow fullmesh", "2 subflow fullmesh", "3 subflow fullmesh"]),
        ([8, 8], &["2 signal", "3 signal"]),
        "1>1 1>2 1>3 2>1 2>2 2>3 3>1 3>2 3>3",
    ),
    (
        ([3, 8], &["1 subflow fullmesh", "2 subflow fullmesh", "3 subflow fullmesh"]),
        ([8, 8], &["2 signal", "3 signal"]),
        "1>1 1>2 2>2 3>2",
    ),
    (([8, 8], &["2 laminar", "3 laminar"]), ([8, 8], &["2 signal", "3 signal"]), "1>1 2>2 3>3"),
    (([8, 8], &["2 laminar"]), ([8, 8], &["2 signal", "3 signal"]), "1>1 2>2"),
    (([8, 8], &["2 subflow laminar", "3 laminar"]), ([8, 8], &["2 signal", "3 signal"]), "1>1 2>2 3>3"),
    (([8, 8], &["2 subflow fullmesh", "3 laminar"]), ([8, 8], &["2 signal", "3 signal"]), "1>1 2>1 2>2 2>3"),
    (([8, 8], &["2 subflow"]), ([8, 8], &["1 signal", "2 signal"]), "1>1 2>1 2>2"),
];

#[test]
fn the_kernel_s_path_manager_opens_what_linux_opens() {
    for (client, server, measured) in MEASURED {
        assert_eq!(pairs(&kernel(client, server)).join(" "), measured, "{client:?}, {server:?}");
    }
}

#[test]
fn an_announced_address_of_a_client_is_refused_there_as_linux_does() {
    // The server tries to join at it (once), and nobody listens: measured with nstat.
    let client = ([2, 2], &["2 signal"][..]);
    assert_eq!(pairs(&kernel(client, ([2, 2], &[]))), ["1>1"]);
    let client = ([2, 2], &["2 subflow signal"][..]);
    assert_eq!(pairs(&kernel(client, ([2, 2], &[]))), ["1>1", "2>1"]);
    // A server opens nothing by itself.
    assert_eq!(pairs(&kernel(([2, 2], &[]), ([2, 2], &["2 subflow"]))), ["1>1"]);
}

#[test]
fn backup_endpoints_carry_nothing_while_others_work() {
    let carried = |client: &[&str], server: &[&str]| {
        let outcome = kernel(([2, 2], client), ([2, 2], server));
        let rows = outcome.subflows.iter().map(|row| (row.path.clone(), row.backup, row.bytes > 10_000));
        rows.collect::<Vec<_>>()
    };
    let row = |path: &str, backup, used| (path.to_owned(), backup, used);
    assert_eq!(carried(&["2 subflow backup"], &[]), [row("1", false, true), row("2>1", true, false)]);
    // The first subflow's own endpoint: MP_PRIO tells the server.
    assert!(carried(&["1 subflow backup", "2 subflow"], &[]).contains(&row("1", true, true)));
    // A server's: B is on its SYN/ACK.
    assert_eq!(carried(&[], &["2 signal backup"]), [row("1", false, true), row("2", true, false)]);
}

#[test]
fn a_host_learns_of_a_black_hole_and_opens_plain_tcp_until_the_timeout_is_over() {
    // SYNs with MP_CAPABLE are lost for 5 s: the first connection falls back with its fourth SYN.
    let text = TWO.replace("bytes = \"5 MB\"", "bytes = \"20 kB\"");
    let text = text.replace(
        "a = { ",
        "a = { changes = [{ at = \"0 s\", state = \"down\" }, { at = \"5 s\", state = \"up\" }], ",
    );
    let text = text
        .replace("to = \"server\"\n", "to = \"server\"\nstarts = [\"0 s\", \"10 s\", \"30 s\", \"40 s\"]\n");
    let on_two_paths = |timeout: &str| -> Vec<usize> {
        let keys = format!("mptcp = {{ blackhole_timeout = \"{timeout}\" }}");
        let outcome = outcome(&(text.clone() + &keys));
        let of = |name: &String| outcome.subflows.iter().filter(|row| row.connection == *name).count();
        outcome
            .connections
            .iter()
            .map(|row| {
                assert!(row.completed, "{row:?}");
                of(&row.name)
            })
            .collect()
    };
    // Within the timeout, plain TCP, which has one subflow.
    assert_eq!(on_two_paths("15 s"), [1, 1, 2, 2]);
    assert_eq!(on_two_paths("1 h"), [1, 1, 1, 1]);
    assert_eq!(on_two_paths("0 s"), [1, 2, 2, 2]);
    let patient = text + "mptcp = { syn_retrans_before_tcp_fallback = 128 }";
    assert_eq!(outcome(&patient).subflows.len(), 8);
}

/// A path manager with its keys: drawn endpoints and limits, or one of the others.
fn managers() -> impl Strategy<Value = String> {
    let flags = prop::sample::subsequence(vec!["subflow", "backup", "laminar"], 0..=3);
    let last = prop::sample::select(vec![None, Some("signal"), Some("fullmesh")]);
    let endpoint = (prop::sample::select(vec!["c", "s"]), flags, last);
    // Each host's addresses once each, in any order.
    let endpoints = prop::collection::vec(endpoint, 0..=6).prop_map(|drawn| {
        let mut tables = Vec::new();
        for (host, mut flags, last) in drawn {
            let link = 1 + tables
                .iter()
                .filter(|table: &&String| table.contains(&format!("host = \"{host}\"")))
                .count();
            flags.extend(last);
            let flags: Vec<String> = flags.iter().map(|flag| format!("\"{flag}\"")).collect();
            if link <= 3 {
                let link = 4 - link;
                tables.push(format!(
                    "{{ host = \"{host}\", link = \"{link}\", flags = [{}] }}",
                    flags.join(", ")
                ));
            }
        }
        tables.join(", ")
    });
    let limits = prop::array::uniform4(0u8..=8);
    let kernel = (endpoints, limits).prop_map(|(endpoints, [cs, ca, ss, sa])| {
        format!(
            "endpoints = [{endpoints}]\nlimits = {{ c = {{ subflows = {cs}, add_addr_accepted = {ca} }}, s = {{ subflows = {ss}, add_addr_accepted = {sa} }} }}\n"
        )
    });
    let others = prop::sample::select(vec!["full-mesh", "backup", "ndiffports\"\nsubflows = 4 #"]);
    prop_oneof![3 => kernel, 1 => others.prop_map(|name| format!("path_manager = \"{name}\"\n"))]
}

/// When a link is down: pairs of times in milliseconds.
fn outages() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((10u64..15_000, 100u64..15_000), 0..4).prop_map(|mut drawn| {
        let mut from = 0;
        for (wait, lasts) in &mut drawn {
            *wait += from;
            *lasts += *wait;
            from = *lasts;
        }
        drawn
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// The transport itself asserts that no two living subflows share a 4-tuple.
    #[test]
    fn whatever_dies_and_returns_beside_one_path_that_lives_everything_arrives(
        manager in managers(),
        outages in prop::array::uniform2(outages()),
        retransmissions in 2u32..6,
        seed in any::<u16>(),
    ) {
        let mut text = THREE.replace("bytes = \"4 MB\"", "bytes = \"30 MB\"").replace("60 s", "400 s");
        text = text.replace("[tcp]\n", &format!("[tcp]\nmax_retransmissions = {retransmissions}\n"));
        text = text.replace("name = \"endpoints\"\n", &format!("name = \"endpoints\"\nseed = {seed}\n"));
        for (link, outages) in ["2 = { ", "3 = { "].iter().zip(&outages) {
            let change = |at: u64, state: &str| format!("{{ at = \"{at} ms\", state = \"{state}\" }}");
            let changes: Vec<String> =
                outages.iter().flat_map(|&(from, to)| [change(from, "down"), change(to, "up")]).collect();
            text = text.replace(link, &format!("{link}changes = [{}], ", changes.join(", ")));
        }
        let mut text = text + &manager;
        if manager.starts_with("path_manager") {
            text = text.replace("path_manager = \"kernel\"\n", "");
        }
        let outcome = outcome(&text);
        let row = &outcome.connections[0];
        prop_assert!(row.completed && row.error.is_none() && row.bytes == 30_000_000, "{:?}\n{}", row, text);
    }
}

#[test]
fn endpoints_and_limits_are_explained_and_survive_the_canonical_form() {
    let keys = r#"
endpoints = [
  { host = "c", link = "2", flags = ["subflow", "backup"] },
  { host = "s", link = "3", flags = ["signal"], id = 7, port = 6000 },
  { host = "s", link = "2" },
]
limits = { c = { subflows = 4 } }
changes = [
  { at = "5 s", action = "limits", host = "s", subflows = 3 },
  { at = "4 s", action = "delete", host = "c", link = "1", id = 0 },
  { at = "3 s", action = "change", host = "c", link = "2", flags = ["fullmesh"] },
  { at = "2 s", action = "add", host = "s", link = "3", flags = ["signal"] },
  { at = "1 s", action = "delete", host = "s", link = "3", port = 6000 },
]
"#;
    let scenario = scenario(&(THREE.to_owned() + keys), &[]);
    let text = scenario.explain();
    for (key, value, from) in [
        ("path_manager", "\"kernel\"", "line 19"),
        ("endpoints[0].flags", "[\"subflow\",\"backup\"]", "line 22"),
        ("endpoints[1].id", "7", "line 22"),
        ("endpoints[2].id", "8", "line 22"),
        ("endpoints[1].port", "6000", "line 22"),
        ("changes[0].flags", "[\"fullmesh\"]", "line 28"),
        ("changes[1].id", "0", "line 28"),
        ("changes[2].port", "6000", "line 28"),
        ("changes[3].id", "9", "line 28"),
        ("changes[4].add_addr_accepted", "0", "line 28"),
        ("limits.c.subflows", "4", "line 27"),
        ("limits.c.add_addr_accepted", "0", "default"),
        ("limits.s.subflows", "2", "default"),
    ] {
        let key = format!("connections.bulk.mptcp.{key}");
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(&key));
        let line = line.unwrap_or_else(|| panic!("no {key} in\n{text}"));
        assert!(line.contains(value) && line.ends_with(from), "{value}, {from}: {line}");
    }
    let canonical: toml::Table = serde_json::from_str(&scenario.canonical_json()).expect("a table");
    let again = load(&toml::to_string(&canonical).expect("TOML"), None, &[]).expect("valid");
    assert_eq!(again.plan(), scenario.plan());
    assert_eq!(again.hash(), scenario.hash());
}

#[test]
fn an_initial_address_that_is_denied_gets_no_subflow() {
    // Measured with net.mptcp.allow_join_initial_addr_port=0 at the server: C keeps 2 from 1.
    let keys = r#"
allow_join_initial_addr_port = false
endpoints = [{ host = "c", link = "2", flags = ["subflow"] }, { host = "s", link = "2", flags = ["signal"] }]
limits = { c = { subflows = 8, add_addr_accepted = 8 }, s = { subflows = 8 } }
"#;
    assert_eq!(pairs(&outcome(&(THREE.to_owned() + keys))), ["1>1", "2>2"]);
}

/// The pairs of addresses that carried data, client's link first, one name for each subflow in order of opening.
fn in_order(outcome: &Outcome) -> Vec<String> {
    let used = subflows(outcome).into_iter().filter(|(_, bytes)| *bytes > 10_000);
    used.map(|(path, _)| if path.contains('>') { path } else { format!("{path}>{path}") }).collect()
}

/// Two hosts with room for all subflows, and what `ip mptcp` does while they transfer.
fn changing(endpoints: &str, changes: &str) -> Outcome {
    let text = THREE.replace("bytes = \"4 MB\"", "bytes = \"20 MB\"");
    let limits = "{ subflows = 8, add_addr_accepted = 8 }";
    let keys = format!(
        "endpoints = [{endpoints}]\nchanges = [{changes}]\nlimits = {{ c = {limits}, s = {limits} }}\n"
    );
    outcome(&(text + &keys))
}

#[test]
fn endpoints_that_change_open_and_close_what_they_do_in_linux() {
    let client = r#"{ host = "c", link = "2", flags = ["subflow"] }"#;
    let server = r#"{ host = "s", link = "2", flags = ["signal"] }"#;
    let cases: [(&str, &str, &[&str]); 9] = [
        // Added: a subflow, an announcement.
        (
            "",
            r#"{ at = "2 s", action = "add", host = "c", link = "3", flags = ["subflow"] }"#,
            &["1>1", "3>1"],
        ),
        (
            "",
            r#"{ at = "2 s", action = "add", host = "s", link = "3", flags = ["signal"] }"#,
            &["1>1", "3>3"],
        ),
        (
            "",
            r#"{ at = "2 s", action = "add", host = "s", link = "3", flags = ["signal"], port = 6000 }"#,
            &["1>1", "3>3"],
        ),
        // Deleted, and added again: another subflow.
        (client, r#"{ at = "2 s", action = "delete", host = "c", link = "2" }"#, &["1>1", "2>1"]),
        (
            client,
            r#"{ at = "2 s", action = "delete", host = "c", link = "2" }, { at = "4 s", action = "add", host = "c", link = "2", flags = ["subflow"] }"#,
            &["1>1", "2>1", "2>1"],
        ),
        (
            server,
            r#"{ at = "2 s", action = "delete", host = "s", link = "2" }, { at = "4 s", action = "add", host = "s", link = "2", flags = ["signal"] }"#,
            &["1>1", "2>2", "2>2"],
        ),
        // The first address goes, and comes back as an endpoint.
        (
            client,
            r#"{ at = "2 s", action = "delete", host = "c", link = "1", id = 0 }, { at = "4 s", action = "add", host = "c", link = "1", flags = ["subflow"] }"#,
            &["1>1", "2>1", "1>1"],
        ),
        // Full mesh: the subflow is opened anew, and one to the announced address.
        (
            r#"{ host = "c", link = "2", flags = ["subflow"] }, { host = "s", link = "3", flags = ["signal"] }"#,
            r#"{ at = "2 s", action = "change", host = "c", link = "2", flags = ["fullmesh"] }"#,
            &["1>1", "3>3", "2>1", "2>1", "2>3"],
        ),
        // More room alone opens nothing.
        (
            r#"{ host = "c", link = "2", flags = ["subflow"] }"#,
            r#"{ at = "0 s", action = "limits", host = "c", subflows = 0 }, { at = "2 s", action = "limits", host = "c", subflows = 8 }"#,
            &["1>1"],
        ),
    ];
    for (endpoints, changes, expected) in cases {
        let outcome = changing(endpoints, changes);
        assert_eq!(in_order(&outcome), expected, "{endpoints}, {changes}");
        assert_eq!(outcome.connections[0].bytes, 20_000_000, "{changes}");
    }
}

#[test]
fn a_change_to_backup_stops_data_and_a_change_back_lets_them_flow() {
    let carried = |changes: &str| {
        let endpoint = r#"{ host = "c", link = "2", flags = ["subflow"] }"#;
        let outcome = changing(endpoint, changes);
        outcome.subflows.iter().map(|row| row.bytes).collect::<Vec<_>>()
    };
    let backup = r#"{ at = "2 s", action = "change", host = "c", link = "2", flags = ["backup"] }"#;
    let back = r#", { at = "4 s", action = "change", host = "c", link = "2" }"#;
    // 2 s at 10 Mbit/s are 2.5 MB.
    let stopped = carried(backup);
    assert!((2_000_000..3_000_000).contains(&stopped[1]), "{stopped:?}");
    let resumed = carried(&format!("{backup}{back}"));
    assert!(resumed[1] > 5_000_000, "{resumed:?}");
}

#[test]
fn connections_of_a_host_share_an_endpoint_s_port_and_none_opens_there() {
    let text = THREE.replace("to = \"s\"\n", "to = \"s\"\ncount = 3\n").replace("60 s", "120 s");
    let keys = r#"
endpoints = [{ host = "s", link = "2", flags = ["signal"], port = 5002 }]
limits = { c = { subflows = 8, add_addr_accepted = 8 }, s = { subflows = 8 } }
"#;
    // 5002 would be the second connection's own port otherwise.
    assert_eq!(pairs(&outcome(&(text + keys))), ["1>1", "1>1", "1>1", "2>2", "2>2", "2>2"]);
}

#[test]
fn a_client_with_a_port_is_joined_there() {
    // Without a port nobody listens at a client's address.
    let with = |port: &str| {
        let keys = format!(
            "endpoints = [{{ host = \"c\", link = \"2\", flags = [\"signal\"]{port} }}]\nlimits = {{ c = {{ subflows = 8 }}, s = {{ subflows = 8, add_addr_accepted = 8 }} }}\n"
        );
        pairs(&outcome(&(THREE.to_owned() + &keys)))
    };
    assert_eq!(with(""), ["1>1"]);
    assert_eq!(with(", port = 6000"), ["1>1", "2>2"]);
}

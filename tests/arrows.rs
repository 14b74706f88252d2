//! The arrows between crates, as ARCHITECTURE.md draws them: a lower crate never imports an upper one, and
//! protocols see neither sockets nor clocks nor ambient randomness, by any detour.

use ropewalk_tests::{packages, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Each crate, and the crates of the workspace that it may import.
const ARROWS: [(&str, &[&str]); 16] = [
    ("units", &[]),
    ("aqm", &["units"]),
    ("wire", &["units"]),
    ("congestion", &["units"]),
    ("tcp", &["units", "wire", "congestion"]),
    ("mptcp", &["units", "wire", "tcp"]),
    ("host", &["units", "wire", "tcp", "mptcp"]),
    ("live", &["units", "wire", "tcp", "mptcp", "host", "bonding", "sim", "scenario"]),
    ("analyse", &["units", "wire", "mptcp"]),
    ("bonding", &["units", "congestion", "aqm"]),
    ("gateway", &["units", "wire", "bonding"]),
    ("routing", &["units"]),
    ("sim", &["units", "aqm"]),
    ("wifi", &["units", "sim"]),
    ("scenario", &["units", "wire", "tcp", "mptcp", "host", "bonding", "routing", "sim", "wifi"]),
    (
        "python",
        &[
            "units", "wire", "tcp", "mptcp", "bonding", "routing", "sim", "wifi", "scenario", "analyse",
            "live",
        ],
    ),
];

/// Crates that only tests import.
const FOR_TESTS: [(&str, &[&str]); 2] =
    [("adversary", &["units", "wire"]), ("testnet", &["units", "wire", "tcp", "mptcp", "sim", "adversary"])];

/// On top of everything: nothing imports them.
const TOP: [&str; 2] = ["ropewalk-tests", "ropewalk-benches"];

/// The sans-IO crates and the engine.
const PURE: [&str; 12] = [
    "units",
    "aqm",
    "wire",
    "analyse",
    "congestion",
    "tcp",
    "mptcp",
    "host",
    "bonding",
    "routing",
    "sim",
    "wifi",
];

/// Crates that open sockets, read clocks, draw randomness or start threads.
const IMPURE: [&str; 23] = [
    "async-io",
    "async-std",
    "chrono",
    "crossbeam-channel",
    "fastrand",
    "futures-executor",
    "getrandom",
    "jiff",
    "mio",
    "netlink-sys",
    "nix",
    "polling",
    "quanta",
    "quinn-udp",
    "rand",
    "rayon",
    "rtnetlink",
    "rustix",
    "smol",
    "socket2",
    "time",
    "tokio",
    "tun-rs",
];

/// Names of a package's dependencies; `kinds` as cargo writes them, "normal" for its null.
fn dependencies<'a>(package: &'a Value, kinds: &[&str]) -> Vec<&'a str> {
    let list = package["dependencies"].as_array().expect("dependencies are a list");
    let wanted = |dependency: &&Value| kinds.contains(&dependency["kind"].as_str().unwrap_or("normal"));
    list.iter().filter(wanted).map(|dependency| dependency["name"].as_str().expect("a name")).collect()
}

#[test]
fn every_import_follows_an_arrow() {
    let arrows: BTreeMap<_, _> = ARROWS.into_iter().chain(FOR_TESTS).collect();
    let packages = packages();
    let mut seen = BTreeSet::new();
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        if TOP.contains(&name) {
            continue;
        }
        let short = name.strip_prefix("ropewalk-").unwrap_or_else(|| panic!("{name}: not ropewalk-…"));
        let allowed = arrows.get(short).unwrap_or_else(|| panic!("{name} has no arrows yet: add it here"));
        seen.insert(short);
        let imports = |kinds: &[&str]| {
            let names = dependencies(package, kinds).into_iter();
            names.filter_map(|name| name.strip_prefix("ropewalk-")).collect::<Vec<_>>()
        };
        for import in imports(&["normal", "build"]) {
            assert!(allowed.contains(&import), "{short} imports {import}: no arrow leads there");
        }
        for import in imports(&["dev"]) {
            let for_tests = FOR_TESTS.iter().any(|(name, _)| *name == import);
            assert!(
                for_tests || allowed.contains(&import),
                "{short}'s tests import {import}: no arrow leads there"
            );
        }
    }
    assert_eq!(seen, arrows.keys().copied().collect(), "crates with arrows, all of them there");
}

/// Every package of the lock file, with the names of what it depends on.
fn lock() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root().join("Cargo.lock")).expect("a lock file");
    let mut graph = BTreeMap::<String, Vec<String>>::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("name = ") {
            name = rest.trim_matches('"').to_string();
            graph.entry(name.clone()).or_default();
        } else if let Some(rest) = line.strip_prefix(" \"") {
            // ` "name",` or ` "name version",`
            let dependency = rest.split([' ', '"']).next().expect("split yields one part at least");
            graph.entry(name.clone()).or_default().push(dependency.to_string());
        }
    }
    graph
}

/// All that `starts` lead to, themselves included.
fn closure<'a>(graph: &'a BTreeMap<String, Vec<String>>, starts: &[&'a str]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = starts.to_vec();
    while let Some(name) = open.pop() {
        if reached.insert(name) {
            open.extend(graph.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

#[test]
fn protocols_and_the_engine_reach_no_socket_clock_or_randomness() {
    let graph = lock();
    for package in &packages() {
        let name = package["name"].as_str().expect("a name");
        if !PURE.iter().any(|pure| name.strip_prefix("ropewalk-") == Some(pure)) {
            continue;
        }
        // The lock file mixes development dependencies in, so the workspace's own crates come from the
        // manifest, and are each looked at in their turn.
        let direct = dependencies(package, &["normal", "build"]);
        let outside: Vec<&str> =
            direct.into_iter().filter(|dependency| !dependency.starts_with("ropewalk-")).collect();
        let reached = closure(&graph, &outside);
        let impure: Vec<_> = IMPURE.iter().filter(|impure| reached.contains(**impure)).collect();
        assert!(impure.is_empty(), "{name} reaches {impure:?} through {outside:?}");
    }
}

#[test]
fn the_lock_file_is_read_right() {
    let graph = lock();
    let tcp = closure(&graph, &["ropewalk-tcp"]);
    for name in ["ropewalk-wire", "ropewalk-units", "libm", "proptest", "rand_core"] {
        assert!(tcp.contains(name), "{name} is missing from {tcp:?}");
    }
}

//! Bonds in scenarios: what a mistake says, what is drawn, what is counted, and what stays the same.

use crate::support;
use ropewalk_scenario::{Outcome, RunOptions, Scenario, ScenarioError, run};

const BONDING: &str = include_str!("../../../../scenarios/bonding.toml");

fn scenario(overrides: &[(&str, &str)]) -> Scenario {
    support::scenario(BONDING, overrides)
}

fn mistake(overrides: &[(&str, &str)]) -> ScenarioError {
    support::mistake(BONDING, overrides)
}

fn outcome(overrides: &[(&str, &str)], options: &RunOptions<'_>) -> Outcome {
    run(&scenario(overrides), options).expect("the run ends")
}

#[test]
fn mistakes_name_their_key() {
    let wrr = "{ kind = \"weighted-round-robin\" }";
    for (overrides, key, word) in [
        (&[("bonds.home.paths", "[]")][..], "bonds.home.paths", "cannot be used"),
        (&[("bonds.home.paths", "[\"dsl\", \"lte\"]")], "bonds.home.paths[0].cost", "is missing"),
        (&[("bonds.home.paths[1]", "{ link = \"lte\" }")], "bonds.home.paths[1].cost", "is missing"),
        (&[("bonds.home.paths[1].cost", "1")], "bonds.home.paths[1].cost", "cannot be used"),
        (&[("bonds.home.paths[1].max_weight", "101")], "bonds.home.paths[1].max_weight", "cannot be used"),
        (&[("bonds.home.paths[1].link", "dsl")], "bonds.home.paths[1].link", "twice"),
        (&[("bonds.home.paths[1].link", "lan")], "bonds.home.paths[1].link", "does not end at `hub`"),
        (&[("bonds.home.paths[1].link", "ltee")], "bonds.home.paths[1].link", "no link"),
        (&[("bonds.home.paths[1].link", "core")], "bonds.home.paths[1].link", "no way"),
        (&[("bonds.home.between", "[\"hub\", \"hub\"]")], "bonds.home.between", "with itself"),
        (&[("bonds.home.between[1]", "client")], "bonds.home.between[1]", "is a host"),
        (&[("bonds.home.scheduler", "cheapest")], "bonds.home.scheduler", ""),
        (
            &[("bonds.home.scheduler", "{ kind = \"cost-first\", queue_target = \"2 s\" }")],
            "bonds.home.scheduler.queue_target",
            "cannot be used",
        ),
        (
            &[("bonds.home.scheduler", wrr), ("bonds.home.scheduler.gain", "0.0")],
            "bonds.home.scheduler.gain",
            "cannot be used",
        ),
        (&[("bonds.home.report_interval", "2 s")], "bonds.home.report_interval", "cannot be used"),
        (&[("bonds.home.resequencer.timeout", "11 s")], "bonds.home.resequencer.timeout", "cannot be used"),
        (&[("bonds.home.keepalive.interval", "0 s")], "bonds.home.keepalive.interval", "cannot be used"),
        (
            &[("bonds.home.classes", "[{ dscp = 64, treatment = \"unordered\" }]")],
            "bonds.home.classes[0].dscp",
            "no code point 64",
        ),
        (&[("connections.video.dscp", "64")], "connections.video.dscp", "no code point 64"),
    ] {
        let error = mistake(overrides);
        assert_eq!(error.key, key, "{overrides:?}: {error}");
        assert!(error.message.contains(word), "{overrides:?}: {error}");
        assert!(!error.expected.is_empty(), "{overrides:?}: {error}");
    }
    let renamed = BONDING.replace("[bonds.home]", "[bonds.dsl]");
    let error = support::mistake(&renamed, &[]);
    assert_eq!(error.key, "bonds.dsl");
}

#[test]
fn a_default_that_conflicts_with_a_key_is_named() {
    for (overrides, key, message, expected) in [
        (
            &[("bonds.home.keepalive", "{ interval = \"100 ms\" }")][..],
            "bonds.home.keepalive.suspect_after",
            "`suspect_after` is not given, and its default (130 ms) conflicts with `interval`",
            "more than 200 ms, twice `interval`, not 130 ms",
        ),
        (
            &[("bonds.home.keepalive.suspect_after", "300 ms")],
            "bonds.home.keepalive.down_after",
            "`down_after` is not given, and its default (240 ms) conflicts with `suspect_after`",
            "300 ms or more, as `suspect_after`, not 240 ms",
        ),
        (
            &[("bonds.home.resequencer.max_timeout", "1 ms")],
            "bonds.home.resequencer.min_timeout",
            "`min_timeout` is not given, and its default (5 ms) conflicts with `max_timeout`",
            "1 ms or less, as `max_timeout`, not 5 ms",
        ),
        (
            &[("bonds.home.keepalive", "{ interval = \"100 ms\", suspect_after = \"150 ms\" }")],
            "bonds.home.keepalive.suspect_after",
            "`suspect_after` cannot be used",
            "more than 200 ms, twice `interval`, not 150 ms",
        ),
        (
            &[("bonds.home.resequencer.flow_buckets", "8192")],
            "bonds.home.resequencer.flow_buckets",
            "`flow_buckets` cannot be used",
            "a power of two, at most 4096",
        ),
    ] {
        let error = mistake(overrides);
        assert_eq!((&*error.key, &*error.message, &*error.expected), (key, message, expected));
    }
}

#[test]
fn weights_that_would_not_be_heeded_are_refused() {
    for scheduler in ["rate-aware", "redundant", "flow-aware"] {
        for field in ["weight", "max_weight"] {
            let key = format!("bonds.home.paths[1].{field}");
            let error = mistake(&[("bonds.home.scheduler", scheduler), (&key, "10")]);
            assert_eq!(error.key, key, "{error}");
            assert_eq!(error.message, format!("`{field}` of the path `lte` cannot be used"));
        }
    }
    let wrr = ("bonds.home.scheduler", "weighted-round-robin");
    let error = mistake(&[wrr, ("bonds.home.paths[1].weight", "60")]);
    assert_eq!(error.key, "bonds.home.paths[1].weight");
    assert_eq!(error.expected, "at most max_weight, which is 50 if not given");
    scenario(&[wrr, ("bonds.home.paths[1].weight", "60"), ("bonds.home.paths[1].max_weight", "60")]);
}

#[test]
fn weights_in_force_are_told() {
    let wrr = ("bonds.home.scheduler", "weighted-round-robin");
    let shown = scenario(&[wrr]);
    let text = shown.explain();
    assert!(text.contains("dsl: RTT at least 13 ms, 64.00 Mbit/s, weight 50\n"), "{text}");
    assert!(text.contains("60.00 Mbit/s, weight 0, at most 50\n"), "{text}");
    let said = [("bonds.home.paths[0].weight", "50"), ("bonds.home.paths[1].max_weight", "50")];
    assert_eq!(scenario(&[&[wrr], &said[..]].concat()).hash(), shown.hash(), "they are one scenario");
    assert!(scenario(&[]).explain().contains("at most 100 % of the packets"), "of cost-first");
    let rate_aware = scenario(&[("bonds.home.scheduler", "rate-aware")]).explain();
    assert!(rate_aware.contains("dsl: RTT at least 13 ms, 64.00 Mbit/s\n"), "{rate_aware}");
}

#[test]
fn a_bond_is_explained_and_every_default_is_canonical() {
    let text = scenario(&[]).explain();
    assert!(text.contains("=== dsl and lte laid into one, cost first"), "{text}");
    assert!(text.contains("dsl: RTT at least 13 ms, 64.00 Mbit/s"), "{text}");
    assert!(text.contains("[server] --core-- (hub) --home-- (cpe) --lan-- [client]"), "{text}");
    let canonical = scenario(&[]).canonical_json();
    assert!(canonical.contains("\"queue_target\":\"8 ms\""), "{canonical}");
    // What is a default and what says the same are one scenario.
    let said = scenario(&[("bonds.home.order", "per-flow"), ("bonds.home.keepalive.interval", "50 ms")]);
    assert_eq!(said.hash(), scenario(&[]).hash());
    assert_ne!(scenario(&[("bonds.home.order", "off")]).hash(), scenario(&[]).hash());
}

#[test]
fn what_goes_in_comes_out_or_is_counted_as_lost() {
    let short = [("scenario.duration", "3 s")];
    let outcome = outcome(&short, &RunOptions { series: true, ..RunOptions::default() });
    let there: Vec<_> = outcome.bonds.iter().filter(|row| row.direction == "hub->cpe").collect();
    let [whole, dsl, lte] = there.as_slice() else { panic!("{there:?}") };
    let sent = outcome.connections[0].datagrams.expect("UDP").sent;
    assert!(whole.traffic.sent_packets.abs_diff(sent) <= 8, "8 may be on the way to the hub");
    // What is on no path waits for one: 8 ms of DSL's rate is 43 packets.
    let waiting = whole.traffic.sent_packets - dsl.traffic.sent_packets - lte.traffic.sent_packets;
    assert!(waiting <= 100, "{waiting} packets wait");
    for path in [dsl, lte] {
        let gone = path.traffic.received_packets + path.lost;
        let under_way = path.traffic.sent_packets - gone;
        assert!(under_way < 400, "{path:?}");
    }
    let egress = whole.egress.expect("of the whole");
    assert_eq!((egress.late, egress.duplicates, egress.unsent), (0, 0, 0));
    // Six rows (two directions of the whole and two paths) at each of 30 times.
    assert_eq!(outcome.bond_series.len(), 30 * 6);
    let total: f64 = outcome
        .bond_series
        .iter()
        .filter(|row| row.row == 0)
        .map(|row| row.received_mbps * 0.1e6 / 8.0)
        .sum();
    assert!((total - whole.traffic.received_bytes as f64).abs() < 1.0, "{total}, {whole:?}");
}

#[test]
fn nothing_is_left_in_a_bond_that_nobody_sends_over() {
    let quiet = [("scenario.duration", "2 s"), ("connections.video.application.duration", "1 s")];
    let outcome = outcome(&quiet, &RunOptions::default());
    let there: Vec<_> = outcome.bonds.iter().filter(|row| row.direction == "hub->cpe").collect();
    let [whole, paths @ ..] = there.as_slice() else { panic!("{there:?}") };
    let egress = whole.egress.expect("of the whole");
    let gone = whole.traffic.received_packets + whole.lost + egress.unsent;
    assert_eq!(whole.traffic.sent_packets, gone, "{whole:?}");
    assert_eq!(whole.traffic.sent_packets, outcome.connections[0].datagrams.expect("UDP").sent);
    for path in paths {
        assert_eq!(path.traffic.sent_packets, path.traffic.received_packets + path.lost, "{path:?}");
    }
    let by_paths: u64 = paths.iter().map(|path| path.traffic.sent_packets).sum();
    assert_eq!(by_paths, whole.traffic.sent_packets - egress.unsent, "{paths:?}");
}

#[test]
fn classes_go_by_the_code_point() {
    let classes = "[{ dscp = 46, treatment = \"duplicated\" }]";
    let run = |dscp: &str| {
        let overrides =
            [("scenario.duration", "2 s"), ("bonds.home.classes", classes), ("connections.video.dscp", dscp)];
        let slow = ("connections.video.application.rate", "5 Mbit/s");
        outcome(&[&overrides[..], &[slow]].concat(), &RunOptions::default())
    };
    let copies = |outcome: &Outcome| outcome.bonds[0].egress.expect("of the whole").duplicates;
    assert_eq!(copies(&run("0")), 0);
    let duplicated = run("46");
    let received = duplicated.connections[0].datagrams.expect("UDP");
    assert!(copies(&duplicated) > received.received * 9 / 10, "each came twice at the gateway");
    assert_eq!(duplicated.connections[0].duplicate_bytes, Some(0), "and once at the host");
}

#[test]
fn mptcp_and_tcp_pass_a_bond_whole() {
    for protocol in ["tcp", "mptcp"] {
        let overrides = [
            ("scenario.duration", "10 s"),
            ("connections.video.protocol", protocol),
            ("connections.video.application", "{ kind = \"bulk\", bytes = \"10 MB\" }"),
        ];
        let outcome = outcome(&overrides, &RunOptions::default());
        assert!(outcome.connections[0].completed, "{:?}", outcome.connections[0]);
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let short = [("scenario.duration", "2 s"), ("links.lte.loss", "1 %")];
    let options = RunOptions { seed: Some(5), series: true, ..RunOptions::default() };
    assert_eq!(outcome(&short, &options), outcome(&short, &options));
}

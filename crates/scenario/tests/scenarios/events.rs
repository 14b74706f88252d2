//! Events: every kind is told with its reason, in order of time, and changes nothing.

use crate::support::{Overrides, gateways, mistake, scenario};
use ropewalk_scenario::{EventPlace, EventRow, Outcome, RunOptions, run};
use ropewalk_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

const TWO_PATHS: &str = r#"
[scenario]
name = "two-paths"
duration = "6 s"
[hosts.client]
[hosts.server]
[links.good]
between = ["client", "server"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "20 packets"
[links.bad]
between = ["client", "server"]
rate = "2 Mbit/s"
delay = "40 ms"
queue = "20 packets"
loss = "3 %"
changes = [{ at = "3 s", state = "down" }, { at = "5 s", state = "up" }]
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
paths = ["good", "bad"]
application = "bulk"
"#;

const ALL: &Overrides<'_> = &[("scenario.events", "[\"all\"]")];

fn outcome(text: &str, overrides: &Overrides<'_>) -> Outcome {
    let options = RunOptions { series: true, ..RunOptions::default() };
    run(&scenario(text, overrides), &options).expect("it runs")
}

fn of<'a>(outcome: &'a Outcome, event: &'a str) -> impl Iterator<Item = &'a EventRow> {
    outcome.happenings.iter().filter(move |row| row.event == event)
}

#[test]
fn what_happens_is_told_in_order_of_time() {
    let outcome = outcome(TWO_PATHS, ALL);
    assert!(outcome.happenings.is_sorted_by_key(|row| row.time));
    let names: BTreeSet<_> = outcome.happenings.iter().map(|row| row.event).collect();
    for expected in [
        "window",
        "rtt",
        "recovery-begun",
        "recovery-ended",
        "timeout",
        "retransmission",
        "scheduled",
        "reinjected",
        "established",
        "subflow-created",
        "subflow-established",
        "blocked",
        "unblocked",
        "segment",
        "sacked",
        "dropped",
    ] {
        assert!(names.contains(expected), "no `{expected}` among {names:?}");
    }
}

#[test]
fn events_change_nothing_else() {
    let plain = outcome(TWO_PATHS, &[]);
    let told = outcome(TWO_PATHS, ALL);
    assert!(plain.happenings.is_empty() && !told.happenings.is_empty());
    assert_eq!(plain.connections, told.connections);
    assert_eq!(plain.subflows, told.subflows);
    assert_eq!(plain.links, told.links);
    assert_eq!(plain.series, told.series);
    assert_eq!(plain.link_series, told.link_series);
}

#[test]
fn a_scenario_that_asks_for_none_is_named_as_before() {
    let hash = |overrides: &Overrides<'_>| scenario(TWO_PATHS, overrides).hash();
    assert_eq!(hash(&[]), hash(&[("scenario.events", "[]")]));
    assert_ne!(hash(&[]), hash(ALL));
}

#[test]
fn every_drop_is_told_with_link_cause_and_subflow() {
    let outcome = outcome(TWO_PATHS, &[("scenario.events", "[\"drop\"]")]);
    assert!(outcome.happenings.iter().all(|row| row.event == "dropped" && row.connection == Some(0)));
    for (index, link) in (0u32..).zip(&outcome.links) {
        let count = |causes: &[&str]| {
            let here = of(&outcome, "dropped").filter(|row| row.place == EventPlace::Link(index));
            here.filter(|row| causes.iter().any(|cause| row.reason.starts_with(cause))).count() as u64
        };
        assert_eq!(count(&["queue", "aqm"]), link.drops_queue, "{} {}", link.name, link.direction);
        assert_eq!(count(&["loss", "down"]), link.drops_loss, "{} {}", link.name, link.direction);
    }
    for row in of(&outcome, "dropped").filter(|row| row.data.is_some()) {
        let EventPlace::Link(link) = row.place else { panic!("{row:?}") };
        let subflow = &outcome.subflows[row.subflow_row.expect("data is a subflow's") as usize];
        assert_eq!(outcome.links[link as usize].name, subflow.path);
    }
}

#[test]
fn counts_of_events_are_those_of_the_tables() {
    let outcome = outcome(TWO_PATHS, ALL);
    let sum =
        |count: fn(&ropewalk_scenario::SubflowRow) -> u64| outcome.subflows.iter().map(count).sum::<u64>();
    let sent = |name| of(&outcome, name).filter(|row| row.place == EventPlace::Source).count() as u64;
    assert_eq!(sent("timeout"), sum(|row| row.timeouts.unwrap_or(0)));
    assert_eq!(sent("retransmission"), sum(|row| row.retransmissions));
    let again: u64 = of(&outcome, "reinjected").filter_map(|row| row.octets).map(u64::from).sum();
    assert_eq!(Some(again), outcome.connections[0].reinjected_bytes);
    let waited: f64 =
        of(&outcome, "unblocked").filter_map(|row| row.duration).map(Duration::as_secs_f64).sum();
    let total = outcome.connections[0].hol_blocked_s.expect("simulated");
    // What waits at the end is not over.
    assert!(waited <= total + 1e-9 && waited > total - 2.5, "{waited} of {total}");
}

/// A path that has gone stale has what it held sent again, by other subflows too: they may carry the same data twice, in segments of
/// other sizes.
#[test]
fn what_is_sacked_was_sent_before_and_is_told_as_often_at_most() {
    let outcome = outcome(TWO_PATHS, &[("scenario.events", "[\"segment\", \"sack\"]")]);
    let range = |row: &EventRow| {
        let first = row.data.expect("a position");
        first..first + u64::from(row.octets.expect("a length"))
    };
    let mut told = BTreeMap::<_, usize>::new();
    for row in of(&outcome, "sacked") {
        assert_eq!(row.connection, Some(0));
        let whole = range(row);
        let sent = of(&outcome, "segment").filter(|sent| sent.subflow == row.subflow && sent.time < row.time);
        let mut sent: Vec<_> = sent.map(range).collect();
        let times = sent.iter().filter(|sent| sent.contains(&whole.start)).count();
        sent.sort_by_key(|sent| sent.start);
        let covered_to =
            sent.iter().fold(whole.start, |to, sent| if sent.start <= to { to.max(sent.end) } else { to });
        assert!(covered_to >= whole.end, "{row:?}");
        let told = told.entry((row.subflow, row.data)).or_default();
        *told += 1;
        assert!(*told <= times, "{row:?} is told {told} times, and sent {times} times");
    }
    assert!(told.len() > 50, "{} pieces", told.len());
    assert!(told.values().filter(|times| **times > 1).count() < told.len() / 10);
}

#[test]
fn schedulers_and_bonds_say_why() {
    let outcome = outcome(TWO_PATHS, &[("scenario.events", "[\"scheduling\", \"reinjection\"]")]);
    assert!(of(&outcome, "scheduled").count() > 100);
    assert!(outcome.happenings.iter().all(|row| !row.reason.is_empty()));
}

const BOND: &str = concat!(
    r#"
[scenario]
name = "bond"
duration = "3 s"
events = ["bond", "bond-decision"]
"#,
    gateways!(),
    r#"
[links.dsl]
between = ["hub", "cpe"]
rate = "16 Mbit/s"
delay = "15 ms"
[links.lte]
between = ["hub", "cpe"]
rate = "8 Mbit/s"
delay = "30 ms"
changes = [{ at = "1 s", state = "down" }]
[bonds.home]
between = ["hub", "cpe"]
paths = ["dsl", "lte"]
scheduler = "rate-aware"
[connections.bulk]
from = "server"
to = "client"
application = "bulk"
"#
);

#[test]
fn a_bond_says_which_path_and_why() {
    let outcome = outcome(BOND, &[]);
    let path = |row: &EventRow| match row.place {
        EventPlace::Bond(bond) => outcome.bonds[bond as usize].path.as_deref(),
        _ => panic!("{row:?}"),
    };
    let by: BTreeSet<_> = of(&outcome, "sent").map(path).collect();
    assert_eq!(by, BTreeSet::from([Some("dsl"), Some("lte")]));
    assert!(of(&outcome, "sent").all(|row| !row.reason.is_empty()));
    assert!(of(&outcome, "path-state").any(|row| path(row) == Some("lte") && row.reason.ends_with("down")));
    let forth = |row: &&EventRow| matches!(row.place, EventPlace::Bond(bond) if bond < 3);
    let packets = of(&outcome, "sent").filter(forth).count() as u64;
    let paths = &outcome.bonds[1..3];
    let sent: u64 = paths.iter().map(|row| row.traffic.sent_packets).sum();
    let repaired: u64 = paths.iter().map(|row| row.repaired).sum();
    // Probes are sent, and no scheduler decides on them.
    assert!(packets <= sent + repaired && packets * 10 > sent * 9, "{packets} of {sent} + {repaired}");
}

#[test]
fn samples_of_links_add_up_to_their_rows() {
    let outcome = outcome(TWO_PATHS, &[]);
    for (index, link) in (0u32..).zip(&outcome.links) {
        let own = || outcome.link_series.iter().filter(move |row| row.link == index);
        assert_eq!(own().map(|row| row.drops_queue).sum::<u64>(), link.drops_queue);
        assert_eq!(own().map(|row| row.drops_loss).sum::<u64>(), link.drops_loss);
        let octets: f64 = own().map(|row| row.throughput_mbps * 1e6 / 8.0 * 0.1).sum();
        assert!((octets - link.bytes as f64).abs() < 1.0, "{octets} and {}", link.bytes);
        assert_eq!(own().next_back().map(|row| row.time.as_secs_f64()), Some(6.0));
    }
    assert!(outcome.link_series.iter().any(|row| row.queue_packets > 10 && row.queue_bytes > 10_000));
}

#[test]
fn an_unknown_kind_is_told_with_the_nearest() {
    let error = mistake(TWO_PATHS, &[("scenario.events", "[\"drops\"]")]);
    assert!(error.to_string().contains("drop"), "{error}");
    assert!(error.key.starts_with("scenario.events"), "{error}");
}

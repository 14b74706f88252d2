//! Rules of a bond's paths and flows that a scenario asks for: what may go over a path in a period, and flows that wait for
//! nothing.

use crate::support::{Overrides, outcome, refuses, scenario, two_lines};
use ropewalk_scenario::{BondRow, Outcome};
use ropewalk_units::Instant;

/// Datagrams of 20 Mbit/s over a line of 8 Mbit/s and a costlier one of 16 Mbit/s and a greater delay.
const FULL: &str = concat!(
    two_lines!("16 Mbit/s", "25 ms"),
    r#"paths = [{ link = "dsl", cost = 1 }, { link = "lte", cost = 2 }]
run_up = "0 s"
[scenario]
name = "full"
duration = "4 s"
[connections.x]
protocol = "udp"
from = "server"
to = "client"
application = { kind = "constant-rate", rate = "20 Mbit/s", packet_size = "1000 B" }
"#
);

const LTE: &str = "bonds.home.paths[1]";

fn path<'a>(outcome: &'a Outcome, name: &str) -> &'a BondRow {
    let there = outcome.bonds.iter().filter(|row| row.direction == "hub->cpe");
    there.into_iter().find(|row| row.path.as_deref() == Some(name)).expect("a path")
}

/// Octets on a link in both directions, headers included.
fn octets(outcome: &Outcome, name: &str) -> u64 {
    outcome.links.iter().filter(|row| row.name == name).map(|row| row.bytes).sum()
}

/// When the path carried its last packets, in seconds.
fn last_sent(outcome: &Outcome, name: &str) -> f64 {
    let row =
        outcome.bonds.iter().position(|row| std::ptr::eq(row, path(outcome, name))).expect("a row") as u32;
    // Keepalives are no packets of the bond, and probes are few.
    let busy = outcome.bond_series.iter().filter(|sample| sample.row == row && sample.sent_mbps > 1.0);
    busy.map(|sample| (sample.time - Instant::ZERO).as_secs_f64()).fold(0.0, f64::max)
}

#[test]
fn a_path_carries_its_quota_and_no_octet_more() {
    let free = outcome(FULL, &[]);
    assert!(octets(&free, "lte") > 4_000_000, "{} octets without a quota", octets(&free, "lte"));
    let bound = outcome(FULL, &[(LTE, "{ link = \"lte\", cost = 2, quota = \"2 MB\" }")]);
    let spent = octets(&bound, "lte");
    assert!((1_990_000..=2_000_000).contains(&spent), "{spent} octets of 2 MB");
    assert!(last_sent(&bound, "lte") < 3.0 && last_sent(&free, "lte") > 3.9);
    // The other line goes on.
    assert!(octets(&bound, "dsl") >= octets(&free, "dsl") * 95 / 100);
    assert!(last_sent(&bound, "dsl") > 3.9);
}

#[test]
fn what_was_spent_before_is_taken_off_and_a_new_period_brings_it_back() {
    let run = |more: &str| {
        outcome(FULL, &[(LTE, &format!("{{ link = \"lte\", cost = 2, quota = \"2 MB\", {more} }}"))])
    };
    let rest = octets(&run("quota_spent = \"1500 kB\""), "lte");
    assert!((490_000..=500_000).contains(&rest), "{rest} octets of 500 kB");
    // Periods begin with the bond: at 2 s there is a new quota.
    let again = run("quota_period = \"2 s\"");
    let spent = octets(&again, "lte");
    assert!((3_980_000..=4_000_000).contains(&spent), "{spent} octets in two periods of 2 MB");
    assert!(last_sent(&again, "lte") > 2.5, "{}", last_sent(&again, "lte"));
}

#[test]
fn a_quota_that_is_spent_leaves_nothing_to_a_bond_without_another_path() {
    let text = FULL.replace(
        "paths = [{ link = \"dsl\", cost = 1 }, { link = \"lte\", cost = 2 }]",
        "paths = [{ link = \"lte\", quota = \"1 MB\" }]",
    );
    let outcome = outcome(&text, &[]);
    let spent = octets(&outcome, "lte");
    // Each gateway counts for itself: the other one has not counted what was on its way.
    assert!((990_000..1_001_500).contains(&spent), "{spent}");
    let counts = outcome.connections[0].datagrams.expect("datagrams");
    assert!(counts.received < counts.sent / 4, "{counts:?}");
}

#[test]
fn quotas_that_cannot_be() {
    let member = |rest: &str| format!("{{ link = \"lte\", cost = 2, {rest} }}");
    let none = "none: without `quota` there is nothing to last or to be spent";
    for (rest, name, expected) in [
        ("quota = \"999 kB\"", "quota", "1 MB or more"),
        ("quota = \"1 MB\", quota_period = \"999 ms\"", "quota_period", "1 s to 1 year"),
        ("quota_period = \"1 h\"", "quota_period", none),
        ("quota_spent = \"1 MB\"", "quota_spent", none),
    ] {
        let (said, key) = (member(rest), format!("{LTE}.{name}"));
        let message = format!("`{name}` of the path `lte` cannot be used");
        refuses(FULL, &[(&[(LTE, &said)], &key, &message, expected)]);
    }
    scenario(FULL, &[(LTE, &member("quota = \"1 MB\", quota_period = \"1 s\", quota_spent = \"3 MB\""))]);
}

/// A thin flow alone over a bond that deals its packets out by weights, half of them to the slower line.
const THIN: &str = concat!(
    two_lines!("8 Mbit/s", "40 ms"),
    r#"paths = [{ link = "dsl", cost = 1 }, { link = "lte", cost = 2, weight = 50 }]
scheduler = "weighted-round-robin"
classes = [{ dscp = 46, treatment = "low-delay" }]
[scenario]
name = "thin"
duration = "2 s"
[connections.voice]
protocol = "udp"
from = "server"
to = "client"
application = { kind = "constant-rate", rate = "80 kbit/s", packet_size = "200 B" }
"#
);

#[test]
fn a_thin_flow_of_low_delay_takes_the_faster_path_whatever_the_scheduler_says() {
    let run = |dscp: &str| outcome(THIN, &[("connections.voice.dscp", dscp)]);
    let (plain, marked) = (run("0"), run("46"));
    let sent = plain.connections[0].datagrams.expect("datagrams").sent;
    assert!(path(&plain, "lte").traffic.sent_packets > sent / 4, "{:?}", path(&plain, "lte"));
    assert_eq!(path(&marked, "lte").traffic.sent_packets, 0, "{:?}", path(&marked, "lte"));
    let worst = |outcome: &Outcome| {
        outcome.connections[0].datagrams.expect("datagrams").delay_p99_ms.expect("some came")
    };
    // 5 ms of the line, and below 2 ms of transmission on three links.
    assert!(worst(&marked) < 7.0, "{}", worst(&marked));
    assert!(worst(&plain) > 40.0, "{}", worst(&plain));
    assert_eq!(marked.connections[0].datagrams.expect("datagrams").reordered, 0);
}

#[test]
fn a_flow_that_is_not_thin_is_treated_as_not_marked() {
    let heavy: &Overrides<'_> = &[
        (
            "connections.voice.application",
            "{ kind = \"constant-rate\", rate = \"14 Mbit/s\", packet_size = \"1000 B\" }",
        ),
        ("connections.voice.dscp", "46"),
        ("bonds.home.scheduler", "cost-first"),
        ("bonds.home.paths[1]", "{ link = \"lte\", cost = 2 }"),
    ];
    let outcome = outcome(THIN, heavy);
    // More than the faster line carries: the rest asks the scheduler, and nearly all comes through.
    assert!(path(&outcome, "lte").traffic.sent_packets > 1_000, "{:?}", path(&outcome, "lte"));
    let counts = outcome.connections[0].datagrams.expect("datagrams");
    assert!(counts.received > counts.sent * 9 / 10, "{counts:?}");
}

#[test]
fn each_treatment_reaches_the_flows_of_its_code_point() {
    // Of 100 datagrams a second, one a path each: copies of those that are duplicated.
    let run = |treatment: &str| {
        let classes = format!("[{{ dscp = 46, treatment = \"{treatment}\" }}]");
        outcome(THIN, &[("connections.voice.dscp", "46"), ("bonds.home.classes", &classes)])
    };
    let reordered = |outcome: &Outcome| outcome.connections[0].datagrams.expect("datagrams").reordered;
    let copies = |outcome: &Outcome| {
        let whole = outcome.bonds.iter().find(|row| row.direction == "hub->cpe" && row.path.is_none());
        whole.and_then(|row| row.egress).expect("of the whole").duplicates
    };
    let [normal, unordered, both, loose] =
        ["normal", "unordered", "duplicated", "duplicated-unordered"].map(run);
    assert_eq!((reordered(&normal), copies(&normal)), (0, 0));
    // 35 ms more on one of the lines, and 20 ms from one datagram to the next.
    assert!(reordered(&unordered) > 10, "{}", reordered(&unordered));
    assert_eq!(copies(&unordered), 0);
    for outcome in [&both, &loose] {
        assert!(copies(outcome) >= 90, "{}", copies(outcome));
        assert_eq!(reordered(outcome), 0, "the first copy of each comes by the faster line");
    }
}

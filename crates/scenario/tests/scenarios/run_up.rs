//! Bonds are up when a scenario begins: what they know then, and that nothing else shows that they were.

use crate::support::{Folder, gateways, mistake, outcome, ran, scenario};
use ropewalk_scenario::{BondPathSample, BondRow, Outcome, RunError, RunOptions, run};
use std::sync::atomic::AtomicBool;

/// A short and a long line, and one that no bond uses.
const LINES: &str = concat!(
    gateways!(),
    r#"
[scenario]
name = "run-up"
duration = "3 s"
sample_interval = "20 ms"
[links.beside]
between = ["server", "client"]
rate = "50 Mbit/s"
delay = "5 ms"
loss = "2 %"
[links.dsl]
between = ["hub", "cpe"]
rate = "20 Mbit/s"
delay = "6.5 ms"
jitter = { distribution = "uniform", max = "3 ms" }
[links.satellite]
between = ["hub", "cpe"]
rate = "20 Mbit/s"
delay = "300 ms"
[bonds.home]
between = ["hub", "cpe"]
paths = ["dsl", "satellite"]
[connections.video]
protocol = "udp"
from = "server"
to = "client"
paths = ["core"]
application = { kind = "constant-rate", rate = "10 Mbit/s", packet_size = "1250 B" }
[connections.plain]
protocol = "udp"
from = "server"
to = "client"
paths = ["beside"]
application = { kind = "constant-rate", rate = "10 Mbit/s", packet_size = "1250 B" }
"#
);

const LATE: (&str, &str) = ("bonds.home.run_up", "0 s");

/// The same without anything over the bond.
fn silent() -> String {
    let (before, video) = LINES.split_once("[connections.video]").expect("it is there");
    let (_, plain) = video.split_once("[connections.plain]").expect("it is there");
    format!("{before}[connections.plain]{plain}")
}

/// The samples of a path in a direction, of the only bond.
fn samples<'a>(outcome: &'a Outcome, path: &str, direction: &str) -> Vec<(f64, &'a BondPathSample)> {
    let is_it = |row: &BondRow| row.path.as_deref() == Some(path) && row.direction == direction;
    let row = outcome.bonds.iter().position(is_it).expect("a path") as u32;
    let of_row = outcome.bond_series.iter().filter(|sample| sample.row == row);
    of_row.filter_map(|sample| Some((sample.time.as_secs_f64(), sample.path.as_ref()?))).collect()
}

fn first<'a>(outcome: &'a Outcome, path: &str) -> &'a BondPathSample {
    let (at, sample) = samples(outcome, path, "hub->cpe")[0];
    assert!((at - 0.02).abs() < 1e-9);
    sample
}

#[test]
fn a_bond_that_is_up_knows_its_lines() {
    let up = outcome(LINES, &[]);
    let known = |outcome: &Outcome, path: &str| first(outcome, path).srtt_ms;
    let near = |value: Option<f64>, wanted: f64| value.is_some_and(|ms| (ms - wanted).abs() < 3.5);
    assert!(near(known(&up, "dsl"), 16.0), "{:?}", known(&up, "dsl"));
    assert!(near(known(&up, "satellite"), 600.0), "{:?}", known(&up, "satellite"));
    let begins = outcome(LINES, &[LATE]);
    assert_eq!(known(&begins, "satellite"), None);
    // More than one line carries: what is known of both is used from the first packet on.
    let fast = ("connections.video.application.rate", "35 Mbit/s");
    let received = |overrides: &[(&str, &str)]| {
        let outcome = outcome(LINES, overrides);
        outcome.connections.iter().find(|row| row.name == "video").expect("it").bytes
    };
    let (up, begins) = (received(&[fast]), received(&[fast, LATE]));
    assert!(up > begins, "{up} and {begins} octets");
    let canonical = scenario(LINES, &[]).canonical_json();
    assert!(canonical.contains("\"run_up\":\"5 s\""), "{canonical}");
    assert!(scenario(LINES, &[]).explain().contains("rate aware, up 5 s before the scenario\n"));
    assert!(scenario(LINES, &[LATE]).explain().contains("rate aware, up with the scenario\n"));
}

#[test]
fn a_run_up_longer_than_a_minute_is_refused() {
    let error = mistake(LINES, &[("bonds.home.run_up", "61 s")]);
    assert_eq!((&*error.key, &*error.message), ("bonds.home.run_up", "`run_up` cannot be used"));
    assert_eq!(error.expected, "at most 60 s");
    scenario(LINES, &[("bonds.home.run_up", "60 s")]);
}

#[test]
fn a_weight_at_first_is_one_of_the_scenario() {
    let of = |weight: &str, more: &[(&str, &str)]| {
        let paths = format!(
            "[{{ link = \"dsl\", cost = 1 }}, {{ link = \"satellite\", cost = 2, weight = {weight} }}]"
        );
        let own = [("bonds.home.scheduler", "weighted-round-robin"), ("bonds.home.paths", paths.as_str())];
        let explained = scenario(LINES, &[&own[..], more].concat()).explain();
        let outcome = outcome(&silent(), &[&own[..], more].concat());
        (first(&outcome, "satellite").weight, explained.contains("up with the scenario"))
    };
    assert_eq!(of("40", &[]), (40.0, true));
    assert_eq!(of("0", &[]), (0.0, false));
    let up = ("bonds.home.run_up", "1 s");
    let (weight, begins) = of("40", &[up]);
    assert!(weight < 40.0 && !begins, "it has fallen to {weight}");
}

/// Everything that a bond counts follows from what it was offered since the beginning; every packet on a line is somewhere.
fn assert_consistent(outcome: &Outcome) {
    for row in &outcome.links {
        let gone = row.delivered + row.drops_queue + row.drops_loss + row.queued;
        assert_eq!(row.offered + row.duplicates, gone, "{row:?}");
    }
    for row in outcome.bonds.iter().filter(|row| row.path.is_some()) {
        let traffic = row.traffic;
        assert!(traffic.received_packets + row.lost <= traffic.sent_packets, "{row:?}");
        assert!(traffic.received_bytes <= traffic.sent_bytes, "{row:?}");
        // Probes may be as short as a packet of nothing.
        assert!(traffic.sent_bytes == 0 || traffic.sent_packets > 0, "{row:?}");
    }
}

#[test]
fn nothing_is_counted_at_the_beginning() {
    for scheduler in ["rate-aware", "redundant", "flow-aware"] {
        let silent = silent();
        for run_up in ["0 s", "50 ms", "333 ms", "5 s"] {
            let common = [("bonds.home.scheduler", scheduler), ("bonds.home.run_up", run_up)];
            let start = outcome(&silent, &[&common[..], &[("scenario.duration", "1 ns")]].concat());
            assert_consistent(&start);
            for row in start.bonds.iter().filter(|row| row.path.is_none()) {
                let (traffic, egress) = (row.traffic, row.egress.expect("of the whole"));
                assert_eq!((traffic.sent_packets, traffic.received_packets, row.lost), (0, 0, 0));
                assert_eq!((egress.late, egress.duplicates, egress.depth_max, egress.unsent), (0, 0, 0, 0));
                assert_eq!(egress.added_delay_max_ms, 0.0);
            }
            for row in start.bonds.iter().filter(|row| row.path.is_some()) {
                assert_eq!((row.traffic.received_packets, row.lost), (0, 0), "{row:?}");
                // What is on its way counts as sent: no more octets than 20 Mbit/s carry in the longest way.
                let ms = if row.path.as_deref() == Some("dsl") { 9.5 } else { 300.0 };
                assert!(row.traffic.sent_bytes as f64 <= 20e6 / 8.0 * ms * 1e-3, "{row:?}");
            }
            for row in start.links.iter().filter(|row| row.name == "dsl" || row.name == "satellite") {
                let counted = (row.offered, row.packets, row.bytes, row.delivered, row.queued);
                // Gateways that begin with the scenario send at once.
                assert!(run_up == "0 s" || counted == (0, 0, 0, 0, 0), "{row:?}");
            }
            for duration in ["1 ms", "20 ms", "300 ms", "2 s"] {
                assert_consistent(&outcome(
                    LINES,
                    &[&common[..], &[("scenario.duration", duration)]].concat(),
                ));
            }
        }
    }
}

#[test]
fn a_long_path_is_up_from_the_beginning() {
    for traffic in [true, false] {
        let outcome = if traffic { outcome(LINES, &[]) } else { outcome(&silent(), &[]) };
        for direction in ["hub->cpe", "cpe->hub"] {
            for path in ["dsl", "satellite"] {
                let seen = samples(&outcome, path, direction);
                assert_eq!(seen.len(), 150);
                for (at, sample) in seen {
                    assert_eq!(sample.state, "up", "{path}, {direction}, {at} s, traffic: {traffic}");
                }
            }
        }
    }
}

#[test]
fn what_has_no_part_in_a_bond_does_not_notice() {
    let plain = |outcome: &Outcome| {
        let connection = outcome.connections.iter().find(|row| row.name == "plain").expect("it").clone();
        let links: Vec<_> = outcome.links.iter().filter(|row| row.name == "beside").cloned().collect();
        (connection, links)
    };
    let up = outcome(LINES, &[]);
    assert_eq!(plain(&up), plain(&outcome(LINES, &[LATE])));
    assert!(plain(&up).1.iter().any(|row| row.drops_loss > 0));
    assert_eq!(up, outcome(LINES, &[]), "the same seed gives the same rows");
}

#[test]
fn a_line_that_is_down_at_once_was_up_before() {
    let down = ("links.dsl.changes", "[{ at = \"0 s\", state = \"down\" }]");
    for text in [LINES, &silent()] {
        let outcome = outcome(text, &[down]);
        let seen = samples(&outcome, "dsl", "hub->cpe");
        assert_eq!(seen[0].1.state, "up", "no report reached the gateway");
        assert!(seen[0].1.srtt_ms.is_some());
        let noticed = seen.iter().find(|(_, sample)| sample.state == "down").expect("noticed").0;
        assert!(noticed <= 0.3, "after {noticed} s");
        let row = outcome.links.iter().find(|row| row.name == "dsl" && row.direction == "hub->cpe");
        assert_eq!(row.expect("it").packets, 0, "it carried nothing from the beginning");
        assert_consistent(&outcome);
    }
}

#[test]
fn each_bond_has_its_own_run_up() {
    let text = LINES.replace("paths = [\"dsl\", \"satellite\"]", "paths = [\"dsl\"]").replace(
        "[connections.video]",
        "[bonds.other]\nbetween = [\"cpe\", \"hub\"]\npaths = [\"satellite\"]\n[connections.video]",
    );
    let up = ("bonds.home.run_up", "2 s");
    let of_both = |other: &str| {
        let outcome =
            outcome(&text, &[up, ("bonds.other.run_up", other), ("connections.video.start", "1 s")]);
        let srtt = |path: &str, direction: &str| samples(&outcome, path, direction)[0].1.srtt_ms;
        (srtt("dsl", "hub->cpe").is_some(), srtt("satellite", "cpe->hub").is_some())
    };
    assert_eq!(of_both("3 s"), (true, true));
    assert_eq!(of_both("700 ms"), (true, true));
    // Its round trip is 600 ms: it has not answered yet, but does at 100 ms, for its keepalives are under way.
    assert_eq!(of_both("500 ms"), (true, false));
    assert_eq!(of_both("0 s"), (true, false));
    let half = outcome(&text, &[up, ("bonds.other.run_up", "500 ms")]);
    let answered =
        samples(&half, "satellite", "cpe->hub").into_iter().find(|(_, sample)| sample.srtt_ms.is_some());
    let at = answered.expect("it answers").0;
    assert!((0.099..=0.121).contains(&at), "{at}");
}

#[test]
fn a_recorded_line_plays_its_end_before_its_beginning() {
    // For 4.8 s nothing, then 12 Mbit/s for 5.2 s.
    let times: String = (4_800..=10_000).map(|ms| format!("{ms}\n")).collect();
    let folder = Folder::new("run-up");
    folder.write("dsl.trace", &times);
    let text = silent().replacen("rate = \"20 Mbit/s\"\n", "trace = \"dsl.trace\"\n", 1);
    let outcome = ran(&folder.load(&text).unwrap_or_else(|error| panic!("{error}")));
    let seen = samples(&outcome, "dsl", "hub->cpe");
    assert_eq!(seen[0].1.state, "up");
    assert!(seen[0].1.srtt_ms.is_some_and(|ms| ms < 30.0), "{:?}", seen[0].1);
    let dead = seen.iter().find(|(_, sample)| sample.state == "down").expect("it carries nothing now");
    assert!(dead.0 <= 0.3, "{dead:?}");
    let row = outcome.links.iter().find(|row| row.name == "dsl" && row.direction == "hub->cpe");
    assert_eq!(row.expect("it").packets, 0);
}

#[test]
fn a_run_up_can_be_stopped() {
    let stop = AtomicBool::new(true);
    let options = RunOptions { stop: Some(&stop), ..RunOptions::default() };
    let error = run(&scenario(LINES, &[]), &options).expect_err("stopped");
    assert!(matches!(error, RunError::Interrupted { at } if at.as_nanos() == 0), "{error}");
}

#[test]
fn a_bond_over_radio_comes_up_too() {
    let text = LINES.replace("paths = [\"dsl\", \"satellite\"]", "paths = [\"dsl\", \"air\"]")
        + r#"
[wifi]
standard = "802.11b"
propagation = { model = "disk", reception = "25 m", overlap = "first-wins" }
[wifi.stations]
hub = { position = ["0 m", "0 m"] }
relay = { position = ["20 m", "0 m"] }
cpe = { position = ["40 m", "0 m"] }
[wifi.routes.air]
from = "hub"
via = ["relay"]
to = "cpe"
"#;
    let up = outcome(&text, &[]);
    assert!(first(&up, "air").srtt_ms.is_some_and(|ms| ms < 20.0), "{:?}", first(&up, "air"));
    assert!(samples(&up, "air", "hub->cpe").iter().all(|(_, sample)| sample.state == "up"));
    assert_consistent(&up);
    assert_eq!(up, outcome(&text, &[]));
}

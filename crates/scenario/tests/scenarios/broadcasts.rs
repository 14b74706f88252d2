//! Broadcasts in scenarios: who hears whom, when, and what contention takes.

use crate::support;
use ropewalk_scenario::{BroadcastRow, Outcome, RunOptions, load, run};

/// Three stations in a row, of which the outer two do not hear each other.
const ROW: &str = r#"
[scenario]
name = "hello"
duration = "10 s"
[hosts.a]
[hosts.c]
[wifi]
basic_rates = ["1 Mbit/s", "2 Mbit/s"]
propagation = { model = "disk", reception = "20 m" }
[wifi.stations]
a.position = ["0 m", "0 m"]
b.position = ["15 m", "0 m"]
c.position = ["30 m", "0 m"]
"#;

fn outcome(rest: &str) -> Outcome {
    support::outcome(&format!("{ROW}{rest}"), &[])
}

fn pairs(outcome: &Outcome) -> Vec<(&str, &str, u64, u64)> {
    let pair = |row: &'_ BroadcastRow| (row.sent, row.received);
    let rows = outcome.broadcasts.iter();
    rows.map(|row| (row.from.as_str(), row.to.as_str(), pair(row).0, pair(row).1)).collect()
}

#[test]
fn neighbours_hear_every_datagram_and_nobody_else_does() {
    // The times of the three are apart: they are drawn, and this seed's are.
    let outcome = outcome("[wifi.broadcasts.hello]\n");
    let all = [("a", "b", 10, 10), ("b", "a", 10, 10), ("b", "c", 10, 10), ("c", "b", 10, 10)];
    assert_eq!(pairs(&outcome), all);
    // 100 octets, 28 of UDP and IP, 36 of the frame, at 1 Mbit/s, and 192 µs of preamble: sent at once.
    let row = &outcome.broadcasts[0];
    assert!((row.mean_delay_ms.expect("heard") - (164.0 * 0.008 + 0.192)).abs() < 1e-9, "{row:?}");
}

#[test]
fn hidden_senders_at_one_instant_are_not_heard_between_them() {
    let outcome = outcome("[wifi.broadcasts.hello]\nfrom = [\"a\", \"c\"]\nspread = \"0 s\"\n");
    assert_eq!(pairs(&outcome), [("a", "b", 10, 0), ("c", "b", 10, 0)]);
}

#[test]
fn rate_interval_size_and_duration_are_the_files() {
    let keys = "from = [\"b\"]\nstart = \"2 s\"\nduration = \"3 s\"\nspread = \"0 s\"\ninterval = \"100 ms\"\npacket_size = \"972 B\"\n";
    let whole = ROW.replace("basic_rates", "broadcast_rate = \"2 Mbit/s\"\nbasic_rates");
    let whole = format!("{whole}[wifi.broadcasts.probe]\n{keys}");
    let scenario = load(&whole, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, &RunOptions::default()).expect("a run");
    assert_eq!(pairs(&outcome), [("b", "a", 30, 30), ("b", "c", 30, 30)]);
    // 1036 octets at 2 Mbit/s.
    let delay = outcome.broadcasts[0].mean_delay_ms.expect("heard");
    assert!((delay - (1036.0 * 0.004 + 0.192)).abs() < 1e-9, "{delay}");
    let text = scenario.explain();
    assert!(text.contains("broadcast probe: 972 B each 100 ms at 2 Mbit/s on channel 1 from b"), "{text}");
}

#[test]
fn broadcasts_and_data_share_the_medium() {
    let hello = "[wifi.broadcasts.hello]\ninterval = { distribution = \"exponential\", mean = \"10 ms\" }\npacket_size = \"500 B\"\n";
    let data = "[wifi.routes.way]\nfrom = \"a\"\nto = \"c\"\nvia = [\"b\"]\n[connections.bulk]\nfrom = \"a\"\nto = \"c\"\n";
    let (quiet, loud) = (outcome(data), outcome(&format!("{hello}{data}")));
    let goodput = |outcome: &Outcome| outcome.connections[0].goodput_mbps;
    assert!(goodput(&loud) < 0.5 * goodput(&quiet), "{} against {}", goodput(&loud), goodput(&quiet));
    // Nobody sends a broadcast again: hidden data costs some of them.
    for (from, to, sent, received) in pairs(&loud) {
        assert!((800..1200).contains(&sent), "{from}: {sent} in 10 s");
        assert!(received < sent && received > sent / 10, "{from} to {to}: {received} of {sent}");
    }
    let again = outcome(&format!("{hello}{data}"));
    assert_eq!(again.broadcasts, loud.broadcasts);
}

#[test]
fn relays_of_a_deployment_take_part() {
    let text = r#"
[scenario]
name = "probe"
duration = "5 s"
[hosts.s]
[hosts.d]
[wifi]
propagation = { model = "disk", reception = "30 m" }
[wifi.deployment]
layout = { kind = "uniform", stations = 12, area = ["60 m", "60 m"] }
source = { node = "s", station = "0" }
destination = { node = "d", station = "1" }
[wifi.broadcasts.probe]
interval = "500 ms"
"#;
    let scenario = load(text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, &RunOptions::default()).expect("a run");
    let mut senders: Vec<&str> = outcome.broadcasts.iter().map(|row| row.from.as_str()).collect();
    senders.dedup();
    assert_eq!(senders.len(), 12, "{senders:?}");
    // On a disk who hears is heard.
    let hears = |from: &str, to: &str| outcome.broadcasts.iter().any(|row| row.from == from && row.to == to);
    assert!(outcome.broadcasts.iter().all(|row| row.sent == 10 && hears(&row.to, &row.from)));
}

#[test]
fn a_host_captures_the_broadcasts_it_sends_and_hears() {
    let folder = std::env::temp_dir().join(format!("ropewalk-broadcasts-{}", std::process::id()));
    let text = format!("{ROW}[wifi.broadcasts.hello]\nfrom = [\"a\", \"b\"]\n");
    let scenario = load(&text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { capture: Some(folder.clone()), ..RunOptions::default() };
    run(&scenario, &options).expect("a run");
    // To 255.255.255.255, from the port with the station's number: a sends ten and hears b's ten, c hears b's.
    let octets = |name: &str| std::fs::read(folder.join(name)).expect("a capture");
    let count = |name: &str, from: u8| {
        let header = [255, 255, 255, 255, 0, from];
        octets(name).windows(6).filter(|window| *window == header).count()
    };
    let found = [("host-a.pcapng", 0), ("host-a.pcapng", 1), ("host-c.pcapng", 0), ("host-c.pcapng", 1)]
        .map(|(name, from)| count(name, from));
    std::fs::remove_dir_all(&folder).expect("its own folder");
    assert_eq!(found, [10, 10, 0, 10]);
}

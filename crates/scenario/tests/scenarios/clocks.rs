//! Clocks that are not true, and nodes that are late with their work.

use crate::support;
use ropewalk_scenario::{Outcome, RunOptions, Scenario, run};

/// Two lines of 20 Mbit/s, bonded, under datagrams of 10 Mbit/s or a TCP flow.
const TWO: &str = r#"
[scenario]
name = "clocks"
duration = "10 s"
[hosts.server]
[hosts.client]
[routers.hub]
[routers.cpe]
[links]
core = { between = ["server", "hub"], rate = "1 Gbit/s", delay = "0.1 ms" }
lan = { between = ["client", "cpe"], rate = "1 Gbit/s", delay = "0.1 ms" }
dsl = { between = ["hub", "cpe"], rate = "20 Mbit/s", delay = "5 ms" }
lte = { between = ["hub", "cpe"], rate = "20 Mbit/s", delay = "15 ms" }
[bonds.home]
between = ["hub", "cpe"]
paths = ["dsl", "lte"]
scheduler = "redundant"
[connections.flow]
protocol = "udp"
from = "server"
to = "client"
application = { kind = "constant-rate", rate = "5 Mbit/s", packet_size = "1000 B", duration = "9 s" }
"#;

fn scenario(changes: &[(&str, &str)]) -> Scenario {
    support::scenario(TWO, changes)
}

fn outcome(changes: &[(&str, &str)]) -> Outcome {
    run(&scenario(changes), &RunOptions::default()).expect("a run")
}

/// 99th percentile of the datagrams' one-way delay in ms, all of them having arrived in order.
fn delay_p99_ms(changes: &[(&str, &str)]) -> f64 {
    let counts = outcome(changes).connections[0].datagrams.expect("UDP");
    assert_eq!((counts.sent - counts.received, counts.reordered), (0, 0), "{changes:?}");
    counts.delay_p99_ms.expect("some arrived")
}

#[test]
fn copies_do_not_care_what_a_gateways_clock_says() {
    let truth = delay_p99_ms(&[]);
    for clock in [
        "{ offset = \"3 h\" }",
        "{ drift = 500 }",
        "{ drift = -500 }",
        "{ offset = \"1 s\", drift = 20.5, steps = [{ at = \"4 s\", by = \"50 ms\" }] }",
    ] {
        for gateway in ["routers.hub.clock", "routers.cpe.clock"] {
            let skewed = delay_p99_ms(&[(gateway, clock)]);
            assert!(
                (skewed - truth).abs() < 0.2,
                "{gateway} {clock}: {skewed} ms, with true clocks {truth} ms"
            );
        }
    }
}

#[test]
fn a_slow_clock_sends_fewer_keepalives() {
    let control = |changes: &[(&str, &str)]| {
        let outcome = outcome(changes);
        let row = outcome.links.iter().find(|row| row.name == "dsl" && row.direction == "hub->cpe");
        row.expect("the line").packets
    };
    // Reports every 20 ms and keepalives every 50 ms, for 10 s at 95 % of the speed. Answers come at the peer's.
    let fewer = control(&[]) - control(&[("routers.hub.clock.drift", "-50000")]);
    assert!((30..=40).contains(&fewer), "{fewer} packets fewer, of 700");
}

#[test]
fn late_wake_ups_delay_what_passes() {
    let punctual = delay_p99_ms(&[]);
    // Datagrams are handled one by one: 99 % of exponential times are below 4.6 means.
    let late = delay_p99_ms(&[("routers.hub.jitter", "{ arrivals = \"1 ms\" }")]);
    assert!((late - punctual - 4.6).abs() < 1.0, "{late} ms, without {punctual} ms");
    let held = delay_p99_ms(&[("routers.cpe.jitter", "{ coalesce = \"8 ms\" }")]);
    assert!((held - punctual - 8.0).abs() < 1.0, "{held} ms, without {punctual} ms");
    // Copies of two datagrams of 1028 octets and the tunnel's headers, 1.6 ms apart: the last of the four wakes the gateway.
    let burst = "{ coalesce = \"8 ms\", coalesce_bytes = \"4200 B\" }";
    let burst = delay_p99_ms(&[("routers.cpe.jitter", burst)]);
    assert!(burst < punctual + 6.0 && burst > punctual + 1.5, "{burst} ms, without {punctual} ms");
    // The source's timers are what sends the datagrams; none is lost for that.
    delay_p99_ms(&[("hosts.server.jitter", "{ timers = \"5 ms\" }")]);
}

#[test]
fn a_connection_lives_behind_late_nodes() {
    let tcp = [
        ("connections.flow.protocol", "tcp"),
        ("connections.flow.application", "{ kind = \"bulk\", bytes = \"5 MB\" }"),
    ];
    let nodes =
        ["hosts.server", "hosts.client", "routers.hub", "routers.cpe"].map(|node| format!("{node}.jitter"));
    let mut changes = tcp.to_vec();
    changes.extend(nodes.iter().map(|key| (&**key, "{ timers = \"5 ms\", arrivals = \"2 ms\" }")));
    let (late, punctual) = (outcome(&changes), outcome(&tcp));
    let [late, punctual] = [&late, &punctual].map(|outcome| &outcome.connections[0]);
    assert!(late.completed && punctual.completed, "{late:?}");
    assert!(late.goodput_mbps < punctual.goodput_mbps, "{} Mbit/s", late.goodput_mbps);
}

#[test]
fn truth_has_no_key_and_every_other_clock_a_hash_of_its_own() {
    let plain = scenario(&[]).hash();
    assert_eq!(scenario(&[("routers.hub.clock.drift", "0")]).hash(), plain);
    assert_eq!(scenario(&[("routers.hub.jitter.timers", "\"0 s\"")]).hash(), plain);
    let others = ["clock.drift", "clock.offset", "jitter.timers", "jitter.arrivals", "jitter.coalesce"];
    let mut hashes: Vec<String> = Vec::new();
    for key in others {
        let value = if key == "clock.drift" { "-0.001" } else { "\"1 ms\"" };
        hashes.push(scenario(&[(&format!("routers.hub.{key}"), value)]).hash());
    }
    hashes.push(plain);
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
}

#[test]
fn they_are_explained_and_mistakes_are_named() {
    let clock = "{ offset = \"2 s\", drift = -20, steps = [{ at = \"3 s\", by = \"-100 ms\" }] }";
    let jitter = "{ timers = \"5 ms\", coalesce = \"1 ms\", coalesce_bytes = \"64 kB\" }";
    let text = scenario(&[("routers.hub.clock", clock), ("hosts.client.jitter", jitter)]).explain();
    for line in [
        "(hub) has a clock 2 s ahead, 20 ppm too slow, 100 ms back at 3 s",
        "[client] jitter: timers late by 5 ms on average; arrivals held for 1 ms, or until 64 kB have come",
    ] {
        assert!(text.contains(line), "{text}");
    }
    for (key, value, wrong) in [
        ("routers.hub.clock", "{ drift = 200000 }", "routers.hub.clock.drift"),
        ("routers.hub.clock", "{ steps = [{ at = \"1 s\", by = \"-2 s\" }] }", "routers.hub.clock.steps"),
        (
            "routers.hub.clock",
            "{ steps = [{ at = \"1 s\", by = \"- 2\" }] }",
            "routers.hub.clock.steps[0].by",
        ),
        ("routers.hub.jitter", "{ coalesce_bytes = \"1 kB\" }", "routers.hub.jitter.coalesce_bytes"),
        ("hosts.client.clock", "{ drift = 1 }", "hosts.client.clock"),
    ] {
        let error = support::mistake(TWO, &[(key, value)]);
        assert_eq!(error.key, wrong, "{error}");
    }
    let unbonded = TWO.replace("[routers.cpe]", "[routers.cpe]\n[routers.idle]\nclock = { drift = 1 }");
    let error = support::mistake(&unbonded, &[]);
    assert_eq!(error.key, "routers.idle.clock", "{error}");
}

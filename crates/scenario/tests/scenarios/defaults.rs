//! The defaults that the JSON Schema declares are the ones in force: a key that says its default changes nothing.

use crate::support::{air, scenario as open};
use ropewalk_scenario::schema;
use serde_json::Value;

/// A scenario in which each of the tables below can have keys.
const BASE: &str = r#"[scenario]
name = "defaults"
duration = "10 s"
[hosts.client]
[hosts.server]
[links.a]
between = ["client", "server"]
rate = "10 Mbit/s"
[connections.x]
protocol = "tcp"
from = "client"
to = "server"
"#;

/// A value on one line of a TOML file.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// Keys with a default among these properties, each with that default.
fn defaults(properties: &Value) -> Vec<(String, String)> {
    let properties = properties.as_object().expect("properties");
    let keys = properties.iter().filter_map(|(key, property)| Some((key, property.get("default")?)));
    // Tables by name: without any there is another scenario.
    let keys = keys.filter(|(_, default)| default.as_object().is_none_or(|table| !table.is_empty()));
    keys.map(|(key, default)| (key.clone(), inline(default))).collect()
}

/// The schema of a definition, or of its variant with this tag.
fn definition(schema: &Value, name: &str, tag: Option<&str>) -> Value {
    let definition = &schema["$defs"][name];
    let Some(tag) = tag else { return definition["properties"].clone() };
    let variants = definition["anyOf"].as_array().expect("variants").iter();
    let has_tag = |variant: &&Value| {
        let properties = variant["properties"].as_object();
        properties.is_some_and(|keys| keys.values().any(|key| key["const"] == tag))
    };
    variants.clone().find(has_tag).unwrap_or_else(|| panic!("{name} has no {tag}"))["properties"].clone()
}

/// The keys of the definition say nothing new at `table`, where `before` has been said. Returns how many there were.
fn check(schema: &Value, name: &str, tag: Option<&str>, table: &str, before: &[(&str, &str)]) -> usize {
    check_in(BASE, schema, (name, tag), table, before)
}

fn check_in(
    base: &str,
    schema: &Value,
    (name, tag): (&str, Option<&str>),
    table: &str,
    before: &[(&str, &str)],
) -> usize {
    let plain = open(base, before);
    let keys = defaults(&definition(schema, name, tag));
    for (key, default) in &keys {
        let path = format!("{table}.{key}");
        let said: Vec<(&str, &str)> =
            before.iter().copied().chain([(path.as_str(), default.as_str())]).collect();
        let explicit = open(base, &said);
        assert_eq!(explicit.canonical_json(), plain.canonical_json(), "{path} = {default}");
        assert_eq!(explicit.plan(), plain.plan(), "{path} = {default}");
    }
    keys.len()
}

#[test]
fn a_key_that_says_its_default_changes_nothing() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let queue = |kind| format!("{{ discipline = \"{kind}\" }}");
    let application = |rest: &str| format!("{{ kind = {rest} }}");
    let (drop_tail, red) = (queue("drop-tail"), queue("red"));
    let (codel, fq_codel) = (queue("codel"), queue("fq-codel"));
    let on_off = application("\"on-off\", rate = \"1 Mbit/s\"");
    let (bulk, requests) = (application("\"bulk\""), application("\"request-response\""));
    let constant = application("\"constant-rate\", rate = \"1 Mbit/s\"");
    let at = "links.a.queue";
    let what = "connections.x.application";
    let counts = [
        check(&schema, "ScenarioTable", None, "scenario", &[]),
        check(&schema, "LinkTable", None, "links.a", &[]),
        check(&schema, "DirectionTable", None, "links.a.backward", &[]),
        check(&schema, "QueueTable", Some("drop-tail"), at, &[(at, &drop_tail)]),
        check(&schema, "QueueTable", Some("red"), at, &[(at, &red)]),
        check(&schema, "QueueTable", Some("codel"), at, &[(at, &codel)]),
        check(&schema, "QueueTable", Some("fq-codel"), at, &[(at, &fq_codel)]),
        check(&schema, "ApplicationTable", Some("bulk"), what, &[(what, &bulk)]),
        check(&schema, "ApplicationTable", Some("constant-rate"), what, &[(what, &constant)]),
        check(&schema, "ApplicationTable", Some("on-off"), what, &[(what, &on_off)]),
        check(&schema, "ApplicationTable", Some("request-response"), what, &[(what, &requests)]),
    ];
    let voice = application("\"frames\", interval = \"20 ms\"");
    let over_udp = [("connections.x.protocol", "udp"), (what, &*voice)];
    let frames = check(&schema, "ApplicationTable", Some("frames"), what, &over_udp);
    assert_eq!(frames, 2, "packets and spread");
    assert!(counts[1] >= 8, "the keys of a direction, the MTU and the list of changes: {counts:?}");
    let least = [1, 6, 4, 6];
    let queues = counts[3..7].iter().zip(least).all(|(&count, least)| count >= least);
    assert!(queues, "drop-tail, RED, CoDel, FQ-CoDel: {counts:?}");
    assert!(counts.iter().sum::<usize>() >= 30, "{counts:?}");
}

/// A wireless network in which each of the tables below can have keys.
const WIRELESS: &str = concat!(
    air!(),
    r#"
[scenario]
name = "defaults"
duration = "10 s"
[routers.left]
[routers.right]
[wifi.stations.s]
position = ["0 m", "0 m"]
[wifi.stations.d]
position = ["15 m", "0 m"]
[wifi.routes.air]
from = "s"
to = "d"
[wifi.broadcasts.hello]
[links.leftwards]
between = ["s", "left"]
rate = "10 Mbit/s"
[links.near]
between = ["left", "right"]
rate = "10 Mbit/s"
[links.far]
between = ["left", "right"]
rate = "10 Mbit/s"
[links.rightwards]
between = ["right", "d"]
rate = "10 Mbit/s"
[bonds.both]
between = ["left", "right"]
paths = ["near", "far"]
"#
);

#[test]
fn nor_does_one_of_a_wireless_network_a_clock_or_a_connection() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let check = |name, tag, table: &str, before: &[(&str, &str)]| {
        check_in(WIRELESS, &schema, (name, tag), table, before)
    };
    let log = "{ model = \"log-distance\" }";
    let ground = "{ model = \"two-ray-ground\" }";
    let walk = "{ model = \"random-waypoint\", area = [\"30 m\", \"30 m\"], speed_max = \"2 m/s\" }";
    let gauss = "{ model = \"gauss-markov\", area = [\"30 m\", \"30 m\"], speed = \"2 m/s\" }";
    let (propagation, mobility) = ("wifi.propagation", "wifi.mobility");
    let find = "wifi.routes.air.find";
    let counts = [
        check("WifiTable", None, "wifi", &[]),
        check("PropagationTable", Some("disk"), propagation, &[]),
        check("PropagationTable", Some("log-distance"), propagation, &[(propagation, log)]),
        check("PropagationTable", Some("two-ray-ground"), propagation, &[(propagation, ground)]),
        check("MobilityTable", Some("random-waypoint"), mobility, &[(mobility, walk)]),
        check("MobilityTable", Some("gauss-markov"), mobility, &[(mobility, gauss)]),
        check("WirelessRouteTable", None, "wifi.routes.air", &[]),
        check("FindTable", None, find, &[(find, "{}")]),
        check("BroadcastTable", None, "wifi.broadcasts.hello", &[]),
        check("ConnectionTable", None, "connections.bulk", &[]),
        check("ClockTable", None, "routers.left.clock", &[]),
        check("LatenessTable", None, "hosts.s.jitter", &[]),
    ];
    assert_eq!(counts, [10, 1, 6, 5, 2, 3, 2, 4, 3, 5, 3, 3], "none is left out");
}

#[test]
fn nor_does_one_of_a_bond_a_node_or_a_variant_of_loss_and_jitter() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let check = |name, tag, table: &str, before: &[(&str, &str)]| {
        check_in(WIRELESS, &schema, (name, tag), table, before)
    };
    let scheduler = "bonds.both.scheduler";
    let ranked = ("bonds.both.paths", "[{ link = \"near\", cost = 1 }, { link = \"far\", cost = 2 }]");
    let of = |kind: &str| format!("{{ kind = \"{kind}\" }}");
    let (wrr, cost_first, flow_aware) = (of("weighted-round-robin"), of("cost-first"), of("flow-aware"));
    let states = "{ model = \"gilbert-elliott\", good_to_bad = \"1 %\", bad_to_good = \"10 %\" }";
    let wander = "{ distribution = \"wander\", max = \"10 ms\" }";
    let (loss, jitter) = ("links.near.loss", "links.near.jitter");
    let counts = [
        check("BondTable", None, "bonds.both", &[]),
        check("SchedulerTable", Some("weighted-round-robin"), scheduler, &[ranked, (scheduler, &wrr)]),
        check("SchedulerTable", Some("cost-first"), scheduler, &[ranked, (scheduler, &cost_first)]),
        check("SchedulerTable", Some("flow-aware"), scheduler, &[(scheduler, &flow_aware)]),
        check("ResequencerTable", None, "bonds.both.resequencer", &[]),
        check("KeepaliveTable", None, "bonds.both.keepalive", &[]),
        check("HostTable", None, "hosts.s", &[]),
        check("RouterTable", None, "routers.left", &[("routers.left.strips", "[]")]),
        check("LossTable", Some("gilbert-elliott"), loss, &[(loss, states)]),
        check("JitterTable", Some("wander"), jitter, &[(jitter, wander)]),
    ];
    assert_eq!(counts, [2, 6, 1, 2, 5, 4, 2, 4, 2, 1], "none is left out");
}

#[test]
fn keys_of_frame_errors_say_their_defaults() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let check = |name, tag, table: &str, end: &str| {
        let errors = "[[wifi.errors]]\nfrom = \"s\"\nto = \"d\"";
        let with = |said: &str| open(&format!("{WIRELESS}{errors}\n{table}{said}{end}\n"), &[]);
        let keys = defaults(&definition(&schema, name, tag));
        let separator = if end.is_empty() { "\n" } else { ", " };
        for (key, default) in &keys {
            let explicit = with(&format!("{separator}{key} = {default}"));
            assert_eq!(explicit.canonical_json(), with("").canonical_json(), "{key} = {default}");
            assert_eq!(explicit.plan(), with("").plan(), "{key} = {default}");
        }
        keys.len()
    };
    let bursts = "loss = { model = \"bursts\", mean_loss = \"5 %\", mean_burst = 8.0";
    let states = "loss = { model = \"gilbert-elliott\", good_to_bad = \"1 %\", bad_to_good = \"10 %\"";
    assert_eq!(check("ErrorsTable", None, "loss = \"1 %\"", ""), 2);
    assert_eq!(check("FrameLossTable", Some("bursts"), bursts, " }"), 1);
    assert_eq!(check("FrameLossTable", Some("gilbert-elliott"), states, " }"), 3);
}

#[test]
fn keys_of_a_deployment_say_their_defaults() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let base = concat!(
        air!(),
        r#"
[scenario]
name = "defaults"
duration = "10 s"
[wifi.deployment]
layout = { kind = "grid", columns = 4, rows = 4, area = ["45 m", "45 m"] }
source = { node = "s", near = ["0 m", "0 m"] }
destination = { node = "d", near = ["45 m", "45 m"] }
[wifi.routes.air]
from = "s"
to = "d"
find = {}
"#
    );
    let check = |name, tag, table: &str| check_in(base, &schema, (name, tag), table, &[]);
    assert_eq!(check("DeploymentTable", None, "wifi.deployment"), 2);
    assert_eq!(check("LayoutTable", Some("grid"), "wifi.deployment.layout"), 1);
}

#[test]
fn keys_of_a_network_come_to_every_radio() {
    let radios = |said: &[(&str, &str)]| {
        let scenario = open(WIRELESS, said);
        let wifi = scenario.plan().wifi.as_ref().expect("a network");
        wifi.scene.stations.iter().map(|station| station.radios.clone()).collect::<Vec<_>>()
    };
    let plain = radios(&[]);
    for (key, value) in [
        ("preamble", "short"),
        ("data_rate", "2 Mbit/s"),
        ("data_rate", "minstrel"),
        ("basic_rates", "[\"1 Mbit/s\", \"2 Mbit/s\"]"),
        ("ack_rate", "1 Mbit/s"),
        ("broadcast_rate", "2 Mbit/s"),
        ("rts_threshold", "500 B"),
        ("short_retry_limit", "6"),
        ("long_retry_limit", "5"),
        ("cw_min", "15"),
        ("cw_max", "511"),
        ("response_timeout", "1 ms"),
        ("queue", "10 packets"),
        ("lifetime", "1 s"),
        ("channels", "[6]"),
    ] {
        let changed = radios(&[(&format!("wifi.{key}"), value)]);
        let differ = changed.iter().zip(&plain).filter(|(changed, plain)| changed != plain).count();
        assert_eq!(differ, 2, "{key} = {value}");
    }
}

#[test]
fn another_value_than_the_default_is_another_scenario() {
    let plain = open(BASE, &[]).hash();
    for (key, value) in [
        ("scenario.sample_interval", "10 ms"),
        ("links.a.delay", "1 ns"),
        ("links.a.jitter", "1 ms"),
        ("links.a.reorder", "true"),
        ("links.a.duplicate", "1 %"),
        ("links.a.loss", "1 %"),
        ("links.a.queue", "101 packets"),
        ("links.a.mtu", "1499"),
        ("hosts.client.jitter.timers", "1 ms"),
        ("connections.x.application", "{ kind = \"bulk\", bytes = \"1 MB\" }"),
    ] {
        assert_ne!(open(BASE, &[(key, value)]).hash(), plain, "{key}");
    }
}

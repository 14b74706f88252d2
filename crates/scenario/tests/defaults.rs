//! The defaults that the JSON Schema declares are the ones in force: a key that says its default changes nothing.

use ropewalk_scenario::{Scenario, load, schema};
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

fn open(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    load(text, None, &overrides).unwrap_or_else(|error| panic!("{overrides:?}: {error}"))
}

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
    let plain = open(BASE, before);
    let keys = defaults(&definition(schema, name, tag));
    for (key, default) in &keys {
        let path = format!("{table}.{key}");
        let said: Vec<(&str, &str)> =
            before.iter().copied().chain([(path.as_str(), default.as_str())]).collect();
        let explicit = open(BASE, &said);
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
    let (red, codel, fq_codel) = (queue("red"), queue("codel"), queue("fq-codel"));
    let on_off = application("\"on-off\", rate = \"1 Mbit/s\"");
    let (bulk, requests) = (application("\"bulk\""), application("\"request-response\""));
    let constant = application("\"constant-rate\", rate = \"1 Mbit/s\"");
    let at = "links.a.queue";
    let what = "connections.x.application";
    let counts = [
        check(&schema, "ScenarioTable", None, "scenario", &[]),
        check(&schema, "LinkTable", None, "links.a", &[]),
        check(&schema, "DirectionTable", None, "links.a.backward", &[]),
        check(&schema, "QueueTable", Some("red"), at, &[(at, &red)]),
        check(&schema, "QueueTable", Some("codel"), at, &[(at, &codel)]),
        check(&schema, "QueueTable", Some("fq-codel"), at, &[(at, &fq_codel)]),
        check(&schema, "ApplicationTable", Some("bulk"), what, &[(what, &bulk)]),
        check(&schema, "ApplicationTable", Some("constant-rate"), what, &[(what, &constant)]),
        check(&schema, "ApplicationTable", Some("on-off"), what, &[(what, &on_off)]),
        check(&schema, "ApplicationTable", Some("request-response"), what, &[(what, &requests)]),
    ];
    assert_eq!(counts[1], 8, "the keys of a direction, the MTU and the list of changes");
    assert_eq!(counts[3..6], [5, 3, 2], "RED, CoDel, FQ-CoDel");
    assert!(counts.iter().sum::<usize>() >= 30, "{counts:?}");
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

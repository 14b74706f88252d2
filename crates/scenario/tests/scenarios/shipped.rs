//! The scenarios of this repository: each loads, explains itself, and survives its own canonical form.

use crate::support::{open, read, shipped, shipped_files, shipped_folder};
use ropewalk_bonding::Order;
use ropewalk_scenario::plan::{Application, BondPlan, Bulk, Carrier, Plan, Protocol};
use ropewalk_scenario::{load, schema};
use sha2::{Digest, Sha256};
use std::path::Path;

#[test]
fn every_scenario_loads_and_is_drawn_in_its_head_comment() {
    let files = shipped_files();
    assert!(files.len() >= 8, "{} scenarios", files.len());
    for path in files {
        let scenario = open(&path, &[]);
        assert_eq!(Some(scenario.name()), path.file_stem().and_then(|stem| stem.to_str()));
        assert!(!scenario.plan().settings.description.is_empty(), "{path:?} says what it shows");
        let text = read(&path);
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        let head = head.join("\n");
        for node in &scenario.plan().nodes {
            let drawn =
                |name: &str| head.contains(&format!("[{name}]")) || head.contains(&format!("({name})"));
            // The members of a group are drawn once.
            let group = node.name.rsplit_once('-').map(|(group, _)| format!("{group}-I"));
            let drawn = drawn(&node.name) || group.is_some_and(|group| drawn(&group));
            assert!(drawn, "{path:?} does not draw {}", node.name);
        }
    }
}

#[test]
fn the_canonical_form_means_the_same() {
    for path in shipped_files() {
        let scenario = open(&path, &[]);
        let canonical = scenario.canonical_json();
        if canonical.contains("sha256:") {
            continue;
        }
        let value: toml::Table = serde_json::from_str(&canonical).expect("a table");
        let text = toml::to_string(&value).expect("TOML");
        let again = load(&text, None, &[]).unwrap_or_else(|error| panic!("{path:?}: {error}\n{text}"));
        assert_eq!(again.plan(), scenario.plan(), "{path:?}");
        assert_eq!(again.canonical_json(), canonical);
        assert_eq!(again.hash(), scenario.hash());
    }
}

#[test]
fn hashes_name_what_is_simulated_and_not_how_it_is_written() {
    let path = shipped_folder().join("degraded-path.toml");
    let hash = open(&path, &[]).hash();
    assert_eq!(hash.len(), 16);
    let same: [&[(&str, &str)]; 5] = [
        &[("scenario.seed", "7")],
        &[("scenario.description", "other words")],
        &[("links.b.rate", "2000 kbit/s")],
        &[("links.b.loss", "0.03")],
        &[("links.b.queue", "{ discipline = \"drop-tail\", limit = \"50 packets\" }"), ("tcp.sack", "false")],
    ];
    for overrides in same {
        assert_eq!(open(&path, overrides).hash(), hash, "{overrides:?}");
    }
    for other in [("links.b.loss", "4 %"), ("tcp.nagle", "true"), ("scenario.duration", "61 s")] {
        assert_ne!(open(&path, &[other]).hash(), hash, "{other:?}");
    }
}

#[test]
fn trace_files_count_by_their_content() {
    let scenario = shipped("lte-wifi.toml", &[]);
    assert!(scenario.canonical_json().contains("\"trace\":\"sha256:"));
    let lte = scenario.plan().links.iter().find(|link| link.name == "lte").expect("lte");
    let down = &lte.wire().expect("a wire").directions[1];
    let trace = down.trace.as_ref().expect("a trace");
    let mbps = trace.opportunities_ms.len() as f64 * 1500.0 * 8e-3
        / *trace.opportunities_ms.last().expect("some") as f64;
    assert!((down.rate.as_mbps() - mbps).abs() < 0.01);
}

#[test]
fn references_are_tcp_on_one_path_and_nothing_else_changes() {
    let mut compared = 0;
    for path in shipped_files() {
        let scenario = open(&path, &[]);
        for reference in scenario.references().iter().filter(|one| !one.name.starts_with("bonds.")) {
            let single = load(&reference.source, Some(&path), &[]).unwrap_or_else(|error| panic!("{error}"));
            assert!(single.multipath().iter().all(|one| one.name != reference.name));
            let (before, after) = (scenario.plan(), single.plan());
            assert_eq!(before.links, after.links);
            assert_eq!(before.connections.len(), after.connections.len());
            for (old, new) in before.connections.iter().zip(&after.connections) {
                if old.group == reference.name {
                    assert!(matches!(new.protocol, Protocol::Tcp(_)));
                    assert_eq!(new.paths.len(), 1);
                    assert_eq!(new.paths[0].name, reference.path);
                    assert_eq!(new.application, old.application);
                    compared += 1;
                } else {
                    assert_eq!(old, new);
                }
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn a_bonds_references_have_one_of_its_paths_in_a_bare_tunnel() {
    let path = shipped_folder().join("bonding.toml");
    let scenario = open(&path, &[("bonds.home.classes", "[{ dscp = 46, treatment = \"duplicated\" }]")]);
    let bond = |plan: &Plan| -> BondPlan {
        let carriers = plan.links.iter().map(|link| &link.carrier);
        let mut bonds = carriers.filter_map(|carrier| match carrier {
            Carrier::Bond(bond) => Some((**bond).clone()),
            _ => None,
        });
        bonds.next().expect("a bond")
    };
    let whole = bond(scenario.plan());
    let multipath = scenario.multipath();
    assert_eq!(multipath.len(), 1);
    let over: Vec<String> = scenario.plan().connections.iter().map(|one| one.name.clone()).collect();
    assert_eq!((multipath[0].name.as_str(), &multipath[0].connections), ("bonds.home", &over));
    let references = scenario.references();
    assert_eq!(references.len(), whole.paths.len());
    for (reference, path) in references.iter().zip(&whole.paths) {
        let single = load(&reference.source, None, &[]).unwrap_or_else(|error| panic!("{error}"));
        let bare = bond(single.plan());
        assert_eq!((reference.name.as_str(), &reference.path), ("bonds.home", &path.name));
        assert_eq!(bare.paths.len(), 1);
        assert_eq!((&bare.paths[0].name, &bare.paths[0].forward), (&path.name, &path.forward));
        assert!(bare.classes.is_empty() && bare.config.order == Order::Off);
        assert_eq!(single.plan().connections, scenario.plan().connections);
        assert!(single.multipath().is_empty());
    }
}

#[test]
fn overrides_reach_the_references() {
    let scenario = shipped("degraded-path.toml", &[("links.b.loss", "7 %"), ("tcp.mss", "1000")]);
    let reference = &scenario.references()[1];
    assert_eq!((reference.name.as_str(), reference.path.as_str()), ("bulk", "b"));
    let single = load(&reference.source, None, &[]).expect("a scenario");
    assert_eq!(single.plan().links[1].wire(), scenario.plan().links[1].wire());
    assert_eq!(single.plan().connections[0].protocol.tcp().map(|config| config.mss), Some(1000));
}

#[test]
fn the_explanation_shows_paths_values_and_their_origins() {
    let path = shipped_folder().join("degraded-path.toml");
    let text = open(&path, &[("links.b.loss", "7 %")]).explain();
    for wanted in [
        "[client] --+-- a -- [server]",
        "2 Mbit/s, 10 ms, drop-tail 50 packets, loss 7 %",
        "bulk: Multipath TCP over 2 paths from [client] to [server]",
        "RTT at least 20 ms, at most 10.00 Mbit/s, bandwidth-delay product 25 kB",
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let from = |key: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key));
        line.unwrap_or_else(|| panic!("no {key}"))
            .rsplit("  ")
            .next()
            .map(str::trim)
            .unwrap_or_default()
            .to_owned()
    };
    let line =
        read(&path).lines().position(|line| line.starts_with("rate = \"10 Mbit/s\"")).expect("there") + 1;
    assert_eq!(from("links.a.rate"), format!("line {line}"));
    assert_eq!(from("links.b.loss.probability"), "--set");
    assert_eq!(from("connections.bulk.tcp.initial_window"), "preset classic");
    assert_eq!(from("links.a.mtu"), "default");
}

#[test]
fn warnings_name_what_surprises() {
    let path = shipped_folder().join("degraded-path.toml");
    let warned = |overrides: &[(&str, &str)], wanted: &str| {
        let warnings = open(&path, overrides).warnings();
        assert!(warnings.iter().any(|text| text.contains(wanted)), "no {wanted:?} in {warnings:?}");
    };
    assert_eq!(open(&path, &[]).warnings(), Vec::<String>::new());
    warned(&[("connections.bulk.paths", "[\"a\"]")], "has only the path `a`");
    warned(&[("mptcp.receive_buffer", "20 kB")], "below twice the bandwidth-delay product");
    warned(&[("tcp.spurious", "eifel")], "eifel needs `timestamps = true`");
    warned(&[("tcp.spurious", "dsack")], "dsack needs `sack = true`");
    warned(&[("tcp.ecn", "true")], "no queue on its way marks");
    warned(&[("links.a.queue", "4 packets")], "is small for a bandwidth-delay product");
    warned(&[("links.a.queue", "1000 packets"), ("links.a.loss", "0")], "bufferbloat");
    let late = ("links.a.changes", "[{ at = \"70 s\", state = \"down\" }]");
    warned(&[("scenario.duration", "60 s"), late], "after the end");
    warned(&[("hosts.lonely", "{}")], "no link leads there");
    let shared = shipped("shared-bottleneck.toml", &[]).warnings();
    assert!(shared.iter().any(|text| text.contains("meet in the link core")), "{shared:?}");
}

#[test]
fn the_shipped_json_schema_is_current() {
    let path = shipped_folder().join("ropewalk.schema.json");
    if std::env::var_os("ROPEWALK_BLESS").is_some() {
        std::fs::write(&path, schema()).expect("writable");
    }
    let shipped = read(&path);
    assert!(shipped == schema(), "run the tests with ROPEWALK_BLESS=1 to write {path:?} again");
}

#[test]
fn the_json_schema_describes_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).expect("JSON");
    let mut keys = 0;
    visit(&schema, &mut |properties| {
        for (key, property) in properties {
            let described = ["description", "$ref", "const"].iter().any(|word| property.get(word).is_some());
            assert!(described, "{key} has no description: {property}");
            keys += 1;
        }
    });
    assert!(keys > 100, "{keys}");
}

fn visit(value: &serde_json::Value, check: &mut impl FnMut(&serde_json::Map<String, serde_json::Value>)) {
    match value {
        serde_json::Value::Object(object) => {
            if let Some(serde_json::Value::Object(properties)) = object.get("properties") {
                check(properties);
            }
            object.values().for_each(|value| visit(value, check));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|value| visit(value, check)),
        _ => {}
    }
}

#[test]
fn copies_open_evenly_and_carry_numbers() {
    let scenario = shipped("many-flows.toml", &[("connections.bulk.count", "4")]);
    let copies: Vec<_> =
        scenario.plan().connections.iter().filter(|connection| connection.group == "bulk").collect();
    let names: Vec<&str> = copies.iter().map(|copy| copy.name.as_str()).collect();
    assert_eq!(names, ["bulk-1", "bulk-2", "bulk-3", "bulk-4"]);
    let starts: Vec<u64> = copies.iter().map(|copy| copy.start.as_millis()).collect();
    assert_eq!(starts, [0, 250, 500, 750]);
    assert!(
        copies.iter().all(|copy| copy.application == Application::Bulk(Bulk { bytes: None, duration: None }))
    );
}

/// Of each scenario its hash, and the SHA-256 of its canonical JSON.
#[test]
fn canonical_forms_are_those_recorded() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/canonical.txt");
    let mut found = String::new();
    for path in shipped_files() {
        let scenario = open(&path, &[]);
        let digest = Sha256::digest(scenario.canonical_json().as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        found.push_str(&format!("{} {digest} {}\n", scenario.hash(), scenario.name()));
    }
    if std::env::var_os("ROPEWALK_BLESS").is_some() {
        std::fs::write(&recorded, &found).expect("writable");
    }
    let changed = "a new key changes these: run the tests with ROPEWALK_BLESS=1, and say so in the CHANGELOG";
    assert_eq!(found, read(&recorded), "{changed}");
}

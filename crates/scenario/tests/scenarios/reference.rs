//! The pages that are written from declarations say what the declarations say.

use crate::support::{ran, shipped};
use ropewalk_scenario::{Outcome, columns_reference, keys_reference};
use std::path::Path;

fn current(page: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    if std::env::var_os("ROPEWALK_BLESS").is_some() {
        std::fs::write(&path, text).expect("writable");
    }
    let shipped = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(shipped == text, "run the tests with ROPEWALK_BLESS=1 to write {page} again");
}

#[test]
fn the_reference_of_keys_is_current() {
    current("docs/reference/keys.md", &keys_reference());
}

#[test]
fn the_reference_of_columns_is_current() {
    current("docs/reference/columns.md", &columns_reference());
}

#[test]
fn the_reference_has_units_presets_and_defaults() {
    let page = keys_reference();
    let row = |key: &str| {
        let start = format!("| `{key}` |");
        page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {key}"))
    };
    assert!(
        row("initial_window").contains("whole number, segments | `10` | `1` |"),
        "{}",
        row("initial_window")
    );
    assert!(row("good_to_bad").contains("| required |"), "{}", row("good_to_bad"));
}

fn outcome(scenario: &str) -> Outcome {
    ran(&shipped(scenario, &[("scenario.duration", "1 s")]))
}

#[test]
fn every_column_of_a_run_is_in_the_reference() {
    let page = columns_reference();
    let outcome = outcome("degraded-path.toml");
    let general = [
        ("connections", outcome.connections_table()),
        ("subflows", outcome.subflows_table()),
        ("links", outcome.links_table()),
        ("series", outcome.series_table()),
    ];
    for (name, table) in general {
        let start = page.find(&format!("\n## `{name}`")).unwrap_or_else(|| panic!("no {name}")) + 1;
        let section = page[start..].split("\n## ").next().unwrap_or_default();
        let documented: Vec<&str> =
            section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let schema = table.schema();
        let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(columns[..3], ["scenario", "scenario_hash", "seed"]);
        assert_eq!(columns[3..], documented, "{name}");
    }
}

#[test]
fn the_summary_has_its_columns_in_order() {
    let summary = outcome("degraded-path.toml").summary_json();
    let keys: Vec<&str> =
        summary.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect();
    let head = ["scenario", "seed", "version", "duration_s", "connections"];
    let connection = [
        "name",
        "protocol",
        "bytes",
        "goodput_mbps",
        "start_s",
        "end_s",
        "completed",
        "reinjected_bytes",
        "subflows",
    ];
    let subflow = [
        "path",
        "bytes",
        "throughput_mbps",
        "retransmissions",
        "spurious_retransmissions",
        "timeouts",
        "srtt_ms",
    ];
    let link = ["name", "direction", "bytes", "packets", "drops_queue", "drops_loss", "utilisation"];
    let wanted =
        [&head[..], &connection, &subflow, &subflow, &["links"], &link, &link, &link, &link].concat();
    assert_eq!(keys, wanted);
}

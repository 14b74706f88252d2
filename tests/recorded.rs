//! What `ropewalk-gateway replay --scenario` writes is a scenario of the simulator: `tests/recorded` is one, which the gateway's tests compare.

use ropewalk_scenario::{RunOptions, load, run};
use ropewalk_tests::root;

#[test]
fn a_record_runs_in_the_simulator() {
    let path = root().join("tests/recorded/scenario.toml");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let scenario = load(&text, Some(&path), &[]).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, &RunOptions::default()).expect("it runs");
    // The line from the hub loses one in a hundred, and a bond that fills the cheap line first sends nothing again.
    let flows = [("flow-001", 200, 200), ("flow-002", 200, 190), ("flow-003", 50, 50)];
    assert_eq!(outcome.connections.len(), flows.len());
    for (row, (name, sent, least)) in outcome.connections.iter().zip(flows) {
        let counts = row.datagrams.expect("of UDP");
        assert_eq!((row.name.as_str(), counts.sent), (name, sent));
        assert!((least..=sent).contains(&counts.received), "{name}: {} of {sent} came", counts.received);
        // Lengths are those of the record, less the headers of IPv4 and UDP.
        let octets = if name == "flow-003" { 172 } else { 1402 };
        assert_eq!(row.bytes, counts.received * octets, "{name}");
    }
    let links = scenario.plan().links.iter().map(|link| (link.name.as_str(), link.bond().is_some()));
    let names = links.collect::<Vec<_>>();
    for link in ["dsl", "line-2"] {
        assert!(names.contains(&(link, false)), "{names:?}");
    }
}

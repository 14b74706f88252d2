//! Timed changes of links: which directions they reach, in which order, and what becomes of rates and traces.

use ropewalk_scenario::plan::{ChangePlan, WirePlan};
use ropewalk_scenario::{Scenario, load};
use ropewalk_sim::{Change, Jitter, Loss, Queue, QueueLimit};
use ropewalk_units::{Duration, Probability, Rate};
use std::path::Path;

fn scenario(link: &str) -> Scenario {
    let text = format!(
        "[scenario]\nname = \"changes\"\nduration = \"10 s\"\n[hosts.a]\n[hosts.b]\n[links.l]\n\
         between = [\"a\", \"b\"]\n{link}\n[connections.x]\nfrom = \"a\"\nto = \"b\"\n"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/test.toml");
    load(&text, Some(&folder), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn wire(scenario: &Scenario) -> &WirePlan {
    scenario.plan().links[0].wire().expect("a wire")
}

fn said(changes: &[ChangePlan]) -> Vec<(u64, usize, Change)> {
    changes.iter().map(|plan| (plan.at.as_millis(), plan.direction, plan.change.clone())).collect()
}

#[test]
fn an_entry_changes_each_thing_in_each_direction() {
    let scenario = scenario(
        "rate = \"1 Mbit/s\"\nchanges = [{ at = \"2 s\", delay = \"5 ms\", loss = \"10 %\", queue = \"7 packets\", \
         jitter = \"1 ms\", reorder = true, duplicate = \"1 %\", down_loses_in_flight = true, state = \"down\" }]",
    );
    let each = [
        Change::Delay(Duration::from_millis(5)),
        Change::Jitter(Jitter::Uniform(Duration::from_millis(1))),
        Change::Reorder(true),
        Change::Duplicate(Probability::new(0.01).expect("in [0, 1]")),
        Change::DownLosesInFlight(true),
        Change::Loss(Loss::Bernoulli(Probability::new(0.1).expect("in [0, 1]"))),
        Change::Queue(Queue::DropTail { limit: QueueLimit::Packets(7), mark_above: None }),
        Change::Down,
    ];
    let expected: Vec<_> =
        [0, 1].iter().flat_map(|&way| each.iter().map(move |change| (2000, way, change.clone()))).collect();
    assert_eq!(said(&wire(&scenario).changes), expected);
}

#[test]
fn entries_are_sorted_by_time_and_reach_the_direction_they_name() {
    let scenario = scenario(
        "rate = \"1 Mbit/s\"\nchanges = [{ at = \"3 s\", direction = \"backward\", rate = \"2 Mbit/s\" }, \
         { at = \"1 s\", direction = \"forward\", rate = \"3 Mbit/s\" }]",
    );
    let rate = |mbps: u64| Change::Rate(Rate::from_bits_per_sec(mbps * 1_000_000));
    assert_eq!(said(&wire(&scenario).changes), [(1000, 0, rate(3)), (3000, 1, rate(2))]);
}

#[test]
fn a_rate_takes_the_place_of_a_trace() {
    let scenario = scenario(
        "trace = \"traces/lte-walk.down.mahi\"\nchanges = [{ at = \"1 s\", direction = \"forward\", rate = \"1 Mbit/s\" }]",
    );
    let plan = wire(&scenario);
    assert!(plan.directions.iter().all(|direction| direction.trace.is_some()));
    let rate = Rate::from_bits_per_sec(1_000_000);
    assert_eq!(said(&plan.changes), [(1000, 0, Change::Trace(None)), (1000, 0, Change::Rate(rate))]);
    let canonical = scenario.canonical_json();
    assert!(
        canonical.contains("\"changes\":[{\"at\":\"1 s\",\"direction\":\"forward\",\"rate\":\"1 Mbit/s\"}]")
    );
}

#[test]
fn a_direction_goes_before_both_and_a_capacity_of_its_own_before_theirs() {
    let scenario = scenario(
        "rate = \"1 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"9 packets\"\n[links.l.backward]\ndelay = \"7 ms\"\n\
         trace = \"traces/lte-walk.down.mahi\"",
    );
    let [forward, backward] = &wire(&scenario).directions;
    assert_eq!((forward.rate, &forward.trace), (Rate::from_bits_per_sec(1_000_000), &None));
    assert!(backward.trace.is_some(), "its own trace, although both have a rate");
    let delays = [forward, backward].map(|direction| direction.delay);
    assert_eq!(delays, [5, 7].map(Duration::from_millis));
    assert_eq!(forward.queue, backward.queue, "what it does not say itself");
}

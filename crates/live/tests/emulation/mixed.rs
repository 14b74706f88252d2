//! One host is Linux's, the other one has our stack: interoperation, told by a scenario.

use crate::machine::judged;
use crate::scenarios::{Emulated, transfer, two_links, web};
use crate::{agreeing_with, check_multipath, close, goodput};
use ropewalk_scenario::Outcome;

/// The sides that run on a kernel, one at a time.
const SIDES: [&str; 2] = ["client", "server"];

/// The paths of the only connection, with the octets that each has carried.
fn paths(outcome: &Outcome) -> Vec<(&str, u64)> {
    outcome.subflows.iter().map(|subflow| (subflow.path.as_str(), subflow.bytes)).collect()
}

/// Runs a scenario with a kernel at this side alone.
fn mixed(scenario: &Emulated, linux: &str) -> Outcome {
    let outcome = scenario.run_with(linux);
    for row in &outcome.connections {
        assert_eq!(row.error, None, "a kernel at the {linux}");
    }
    outcome
}

#[test]
fn a_kernel_and_our_stack_share_a_connection_over_two_paths() {
    judged(|| {
        let simulated = two_links().simulate();
        for linux in SIDES {
            let outcome = mixed(&two_links(), linux);
            println!("a kernel at the {linux}: {:.3} Mbit/s over {:?}", goodput(&outcome), paths(&outcome));
            agreeing_with(&outcome, &simulated, 0.12);
            check_multipath(&outcome);
            let carried = paths(&outcome);
            assert_eq!(carried.iter().map(|(path, _)| *path).collect::<Vec<_>>(), ["dsl", "lte"]);
            assert!(carried.iter().all(|(_, octets)| *octets > 400_000), "{carried:?}");
            assert!(
                outcome.subflows.iter().all(|subflow| subflow.srtt_ms.is_some()),
                "{:?}",
                outcome.subflows
            );
        }
    });
}

#[test]
fn the_same_over_ipv6() {
    judged(|| {
        for linux in SIDES {
            let outcome = mixed(&two_links().over_ipv6(), linux);
            assert!(paths(&outcome).iter().all(|(_, octets)| *octets > 400_000), "{:?}", paths(&outcome));
        }
    });
}

#[test]
fn transfers_both_ways_come_to_their_end() {
    judged(|| {
        let simulated = transfer().simulate();
        for linux in SIDES {
            let outcome = mixed(&transfer(), linux);
            for (row, simulated) in outcome.connections.iter().zip(&simulated.connections) {
                let ends = [row, simulated].map(|row| row.end.expect("it ends").as_secs_f64());
                println!("a kernel at the {linux}, {}: {:.3}, simulated {:.3} s", row.name, ends[0], ends[1]);
                assert!(row.completed && row.bytes == 500_000, "{row:?}");
                assert!(close(ends[0], ends[1], 0.2), "{row:?} against {simulated:?}");
            }
        }
    });
}

#[test]
fn requests_are_answered() {
    judged(|| {
        let simulated = web().simulate();
        for linux in SIDES {
            let outcome = mixed(&web(), linux);
            let [measured, expected] =
                [&outcome, &simulated].map(|one| one.connections[0].mean_response_s.expect("answers"));
            println!("a kernel at the {linux}: {measured:.4}, simulated {expected:.4} s for an answer");
            assert_eq!(outcome.connections[0].transactions, 10);
            assert!(close(measured, expected, 0.15));
        }
    });
}

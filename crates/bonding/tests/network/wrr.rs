//! The paper's scheduler over two links: its loss feedback moves the excess, and hands it back.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line, ms};
use ropewalk_bonding::{Config, Order, PathConfig, PathId, SchedulerConfig, WrrConfig};
use ropewalk_testnet::{Line, both_ways};

fn papers(gain: f64, decrement_ms: f64) -> Config {
    let wrr = WrrConfig { gain, decrement_delay: ms(decrement_ms), ..WrrConfig::default() };
    let mut paths = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))];
    paths[1].max_weight = Some(45);
    let mut config = Config::new(paths, SchedulerConfig::WeightedRoundRobin(wrr));
    config.order = Order::Global;
    config.resequencer.timeout = Some(ms(50.0));
    config
}

fn links() -> Vec<[Line; 2]> {
    vec![both_ways(line(64.0, 6.5)), both_ways(line(60.0, 17.5))]
}

#[test]
fn excess_moves_to_the_costly_line_and_back() {
    let mut bond = Bond::new(&papers(0.5, 250.0), links(), 1);
    let low = Flow { stop: at(30.0), ..Flow::new(1, 40.0, 1452) };
    let excess = Flow { start: at(5.0), stop: at(15.0), ..Flow::new(1, 40.0, 1452) };
    let mut app = ConstantRate::new(vec![low, excess]);
    bond.run(at(5.0), &mut app);
    assert_eq!(bond.data_bytes()[1], 0, "40 Mbit/s fit the first line");
    let mut weights = Vec::new();
    for step in 0..250 {
        bond.run(at(5.0 + 0.1 * f64::from(step)), &mut app);
        weights.push(bond.end(0).path(PathId(1)).weight);
    }
    assert!(weights.iter().all(|&weight| weight <= 45));
    assert!(
        weights[5..100].iter().all(|&weight| weight > 0),
        "the excess needs the second line: {weights:?}"
    );
    // From 45 at most, one every 50 ms once there was no loss for 250 ms.
    assert_eq!(weights[130..].iter().max(), Some(&0), "{weights:?}");
    assert_eq!(bond.end(0).path(PathId(0)).weight, 50);
    let lost = app.tallies.iter().map(|tally| tally.sent - tally.delivered).sum::<u64>();
    let sent = app.tallies.iter().map(|tally| tally.sent).sum::<u64>();
    assert!(lost > 0, "this scheduler lives on loss");
    assert!((lost as f64) < 0.03 * sent as f64, "{lost} of {sent} lost");
}

#[test]
fn a_steeper_and_slower_reaction_loses_less() {
    let loss = |gain: f64, decrement_ms: f64| {
        let mut bond = Bond::new(&papers(gain, decrement_ms), links(), 1);
        let mut app = ConstantRate::new(vec![Flow { stop: at(20.0), ..Flow::new(1, 80.0, 1452) }]);
        bond.run(at(21.0), &mut app);
        app.tallies[0].loss_from(0)
    };
    // The directions of the paper's §5.2.
    assert!(loss(1.0, 250.0) < loss(0.1, 250.0));
    assert!(loss(0.5, 500.0) < loss(0.5, 50.0));
}

#[test]
fn three_lines_are_filled_by_cost_and_left_in_reverse() {
    let mut config = papers(0.5, 250.0);
    config.paths.push(PathConfig::new("satellite", Some(3)));
    let mut lines = links();
    lines.push(lines[1].clone());
    let mut bond = Bond::new(&config, lines, 1);
    // 50 Mbit/s fit the first line, 100 the first two; 150 need all three.
    let flow = |hash, from, to| Flow { start: at(from), stop: at(to), ..Flow::new(hash, 50.0, 1452) };
    let mut app = ConstantRate::new(vec![flow(1, 0.0, 50.0), flow(2, 5.0, 35.0), flow(3, 15.0, 25.0)]);
    let mut share = |until: f64| {
        let before = bond.data_bytes().to_vec();
        bond.run(at(until), &mut app);
        let sent: Vec<u64> =
            bond.data_bytes().iter().zip(&before).map(|(now, before)| now - before).collect();
        let whole: u64 = sent.iter().sum();
        [0, 1, 2].map(|path| sent[path] as f64 / whole as f64)
    };
    assert_eq!(share(5.0)[1..], [0.0, 0.0]);
    share(8.0);
    let two = share(15.0);
    share(16.0);
    let three = share(25.0);
    share(32.0);
    let two_again = share(35.0);
    share(42.0);
    let one_again = share(50.0);
    assert!(two[1] > 0.3 && two[2] < 0.1, "{two:?}");
    assert!(three[1] > 0.25 && three[2] > 0.1, "{three:?}");
    assert!(two_again[1] > 0.3 && two_again[2] < 0.05, "{two_again:?}");
    assert_eq!(one_again[1..], [0.0, 0.0]);
    let lost = app.tallies.iter().map(|tally| tally.sent - tally.delivered).sum::<u64>();
    let sent = app.tallies.iter().map(|tally| tally.sent).sum::<u64>();
    assert!((lost as f64) < 0.03 * sent as f64, "{lost} of {sent} lost");
}

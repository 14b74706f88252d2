//! Loads that begin at once, with the bond itself or once it is up.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line};
use ropewalk_bonding::{
    Config, CostFirstConfig, Event, FlowAwareConfig, PathConfig, PathState, SchedulerConfig,
};
use ropewalk_units::Instant;

/// Lines of (Mbit/s, round trip in ms), and the greatest loads in Mbit/s of which nothing is lost:
/// once the bond is up, and from its own first moment on.
type Case = (Vec<(f64, f64)>, f64, f64);

fn cases() -> Vec<Case> {
    let eight = (0..8).map(|place| (10.0, 10.0 + 6.0 * f64::from(place))).collect();
    let fast = vec![(44.4, 59.5), (60.5, 55.0), (5.0, 34.6), (79.6, 65.7), (68.3, 34.6)];
    vec![
        (vec![(64.0, 13.0), (60.0, 35.0)], 115.0, 90.0),
        (eight, 72.0, 68.0),
        (vec![(64.0, 13.0), (2.0, 80.0)], 60.0, 60.0),
        (vec![(20.0, 13.0), (60.0, 80.0)], 72.0, 40.0),
        (fast, 230.0, 40.0),
    ]
}

fn schedulers() -> [SchedulerConfig; 3] {
    [
        SchedulerConfig::CostFirst(CostFirstConfig::default()),
        SchedulerConfig::RateAware,
        SchedulerConfig::FlowAware(FlowAwareConfig::default()),
    ]
}

/// Datagrams lost and dropped of a load that begins at `start`.
fn lost(lines: &[(f64, f64)], scheduler: SchedulerConfig, mbps: f64, start: f64) -> u64 {
    let paths = (0..lines.len()).map(|place| PathConfig::new(format!("p{place}"), Some(place as u32)));
    let both = |&(mbps, rtt): &(f64, f64)| [line(mbps, rtt / 2.0), line(mbps, rtt / 2.0)];
    let config = Config::new(paths.collect(), scheduler);
    let mut bond = Bond::new(&config, lines.iter().map(both).collect(), 1);
    let flow = Flow { start: at(start), stop: at(start + 3.0), ..Flow::new(1, mbps, 1428) };
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(start + 4.0), &mut app);
    let tally = &app.tallies[0];
    assert_eq!(tally.out_of_order + tally.duplicates, 0);
    tally.sent - tally.delivered
}

/// Nothing is lost of any load up to the greatest, whatever the scheduler.
fn assert_nothing_lost(lines: &[(f64, f64)], most: f64, start: f64) {
    for scheduler in schedulers() {
        for mbps in [0.3, 0.6, 0.8, 1.0].map(|share| share * most) {
            let lost = lost(lines, scheduler, mbps, start);
            assert_eq!(lost, 0, "of {mbps} Mbit/s over {lines:?} with {scheduler:?}");
        }
    }
}

#[test]
fn a_bond_that_is_up_loses_nothing_of_a_start() {
    for (lines, most, _) in cases() {
        assert_nothing_lost(&lines, most, 2.0);
    }
}

#[test]
fn a_bond_that_knows_nothing_loses_nothing_of_a_moderate_start() {
    for (lines, _, most) in cases() {
        assert_nothing_lost(&lines, most, 0.0);
    }
}

/// A train takes 0.25 s on 0.5 Mbit/s, and 0.5 s on 0.25: longer than a silence may last. If the path went down for it, the next train
/// would follow.
#[test]
fn the_train_of_a_slow_line_takes_no_path_down() {
    for mbps in [0.25, 0.5, 1.0] {
        let paths = (0..2).map(|place| PathConfig::new(format!("p{place}"), Some(place))).collect();
        let config = Config::new(paths, SchedulerConfig::RateAware);
        let slow_upwards = [line(6.0, 7.0), line(mbps, 7.0)];
        let mut bond = Bond::new(&config, vec![slow_upwards, [line(18.0, 5.0), line(3.0, 5.0)]], 1);
        bond.run(at(5.0), &mut ConstantRate::new(Vec::new()));
        for end in 0..2 {
            let deaths: Vec<_> = bond.events(end).iter().filter(is_death).collect();
            assert!(deaths.is_empty(), "{mbps} Mbit/s, end {end}: {deaths:?}");
        }
    }
}

fn is_death((_, event): &&(Instant, Event)) -> bool {
    matches!(event, Event::PathStateChanged { to: PathState::Down, .. })
}

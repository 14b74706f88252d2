//! Whole transfers over well-behaved paths.

use super::network::{Network, PathModel};
use crate::{Config, Coupling, Event, Scheduler};
use ropewalk_units::Duration;

fn two_paths() -> Vec<PathModel> {
    vec![PathModel::new(10, 10), PathModel::new(30, 10)]
}

fn transfer(config: Config, models: Vec<PathModel>, octets: [u64; 2]) -> Network {
    let mut network = Network::new(config.clone(), config, models, octets, 1);
    network.run(Duration::from_secs(300));
    for (side, other) in [(0, 1), (1, 0)] {
        let application = &network.applications[side];
        assert_eq!(application.received, octets[other], "side {side}: {:?}", application.events);
        assert!(application.closed && application.finished, "side {side}: {:?}", application.events);
    }
    network
}

#[test]
fn two_subflows_carry_a_transfer_together() {
    let network = transfer(Config::linux(), two_paths(), [5_000_000, 0]);
    let established = network.applications[0].events.iter();
    assert_eq!(established.filter(|e| matches!(e, Event::SubflowEstablished(_))).count(), 2);
    let seconds = network.now.as_secs_f64();
    assert!(seconds < 3.0, "10 + 10 Mbit/s carry 5 MB in {seconds} s");
}

#[test]
fn both_directions_at_once() {
    transfer(Config::linux(), two_paths(), [3_000_000, 3_000_000]);
}

#[test]
fn only_the_server_sends() {
    let network = transfer(Config::linux(), two_paths(), [0, 3_000_000]);
    assert!(network.now.as_secs_f64() < 3.0, "{}", network.now);
}

#[test]
fn every_scheduler_and_coupling_finishes() {
    let schedulers = [
        Scheduler::RoundRobin,
        Scheduler::LowestRtt,
        Scheduler::Linux,
        Scheduler::WeightedRoundRobin { weights: vec![2, 1] },
        Scheduler::Redundant,
        Scheduler::Blest,
        Scheduler::Ecf,
        Scheduler::GoodputGuard(crate::GuardConfig::default()),
    ];
    let couplings = [
        Coupling::Uncoupled,
        Coupling::FullyCoupled,
        Coupling::LinkedIncreases,
        Coupling::RttCompensator,
        Coupling::Lia,
        Coupling::Olia,
        Coupling::Balia,
        Coupling::Wvegas,
        Coupling::Cubic,
    ];
    for scheduler in schedulers {
        for coupling in couplings {
            for preset in [Config::linux(), Config::classic()] {
                let config = Config { scheduler: scheduler.clone(), coupling, ..preset };
                let mut models = two_paths();
                models[1].loss = 10;
                transfer(config, models, [500_000, 1000]);
            }
        }
    }
}

//! Whole transfers over well-behaved paths.

use super::network::{Network, PathModel};
use crate::keys::INITIAL_DSN;
use crate::{Config, Coupling, Event, PathManager, Scheduler};
use ropewalk_units::{Dsn, Duration, Instant};

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
        Coupling::Bbr,
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

#[test]
fn acks_that_wait_for_the_order_of_data_stall_a_fast_path_for_a_slow_one() {
    let after_two_seconds = |acks_wait_for_data_order| {
        let config =
            Config { scheduler: Scheduler::RoundRobin, acks_wait_for_data_order, ..Config::classic() };
        let models = vec![PathModel::new(5, 10), PathModel::new(100, 1)];
        let mut network = Network::new(config.clone(), config, models, [5_000_000, 0], 1);
        network.run(Duration::from_secs(2));
        let carried = network.client.subflow(crate::SubflowId(0)).map(|fast| fast.tcp().stats().bytes_acked);
        network.run(Duration::from_secs(300));
        assert_eq!(network.applications[1].received, 5_000_000);
        carried.expect("the first subflow")
    };
    let (free, waiting) = (after_two_seconds(false), after_two_seconds(true));
    assert!(waiting + 100_000 < free, "{free} octets, {waiting} octets");
}

#[test]
fn a_data_fin_that_overtook_data_does_not_keep_subflows_from_joining() {
    // The server is done and has seen the client's DATA_FIN, but not all data before it, when two of three paths are dead
    // and the last one has to be joined again.
    let model = |delay, rate, queue, [loss, duplication, reordering]: [u32; 3]| {
        let chances = PathModel { loss, duplication, reordering, ..PathModel::new(delay, 1) };
        PathModel { rate, queue, ..chances }
    };
    let mut models = vec![
        model(160, 500_000, 18_720, [23, 66, 101]),
        model(177, 750_000, 13_011, [0, 0, 66]),
        model(54, 125_000, 5_000, [84, 0, 25]),
        model(1, 125_000, 5_000, [0, 0, 0]),
    ];
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    models[0].down.push((at(6_357), Instant::MAX));
    models[1].down.push((at(3_177), Instant::MAX));
    models[3].down.push((at(100), at(3_641)));
    let common = |mut config: Config| {
        config.tcp.nagle = false;
        config.tcp.rto_max = Duration::from_secs(20);
        config.tcp.time_wait = Duration::from_secs(1);
        let add_addr_timeout = Duration::from_secs(2);
        let (scheduler, coupling) = (Scheduler::RoundRobin, Coupling::Uncoupled);
        Config { scheduler, coupling, add_addr_timeout, reinjection: false, ..config }
    };
    let client = Config { receive_buffer: 4_000, send_buffer: 100_000, ..common(Config::linux()) };
    let server = Config {
        path_manager: PathManager::Backup,
        receive_buffer: 4_000_000,
        send_buffer: 1_000,
        ..common(Config::classic())
    };
    let mut network = Network::new(client, server, models, [159_617, 1], 12_052_129_743_427_030_603);
    network.run(Duration::from_secs(3_000));
    assert_eq!(network.applications[1].received, 159_617);
    assert!(network.applications.iter().all(|application| application.closed));
}

/// The first DSN is the initial one plus one.
#[test]
fn data_sequence_numbers_may_begin_anywhere_and_wrap() {
    let low_bits_wrap = (7 << 32) - 700_000;
    for initial in [0, u64::MAX, u64::MAX - 1, u64::MAX - 700_000, u64::MAX / 2 - 700_000, low_bits_wrap] {
        INITIAL_DSN.set(Some(Dsn::new(initial)));
        for checksum in [false, true] {
            let lossy = two_paths().into_iter().map(|model| PathModel { loss: 5, ..model }).collect();
            transfer(Config { checksum, ..Config::linux() }, lossy, [1_500_000, 1_500_000]);
        }
    }
    INITIAL_DSN.set(None);
}

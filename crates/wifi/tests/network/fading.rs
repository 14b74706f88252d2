//! Noise, fading and powers of single stations, against closed forms.

use crate::common::{Scene, mac, network};
use ropewalk_sim::Streams;
use ropewalk_units::Instant;
use ropewalk_wifi::phy::{Rate, Standard};
use ropewalk_wifi::propagation::{Fading, LogDistance, Propagation, Receiver, Reception, free_space_loss_db};
use ropewalk_wifi::{HopStats, MacConfig, Network, NetworkConfig, StationId};

const PACKETS: u32 = 20_000;
const B: Standard = Standard::Dsss { short_preamble: false };

fn model(reception: Reception, fading: Fading) -> LogDistance {
    LogDistance {
        power_dbm: 15.0,
        reference_loss_db: free_space_loss_db(2437.0),
        reference_distance: 1.0,
        exponent: 3.0,
        breakpoint: None,
        shadowing_db: 0.0,
        fading,
        receiver: Receiver::typical(B).with(reception),
    }
}

/// Two stations, each frame sent once: what became of the packets of `octets` octets.
fn once(model: LogDistance, distance: f64, octets: u32) -> HopStats {
    let mac = MacConfig { short_retry_limit: 1, ..mac() };
    let config = network(Propagation::LogDistance(model), &mac, &[(0.0, 0.0), (distance, 0.0)]);
    let mut scene = Scene::new(&config, 11);
    let (_, port) = scene.route(&[0, 1]);
    scene.send(0, port, Instant::ZERO, octets, PACKETS);
    scene.run_until(120.0);
    let hops = scene.world.medium().hop_stats(StationId(0), 1);
    let [(to, stats)] = hops[..] else { panic!("one neighbour: {hops:?}") };
    assert_eq!((to, stats.sent, stats.retries), (StationId(1), u64::from(PACKETS), 0));
    stats
}

fn part(of: u64, all: u64) -> f64 {
    of as f64 / all as f64
}

/// With a mean ratio G a frame that needs T survives Rayleigh fading with exp(−T/G).
#[test]
fn rayleigh_fading_loses_what_its_distribution_says() {
    let model = model(Reception::Threshold, Fading::Rayleigh);
    let (lock, data) = (4.0, 16.0);
    for mean_snr in [17.0, 20.0, 26.0] {
        let distance = model.range(model.receiver.noise_dbm + mean_snr);
        let stats = once(model.clone(), distance, 1_428);
        for (found, needed) in [(stats.heard, lock), (stats.received, data)] {
            let expected = libm::exp(-libm::exp10((needed - mean_snr) / 10.0));
            let found = part(found, stats.sent);
            assert!((found - expected).abs() < 0.01, "{mean_snr} dB: {found}, expected {expected}");
        }
    }
}

/// At a rate's range nine in ten frames of 1000 octets survive, a frame of half the length with the
/// root of that.
#[test]
fn frames_survive_noise_by_their_length() {
    for reception in [Reception::Nist, Reception::Yans] {
        let model = model(reception, Fading::None);
        let distance = model.range(model.receiver.sensitivity_dbm(Rate::Mbps11)) - 1e-6;
        for (octets, expected) in [(964, 0.9), (464, libm::sqrt(0.9))] {
            let stats = once(model.clone(), distance, octets);
            assert_eq!(stats.heard, stats.sent);
            let found = part(stats.received, stats.sent);
            assert!((found - expected).abs() < 0.01, "{octets} octets: {found}, expected {expected}");
            let snr = stats.mean_snr_db().expect("powers are known");
            assert!((snr - 6.99).abs() < 0.02, "{snr} dB");
        }
    }
}

#[test]
fn a_frame_that_noise_spoils_is_no_collision() {
    let model = model(Reception::Nist, Fading::Rayleigh);
    let distance = model.range(model.receiver.sensitivity_dbm(Rate::Mbps11));
    let config = network(Propagation::LogDistance(model), &mac(), &[(0.0, 0.0), (distance - 1.0, 0.0)]);
    let mut scene = Scene::new(&config, 11);
    let (_, port) = scene.route(&[0, 1]);
    scene.send(0, port, Instant::ZERO, 1_428, 500);
    scene.run_until(20.0);
    let stats = scene.world.medium().radio_stats(StationId(1), 1, scene.world.now()).expect("a radio");
    assert!(stats.noise > 50, "{stats:?}");
    assert_eq!(stats.collisions, 0);
}

#[test]
fn a_station_with_less_power_is_heard_by_fewer() {
    let mut config: NetworkConfig = network(
        Propagation::LogDistance(model(Reception::Threshold, Fading::None)),
        &mac(),
        &[(0.0, 0.0), (30.0, 0.0)],
    );
    let reaches = |config: &NetworkConfig| {
        let network = Network::new(config, &Streams::new(1)).expect("a network");
        [(0, 1), (1, 0)].map(|(from, to)| network.reaches(StationId(from), StationId(to), 1))
    };
    assert_eq!(reaches(&config), [true, true]);
    config.stations[1].radios[0].power_dbm = Some(-15.0);
    assert_eq!(reaches(&config), [true, false]);
    config.stations[1].radios[0].power_dbm = Some(f64::NAN);
    let refused = Network::new(&config, &Streams::new(1)).err().expect("no power");
    assert_eq!(refused.key, "stations.s1.radios[0].power");
}

#[test]
fn disks_know_no_ratio() {
    let config = network(crate::common::disk(20.0, 40.0), &mac(), &[(0.0, 0.0), (10.0, 0.0)]);
    let mut scene = Scene::new(&config, 1);
    let (_, port) = scene.route(&[0, 1]);
    scene.send(0, port, Instant::ZERO, 1_428, 10);
    scene.run_until(1.0);
    let hops = scene.world.medium().hop_stats(StationId(0), 1);
    assert_eq!((hops[0].1.acknowledged, hops[0].1.mean_snr_db()), (10, None));
}

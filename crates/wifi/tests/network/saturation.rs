//! Stations that always have something to send and all hear each other.

use crate::common::{LONG, Scene, disk, jain, mac, network};
use crate::models::{Saturation, Times, bianchi, freezing};
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::phy::{self, Rate};
use ropewalk_wifi::{MacConfig, StationId};

/// 1400 octets of payload under UDP and IPv4.
const PAYLOAD: u32 = 1_400;
const PACKET: u32 = PAYLOAD + 28;

/// As many attempts as it takes, as the models have it.
fn patient(rts_threshold: Option<u32>) -> MacConfig {
    MacConfig { short_retry_limit: u32::MAX, long_retry_limit: u32::MAX, rts_threshold, ..mac() }
}

/// `n` stations send to one more for so many seconds. Returns the octets of each station's payload too.
fn run(n: u32, mac: &MacConfig, seed: u64, seconds: f64) -> (Saturation, Vec<f64>) {
    let positions: Vec<(f64, f64)> = (0..=n).map(|k| (f64::from(k) * 0.1, 0.0)).collect();
    let mut scene = Scene::new(&network(disk(50.0, 100.0), mac, &positions), seed);
    let burst = (seconds * 1_500.0 / f64::from(n)) as u32 + 200;
    let routes: Vec<_> = (1..=n)
        .map(|sender| {
            let (route, port) = scene.route(&[sender, 0]);
            scene.send(sender, port, Instant::ZERO, PACKET, burst);
            route
        })
        .collect();
    scene.run_until(seconds);
    let shares: Vec<f64> = routes
        .iter()
        .map(|&route| scene.delivered(route) as f64 * f64::from(PAYLOAD) / f64::from(PACKET))
        .collect();
    let (mut attempts, mut failures) = (0, 0);
    for sender in 1..=n {
        let stats = scene.world.medium().radio_stats(StationId(sender), 1, scene.world.now()).unwrap();
        assert!(stats.queued > 0, "station {sender} was saturated to the end");
        // With RTS every exchange begins with one, and only they collide.
        attempts += if stats.rts_sent > 0 { stats.rts_sent } else { stats.data_sent };
        failures += stats.ack_timeouts + stats.cts_timeouts;
    }
    let throughput = shares.iter().sum::<f64>() * 8.0 / seconds / 1e6;
    (Saturation { throughput, collisions: failures as f64 / attempts as f64 }, shares)
}

fn us(rate: Rate, octets: u32) -> f64 {
    phy::ppdu_duration(LONG, rate, octets).as_nanos() as f64 / 1e3
}

const SIFS: f64 = 10.0;
const DIFS: f64 = 50.0;
const EIFS: f64 = 364.0;

fn times(has_rts: bool) -> Times {
    let data = us(Rate::Mbps11, PACKET + phy::DATA_OVERHEAD);
    let exchange = data + SIFS + us(Rate::Mbps11, phy::ACK) + DIFS;
    let rts = us(Rate::Mbps11, phy::RTS);
    let (success, collision) = if has_rts {
        (rts + SIFS + us(Rate::Mbps11, phy::CTS) + SIFS + exchange, rts + EIFS)
    } else {
        (exchange, data + EIFS)
    };
    Times { slot: 20.0, success, collision, payload: f64::from(PAYLOAD) * 8.0, window: 32.0, stages: 5 }
}

fn off(measured: f64, expected: f64) -> f64 {
    (measured / expected - 1.0).abs()
}

#[test]
fn one_station_takes_exactly_the_time_of_its_exchanges() {
    let (measured, _) = run(1, &mac(), 1, 600.0);
    // DIFS, 15.5 slots on average, data, SIFS, ACK.
    let cycle = times(false).success + 15.5 * 20.0;
    let expected = f64::from(PAYLOAD) * 8.0 / cycle;
    assert!(off(measured.throughput, expected) < 1e-3, "{measured:?}, by hand {expected}");
    // ns-3: 6.13.
    assert!((measured.throughput - 6.13).abs() < 0.01, "{measured:?}");
    assert!(measured.collisions == 0.0);
}

#[test]
fn fewer_octets_of_overhead_show_in_one_stations_cycle() {
    for (mac, preamble, ack) in [
        // Short preambles: 96 µs less for data and ACK.
        (MacConfig { standard: phy::Standard::Dsss { short_preamble: true }, ..mac() }, 96.0, 96.0 + 11.0),
        // ACKs at 1 Mbit/s: 192 + 112 µs.
        (MacConfig { control_rate: Some(Rate::Mbps1), ..mac() }, 192.0, 304.0),
        // ACKs at the highest basic rate, 2 Mbit/s: 192 + 56 µs.
        (MacConfig { basic_rates: phy::RateSet::of(&[Rate::Mbps1, Rate::Mbps2]), ..mac() }, 192.0, 248.0),
    ] {
        let (measured, _) = run(1, &mac, 1, 300.0);
        let data = preamble + 1_065.0;
        let expected = f64::from(PAYLOAD) * 8.0 / (DIFS + 310.0 + data + SIFS + ack);
        assert!(off(measured.throughput, expected) < 1.5e-3, "{measured:?}, by hand {expected}");
    }
}

/// Neither model knows that two or three stations' windows depend on each other; it shows in the few collisions they
/// have. So much may the probability of a collision be off, whatever it is: 0.3 of a hundredth.
const CORRELATION: f64 = 0.003;

fn agree(measured: Saturation, model: Saturation, tolerance: f64, what: &str) {
    let shown = format!("{what}: {measured:?}, model {model:?}");
    assert!(off(measured.throughput, model.throughput) < tolerance, "{shown}");
    let apart = (measured.collisions - model.collisions).abs();
    assert!(apart < CORRELATION.max(tolerance * model.collisions), "{shown}");
}

fn follows_the_models(has_rts: bool) {
    for n in [1, 2, 3, 5, 10, 20, 30, 50] {
        let seconds = if n < 10 { 200.0 } else { 150.0 };
        let (measured, _) = run(n, &patient(has_rts.then_some(0)), 7, seconds);
        let what = format!("{n} stations, RTS: {has_rts}");
        agree(measured, bianchi(n, times(has_rts)), 0.05, &what);
        agree(measured, freezing(n, times(has_rts)), 0.02, &what);
    }
}

#[test]
fn throughput_and_collisions_follow_the_models() {
    follows_the_models(false);
}

#[test]
fn throughput_and_collisions_follow_the_models_with_rts() {
    follows_the_models(true);
}

#[test]
fn with_its_assumption_about_timeouts_the_refined_model_has_throughput_to_one_percent() {
    // Stations that have collided begin to count when the others do. By the standard they begin 142 µs earlier.
    let mac = MacConfig { response_timeout: Some(Duration::from_micros(EIFS as u64)), ..patient(None) };
    for n in [2, 5, 10, 20, 50] {
        let (measured, _) = run(n, &mac, 11, 200.0);
        let model = freezing(n, times(false));
        agree(measured, model, 0.02, &format!("{n} stations"));
        assert!(off(measured.throughput, model.throughput) < 0.01, "{n}: {measured:?}, model {model:?}");
    }
}

#[test]
fn the_slot_after_a_success_separates_the_models() {
    // Counters that are frozen, not taken down by a busy slot: fewer transmissions and fewer collisions per slot,
    // which shows from two stations on and not with one.
    for n in [3, 5, 10] {
        let (plain, refined) = (bianchi(n, times(false)), freezing(n, times(false)));
        let mac = MacConfig { response_timeout: Some(Duration::from_micros(EIFS as u64)), ..patient(None) };
        let (measured, _) = run(n, &mac, 5, 400.0);
        let distance = |model: Saturation| off(measured.throughput, model.throughput);
        assert!(distance(refined) < distance(plain), "{n}: {measured:?} {plain:?} {refined:?}");
    }
    let alone = (bianchi(1, times(false)), freezing(1, times(false)));
    assert!(off(alone.0.throughput, alone.1.throughput) < 1e-9);
}

#[test]
fn published_throughputs_of_1400_octets() {
    // Bianchi's model with EIFS after a collision, to two decimals.
    for (n, expected) in [(1, 6.12), (5, 6.33), (10, 5.94)] {
        let model = bianchi(n, times(false)).throughput;
        assert!((model - expected).abs() < 0.01, "{n}: {model}");
        let (measured, _) = run(n, &patient(None), 2, 100.0);
        assert!(off(measured.throughput, expected) < 0.02, "{n}: {measured:?}");
    }
}

#[test]
fn two_stations_share_fairly() {
    let (_, shares) = run(2, &mac(), 3, 60.0);
    let index = jain(&shares);
    assert!(index > 0.99, "{index}");
    // Over a second already, as both always compete with the same window.
    let (_, shares) = run(2, &mac(), 3, 1.0);
    assert!(jain(&shares) > 0.9);
}

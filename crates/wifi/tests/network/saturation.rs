//! Stations that always have something to send and all hear each other.

use crate::common::{LONG, Scene, disk, jain, mac, network};
use crate::models::{
    NO_LIMIT, Saturation, Times, bianchi, collisions_of_two_exactly, collisions_slot_by_slot, freezing,
};
use ropewalk_sim::Streams;
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

/// `n` stations send to one more for `seconds`. Returns the octets of each station's payload too.
fn run(n: u32, mac: &MacConfig, seed: u64, seconds: f64) -> (Saturation, Vec<f64>) {
    let positions: Vec<(f64, f64)> = (0..=n).map(|k| (f64::from(k) * 0.1, 0.0)).collect();
    let mut scene = Scene::new(&network(disk(50.0, 100.0), mac, &positions), seed);
    // More than the fastest rate could carry without any overhead.
    let most =
        mac.standard.rates().iter().map(Rate::as_mbps).fold(0.0, f64::max) * 1e6 / f64::from(8 * PACKET);
    let burst = (seconds * most / f64::from(n)) as u32 + 200;
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
    Times {
        slot: 20.0,
        success,
        collision,
        payload: f64::from(PAYLOAD) * 8.0,
        window: 32.0,
        stages: 5,
        attempts: NO_LIMIT,
    }
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

#[test]
fn ofdm_stations_answer_at_24_mbps_unless_told_otherwise() {
    // 802.11g: DIFS 28, 7.5 slots of 9, a preamble of 20, symbols of 4, 6 after each frame.
    // 1464 octets at 54 Mbit/s are 55 symbols; an ACK is 2 symbols at 24 Mbit/s and 1 at 54.
    let standard = phy::Standard::OfdmG;
    let mac = MacConfig { queue: None, ..MacConfig::new(standard, Rate::Mbps54) };
    let every = MacConfig { basic_rates: standard.rates(), ..mac.clone() };
    for (mac, symbols) in [(mac, 2.0), (every, 1.0)] {
        let (measured, _) = run(1, &mac, 1, 60.0);
        let cycle = 28.0 + 7.5 * 9.0 + (20.0 + 55.0 * 4.0 + 6.0) + 10.0 + (20.0 + symbols * 4.0 + 6.0);
        let expected = f64::from(PAYLOAD) * 8.0 / cycle;
        assert!(off(measured.throughput, expected) < 1e-3, "{measured:?}, by hand {expected}");
    }
}

/// Throughput and the probability of a collision agree to `tolerance`.
fn agree(measured: Saturation, model: Saturation, tolerance: f64, what: &str) {
    let shown = format!("{what}: {measured:?}, model {model:?}");
    assert!(off(measured.throughput, model.throughput) < tolerance, "{shown}");
    let difference = (measured.collisions - model.collisions).abs();
    assert!(difference < tolerance * model.collisions + 1e-9, "{shown}");
}

/// The refined model. Its closed form takes stations for independent, which a few are not (see
/// [`two_stations_collide_more_often_than_independent_ones`]): for 2 to 9 its process says how
/// often they collide.
fn refined(n: u32, times: Times) -> Saturation {
    let model = freezing(n, times);
    let mut stream = Streams::new(1).stream("process");
    let collisions = match n {
        2 => collisions_of_two_exactly(times),
        3..10 => collisions_slot_by_slot(n as usize, times, 4_000_000, &mut stream),
        _ => model.collisions,
    };
    Saturation { collisions, ..model }
}

fn follows_the_models(has_rts: bool) {
    for n in [1, 2, 3, 5, 10, 20, 30, 50] {
        let seconds = if n < 10 { 1_000.0 } else { 150.0 };
        let (measured, _) = run(n, &patient(has_rts.then_some(0)), 7, seconds);
        let what = format!("{n} stations, RTS: {has_rts}");
        agree(measured, bianchi(n, times(has_rts)), 0.05, &what);
        agree(measured, refined(n, times(has_rts)), 0.02, &what);
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

/// Stations that have collided begin to count a slot after the others, as the refined model
/// assumes. By the standard's timeout they begin 142 µs before them.
fn late() -> MacConfig {
    let slot = 20;
    MacConfig { response_timeout: Some(Duration::from_micros(EIFS as u64 + slot)), ..patient(None) }
}

#[test]
fn with_its_assumption_about_timeouts_the_refined_model_holds_to_one_percent() {
    for n in [2, 3, 5, 10, 20, 50] {
        let (measured, _) = run(n, &late(), 11, if n < 10 { 4_000.0 } else { 400.0 });
        agree(measured, refined(n, times(false)), 0.01, &format!("{n} stations"));
    }
}

#[test]
fn two_stations_collide_more_often_than_independent_ones() {
    let exact = collisions_of_two_exactly(times(false));
    let mut stream = Streams::new(1).stream("process");
    let drawn = collisions_slot_by_slot(2, times(false), 4_000_000, &mut stream);
    assert!(off(drawn, exact) < 0.01, "{drawn}, exactly {exact}");
    // A station that transmits meets the other one more often at a low stage, which that one passes
    // quickly. Independent stations meet at each stage in proportion to the time spent there.
    let independent = freezing(2, times(false)).collisions;
    assert!((1.03..1.05).contains(&(exact / independent)), "{exact}, independent {independent}");
}

#[test]
fn the_slot_after_a_success_separates_the_models() {
    // Counters that are frozen, not taken down by a busy slot: fewer transmissions and fewer
    // collisions per slot, which shows from two stations on and not with one.
    for n in [3, 5, 10] {
        let (plain, refined) = (bianchi(n, times(false)), freezing(n, times(false)));
        let (measured, _) = run(n, &late(), 5, 400.0);
        let distance = |model: Saturation| off(measured.throughput, model.throughput);
        assert!(distance(refined) < distance(plain), "{n}: {measured:?} {plain:?} {refined:?}");
    }
    let alone = (bianchi(1, times(false)), freezing(1, times(false)));
    assert!(off(alone.0.throughput, alone.1.throughput) < 1e-9);
}

/// A frame is sent four times at most, as in the papers' simulator and the comparison with ns-3:
/// windows stay smaller than without a limit, and more collides.
#[test]
fn few_attempts_collide_as_the_models_with_a_limit_say() {
    for n in [5, 10, 20] {
        let limited = Times { attempts: 4, ..times(false) };
        let (plain, refined) = (bianchi(n, limited), freezing(n, limited));
        let mac = MacConfig { short_retry_limit: 4, ..late() };
        let (measured, _) = run(n, &mac, 5, 60.0);
        println!(
            "{n} stations, four attempts: {measured:?}, Bianchi {plain:?}, with frozen counters {refined:?}"
        );
        assert!(off(measured.throughput, refined.throughput) < 0.02, "{n}: {measured:?} {refined:?}");
        assert!(off(measured.collisions, refined.collisions) < 0.03, "{n}: {measured:?} {refined:?}");
        assert!(off(measured.throughput, plain.throughput) < 0.05, "{n}: {measured:?} {plain:?}");
        let unlimited = freezing(n, times(false));
        assert!(refined.collisions > unlimited.collisions && refined.throughput < unlimited.throughput);
    }
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

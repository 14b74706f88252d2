//! Two senders that do not hear each other, and a receiver between them.

use crate::common::{LONG, Scene, disk, mac, network};
use crate::models::{NO_LIMIT, Times, freezing};
use ropewalk_units::Instant;
use ropewalk_wifi::phy::{self, Rate};
use ropewalk_wifi::{MacConfig, StationId};

const PACKET: u32 = 1_428;

/// A fixed window, so that a station's attempts are a renewal process; as many attempts as it
/// takes.
fn fixed(window: u32) -> MacConfig {
    MacConfig { cw_min: Some(window - 1), cw_max: Some(window - 1), short_retry_limit: u32::MAX, ..mac() }
}

/// 15 m apart, received up to 20 m: the ends do not receive each other. The part of their frames
/// that is lost.
fn losses(carrier_sense: f64, window: u32, seconds: f64) -> f64 {
    let positions = [(0.0, 0.0), (15.0, 0.0), (30.0, 0.0)];
    let mut scene = Scene::new(&network(disk(20.0, carrier_sense), &fixed(window), &positions), 4);
    for sender in [0, 2] {
        let (_, port) = scene.route(&[sender, 1]);
        scene.send(sender, port, Instant::ZERO, PACKET, (seconds * 800.0) as u32);
    }
    scene.run_until(seconds);
    let medium = scene.world.medium();
    let stats =
        [0, 2].map(|sender| medium.radio_stats(StationId(sender), 1, scene.world.now()).expect("a radio"));
    let attempts: u64 = stats.iter().map(|stats| stats.data_sent).sum();
    let failures: u64 = stats.iter().map(|stats| stats.ack_timeouts).sum();
    failures as f64 / attempts as f64
}

/// The probability that a frame is lost, all times in µs.
///
/// The other sender begins frames at intervals X, of which the frame must meet none within a
/// frame's length before it, or after it until the ACK begins: p = 1 - E[(X - 2T - SIFS)+] / E[X].
/// X is its backoff, its frame, and what follows it: SIFS, ACK and DIFS, or a timeout. It hears the
/// ACKs for this sender's frames and waits them out.
fn renewal(window: u32) -> f64 {
    let time = |octets: u32| phy::ppdu_duration(LONG, Rate::Mbps11, octets).as_nanos() as f64 / 1e3;
    let (data, ack) = (time(PACKET + phy::DATA_OVERHEAD), time(phy::ACK));
    let (sifs, difs, slot, timeout) = (10.0, 50.0, 20.0, 222.0);
    let mut p = 0.5;
    for _ in 0..100 {
        let after = (1.0 - p) * (sifs + ack + difs) + p * timeout;
        // An ACK for the other's frame, DIFS, and half a slot to count again, once per success.
        let paused = (1.0 - p) * (ack + difs + slot / 2.0);
        let intervals = || (0..window).map(|slots| data + after + paused + slot * f64::from(slots));
        let mean: f64 = intervals().sum::<f64>() / f64::from(window);
        let clear: f64 =
            intervals().map(|x| (x - 2.0 * data - sifs).max(0.0)).sum::<f64>() / f64::from(window);
        p = 1.0 - clear / mean;
    }
    p
}

#[test]
fn hidden_senders_collide_as_often_as_a_renewal_model_says() {
    for window in [256, 512, 1024] {
        let (measured, expected) = (losses(20.0, window, 600.0), renewal(window));
        assert!((measured / expected - 1.0).abs() < 0.05, "{window}: {measured}, model {expected}");
        assert!(expected > 0.2, "that is often");
    }
}

#[test]
fn who_senses_twice_as_far_is_not_hidden() {
    for window in [256, 1024] {
        let measured = losses(40.0, window, 600.0);
        let times = Times {
            slot: 20.0,
            success: 1_257.0 + 10.0 + 203.0 + 50.0,
            collision: 1_257.0 + 364.0,
            payload: 11_200.0,
            window: f64::from(window),
            stages: 0,
            attempts: NO_LIMIT,
        };
        // What is left are those that begin in the same slot.
        let expected = freezing(2, times).collisions;
        assert!(measured < 0.01, "{window}: {measured}");
        assert!((measured - expected).abs() < 0.1 * expected, "{window}: {measured}, model {expected}");
    }
}

#[test]
fn rts_and_cts_protect_long_frames_from_hidden_senders() {
    let run = |rts_threshold: Option<u32>| {
        let mac = MacConfig { rts_threshold, long_retry_limit: u32::MAX, ..fixed(256) };
        let positions = [(0.0, 0.0), (15.0, 0.0), (30.0, 0.0)];
        let mut scene = Scene::new(&network(disk(20.0, 20.0), &mac, &positions), 4);
        for sender in [0, 2] {
            let (_, port) = scene.route(&[sender, 1]);
            scene.send(sender, port, Instant::ZERO, PACKET, 100_000);
        }
        scene.run_until(60.0);
        let stats = scene.world.medium().radio_stats(StationId(0), 1, scene.world.now()).expect("a radio");
        stats.ack_timeouts as f64 / stats.data_sent as f64
    };
    let (without, with) = (run(None), run(Some(500)));
    assert!(without > 0.4, "{without}");
    // The CTS is heard on the other side; only RTS meet RTS.
    assert!(with < 0.01, "{with}");
}

use crate::common::{LONG, Scene, disk, jain, mac, network};
use ropewalk_units::Instant;

/// UDP over IPv4 around 1400 octets of payload.
const PACKET: u32 = 1_428;

fn saturated(n: usize, config: &ropewalk_wifi::MacConfig, seed: u64, seconds: f64) -> (f64, f64) {
    // Senders at even places, each with a receiver of its own... one common receiver.
    let positions: Vec<(f64, f64)> = (0..=n).map(|k| (k as f64 * 0.1, 0.0)).collect();
    let mut scene = Scene::new(&network(disk(50.0, 100.0), config, &positions), seed);
    let mut routes = Vec::new();
    for sender in 1..=n as u32 {
        let (id, port) = scene.route(&[sender, 0]);
        scene.send(sender, port, Instant::ZERO, PACKET, (seconds * 900.0) as u32);
        routes.push(id);
    }
    scene.run_until(seconds);
    let bytes: u64 = routes.iter().map(|&route| scene.delivered(route)).sum();
    let (mut sent, mut failed) = (0, 0);
    for sender in 1..=n as u32 {
        let stats = scene
            .world
            .medium()
            .radio_stats(ropewalk_wifi::StationId(sender), 1, scene.world.now())
            .unwrap();
        sent += stats.data_sent;
        failed += stats.ack_timeouts;
    }
    (bytes as f64 * 1400.0 / 1428.0 * 8.0 / seconds / 1e6, failed as f64 / sent as f64)
}

#[test]
fn explore() {
    let _ = (LONG, jain(&[1.0]));
    for n in [1, 2, 5, 10, 20, 50] {
        let mut config = mac();
        config.short_retry_limit = 1000;
        let a = saturated(n, &config, 1, 20.0);
        config.response_timeout = Some(ropewalk_units::Duration::from_micros(364));
        let b = saturated(n, &config, 1, 20.0);
        println!("{n}: {a:?} aligned {b:?}");
    }
}

//! The `linux` preset against Linux 6.18 over emulated links: 10 Mbit/s, 10 ms one way, MTU 1400.

mod harness;

use harness::{Path, Transfer};
use ropewalk_tcp::{Config, CongestionControl};
use ropewalk_units::{Duration, Instant, Rate};

fn linux(congestion_control: CongestionControl) -> Config {
    Config { mss: 1360, congestion_control, ..Config::linux() }
}

fn path(loss: f64) -> Path {
    Path::new(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(10), loss)
}

const RENO: CongestionControl = CongestionControl::NewReno { byte_counting: true };
const CUBIC: CongestionControl = CongestionControl::Cubic { hystart: true };

#[test]
fn transfers_without_loss_take_as_long() {
    // From connect to the last octet; the measurement repeats to 0.5 ms.
    for (bytes, millis) in [(10_000, 39.3), (100_000, 123.8), (1_000_000, 871.6), (4_000_000, 3364.0)] {
        let mut transfer = Transfer::new(linux(RENO), linux(RENO), &path(0.0), bytes, 1);
        transfer.run(Instant::ZERO + Duration::from_secs(60));
        assert_eq!(transfer.delivered, bytes);
        let measured = transfer.now.as_secs_f64() * 1e3;
        eprintln!("{bytes} octets: {measured:.2} ms against {millis}");
        assert!((measured - millis).abs() < 0.02 * millis + 0.5, "{bytes} octets: {measured:.2} ms");
    }
}

#[test]
fn a_loss_of_half_a_percent_costs_as_much() {
    for (control, mbps) in [(RENO, 7.48), (CUBIC, 7.53)] {
        let goodputs: Vec<f64> = (1..=20)
            .map(|seed| {
                let mut transfer =
                    Transfer::new(linux(control), linux(control), &path(0.005), u64::MAX, seed);
                transfer.run(Instant::ZERO + Duration::from_secs(60));
                transfer.delivered as f64 * 8.0 / 60.0 / 1e6
            })
            .collect();
        let mean = goodputs.iter().sum::<f64>() / 20.0;
        eprintln!("{control:?}: {mean:.2} against {mbps}");
        assert!((mean / mbps - 1.0).abs() < 0.05, "{control:?}: {mean:.2} against {mbps} Mbit/s");
    }
}

//! Times that a real stack measured on the same path.

use super::seconds;

use ropewalk_tcp::{Config, CongestionControl};
use ropewalk_testnet::{Line, Middlebox, Network, QueueLimit, Stack, TcpHost, tcp_network};
use ropewalk_units::{Duration, Instant, Rate};

/// 10 Mbit/s, 10 ms one way, 50 packets of queue, an MTU of 1400. The links of the measurement took 0.09 ms longer each
/// way than they were set to: its captured SYNs and SYN/ACKs took 20.30 ms at the median instead of 20.11.
fn path(data_loss: f64) -> [Line; 2] {
    let direction = |data_loss| Line {
        // And one in transmission.
        queue: QueueLimit::Packets(51),
        middlebox: Middlebox { data_loss, ..Middlebox::default() },
        ..Line::of_rate(Rate::from_bits_per_sec(10_000_000), Duration::from_micros(10_090))
    };
    [direction(data_loss), direction(0.0)]
}

fn reno() -> Config {
    Config {
        mss: 1360,
        congestion_control: CongestionControl::NewReno { byte_counting: true },
        ..Config::linux()
    }
}

fn transfer(config: Config, octets: u64, loss: f64, seed: u64, limit: Instant) -> Network<TcpHost> {
    let mut network = tcp_network([config.clone(), config], [octets, 0], path(loss), seed);
    network.run(limit);
    network
}

#[test]
fn transfer_times_are_those_of_linux() {
    // Linux 6.18, connect to last octet.
    for (octets, milliseconds) in [(10_000, 39.3), (100_000, 123.8), (1_000_000, 871.6), (4_000_000, 3364.0)]
    {
        let network = transfer(reno(), octets, 0.0, 1, Instant::MAX);
        let measured = network.host(1).application().last_octet_at.as_secs_f64() * 1e3;
        println!("{octets}: {measured:.2} ms, Linux {milliseconds} ms");
        assert!(
            (measured / milliseconds - 1.0).abs() < 0.02,
            "{octets} octets took {measured} ms, Linux {milliseconds} ms"
        );
    }
}

/// Mean goodput in Mbit/s over 60 s at 0.5 % loss.
fn goodput(config: &Config) -> f64 {
    let (length, runs) = (60, 8);
    let received = |seed| {
        let network = transfer(config.clone(), 1 << 30, 0.005, seed, seconds(length));
        network.host(1).application().received
    };
    (0..runs).map(received).sum::<u64>() as f64 * 8e-6 / (length * runs) as f64
}

/// RFC 3168 §6.1.2: the echo of one mark lasts a round trip and is one congestion.
#[test]
fn no_mark_reduces_the_window_twice() {
    let config = Config { ecn: true, ..reno() };
    for seed in 0..10 {
        let mut path = path(0.0);
        path[0].middlebox.marks = 0.001;
        let mut network = tcp_network([config.clone(), config.clone()], [20_000_000, 0], path, seed);
        network.run(Instant::MAX);
        let (marked, stats) = (network.marked(0, 0), network.host(0).connection().stats());
        assert!(
            stats.ecn_reductions <= marked && stats.ecn_reductions > marked / 2,
            "{} for {marked}",
            stats.ecn_reductions
        );
    }
}

#[test]
fn goodput_under_random_loss_is_that_of_linux() {
    let cubic = Config { mss: 1360, ..Config::linux() };
    for (name, config, linux) in [("Reno", reno(), 7.48), ("CUBIC", cubic, 7.53)] {
        let mbps = goodput(&config);
        println!("{name} at 0.5 %: {mbps:.2} Mbit/s, Linux {linux}");
        assert!((mbps / linux - 1.0).abs() < 0.05, "{name}: {mbps} Mbit/s, Linux {linux}");
    }
}

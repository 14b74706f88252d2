//! Loss and reordering together, between honest ends with Linux's settings.

use super::{deliver, delivered, lossy, seconds, transfer};
use ropewalk_tcp::Config;
use ropewalk_units::{Duration, Rate};

const TRANSFERS: u64 = 200;
const OCTETS: u64 = 2_000_000;

/// Timeouts of all transfers over 10 ms each way with 0.2 % loss, each segment delayed by up to `jitter` more.
fn timeouts(rate: Rate, jitter: Duration) -> u64 {
    let timeouts_of = |seed| {
        let mut path = lossy(rate, Duration::from_millis(10), 0.0);
        path[0].middlebox.data_loss = 0.002;
        path[0].jitter = jitter;
        let mut network = transfer([Config::linux(), Config::linux()], OCTETS, path, seed);
        deliver(&mut network, OCTETS, seconds(100));
        assert_eq!(delivered(&network), OCTETS);
        network.host(0).connection().stats().timeouts
    };
    (0..TRANSFERS).map(timeouts_of).sum()
}

/// A repaired hole moves TS.Recent, so that originals which were overtaken by the repair are refused (RFC 7323 §5.3).
/// If they are reported as received, they are never sent again but by the timer: about one timeout for each transfer.
#[test]
fn what_a_receiver_drops_is_repaired_without_a_timeout() {
    for (megabits, jitter) in [(100, 2), (100, 10), (20, 5), (20, 10)] {
        let rate = Rate::from_bits_per_sec(megabits * 1_000_000);
        let timeouts = timeouts(rate, Duration::from_millis(jitter));
        assert!(timeouts <= TRANSFERS / 40, "{megabits} Mbit/s, {jitter} ms: {timeouts} timeouts");
    }
}

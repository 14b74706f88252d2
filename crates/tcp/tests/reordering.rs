//! Loss and reordering together, between honest ends with Linux's settings.

mod harness;

use harness::{Path, Transfer};
use ropewalk_tcp::Config;
use ropewalk_units::{Duration, Instant, Rate};

const TRANSFERS: u64 = 200;
const OCTETS: u64 = 2_000_000;

/// Timeouts of all transfers over 10 ms each way with 0.2 % loss, each segment delayed by up to `jitter` more.
fn timeouts(rate: Rate, jitter: Duration) -> u64 {
    let transfer = |seed| {
        let mut path = Path::new(rate, Duration::from_millis(10), 0.002);
        path.forward.jitter = jitter;
        let mut transfer = Transfer::new(Config::linux(), Config::linux(), &path, OCTETS, seed);
        transfer.run(Instant::ZERO + Duration::from_secs(100));
        assert_eq!(transfer.delivered, OCTETS);
        transfer.sender.stats().timeouts
    };
    (0..TRANSFERS).map(transfer).sum()
}

/// A repaired hole moves TS.Recent, so that originals which were overtaken by the repair are refused (RFC 7323 §5.3). If
/// they are reported as received, they are never sent again but by the timer: about one timeout for each transfer.
#[test]
fn what_a_receiver_drops_is_repaired_without_a_timeout() {
    for (megabits, jitter) in [(100, 2), (100, 10), (20, 5), (20, 10)] {
        let rate = Rate::from_bits_per_sec(megabits * 1_000_000);
        let timeouts = timeouts(rate, Duration::from_millis(jitter));
        assert!(timeouts <= TRANSFERS / 40, "{megabits} Mbit/s, {jitter} ms: {timeouts} timeouts");
    }
}

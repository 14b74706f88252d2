//! Rates of a known stream.

use crate::{DeliveryRate, LimitedBy, pacing_rate};
use ropewalk_units::{Duration, Instant, Rate};

const RTT: Duration = Duration::from_millis(40);

/// `octets` each millisecond for `millis`, from `start`.
fn feed(rate: &mut DeliveryRate, start: u64, millis: u64, octets: u32, limit: LimitedBy) {
    for offset in 1..=millis {
        let now = Instant::ZERO + Duration::from_millis(start + offset);
        rate.on_delivered(now, octets, Some(RTT), limit);
    }
}

#[test]
fn a_steady_stream_is_measured_exactly() {
    let mut rate = DeliveryRate::default();
    rate.on_restart(Instant::ZERO);
    assert_eq!(rate.rate(), None);
    feed(&mut rate, 0, 400, 1250, LimitedBy::Window);
    assert_eq!(rate.rate(), Some(Rate::from_bits_per_sec(10_000_000)));
}

#[test]
fn a_change_is_followed_within_a_few_round_trips() {
    let mut rate = DeliveryRate::default();
    rate.on_restart(Instant::ZERO);
    feed(&mut rate, 0, 400, 1250, LimitedBy::Window);
    feed(&mut rate, 400, 10 * 40, 250, LimitedBy::Window);
    let now = rate.rate().expect("measured").as_mbps();
    // 2 + 8 * 0.75^10
    assert!((now - 2.45).abs() < 0.01, "{now}");
}

#[test]
fn an_idle_application_does_not_lower_it() {
    let mut rate = DeliveryRate::default();
    rate.on_restart(Instant::ZERO);
    feed(&mut rate, 0, 400, 1250, LimitedBy::Window);
    feed(&mut rate, 400, 400, 10, LimitedBy::Application);
    assert_eq!(rate.rate(), Some(Rate::from_bits_per_sec(10_000_000)));
    // Nor does a pause, if the restart is told.
    rate.on_restart(Instant::ZERO + Duration::from_secs(60));
    feed(&mut rate, 60_000, 40, 1250, LimitedBy::Window);
    assert_eq!(rate.rate(), Some(Rate::from_bits_per_sec(10_000_000)));
}

#[test]
fn pacing_is_twice_the_window_in_slow_start_and_a_fifth_more_after() {
    // 50 000 octets per 40 ms are 10 Mbit/s.
    assert_eq!(pacing_rate(50_000, 200_000, RTT), Rate::from_bits_per_sec(20_000_000));
    assert_eq!(pacing_rate(50_000, 50_000, RTT), Rate::from_bits_per_sec(12_000_000));
    assert!(pacing_rate(u32::MAX, u32::MAX, Duration::ZERO).bits_per_sec() > 0);
}

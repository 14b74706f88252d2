//! The arithmetic of RFC 6298, step by step.

use super::{RecentMin, RttEstimator};
use crate::config::Config;
use ropewalk_units::{Duration, Instant};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// RFC 6298's estimator without a minimum.
fn plain() -> Config {
    Config { rto_min: Duration::ZERO, rto_floor_on_variance: false, ..Config::linux() }
}

#[test]
fn the_first_samples_follow_the_rfc() {
    let mut rtt = RttEstimator::new(&plain());
    assert_eq!(rtt.rto(), Duration::from_secs(1), "§2.1");
    rtt.on_sample(Instant::ZERO, ms(100));
    // §2.2: SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2.
    assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (Some(ms(100)), ms(50), ms(300)));
    rtt.on_sample(Instant::ZERO, ms(180));
    // §2.3: RTTVAR = 3/4 50 + 1/4 80 = 57.5, SRTT = 7/8 100 + 1/8 180 = 110, RTO = 110 + 230.
    assert_eq!(rtt.rttvar(), Duration::from_micros(57_500));
    assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(110)), ms(340)));
    assert_eq!((rtt.latest(), rtt.min()), (Some(ms(180)), Some(ms(100))));
}

#[test]
fn the_floor_is_on_the_rto_or_on_its_variance() {
    // A steady path: the variance decays to nothing.
    let settled = |config: &Config| {
        let mut rtt = RttEstimator::new(config);
        (0..200).for_each(|_| rtt.on_sample(Instant::ZERO, ms(50)));
        rtt.rto()
    };
    let config = Config { rto_min: ms(200), ..plain() };
    assert_eq!(settled(&config), ms(200), "§2.4");
    assert_eq!(settled(&Config { rto_floor_on_variance: true, ..config }), ms(250), "as Linux");
    assert_eq!(settled(&Config { clock_granularity: ms(10), ..plain() }), ms(60), "max(G, 4 RTTVAR)");
}

#[test]
fn back_off_doubles_up_to_the_limit_and_ends_with_a_measurement() {
    let mut rtt = RttEstimator::new(&Config { rto_max: Duration::from_secs(60), ..plain() });
    rtt.on_sample(Instant::ZERO, ms(1_000));
    let mut seen = Vec::new();
    for _ in 0..8 {
        seen.push(rtt.rto().as_millis());
        rtt.back_off();
    }
    assert_eq!(seen, [3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000, 60_000]);
    rtt.on_sample(Instant::ZERO, ms(1_000));
    assert_eq!(rtt.rto(), ms(2_500));
}

#[test]
fn a_lost_syn_leaves_three_seconds_unless_measured() {
    let mut rtt = RttEstimator::new(&plain());
    rtt.back_off();
    assert_eq!(rtt.rto(), Duration::from_secs(2));
    rtt.after_syn_timeout();
    assert_eq!(rtt.rto(), Duration::from_secs(3), "§5.7");
    let mut measured = RttEstimator::new(&plain());
    measured.on_sample(Instant::ZERO, ms(100));
    measured.after_syn_timeout();
    assert_eq!(measured.rto(), ms(300));
}

#[test]
fn endless_back_off_does_not_overflow() {
    let mut rtt = RttEstimator::new(&Config { rto_max: Duration::from_nanos(u64::MAX), ..plain() });
    for _ in 0..200 {
        let before = rtt.rto();
        rtt.back_off();
        assert!(rtt.rto() >= before);
    }
}

#[test]
fn the_recent_minimum_forgets_and_the_other_does_not() {
    let mut rtt = RttEstimator::new(&plain());
    // A short path for a minute, then a longer one; a sample each second.
    for second in 0..600 {
        let sample = if second < 60 { 20 } else { 50 + second % 7 };
        rtt.on_sample(Instant::ZERO + Duration::from_secs(second), ms(sample));
        assert_eq!(rtt.min(), Some(ms(20)));
        if second < 360 {
            assert_eq!(rtt.recent_min(), Some(ms(20)), "{second}");
        } else if second > 360 {
            assert!(rtt.recent_min() >= Some(ms(50)) && rtt.recent_min() <= Some(ms(56)));
        }
    }
}

/// The third candidate is the least of what came after the second.
#[test]
fn the_recent_minimum_falls_back_on_the_least_of_what_came_later() {
    let mut recent = RecentMin::default();
    for (second, sample) in [(0, 10), (100, 20), (200, 40), (210, 30), (220, 35)] {
        recent.update(Instant::ZERO + Duration::from_secs(second), ms(sample));
    }
    // Those of 10 and of 20 ms have left the window.
    recent.update(Instant::ZERO + Duration::from_secs(405), ms(50));
    assert_eq!(recent.get(), Some(ms(30)));
}

/// A quarter and half a window after the least, later samples become candidates, though they are larger. Ages are
/// in seconds; exactly at a bound nothing changes.
#[test]
fn the_recent_minimum_keeps_candidates_from_later_quarters() {
    let after = |samples: &[(u64, u64)]| {
        let mut recent = RecentMin::default();
        for &(second, sample) in samples {
            recent.update(Instant::ZERO + Duration::from_secs(second), ms(sample));
        }
        recent.get()
    };
    // The least of 10 ms leaves at 301 s: what is known then came at 76 s or later.
    assert_eq!(after(&[(0, 10), (75, 20), (76, 30), (301, 50)]), Some(ms(30)), "75 s are no candidate yet");
    assert_eq!(after(&[(0, 10), (76, 30), (150, 40), (151, 45), (377, 60)]), Some(ms(45)), "nor are 150 s");
    assert_eq!(after(&[(0, 10), (76, 30), (300, 50)]), Some(ms(10)), "300 s still count");
    assert_eq!(after(&[(0, 10), (76, 30), (376, 50)]), Some(ms(30)), "for the second, too");
    // Nothing for longer than a window: only the newest is known.
    assert_eq!(after(&[(0, 10), (76, 30), (152, 40), (453, 60)]), Some(ms(60)));
    assert_eq!(after(&[(0, 10), (76, 30), (152, 40), (452, 60)]), Some(ms(40)), "300 s for the third");
}

/// RFC 4015 §3.2 (11).
#[test]
fn after_a_spurious_timeout_the_rto_follows_from_what_is_set() {
    let mut rtt = RttEstimator::new(&plain());
    rtt.on_sample(Instant::ZERO, ms(100));
    rtt.set(ms(400), ms(50));
    assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (Some(ms(400)), ms(50), ms(600)));
}

#[test]
fn a_back_off_that_is_reset_leaves_the_rto_as_it_was() {
    let mut rtt = RttEstimator::new(&plain());
    rtt.back_off();
    rtt.back_off();
    assert_eq!(rtt.rto(), Duration::from_secs(4));
    rtt.reset_backoff();
    assert_eq!(rtt.rto(), Duration::from_secs(1));
}

//! RFC 9406.

use super::{AckSample, SMSS, ack, config};
use crate::Controller;
use crate::{Config, CongestionControl, HyStart};
use ropewalk_units::{Duration, Instant};

/// Rounds of slow start, each of a window of segments whose round-trip time `rtt(round)` says. Returns cwnd in
/// segments after every round until slow start ends.
fn slow_start(rounds: u32, rtt: impl Fn(u32) -> Duration) -> Vec<u32> {
    let mut controller = Controller::new(
        &config(CongestionControl::Cubic { hystart: HyStart::PlusPlus }),
        SMSS,
        Instant::ZERO,
    );
    let (mut now, mut una) = (Instant::ZERO, 0_u64);
    let mut nxt = una + u64::from(controller.cwnd());
    let mut windows = Vec::new();
    for index in 0..rounds {
        let sent = (nxt - una) / u64::from(SMSS);
        for _ in 0..sent {
            una += u64::from(SMSS);
            let sample = AckSample {
                srtt: Some(rtt(index)),
                latest_rtt: Some(rtt(index)),
                acked: una,
                sent: nxt,
                ..ack(SMSS)
            };
            controller.on_ack(now, &sample);
            nxt = una + u64::from(controller.cwnd());
        }
        now += rtt(index);
        windows.push(controller.cwnd() / SMSS);
        if !controller.in_slow_start() {
            break;
        }
    }
    windows
}

#[test]
fn a_flat_round_trip_time_doubles_the_window() {
    let windows = slow_start(8, |_| Duration::from_millis(50));
    assert_eq!(windows, [20, 40, 80, 160, 320, 640, 1280, 2560]);
}

/// RFC 9406 §4.3: L is 8 segments for one ACK, and nothing if the sender paces.
#[test]
fn one_ack_adds_eight_segments_at_most_unless_the_sender_paces() {
    for (pacing, grown) in [(false, 8), (true, 20)] {
        let hystart = CongestionControl::Cubic { hystart: HyStart::PlusPlus };
        let mut controller = Controller::new(
            &Config { pacing, slow_start_limit: None, ..config(hystart) },
            SMSS,
            Instant::ZERO,
        );
        let before = controller.cwnd();
        controller.on_ack(Instant::ZERO, &ack(20 * SMSS));
        assert_eq!(controller.cwnd() - before, grown * SMSS);
    }
}

#[test]
fn a_small_rise_is_not_enough() {
    // 50 ms: the threshold is 50 / 8 = 6.25 ms per round.
    let windows = slow_start(8, |round| Duration::from_millis(50 + 6 * u64::from(round)));
    assert_eq!(windows.last(), Some(&2560));
}

#[test]
fn a_rise_slows_growth_and_then_ends_slow_start() {
    // 7 ms more from the fourth round on. A round of the algorithm ends a few ACKs before ours (SND.NXT does
    // not yet hold what the ACK at hand lets out), so that the rise is seen in its fifth.
    let windows = slow_start(20, |round| Duration::from_millis(if round < 3 { 50 } else { 57 }));
    assert_eq!(&windows[..3], [20, 40, 80]);
    assert_eq!(windows.len(), 4 + 5, "five conservative rounds: {windows:?}");
    for pair in windows[3..].windows(2) {
        let growth = f64::from(pair[1]) / f64::from(pair[0]);
        assert!((1.15..1.30).contains(&growth), "a quarter per round: {windows:?}");
    }
}

#[test]
fn a_rise_that_passes_resumes_slow_start() {
    let windows = slow_start(10, |round| Duration::from_millis(if round == 3 { 57 } else { 50 }));
    assert_eq!(windows.len(), 10, "still in slow start: {windows:?}");
    let (before, after) = (windows[7], windows[9]);
    assert!(after > 3 * before, "doubling again: {windows:?}");
}

#[test]
fn the_threshold_has_bounds() {
    // 8 ms: an eighth would be 1 ms, but 4 ms is the least.
    assert_eq!(slow_start(8, |r| Duration::from_millis(8 + 3 * u64::from(r.min(1)))).last(), Some(&2560));
    assert!(slow_start(12, |r| Duration::from_millis(8 + 4 * u64::from(r.min(1)))).len() < 12);
    // 400 ms: an eighth would be 50 ms, but 16 ms is the most.
    assert!(slow_start(12, |r| Duration::from_millis(400 + 16 * u64::from(r.min(1)))).len() < 12);
}

//! RFC 8257's Alpha, and HyStart as in Linux.

use super::{AckSample, SMSS, ack, avoiding, config};
use crate::{CongestionControl, Controller, HyStart};
use ropewalk_units::{Duration, Instant};

/// One window of a hundred segments, `marked` of them with the echo.
fn window(controller: &mut Controller, acked: &mut u64, marked: u32) {
    for segment in 0..100 {
        *acked += u64::from(SMSS);
        let sent = *acked + u64::from(100 * SMSS);
        if segment < marked {
            controller.on_marked(SMSS, *acked, sent);
        }
        controller
            .on_ack(Instant::ZERO, &AckSample { acked: *acked, sent, cwnd_limited: false, ..ack(SMSS) });
    }
}

#[test]
fn alpha_follows_the_share_of_marks() {
    let mut controller = avoiding(&config(CongestionControl::Dctcp), 100);
    assert_eq!(controller.alpha(), Some(1.0));
    let mut acked = 0;
    for share in [10, 50, 0] {
        (0..200).for_each(|_| window(&mut controller, &mut acked, share));
        let alpha = controller.alpha().unwrap();
        assert!((alpha - f64::from(share) / 100.0).abs() < 0.02, "{share} %: {alpha}");
    }
}

#[test]
fn one_window_moves_alpha_by_a_sixteenth() {
    let mut controller = avoiding(&config(CongestionControl::Dctcp), 100);
    let mut acked = 0;
    // The first window of observation begins with the first ACK.
    window(&mut controller, &mut acked, 0);
    window(&mut controller, &mut acked, 0);
    let before = controller.alpha().unwrap();
    window(&mut controller, &mut acked, 0);
    let after = controller.alpha().unwrap();
    assert!((after / before - 15.0 / 16.0).abs() < 1e-9, "{before} {after}");
}

#[test]
fn marks_take_half_of_alpha_and_losses_half() {
    let mut controller = avoiding(&config(CongestionControl::Dctcp), 100);
    let mut acked = 0;
    (0..200).for_each(|_| window(&mut controller, &mut acked, 20));
    let alpha = controller.alpha().unwrap();
    controller.on_ecn(100 * SMSS);
    let expected = f64::from(100 * SMSS) * (1.0 - alpha / 2.0);
    assert!((f64::from(controller.cwnd()) - expected).abs() < 2.0, "{} {expected}", controller.cwnd());
    assert_eq!(controller.on_loss(80 * SMSS), 40 * SMSS);
}

/// Slow start with an RTT of 50 ms until it ends: ACKs `apart`, `rise` later from the third round on. Segments then.
fn slow_start(apart: Duration, rise: Duration, rounds: u32) -> Option<u32> {
    let control = CongestionControl::Cubic { hystart: HyStart::Linux };
    let config = crate::Config { slow_start_limit: None, ..config(control) };
    let mut controller = Controller::new(&config, SMSS, Instant::ZERO);
    let (mut now, mut acked) = (Instant::ZERO, 0_u64);
    let mut sent = u64::from(controller.cwnd());
    for round in 0..rounds {
        let rtt = Duration::from_millis(50) + if round >= 2 { rise } else { Duration::ZERO };
        let end = sent;
        let begin = now;
        while acked < end {
            acked += u64::from(SMSS);
            now += apart;
            let sample = AckSample { srtt: Some(rtt), latest_rtt: Some(rtt), acked, sent, ..ack(SMSS) };
            controller.on_ack(now, &sample);
            sent = acked + u64::from(controller.cwnd());
            if !controller.in_slow_start() {
                return Some(controller.cwnd() / SMSS);
            }
        }
        now = (begin + rtt).max(now);
    }
    None
}

#[test]
fn a_train_of_half_a_round_trip_ends_slow_start() {
    // 0.5 ms apart, 25.5 ms of them: the train is long once some 51 segments come in a round.
    let window = slow_start(Duration::from_micros(500), Duration::ZERO, 8).expect("it ends");
    assert!((51..160).contains(&window), "{window}");
    // ACKs that lie further apart than 2 ms make no train.
    assert_eq!(slow_start(Duration::from_micros(2_500), Duration::ZERO, 4), None);
}

#[test]
fn a_risen_delay_ends_slow_start() {
    // An eighth of 50 ms is 6.25 ms.
    let short = Duration::from_micros(10);
    assert!(slow_start(short, Duration::from_millis(7), 6).is_some_and(|window| window <= 90));
    assert_eq!(slow_start(short, Duration::from_millis(6), 6), None);
}

//! RFC 9438 against its closed forms.

use super::{AckSample, SMSS, ack, avoiding, config, round};
use crate::cubic::closed_form::{k, w_cubic};
use crate::{CongestionControl, HyStart};
use crate::{Controller, Timeout};
use ropewalk_units::{Duration, Instant};

const CUBIC: CongestionControl = CongestionControl::Cubic { hystart: HyStart::Off };
const RENO: CongestionControl = CongestionControl::NewReno { byte_counting: true };

fn after_loss(segments: u32) -> Controller {
    let mut controller = avoiding(&config(CUBIC), segments);
    let ssthresh = controller.on_loss(segments * SMSS);
    controller.set_cwnd(ssthresh);
    controller.exit_recovery();
    controller
}

fn thirty_rounds_after_loss(rtt: Duration) -> (Controller, Instant) {
    let (mut controller, mut now) = (after_loss(1000), Instant::ZERO);
    (0..30).for_each(|_| round(&mut controller, &mut now, rtt));
    (controller, now)
}

#[test]
fn the_closed_form_gives_known_numbers() {
    // RFC 9438 §4.2 with W_max = 1000: K = cbrt(1000 * 0.3 / 0.4) = 9.0856 s; W(0) = 700, W(K) = 1000.
    assert!((k(1000.0, 0.7) - 9.0856).abs() < 1e-4);
    assert!((w_cubic(0.0, 1000.0, 0.7) - 700.0).abs() < 1e-6);
    assert!((w_cubic(k(1000.0, 0.7), 1000.0, 0.7) - 1000.0).abs() < 1e-6);
}

#[test]
fn the_window_follows_w_cubic() {
    let mut controller = after_loss(1000);
    assert_eq!(controller.cwnd(), 700 * SMSS, "beta = 0.7");
    let (mut now, rtt) = (Instant::ZERO, Duration::from_millis(100));
    // The stage begins with the first ACK, 1/700 of a round-trip time from now.
    for _ in 0..200 {
        round(&mut controller, &mut now, rtt);
        let expected = w_cubic(now.as_secs_f64(), 1000.0, 0.7);
        let measured = f64::from(controller.cwnd()) / f64::from(SMSS);
        assert!((measured / expected - 1.0).abs() < 0.005, "at {now}: {measured} against {expected}");
    }
    assert!(f64::from(controller.cwnd()) > 1.4e6, "well beyond the plateau by now");
}

#[test]
fn fast_convergence_lowers_the_plateau() {
    let mut controller = after_loss(1000);
    // A second loss at 700 < W_max = 1000: W_max = 700 * 1.7 / 2 = 595, and K = cbrt((595 - 490) / 0.4).
    let ssthresh = controller.on_loss(700 * SMSS);
    assert_eq!(ssthresh, 490 * SMSS);
    controller.set_cwnd(ssthresh);
    controller.exit_recovery();
    let (mut now, rtt) = (Instant::ZERO, Duration::from_millis(100));
    let plateau = libm::cbrt((595.0 - 490.0) / 0.4);
    while now.as_secs_f64() < plateau {
        round(&mut controller, &mut now, rtt);
    }
    assert!((f64::from(controller.cwnd()) / 595_000.0 - 1.0).abs() < 0.005, "{}", controller.cwnd());
}

#[test]
fn after_a_timeout_the_plateau_is_where_avoidance_begins() {
    let mut controller = after_loss(1000);
    assert_eq!(controller.on_timeout(700 * SMSS, Timeout::First), 490 * SMSS);
    controller.set_cwnd(490 * SMSS);
    let (mut now, rtt) = (Instant::ZERO, Duration::from_millis(100));
    for _ in 0..50 {
        round(&mut controller, &mut now, rtt);
    }
    // K = 0: W(t) = 0.4 t^3 + 490.
    let expected = 0.4 * libm::pow(now.as_secs_f64(), 3.0) + 490.0;
    assert!((f64::from(controller.cwnd()) / 1e3 / expected - 1.0).abs() < 0.005);
}

#[test]
fn growth_is_at_most_half_a_window_per_round() {
    let mut controller = after_loss(100);
    let (mut now, rtt) = (Instant::ZERO, Duration::from_secs(10));
    for _ in 0..10 {
        let before = controller.cwnd();
        round(&mut controller, &mut now, rtt);
        // RFC 9438 §4.4: target <= 1.5 cwnd; the compounding of one round's ACKs gives e^0.5 at most.
        assert!(f64::from(controller.cwnd()) < 1.65 * f64::from(before));
    }
}

/// The mean window of a flow that loses exactly one segment of every `1 / p`.
fn mean_window(control: CongestionControl, p: f64) -> f64 {
    let mut controller = avoiding(&config(control), 20);
    let (mut now, rtt) = (Instant::ZERO, Duration::from_millis(1));
    let (mut sent, mut sum, mut rounds) = (0.0, 0.0, 0.0);
    for index in 0..20_000 {
        if index >= 2_000 {
            sum += f64::from(controller.cwnd()) / f64::from(SMSS);
            rounds += 1.0;
        }
        sent += f64::from(controller.cwnd()) / f64::from(SMSS);
        round(&mut controller, &mut now, rtt);
        if sent >= 1.0 / p {
            sent -= 1.0 / p;
            let ssthresh = controller.on_loss(controller.cwnd());
            controller.set_cwnd(ssthresh);
            controller.exit_recovery();
        }
    }
    sum / rounds
}

#[test]
fn in_the_reno_friendly_region_it_takes_what_reno_takes() {
    // RFC 9438 §4.3: at an RTT of 1 ms the cubic is far below Reno. One cycle of Reno from W/2 to W carries
    // 3/8 W^2 + 3/4 W segments (Mathis et al., CCR 1997, without their approximation for large W); mean 3/4 W.
    for p in [0.02, 0.005, 0.001] {
        let (cubic, reno) = (mean_window(CUBIC, p), mean_window(RENO, p));
        let formula = 0.75 * (libm::sqrt(1.0 + 8.0 / (3.0 * p)) - 1.0);
        assert!((reno / formula - 1.0).abs() < 0.08, "Reno {reno} against {formula} at {p}");
        assert!((cubic / reno - 1.0).abs() < 0.10, "CUBIC {cubic} against Reno {reno} at {p}");
    }
}

#[test]
fn time_without_data_is_not_part_of_the_stage() {
    let rtt = Duration::from_millis(100);
    let [(mut pausing, mut a), (mut steady, mut b)] = [(); 2].map(|()| thirty_rounds_after_loss(rtt));
    // Two seconds limited by the application: an ACK now and then, and no growth.
    let before = pausing.cwnd();
    for _ in 0..20 {
        a += rtt;
        pausing.on_ack(a, &AckSample { srtt: Some(rtt), cwnd_limited: false, ..ack(SMSS) });
    }
    assert_eq!(pausing.cwnd(), before);
    for _ in 0..30 {
        round(&mut pausing, &mut a, rtt);
        round(&mut steady, &mut b, rtt);
    }
    let ratio = f64::from(pausing.cwnd()) / f64::from(steady.cwnd());
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
}

#[test]
fn an_idle_time_in_which_the_window_was_not_used_either_is_taken_out_once() {
    let rtt = Duration::from_millis(100);
    let [(mut idling, mut a), (mut steady, mut b)] = [(); 2].map(|()| thirty_rounds_after_loss(rtt));
    let before = idling.cwnd();
    idling.on_ack(a, &AckSample { srtt: Some(rtt), cwnd_limited: false, ..ack(SMSS) });
    let idle = Duration::from_secs(2);
    idling.restart_after_idle(idle, idle);
    idling.set_cwnd(before);
    a += idle;
    for _ in 0..30 {
        round(&mut idling, &mut a, rtt);
        round(&mut steady, &mut b, rtt);
    }
    let ratio = f64::from(idling.cwnd()) / f64::from(steady.cwnd());
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
}

#[test]
fn undo_brings_the_stage_back() {
    let rtt = Duration::from_millis(100);
    let (mut undone, mut untouched) = (after_loss(1000), after_loss(1000));
    let (mut a, mut b) = (Instant::ZERO, Instant::ZERO);
    for _ in 0..20 {
        round(&mut undone, &mut a, rtt);
        round(&mut untouched, &mut b, rtt);
    }
    let before = undone.snapshot();
    let ssthresh = undone.on_loss(undone.cwnd());
    undone.set_cwnd(ssthresh);
    undone.restore(&before);
    for _ in 0..40 {
        round(&mut undone, &mut a, rtt);
        round(&mut untouched, &mut b, rtt);
        assert_eq!(undone.cwnd(), untouched.cwnd());
    }
}

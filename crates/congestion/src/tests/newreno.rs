//! RFC 5681, RFC 3465.

use super::{SMSS, ack, avoiding, config};
use crate::{Config, CongestionControl};
use crate::{Controller, Coupling, Timeout};
use ropewalk_units::{Duration, Instant};

const BYTES: CongestionControl = CongestionControl::NewReno { byte_counting: true };
const ACKS: CongestionControl = CongestionControl::NewReno { byte_counting: false };

#[test]
fn slow_start_adds_a_segment_per_ack_or_the_octets_acknowledged() {
    let now = Instant::ZERO;
    // (control, limit, octets of one ACK, segments added)
    let cases = [
        (ACKS, Some(2), 3 * SMSS, 1),
        (BYTES, Some(2), 2 * SMSS, 2),
        (BYTES, Some(2), 5 * SMSS, 2),
        (BYTES, Some(1), 5 * SMSS, 1),
        (BYTES, None, 5 * SMSS, 5),
    ];
    for (control, slow_start_limit, octets, added) in cases {
        let mut controller =
            Controller::new(&Config { slow_start_limit, ..config(control) }, SMSS, Instant::ZERO);
        let before = controller.cwnd();
        controller.on_ack(now, &ack(octets));
        assert_eq!(controller.cwnd() - before, added * SMSS, "{control:?} limit {slow_start_limit:?}");
    }
}

#[test]
fn slow_start_after_a_timeout_counts_one_segment_per_ack() {
    let mut controller = Controller::new(&config(BYTES), SMSS, Instant::ZERO);
    assert_eq!(controller.on_timeout(20 * SMSS, Timeout::First), 10 * SMSS);
    assert_eq!(controller.cwnd(), SMSS);
    controller.on_ack(Instant::ZERO, &ack(2 * SMSS));
    assert_eq!(controller.cwnd(), 2 * SMSS, "RFC 3465 §2.3: L = 1 after a timeout");
}

#[test]
fn octets_beyond_ssthresh_count_for_congestion_avoidance() {
    let mut controller = avoiding(&config(BYTES), 10);
    controller.set_ssthresh(11 * SMSS);
    controller.on_ack(Instant::ZERO, &ack(2 * SMSS));
    assert_eq!(controller.cwnd(), 11 * SMSS);
    // The second segment is the first of the eleven that the next increase takes.
    controller.on_ack(Instant::ZERO, &ack(10 * SMSS - 1));
    assert_eq!(controller.cwnd(), 11 * SMSS);
    controller.on_ack(Instant::ZERO, &ack(1));
    assert_eq!(controller.cwnd(), 12 * SMSS);
}

#[test]
fn avoidance_adds_one_segment_per_window_of_octets() {
    let mut controller = avoiding(&config(BYTES), 10);
    let mut now = Instant::ZERO;
    for rounds in 1..=50 {
        super::round(&mut controller, &mut now, Duration::from_millis(10));
        assert_eq!(controller.cwnd(), (10 + rounds) * SMSS);
    }
}

#[test]
fn avoidance_per_ack_follows_equation_3() {
    let mut controller = avoiding(&config(ACKS), 10);
    let mut exact = 10_000.0_f64;
    for _ in 0..5_000 {
        controller.on_ack(Instant::ZERO, &ack(2 * SMSS));
        exact += 1_000.0 * 1_000.0 / exact;
        assert!((f64::from(controller.cwnd()) - exact).abs() < 1.5, "{} {exact}", controller.cwnd());
    }
    // The differential equation's solution: sqrt(w0^2 + 2n) segments.
    let expected = libm::sqrt(10.0 * 10.0 + 2.0 * 5_000.0) * 1_000.0;
    assert!((exact / expected - 1.0).abs() < 0.01);
}

#[test]
fn delayed_acks_do_not_slow_byte_counting() {
    let (mut each, mut every_second) = (avoiding(&config(BYTES), 16), avoiding(&config(BYTES), 16));
    for _ in 0..1_000 {
        each.on_ack(Instant::ZERO, &ack(SMSS));
        each.on_ack(Instant::ZERO, &ack(SMSS));
        every_second.on_ack(Instant::ZERO, &ack(2 * SMSS));
    }
    assert_eq!(each.cwnd(), every_second.cwnd());
}

#[test]
fn a_loss_halves_the_flight_or_the_window() {
    let mut flight = avoiding(&config(BYTES), 20);
    assert_eq!(flight.on_loss(12 * SMSS), 6 * SMSS);
    assert_eq!(flight.cwnd(), 20 * SMSS, "cwnd is the recovery's");
    assert_eq!(flight.on_loss(3 * SMSS), 2 * SMSS, "RFC 5681 eq. (4): two segments at least");
    let mut window = avoiding(&Config { ssthresh_from_cwnd: true, ..config(BYTES) }, 20);
    assert_eq!(window.on_loss(12 * SMSS), 10 * SMSS);
}

#[test]
fn only_the_first_timeout_of_a_series_lowers_ssthresh() {
    let mut controller = avoiding(&config(BYTES), 20);
    assert_eq!(controller.on_timeout(20 * SMSS, Timeout::First), 10 * SMSS);
    assert_eq!(controller.on_timeout(SMSS, Timeout::Repeated), 10 * SMSS);
    assert_eq!(controller.cwnd(), SMSS);
}

#[test]
fn a_congestion_mark_moves_cwnd_at_once() {
    let mut controller = avoiding(&config(BYTES), 20);
    assert_eq!(controller.on_ecn(20 * SMSS), 10 * SMSS);
    assert_eq!(controller.cwnd(), 10 * SMSS);
}

#[test]
fn a_window_not_in_use_does_not_grow() {
    for mut controller in [avoiding(&config(BYTES), 10), Controller::new(&config(BYTES), SMSS, Instant::ZERO)]
    {
        let before = controller.cwnd();
        for _ in 0..100 {
            let sample = super::AckSample { cwnd_limited: false, ..ack(SMSS) };
            controller.on_ack(Instant::ZERO, &sample);
        }
        assert_eq!(controller.cwnd(), before);
    }
}

#[test]
fn the_initial_window_follows_the_segment_size_until_it_grows() {
    let mut controller = Controller::new(&config(BYTES), 1460, Instant::ZERO);
    assert_eq!(controller.cwnd(), 14_600);
    controller.set_smss(1448);
    assert_eq!(controller.cwnd(), 14_480);
    controller.on_ack(Instant::ZERO, &ack(1448));
    controller.set_smss(1400);
    assert_eq!(controller.cwnd(), 15_928);
}

#[test]
fn idle_time_halves_the_window_per_rto_down_to_the_initial_one() {
    let rto = Duration::from_millis(200);
    // (segments, idle in RTOs, segments after)
    for (segments, idle, after) in [(64, 1, 32), (64, 2, 16), (64, 3, 10), (64, 1_000, 10), (8, 1, 8)] {
        let mut controller = avoiding(&config(BYTES), segments);
        controller.restart_after_idle(rto * idle, rto);
        assert_eq!(controller.cwnd(), after * SMSS);
        assert_eq!(controller.ssthresh(), segments * SMSS, "ssthresh is not lowered");
    }
}

#[test]
fn undoing_brings_both_windows_back() {
    let mut controller = avoiding(&config(BYTES), 40);
    let before = controller.snapshot();
    controller.on_timeout(40 * SMSS, Timeout::First);
    controller.restore(&before);
    assert_eq!((controller.cwnd(), controller.ssthresh()), (40 * SMSS, 40 * SMSS));
}

#[test]
fn penalization_halves_within_bounds() {
    let mut controller = avoiding(&config(BYTES), 40);
    controller.penalize();
    assert_eq!((controller.cwnd(), controller.ssthresh()), (20 * SMSS, 20 * SMSS));
    let mut starting = Controller::new(&config(BYTES), SMSS, Instant::ZERO);
    let ssthresh = starting.ssthresh();
    for _ in 0..10 {
        starting.penalize();
    }
    assert_eq!((starting.cwnd(), starting.ssthresh()), (SMSS, ssthresh));
}

#[test]
fn a_coupling_sets_increase_and_decrease() {
    let control = CongestionControl::Coupled { byte_counting: true };
    let mut controller = avoiding(&config(control), 10);
    controller.set_coupling(Coupling { increase: 0.05, ssthresh_after_loss: 1.0 });
    for _ in 0..200 {
        controller.on_ack(Instant::ZERO, &ack(SMSS / 2));
    }
    // 100 segments acknowledged, 0.05 each; the fraction of an octet is all that may be missing.
    assert!(controller.cwnd().abs_diff(15 * SMSS) <= 1, "{}", controller.cwnd());
    controller.set_coupling(Coupling { increase: -1.0, ssthresh_after_loss: 0.2 });
    for _ in 0..200 {
        controller.on_ack(Instant::ZERO, &ack(SMSS));
    }
    assert_eq!(controller.cwnd(), SMSS, "one segment is the least");
    assert_eq!(controller.on_loss(10 * SMSS), SMSS);
}

#[test]
fn a_coupling_of_one_over_the_window_is_reno() {
    let control = CongestionControl::Coupled { byte_counting: false };
    let (mut coupled, mut reno) = (avoiding(&config(control), 7), avoiding(&config(ACKS), 7));
    for _ in 0..3_000 {
        let increase = f64::from(SMSS) / f64::from(coupled.cwnd());
        coupled.set_coupling(Coupling { increase, ssthresh_after_loss: 2.0 });
        coupled.on_ack(Instant::ZERO, &ack(SMSS));
        reno.on_ack(Instant::ZERO, &ack(SMSS));
    }
    assert!(coupled.cwnd().abs_diff(reno.cwnd()) <= 2, "{} {}", coupled.cwnd(), reno.cwnd());
}

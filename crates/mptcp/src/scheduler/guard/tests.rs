//! Verdicts on paths that are given, and the model. Whole transfers are in `tests/network/guard.rs`.

use super::Guard;
use crate::config::{Coupling, GuardConfig};
use crate::id::SubflowId;
use crate::scheduler::rule::SchedulingRule;
use crate::view::SubflowView;
use crate::view::samples::{queue, subflow};
use ropewalk_units::{Duration, Instant, Rate};

/// A path in use at so many segments of 1000 octets each second, of which this share is lost.
fn carries(view: &mut SubflowView, segments: u64, loss: f64, step: u64) {
    let lost = |steps: u64| (segments as f64 * loss * steps as f64) as u64;
    view.segments_sent = segments * step;
    view.bytes_acked = (view.segments_sent - lost(step)) * 1000;
    view.retransmissions = lost(step);
    view.loss_events = lost(step);
    view.flight = view.cwnd;
    view.pipe = view.cwnd;
    view.cwnd_space = 0;
    view.delivery_rate = Some(Rate::from_bits_per_sec(segments * 80_000));
}

#[test]
fn a_path_left_out_takes_no_part_in_the_coupling() {
    let mut guard = Guard::new(GuardConfig::default(), Coupling::Lia, 1);
    let rtt = Duration::from_millis(20);
    let mut views = [subflow(0, 20, rtt), subflow(1, 2, rtt)];
    // A step is 100 ms: 8 Mbit/s with losses of 0.5 %, and 1 Mbit/s with losses of 20 %.
    for step in 0..300 {
        carries(&mut views[0], 100, 0.005, step);
        carries(&mut views[1], 12, 0.2, step);
        let now = Instant::ZERO + Duration::from_millis(100 * step);
        guard.pick(now, &views, &queue());
    }
    assert!(guard.participates(SubflowId(0)));
    assert!(!guard.participates(SubflowId(1)));
    assert!(guard.participates(SubflowId(9)), "nothing is held against an unknown one");
}

mod model {
    use super::super::model::{PathParameters, Prediction, predict};
    use crate::config::Coupling;
    use crate::view::samples::subflow;
    use ropewalk_units::Duration;

    fn path(loss: f64, capacity: f64) -> PathParameters {
        PathParameters {
            loss,
            base_rtt: 0.02,
            largest_rtt: 0.08,
            rto: 0.2,
            capacity,
            smss: 1400.0,
            segments_per_ack: 1.0,
        }
    }

    fn predicted(coupling: Coupling, paths: &[PathParameters], window: f64) -> Prediction {
        let views: Vec<_> =
            (0..paths.len()).map(|id| subflow(id as u32, 10, Duration::from_millis(20))).collect();
        predict(coupling, &views, paths, window)
    }

    fn alone(path: PathParameters, window: f64) -> f64 {
        predicted(Coupling::Uncoupled, &[path], window).goodput
    }

    #[test]
    fn one_path_without_limits_is_the_formula() {
        // 1400 / (0.02·√(0.01/1.5) + 0.2·0.01·1.0032·3·√0.00375), RFC 3819's with an ACK per segment.
        let expected =
            1400.0 / (0.02 * (0.01f64 / 1.5).sqrt() + 0.2 * 0.01 * 1.0032 * 3.0 * 0.00375f64.sqrt());
        let rate = alone(path(0.01, f64::INFINITY), 1e12);
        assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} {expected}");
    }

    #[test]
    fn delayed_acks_slow_the_growth_where_acks_are_counted() {
        let delayed = PathParameters { segments_per_ack: 2.0, rto: 0.0, ..path(0.005, f64::INFINITY) };
        let prompt = PathParameters { segments_per_ack: 1.0, ..delayed };
        let ratio = alone(prompt, 1e12) / alone(delayed, 1e12);
        assert!((ratio - 2.0f64.sqrt()).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn capacity_and_window_bound_it() {
        assert!(alone(path(1e-6, 1e6), 1e12) <= 1e6);
        assert!(alone(path(1e-6, 1e6), 1e12) > 0.99e6);
        // A window of 10 kB per 20 ms.
        assert!(alone(path(1e-6, 1e9), 10_000.0) <= 500_000.0);
    }

    #[test]
    fn coupling_takes_from_the_good_path_when_loss_limits_it_and_not_when_capacity_does() {
        let lossy = [path(0.005, 1.2e6), path(0.03, 0.25e6)];
        let uncoupled = predicted(Coupling::Uncoupled, &lossy, 1e12);
        let lia = predicted(Coupling::Lia, &lossy, 1e12);
        assert!(lia.rates[0] < 0.95 * uncoupled.rates[0]);
        assert!(uncoupled.goodput > lia.goodput);
        let clean = [path(1e-5, 1.2e6), path(1e-5, 0.25e6)];
        assert!(predicted(Coupling::Lia, &clean, 1e12).goodput > 1.4e6);
    }

    #[test]
    fn coupled_rules_on_like_paths_take_one_share() {
        let like = [path(0.01, f64::INFINITY), path(0.01, f64::INFINITY)];
        let one = alone(like[0], 1e12);
        for coupling in [Coupling::Lia, Coupling::RttCompensator, Coupling::Olia, Coupling::Balia] {
            let both = predicted(coupling, &like, 1e12).goodput;
            // The timeouts' term does not shrink with the window's growth, so a little more than one share.
            assert!(both > 0.9 * one && both < 1.25 * one, "{coupling:?}: {both} {one}");
        }
    }

    #[test]
    fn a_small_window_makes_repairs_of_the_poor_path_costly() {
        let good = path(0.005, 1.2e6);
        let set = [good, path(0.05, 0.25e6)];
        assert!(predicted(Coupling::Uncoupled, &set, 4e6).efficiency > 0.999);
        assert!(predicted(Coupling::Uncoupled, &set, 4e6).goodput > alone(good, 4e6));
        assert!(predicted(Coupling::Uncoupled, &set, 65_536.0).goodput < alone(good, 65_536.0));
    }

    #[test]
    fn cubic_is_not_below_reno() {
        for loss in [0.0001, 0.001, 0.01, 0.1] {
            let one = [path(loss, f64::INFINITY)];
            let (cubic, reno) =
                (predicted(Coupling::Cubic, &one, 1e12), predicted(Coupling::Uncoupled, &one, 1e12));
            assert!(cubic.goodput >= reno.goodput);
        }
    }
}

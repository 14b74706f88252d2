//! Verdicts on paths that are given, and the model. Whole transfers are in `tests/network/guard.rs`.

use super::Guard;
use crate::config::{Coupling, GuardConfig};
use crate::id::SubflowId;
use crate::scheduler::rule::{Decision, SchedulingRule};
use crate::view::samples::{queue, subflow};
use crate::view::{QueueView, SubflowView};
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
    let (guard, ..) = leaves_out_the_second();
    assert!(guard.participates(SubflowId(0)));
    assert!(!guard.participates(SubflowId(1)));
    assert!(guard.participates(SubflowId(9)), "nothing is held against an unknown one");
}

/// A guard that uses path 0 of 20 ms and leaves out path 1, of which it has seen losses of 20 %, after 30 s.
fn leaves_out_the_second() -> (Guard, [SubflowView; 2], Instant) {
    let mut guard = Guard::new(GuardConfig::default(), Coupling::Lia, 1);
    let rtt = Duration::from_millis(20);
    let mut views = [subflow(0, 20, rtt), subflow(1, 2, rtt)];
    let mut now = Instant::ZERO;
    // A step is 100 ms: 8 Mbit/s with losses of 0.5 %, and 1 Mbit/s with losses of 20 %.
    for step in 0..300 {
        carries(&mut views[0], 100, 0.005, step);
        carries(&mut views[1], 12, 0.2, step);
        now = Instant::ZERO + Duration::from_millis(100 * step);
        guard.pick(now, &views, &queue());
    }
    assert!(!guard.participates(SubflowId(1)));
    (guard, views, now)
}

fn copies(decision: &Decision) -> Option<(u32, &'static str)> {
    if let Decision::Copy { subflow, reason, .. } = decision { Some((subflow.0, reason)) } else { None }
}

/// A path left out gets copies of what is on its way elsewhere, a few at a time.
#[test]
fn a_probe_copies_what_is_in_flight_and_builds_no_queue() {
    let (mut guard, mut views, now) = leaves_out_the_second();
    let later = now + Duration::from_secs(40);
    guard.left_behind = 0;
    let mut probe = |views: &[SubflowView; 2], in_flight| {
        let queue = QueueView { in_flight, unsent: 0, ..queue() };
        copies(&guard.pick_blocked(later, views, &queue, "nothing to send"))
    };
    (views[1].flight, views[1].pipe) = (0, 0);
    (views[1].cwnd, views[1].cwnd_space) = (20_000, 20_000);
    assert_eq!(probe(&views, 0), None, "there is nothing to copy");
    assert_eq!(probe(&views, 10_000), Some((1, "goodput guard: probe")));
    (views[1].flight, views[1].pipe) = (4000, 4000);
    assert_eq!(probe(&views, 10_000), None, "four on their way are the most");
    (views[1].flight, views[1].pipe) = (3999, 3999);
    assert_eq!(probe(&views, 10_000), Some((1, "goodput guard: probe")));
    let more = (0..100).take_while(|_| probe(&views, 10_000).is_some()).count();
    assert!((1..32).contains(&more), "a probe ends: {more} more");
    views[1].send_space = 0;
    assert_eq!(probe(&views, 10_000), None);
}

#[test]
fn what_is_on_its_way_when_a_path_is_left_out_is_to_be_copied() {
    let mut guard = Guard::new(GuardConfig::default(), Coupling::Lia, 1);
    let rtt = Duration::from_millis(20);
    let mut views = [subflow(0, 20, rtt), subflow(1, 2, rtt)];
    let queue = QueueView { in_flight: 22_000, ..queue() };
    let mut step = 0;
    while guard.participates(SubflowId(1)) {
        carries(&mut views[0], 100, 0.005, step);
        carries(&mut views[1], 12, 0.2, step);
        guard.pick(Instant::ZERO + Duration::from_millis(100 * step), &views, &queue);
        step += 1;
    }
    assert_eq!(guard.left_behind, views[1].queued());
}

/// The best path carries as well what a path left out has on its way, and no more.
#[test]
fn what_a_path_left_out_carries_is_copied_once() {
    let (mut guard, mut views, now) = leaves_out_the_second();
    guard.left_behind = 2500;
    (views[0].flight, views[0].pipe, views[0].cwnd_space) = (0, 0, 20_000);
    let reason = "goodput guard: reinjection from a path left out";
    let queue = QueueView { in_flight: 10_000, ..queue() };
    for left in [1500, 500, 0] {
        assert_eq!(copies(&guard.pick(now, &views, &queue)), Some((0, reason)));
        assert_eq!(guard.left_behind, left);
    }
    assert_ne!(copies(&guard.pick(now, &views, &queue)), Some((0, reason)));
    guard.left_behind = 2500;
    guard.pick(now, &views, &QueueView { in_flight: 0, ..queue });
    assert_eq!(guard.left_behind, 0, "all of it has arrived");
}

/// A second path is used if what it is given arrives before the best one has used the window up, or is done.
#[test]
fn a_path_waits_where_the_best_one_would_be_blocked_or_done() {
    let (guard, views, _) = leaves_out_the_second();
    let (best, mut other) = (views[0], views[1]);
    let rate = guard.path(best.id).rate_now(&best);
    (other.flight, other.pipe) = (0, 0);
    let delay = guard.path(other.id).delay_of_next(&other);
    let blocks = |window: f64, unsent: u64| {
        let queue = QueueView { in_flight: 0, window_left: window as u64, unsent, ..queue() };
        guard.would_block(&best, &other, &queue)
    };
    let ample = 1_000_000_000;
    assert!(blocks(rate * delay * 0.99, ample));
    assert!(!blocks(rate * delay * 1.01, ample));
    // Both round trips are 20 ms, but for the segment itself on the second path.
    let backlog = ((delay - 0.02) * rate) as u64;
    assert!(blocks(1e9, backlog * 99 / 100));
    assert!(!blocks(1e9, backlog * 101 / 100));
}

/// A path that is left out comes back when its rest is over, if the set promises 2 % more than it must to stay, which is 10 % under
/// coupled congestion control.
#[test]
fn a_path_returns_after_its_rest_if_the_set_promises_enough() {
    let (mut guard, views, _) = leaves_out_the_second();
    let until = guard.path(SubflowId(1)).left_out.expect("it is left out");
    let chosen = |guard: &Guard, now, worth| guard.choose(now, views[0], worth, 1.0, &views).len();
    assert_eq!(chosen(&guard, until - Duration::from_nanos(1), 0.0), 1);
    assert_eq!(chosen(&guard, until, 0.0), 2);
    let promised = guard.predict(&views).goodput;
    let borders = |guard: &Guard, margin: f64| {
        [0.999, 1.001].map(|part| chosen(guard, until, part * promised / margin)) == [2, 1]
    };
    assert!(borders(&guard, 1.1 * 1.02));
    guard.paths[1].left_out = None;
    assert!(borders(&guard, 1.1));
}

/// A path that is not known is first probed where the repair of a loss by a timeout would outlast the window.
#[test]
fn a_new_path_is_probed_first_where_one_loss_would_block_the_best() {
    let (known, views, now) = leaves_out_the_second();
    let new = subflow(2, 10, Duration::from_millis(200));
    let repair = known.path(new.id).parameters(&new, 1.0).longest_repair();
    let needed = known.path(views[0].id).rate_now(&views[0]) * repair;
    for (window, is_used) in [(0.999 * needed, false), (1.001 * needed, true)] {
        let mut guard = known.clone();
        guard.paths.resize(3, Default::default());
        guard.window = window;
        guard.begin_trial(now, &new, &views[0]);
        assert_eq!(guard.is_in_use(new.id), is_used);
    }
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

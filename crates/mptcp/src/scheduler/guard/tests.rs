//! Verdicts on paths that are given, and the model. Whole transfers are in `tests/network/guard.rs`.

use super::correction::Correction;
use super::estimate::PathEstimate;
use super::{Guard, SETTLING};
use crate::config::{Config, Coupling, GuardConfig, Scheduler};
use crate::id::SubflowId;
use crate::scheduler::rule::{Decision, SchedulingRule};
use crate::view::samples::{carry, queue, subflow};
use crate::view::{QueueView, SubflowView};
use ropewalk_units::{Duration, Instant, Rate};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found}, not {expected}");
}

/// Guards subflows that nothing is known of.
fn guard() -> Guard {
    Guard::new(GuardConfig::default(), Coupling::Uncoupled, 1)
}

/// b is the delayed-ACK setting where windows grow by ACKs, and 1 where they grow by octets.
#[test]
fn a_guard_is_as_the_configuration_says() {
    let chosen = GuardConfig { probe_interval: Duration::from_secs(3), probe_segments: 2 };
    for (byte_counting, segments_per_ack) in [(false, 2), (true, 1)] {
        let mut config = Config {
            scheduler: Scheduler::GoodputGuard(chosen),
            coupling: Coupling::Olia,
            byte_counting,
            ..Config::linux()
        };
        config.tcp.delayed_ack.segments = 2;
        assert_eq!(Guard::of(&config), Guard::new(chosen, Coupling::Olia, segments_per_ack));
        // CUBIC and BBR count octets, whatever control TCP would have alone.
        for coupling in [Coupling::Cubic, Coupling::Bbr] {
            let config = Config { coupling, ..config.clone() };
            assert_eq!(Guard::of(&config), Guard::new(chosen, coupling, 1));
        }
    }
}

#[test]
fn paths_are_measured_ten_times_a_second() {
    let mut guard = guard();
    let views = [subflow(0, 20, ms(20))];
    let mut looks = |millis| {
        let before = guard.clone();
        guard.pick(Instant::ZERO + ms(millis), &views, &queue());
        guard != before
    };
    assert_eq!([0, 99, 100, 199, 200].map(&mut looks), [true, false, true, false, true]);
}

/// W is the largest window seen lately, and fades by a hundredth at each measurement.
#[test]
fn a_window_that_shrinks_is_remembered_for_a_while() {
    let mut guard = guard();
    let views = [subflow(0, 20, ms(20))];
    let windows = [100_000, 20_000, 20_000, 98_500].into_iter().enumerate().map(|(step, window_left)| {
        let queue = QueueView { window_left, ..queue() };
        guard.pick(Instant::ZERO + ms(100) * step as u64, &views, &queue);
        guard.window
    });
    for (found, expected) in windows.zip([100_000.0, 99_000.0, 98_010.0, 98_500.0]) {
        near(found, expected);
    }
}

fn sent(decision: &Decision) -> Option<(u32, &'static str)> {
    if let Decision::Send { subflow, reason, .. } = decision { Some((subflow.0, reason)) } else { None }
}

#[test]
fn the_best_path_is_filled_before_a_quicker_one_and_then_that_is_used() {
    let mut views = [subflow(0, 20, ms(20)), subflow(1, 20, ms(50))];
    for (best, carries) in [(None, 0), (Some(SubflowId(1)), 1)] {
        let mut guard = guard();
        guard.best = best;
        let decision = guard.pick(Instant::ZERO, &views, &queue());
        assert_eq!(sent(&decision), Some((carries, "goodput guard: best path has room")));
    }
    let mut guard = Guard { best: Some(SubflowId(1)), ..guard() };
    carry(&mut views[1], 20_000);
    let decision = guard.pick(Instant::ZERO, &views, &queue());
    assert_eq!(sent(&decision), Some((0, "goodput guard: brings more than it costs")));
}

#[test]
fn a_path_left_out_carries_new_data_only_while_those_in_use_are_in_trouble() {
    let (mut guard, mut views, now) = leaves_out_the_second();
    (views[1].flight, views[1].pipe, views[1].cwnd_space) = (0, 0, views[1].cwnd);
    let decision = guard.pick(now, &views, &queue());
    assert_eq!(decision, Decision::wait("goodput guard: no path in use has room"));
    views[0].in_timeout_recovery = true;
    let decision = guard.pick(now, &views, &queue());
    assert_eq!(sent(&decision), Some((1, "goodput guard: paths in use are in trouble")));
}

#[test]
fn a_verdict_puts_a_new_path_on_trial() {
    let (mut guard, [first, second], now) = leaves_out_the_second();
    guard.window = 10_000.0;
    let views = [first, second, subflow(2, 10, ms(200))];
    guard.pick(now + ms(500), &views, &QueueView { window_left: 10_000, ..queue() });
    assert!(guard.participates(SubflowId(0)));
    assert!(!guard.participates(SubflowId(2)), "a loss on it would block the best path");
}

#[test]
fn nothing_is_held_against_another_subflow_in_the_place_of_one_left_out() {
    let (mut guard, ..) = leaves_out_the_second();
    let mut scheduler = crate::scheduler::Scheduler::GoodputGuard(Box::new(guard.clone()));
    assert_eq!([0, 1].map(|id| scheduler.participates(SubflowId(id))), [true, false]);
    scheduler.forget(SubflowId(1));
    assert_eq!([0, 1].map(|id| scheduler.participates(SubflowId(id))), [true, true]);
    guard.forget(SubflowId(1));
    assert_eq!(guard.best, Some(SubflowId(0)), "it is still there");
    guard.forget(SubflowId(0));
    assert_eq!(guard.best, None);
}

/// What the corrections alone and together are after a second in which these paths of two carried half of what was predicted. The
/// set has been in force for `age`.
fn learnt(age: Duration, in_use: &[usize], best: u32, [alone, together]: [Correction; 2]) -> [f64; 2] {
    let views = [subflow(0, 20, ms(20)), subflow(1, 20, ms(20))];
    let now = Instant::ZERO + Duration::from_secs(10);
    let mut guard = Guard { window: 1e9, since: Some(now - age), alone, together, ..guard() };
    guard.paths = vec![PathEstimate::default(); 2];
    for (place, path) in guard.paths.iter_mut().enumerate() {
        path.left_out = (!in_use.contains(&place)).then_some(now);
    }
    let used: Vec<SubflowView> = in_use.iter().map(|place| views[*place]).collect();
    let promised = if used.is_empty() { 1e6 } else { guard.predict(&used).goodput };
    guard.carried.add(now - Duration::from_secs(1), (promised / 2.0) as u64, false);
    guard.learn(now, &views, SubflowId(best));
    [guard.alone, guard.together].map(|correction| correction.or(&Correction::default()))
}

/// Half of what was predicted: before anything is known a correction is 1, and then what was measured.
#[test]
fn what_was_carried_corrects_the_prediction_for_as_many_paths() {
    let unknown = [Correction::default(); 2];
    let corrections = |in_use: &[usize], best| {
        learnt(SETTLING, in_use, best, unknown).map(|correction| (correction * 1e4).round() / 1e4)
    };
    assert_eq!(corrections(&[0], 0), [0.5, 1.0]);
    assert_eq!(corrections(&[0, 1], 0), [1.0, 0.5]);
    assert_eq!(corrections(&[0], 1), [1.0, 1.0], "it is the best path's that counts");
    assert_eq!(corrections(&[], 1), [1.0, 1.0]);
}

#[test]
fn a_set_of_paths_is_not_measured_before_it_has_settled() {
    let unknown = [Correction::default(); 2];
    let age = Duration::from_millis(1500);
    assert!(learnt(age, &[0], 0, unknown)[0] < 1.0);
    near(learnt(age - Duration::from_nanos(1), &[0], 0, unknown)[0], 1.0);
}

/// A second is a sixtieth of the way.
#[test]
fn a_correction_that_is_not_measured_moves_towards_the_other() {
    let known = |ratio: f64| {
        let mut correction = Correction::default();
        correction.add(ratio, 10.0);
        correction
    };
    let [alone, together] = learnt(SETTLING, &[0], 0, [known(0.5), known(1.5)]);
    assert!((alone - 0.5).abs() < 1e-4, "{alone}");
    near(together, 1.5 - 1.0 / 60.0);
    let [alone, together] = learnt(SETTLING, &[0, 1], 0, [known(1.5), known(0.5)]);
    assert!((together - 0.5).abs() < 1e-4, "{together}");
    near(alone, 1.5 - 1.0 / 60.0);
}

/// 8 Mbit/s with losses of 0.5 % are more than the formula's 778 000 octets a second. With less to send than the path takes,
/// nothing is learnt.
#[test]
fn a_transfer_that_the_application_limits_says_nothing_about_the_model() {
    for (unsent, correction) in [(1_000_000, 1.15..1.4), (0, 1.0..1.000_001)] {
        let mut guard = guard();
        let mut views = [subflow(0, 20, ms(20))];
        for step in 0..200 {
            carries(&mut views[0], 100, 0.005, step);
            guard.pick(Instant::ZERO + ms(100) * step, &views, &QueueView { unsent, ..queue() });
        }
        let found = guard.alone.or(&Correction::default());
        assert!(correction.contains(&found), "{found}");
    }
}

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

#[test]
fn what_a_larger_set_promises_is_corrected_by_what_sets_have_carried() {
    let (mut guard, views, now) = leaves_out_the_second();
    guard.paths[1].left_out = None;
    let promised = guard.predict(&views).goodput;
    let chosen = [0.999, 1.001]
        .map(|part| guard.choose(now, views[0], part * 0.5 * promised / 1.1, 0.5, &views).len());
    assert_eq!(chosen, [2, 1]);
}

/// R_best · delay ≤ W and delay ≤ SRTT_best + backlog / R_best, in numbers that fit without a rest: 20 000 octets in 2 s, and 4 s.
#[test]
fn what_just_fits_the_window_and_the_backlog_is_sent() {
    let guard = guard();
    let best = subflow(0, 20, Duration::from_secs(2));
    let other = subflow(1, 20, Duration::from_secs(4));
    for (window_left, unsent, blocks) in [
        (39_999, 1_000_000, true),
        (40_000, 1_000_000, false),
        (40_000, 20_000, false),
        (40_000, 19_999, true),
    ] {
        let queue = QueueView { window_left, unsent, ..queue() };
        assert_eq!(guard.would_block(&best, &other, &queue), blocks, "{window_left} {unsent}");
    }
}

/// T₀ + τ = (1 + 4 · 1/4) + 1 seconds at 10 000 octets a second. What the path has on its way is copied.
#[test]
fn a_new_path_is_probed_first_where_a_timeout_and_a_round_trip_outlast_the_window() {
    let best = subflow(0, 20, Duration::from_secs(2));
    let mut new = subflow(1, 20, Duration::from_secs(1));
    new.rttvar = ms(250);
    new.flight = 5000;
    for (window, is_used, left_behind) in [(30_000.0, true, 1000), (29_999.0, false, 6000)] {
        let mut guard = Guard { window, left_behind: 1000, ..guard() };
        guard.paths = vec![PathEstimate::default(); 2];
        guard.begin_trial(Instant::ZERO, &new, &best);
        assert_eq!((guard.is_in_use(new.id), guard.left_behind), (is_used, left_behind), "{window}");
    }
}

/// Whatever is usable and comes first.
#[test]
fn only_the_best_path_carries_what_one_left_out_has_on_its_way() {
    let mut views = [subflow(0, 20, ms(20)), subflow(1, 20, ms(20))];
    let mut guard = Guard { best: Some(SubflowId(1)), left_behind: 2500, ..guard() };
    let queue = QueueView { in_flight: 10_000, ..queue() };
    let reason = "goodput guard: reinjection from a path left out";
    assert_eq!(copies(&guard.pick(Instant::ZERO, &views, &queue)), Some((1, reason)));
    views[1].usable = false;
    assert_eq!(copies(&guard.pick(Instant::ZERO, &views, &queue)), None);
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
    use super::super::model::{PathParameters, Prediction, is_coupled, predict};
    use super::near;
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
    fn subflows_that_run_a_control_each_are_not_coupled() {
        for coupling in [Coupling::Uncoupled, Coupling::Cubic, Coupling::Bbr, Coupling::Wvegas] {
            assert!(!is_coupled(coupling), "{coupling:?}");
        }
        assert!([Coupling::Lia, Coupling::Olia, Coupling::Balia].into_iter().all(is_coupled));
    }

    #[test]
    fn one_path_without_limits_is_the_formula() {
        // 1400 / (0.02·√(0.01/1.5) + 0.2·0.01·1.0032·3·√0.00375), RFC 3819's with an ACK per segment.
        let expected =
            1400.0 / (0.02 * (0.01f64 / 1.5).sqrt() + 0.2 * 0.01 * 1.0032 * 3.0 * 0.00375f64.sqrt());
        let rate = alone(path(0.01, f64::INFINITY), 1e12);
        assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} {expected}");
    }

    /// RFC 3819 §8.5: MSS / (RTT √(1.33 p) + RTO p (1 + 32 p²) min(1, 3 √(0.75 p))).
    #[test]
    fn with_delayed_acks_it_is_rfc_3819_s_formula() {
        let delayed = PathParameters { segments_per_ack: 2.0, ..path(0.01, f64::INFINITY) };
        let expected = 1400.0
            / (0.02 * (0.01f64 * 4.0 / 3.0).sqrt() + 0.2 * 0.01 * 1.0032 * 3.0 * (0.75 * 0.01f64).sqrt());
        near(alone(delayed, 1e12), expected);
    }

    /// The page's equations, step by step: w = √150 = 12.247, x = 1000 / (0.1/w + 0.4 · 0.01 · 1.0032 · 3 √0.00375) = 112 332.
    #[test]
    fn a_repair_that_outlasts_the_window_takes_from_the_goodput() {
        let path = |capacity| PathParameters {
            base_rtt: 0.1,
            largest_rtt: 0.3,
            rto: 0.4,
            smss: 1000.0,
            ..path(0.01, capacity)
        };
        // r = (x⁻³ + C⁻³)^(−1/3) = 83 698, RTT = 0.1 x/r = 0.13421, q = 3/w = 0.24495, W/r = 0.15054,
        // D = (1 − q)(2 RTT + 3 MSS/r) + q (0.4 + RTT) = 0.36059, η = 1/(1 + 83.698 · 0.01 · (D − W/r)).
        let full = predicted(Coupling::Uncoupled, &[path(100_000.0)], 12_600.0);
        near(full.efficiency, 0.850_479_172);
        near(full.goodput, 71_183.802_3);
        // r = 19 962.5; the queue ends at an RTT of 0.3 s, so that only w · 3 r/x = 6.5295 segments are on their way:
        // q = 0.45946, W/r = 0.35066, D = 0.72718.
        let overfull = predicted(Coupling::Uncoupled, &[path(20_000.0)], 7_000.0);
        near(overfull.efficiency, 0.930_091_260);
        near(overfull.goodput, 18_566.960_9);
    }

    #[test]
    fn a_flow_by_itself_is_as_aggressive_as_reno() {
        // So many losses that RFC 5681's floor of two segments would count in the share that a loss takes.
        let poor = path(0.3, f64::INFINITY);
        for coupling in [Coupling::Lia, Coupling::Olia, Coupling::Balia, Coupling::Wvegas] {
            near(predicted(coupling, &[poor], 1e12).goodput, alone(poor, 1e12));
        }
        for coupling in [Coupling::Uncoupled, Coupling::Wvegas] {
            for rate in predicted(coupling, &[poor, poor], 1e12).rates {
                near(rate, alone(poor, 1e12));
            }
        }
    }

    /// Its windows, its round trip, its recovery, whether it counts: all of that is replaced by the model's.
    #[test]
    fn what_a_subflow_is_at_now_does_not_change_what_is_predicted() {
        let paths = [path(0.005, f64::INFINITY), path(0.02, 0.5e6)];
        let idle = [0, 1].map(|id| subflow(id, 10, Duration::from_millis(20)));
        let mut busy = idle;
        (busy[0].cwnd, busy[0].ssthresh, busy[0].flight) = (90_000, 2_000, 80_000);
        busy[1].coupled = false;
        busy[1].srtt = Some(Duration::from_millis(500));
        busy[1].in_recovery = true;
        busy[0].in_slow_start = true;
        busy[0].in_timeout_recovery = true;
        for coupling in [Coupling::Lia, Coupling::Olia, Coupling::Balia, Coupling::FullyCoupled] {
            let expected = predict(coupling, &idle, &paths, 1e12);
            assert_eq!(predict(coupling, &busy, &paths, 1e12), expected, "{coupling:?}");
        }
    }

    /// The better one has the larger window and more octets between losses, so that OLIA has nothing to move to the other.
    #[test]
    fn olia_leaves_the_better_of_two_paths_nearly_all() {
        let paths = [path(0.005, f64::INFINITY), path(0.02, f64::INFINITY)];
        let rates = predicted(Coupling::Olia, &paths, 1e12).rates;
        assert!(rates[0] > 0.8 * alone(paths[0], 1e12), "{rates:?}");
        assert!(rates[1] < 0.4 * alone(paths[1], 1e12), "{rates:?}");
    }

    /// RFC 9438 §5.1: 1.054 (RTT/p)^¾ = 187.43 segments, where Reno has √15 000 = 122.47.
    #[test]
    fn cubic_is_rfc_9438_s_formula_where_that_is_more() {
        let long = PathParameters { base_rtt: 0.1, largest_rtt: 0.1, rto: 0.0, ..path(1e-4, f64::INFINITY) };
        let rate = |coupling| predicted(coupling, &[long], 1e12).goodput;
        near(rate(Coupling::Cubic), 1400.0 / 0.1 * 1.054 * 1000f64.powf(0.75));
        near(rate(Coupling::Uncoupled), 1400.0 / 0.1 * 15_000f64.sqrt());
    }

    /// BBR.LossThresh: fewer losses leave it what the path carries.
    #[test]
    fn losses_limit_bbr_from_two_in_a_hundred_on() {
        let lossy = |loss| PathParameters { rto: 0.0, ..path(loss, 1e6) };
        near(predicted(Coupling::Bbr, &[lossy(0.0199)], 1e12).goodput, 1e6);
        near(predicted(Coupling::Bbr, &[lossy(0.0201)], 1e12).goodput, alone(lossy(0.0201), 1e12));
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

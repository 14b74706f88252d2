use super::{CoupledControl, Decrease};
use crate::config::Coupling as Algorithm;
use crate::view::SubflowView;
use crate::view::samples::subflow;
use proptest::prelude::*;
use ropewalk_tcp::Coupling;
use ropewalk_units::Duration;

const COUPLED: [Algorithm; 7] = [
    Algorithm::FullyCoupled,
    Algorithm::LinkedIncreases,
    Algorithm::RttCompensator,
    Algorithm::Lia,
    Algorithm::Olia,
    Algorithm::Balia,
    Algorithm::Wvegas,
];

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A flow whose window is full.
fn busy(id: u32, cwnd: u32, rtt: Duration) -> SubflowView {
    let mut view = subflow(id, cwnd, rtt);
    view.flight = view.cwnd;
    view.pipe = view.cwnd;
    view.cwnd_space = 0;
    view
}

fn rule(algorithm: Algorithm, flows: &[SubflowView], index: usize) -> Coupling {
    CoupledControl::new(algorithm, Decrease::FromCwnd).coupling(flows, index)
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{a} != {b}");
}

#[test]
fn one_path_is_reno() {
    for algorithm in COUPLED.into_iter().filter(|a| *a != Algorithm::Wvegas) {
        for cwnd in [4, 7, 20, 333] {
            let flows = [busy(0, cwnd, ms(37))];
            let rule = rule(algorithm, &flows, 0);
            near(rule.increase, 1.0 / f64::from(cwnd));
            near(rule.ssthresh_after_loss, f64::from(cwnd) / 2.0);
        }
    }
}

#[test]
fn a_flow_alone_keeps_rfc_5681_s_two_segments() {
    for algorithm in [Algorithm::Lia, Algorithm::Olia, Algorithm::Balia, Algorithm::RttCompensator] {
        near(rule(algorithm, &[busy(0, 2, ms(10))], 0).ssthresh_after_loss, 2.0);
    }
}

#[test]
fn uncoupled_flows_do_not_see_each_other() {
    let flows = [busy(0, 10, ms(10)), busy(1, 90, ms(10))];
    near(rule(Algorithm::Uncoupled, &flows, 0).increase, 0.1);
    assert!(!CoupledControl::new(Algorithm::Uncoupled, Decrease::FromCwnd).is_coupled());
    assert!(!CoupledControl::new(Algorithm::Cubic, Decrease::FromCwnd).is_coupled());
    assert!(COUPLED.iter().all(|a| CoupledControl::new(*a, Decrease::FromCwnd).is_coupled()));
}

#[test]
fn a_flow_that_takes_no_part_slows_nobody_and_is_on_its_own() {
    for algorithm in COUPLED.into_iter().filter(|a| *a != Algorithm::Wvegas) {
        let mut flows = [busy(0, 10, ms(10)), busy(1, 30, ms(10))];
        flows[1].coupled = false;
        near(rule(algorithm, &flows, 0).increase, 0.1);
        near(rule(algorithm, &flows, 1).increase, 1.0 / 30.0);
    }
}

#[test]
fn fully_coupled_by_the_book() {
    let flows = [busy(0, 10, ms(10)), busy(1, 30, ms(10))];
    near(rule(Algorithm::FullyCoupled, &flows, 0).increase, 1.0 / 40.0);
    near(rule(Algorithm::FullyCoupled, &flows, 1).ssthresh_after_loss, 10.0);
    near(rule(Algorithm::FullyCoupled, &flows, 0).ssthresh_after_loss, 1.0);
}

#[test]
fn linked_increases_lacks_the_cap() {
    // Equal RTTs: α/w = max w_i / w². Of windows 1 and 9, 9/100 for both.
    let flows = [busy(0, 30, ms(10)), busy(1, 10, ms(100))];
    // 300/(3000+100)² · 1e… in seconds: max(w/r²) = 30/1e-4, Σ w/r = 3000 + 100.
    let expected = 300_000.0 / (3100.0 * 3100.0);
    near(rule(Algorithm::LinkedIncreases, &flows, 0).increase, expected);
    near(rule(Algorithm::LinkedIncreases, &flows, 1).increase, expected);
    near(rule(Algorithm::RttCompensator, &flows, 0).increase, expected.min(1.0 / 30.0));
}

#[test]
fn balia_by_the_book() {
    let flows = [busy(0, 20, ms(10)), busy(1, 10, ms(10))];
    // α = 2 for the slower: x/(rtt Σx²)·(3/2)·(6/5); decrease 3/4.
    let weak = rule(Algorithm::Balia, &flows, 1);
    near(weak.increase, 1000.0 / (0.01 * 3000.0 * 3000.0) * 1.5 * 1.2);
    near(weak.ssthresh_after_loss, 10.0 - 7.5);
    near(rule(Algorithm::Balia, &flows, 0).ssthresh_after_loss, 10.0);
}

#[test]
fn olia_moves_windows_to_the_best_path() {
    let mut control = CoupledControl::new(Algorithm::Olia, Decrease::FromCwnd);
    let flows = [busy(0, 30, ms(10)), busy(1, 10, ms(10))];
    // Path 1 has gone longer without a loss, yet path 0 has the larger window.
    control.on_acked(&flows, 0, 50_000);
    control.on_loss(&flows, 0);
    control.on_acked(&flows, 1, 400_000);
    let first = |w: f64| w / (40.0 * 40.0);
    near(control.coupling(&flows, 1).increase, first(10.0) + 0.5 / 10.0);
    near(control.coupling(&flows, 0).increase, first(30.0) - 0.5 / 30.0);
    // The best path has the largest window: nothing to move.
    control.on_acked(&flows, 0, 900_000);
    near(control.coupling(&flows, 0).increase, first(30.0));
    // ℓ is the longer of the last two intervals.
    control.on_loss(&flows, 0);
    near(control.coupling(&flows, 0).increase, first(30.0));
    control.on_loss(&flows, 0);
    near(control.coupling(&flows, 0).increase, first(30.0) - 0.5 / 30.0);
}

/// ℓ/r², not ℓ/r or ℓ: 100 kB in 10 ms² are better than 300 kB in 20 ms².
#[test]
fn olia_s_best_path_has_the_most_octets_between_losses_over_the_square_of_its_rtt() {
    let mut control = CoupledControl::new(Algorithm::Olia, Decrease::FromCwnd);
    let flows = [busy(0, 10, ms(10)), busy(1, 30, ms(20))];
    control.on_acked(&flows, 0, 100_000);
    control.on_acked(&flows, 1, 300_000);
    // Σ w/r = 1000 + 1500 segments a second.
    let first = |w: f64, rtt: f64| w / (rtt * rtt) / (2500.0 * 2500.0);
    near(control.coupling(&flows, 0).increase, first(10.0, 0.01) + 0.5 / 10.0);
    near(control.coupling(&flows, 1).increase, first(30.0, 0.02) - 0.5 / 30.0);
}

/// Each of |M| = 2 paths gives 1/(n |M|), each of |B∖M| = 2 takes 1/(n |B∖M|), n = 5.
#[test]
fn olia_shares_what_it_moves_among_the_largest_and_among_the_best() {
    let mut control = CoupledControl::new(Algorithm::Olia, Decrease::FromCwnd);
    let flows = [
        busy(0, 30, ms(10)),
        busy(1, 30, ms(10)),
        busy(2, 10, ms(10)),
        busy(3, 8, ms(10)),
        busy(4, 5, ms(10)),
    ];
    for (index, octets) in [10_000, 20_000, 90_000, 90_000, 30_000].into_iter().enumerate() {
        control.on_acked(&flows, index, octets);
    }
    let first = |w: f64| w / (83.0 * 83.0);
    for (index, window, shift) in
        [(0, 30.0, -0.1), (1, 30.0, -0.1), (2, 10.0, 0.1), (3, 8.0, 0.1), (4, 5.0, 0.0)]
    {
        near(control.coupling(&flows, index).increase, first(window) + shift / window);
    }
}

#[test]
fn olia_knows_nothing_of_the_subflow_that_had_the_place_before() {
    let mut control = CoupledControl::new(Algorithm::Olia, Decrease::FromCwnd);
    let flows = [busy(0, 30, ms(10)), busy(1, 10, ms(10))];
    control.on_acked(&flows, 0, 50_000);
    control.on_acked(&flows, 1, 400_000);
    near(control.coupling(&flows, 1).increase, 10.0 / 1600.0 + 0.5 / 10.0);
    control.forget(1);
    near(control.coupling(&flows, 1).increase, 10.0 / 1600.0);
    near(control.coupling(&flows, 0).increase, 30.0 / 1600.0);
}

/// RFC 6356 §3: the lesser of alpha · MSS_i / cwnd_total and MSS_i / cwnd_i, wherever they are close to each other.
#[test]
fn lia_s_cap_holds_from_where_the_linked_increase_reaches_it() {
    // w₀/r₀² = 1000/(1 ms)² is the most; the other flow's linked increase is w₁/w₀ / (1 + w₁/w₀ · 1/400)² of its cap.
    for (cwnd, is_capped) in [(1_005_500, true), (1_005_000, false)] {
        let mut flows = [busy(0, 1000, ms(1)), busy(1, 1005, ms(400))];
        flows[1].cwnd = cwnd;
        flows[1].flight = cwnd;
        let ratio = f64::from(cwnd) / 1e6;
        let linked = ratio / (1.0 + ratio / 400.0).powi(2);
        assert_eq!(linked > 1.0, is_capped, "{linked}");
        let alone = 1000.0 / f64::from(cwnd);
        near(rule(Algorithm::Lia, &flows, 1).increase, alone * linked.min(1.0));
    }
}

#[test]
fn a_window_of_less_than_a_segment_grows_no_faster_than_in_slow_start() {
    let mut flows = [busy(0, 1, ms(10)), busy(1, 1, ms(1000))];
    (flows[1].smss, flows[1].cwnd, flows[1].flight) = (9000, 500, 500);
    near(rule(Algorithm::Lia, &flows, 1).increase, 1.0);
}

#[test]
fn lia_counts_ssthresh_in_recovery_and_the_flight_of_an_idle_flow() {
    let mut flows = [busy(0, 10, ms(10)), busy(1, 30, ms(10))];
    flows[1].in_recovery = true;
    flows[1].ssthresh = 10_000;
    near(rule(Algorithm::Lia, &flows, 0).increase, 10.0 / 400.0);
    flows[1].in_recovery = false;
    flows[1].flight = 10_000;
    near(rule(Algorithm::Lia, &flows, 0).increase, 10.0 / 400.0);
    // Half a window is enough (RFC 7661 §4.3).
    for flight in [15_000, 20_000] {
        flows[1].flight = flight;
        near(rule(Algorithm::Lia, &flows, 0).increase, 30.0 / 1600.0);
    }
}

#[test]
fn flight_size_is_halved_where_rfc_5681_is_followed() {
    let mut flow = busy(0, 20, ms(10));
    flow.flight = 12_000;
    near(
        CoupledControl::new(Algorithm::Lia, Decrease::FromFlightSize)
            .coupling(&[flow], 0)
            .ssthresh_after_loss,
        6.0,
    );
    near(
        CoupledControl::new(Algorithm::Lia, Decrease::FromCwnd).coupling(&[flow], 0).ssthresh_after_loss,
        10.0,
    );
}

/// dw_i/dt of the fluid model: growth per ACK × ACK rate − fall × loss rate.
fn drift(control: &CoupledControl, flows: &[SubflowView], index: usize, loss: f64) -> f64 {
    let window = flows[index].window_segments();
    let rule = control.coupling(flows, index);
    let rate = window / flows[index].rtt_seconds();
    rate * (rule.increase - loss * (window - rule.ssthresh_after_loss))
}

/// Two subflows through one bottleneck see one loss rate and one RTT. The sum of their windows settles at the one
/// flow's √(2/p).
#[test]
fn two_subflows_through_one_bottleneck_take_one_flow_s_share() {
    let loss = 0.0008; // √(2/p) = 50 segments
    for algorithm in [Algorithm::Lia, Algorithm::RttCompensator, Algorithm::Olia, Algorithm::Balia] {
        let control = CoupledControl::new(algorithm, Decrease::FromCwnd);
        let mut windows = [35.0f64, 15.0];
        for _ in 0..40_000 {
            let flows = [0, 1].map(|i| sized(i as u32, windows[i]));
            let drifts = [0, 1].map(|i| drift(&control, &flows, i, loss));
            for (window, drift) in windows.iter_mut().zip(drifts) {
                *window = (*window + drift * 0.002).max(2.0);
            }
        }
        let total = windows[0] + windows[1];
        assert!((total - 50.0).abs() < 1.5, "{algorithm:?}: {windows:?}");
    }
}

fn sized(id: u32, segments: f64) -> SubflowView {
    let mut view = busy(id, 1, ms(50));
    view.smss = 1_000_000;
    view.cwnd = (segments * 1e6) as u32;
    view.flight = view.cwnd;
    view
}

#[test]
fn uncoupled_takes_two_shares() {
    let control = CoupledControl::new(Algorithm::Uncoupled, Decrease::FromCwnd);
    let mut window = 10.0f64;
    for _ in 0..40_000 {
        window += drift(&control, &[sized(0, window), sized(1, window)], 0, 0.0008) * 0.002;
    }
    assert!((window - 50.0).abs() < 1.0, "{window}");
}

mod wvegas {
    use super::{Algorithm, CoupledControl, Decrease, SubflowView, busy, ms};
    use crate::coupling::WindowUpdate;
    use ropewalk_units::Duration;

    /// One round trip: `acks` ACKs with `rtt` each.
    fn round(
        control: &mut CoupledControl,
        flows: &mut [SubflowView],
        index: usize,
        rtt: Duration,
        acks: u32,
    ) -> Option<WindowUpdate> {
        flows[index].latest_rtt = Some(rtt);
        let mut update = None;
        let share = flows[index].flight / acks;
        for _ in 0..acks {
            flows[index].bytes_acked += u64::from(share);
            update = control.on_acked(flows, index, share).or(update);
        }
        update
    }

    /// A flow that has measured a base RTT of 100 ms.
    fn started(cwnd: u32) -> (CoupledControl, [SubflowView; 1]) {
        let mut control = CoupledControl::new(Algorithm::Wvegas, Decrease::FromCwnd);
        let mut flows = [busy(0, cwnd, ms(100))];
        control.on_acked(&flows, 0, 0);
        round(&mut control, &mut flows, 0, ms(100), 10);
        (control, flows)
    }

    #[test]
    fn grows_while_fewer_than_alpha_segments_are_queued() {
        let (mut control, mut flows) = started(20);
        let update = round(&mut control, &mut flows, 0, ms(102), 10);
        assert_eq!(update.map(|u| u.cwnd), Some(21_000));
    }

    #[test]
    fn shrinks_above_alpha_and_a_flow_alone_keeps_ten_segments() {
        // w (rtt − base)/rtt = 60 · 50/150 = 20 > 10.
        let (mut control, mut flows) = started(60);
        round(&mut control, &mut flows, 0, ms(140), 10);
        let update = round(&mut control, &mut flows, 0, ms(150), 10).expect("a step");
        assert_eq!(update.cwnd, 59_000);
        assert!(update.ssthresh < update.cwnd);
        // 30 · 40/140 = 8.6 < 10: grows, although it is above the initial share of 2.
        let (mut control, mut flows) = started(30);
        let update = round(&mut control, &mut flows, 0, ms(140), 10);
        assert_eq!(update.map(|u| u.cwnd), Some(31_000));
    }

    #[test]
    fn the_share_follows_the_rate() {
        let mut control = CoupledControl::new(Algorithm::Wvegas, Decrease::FromCwnd);
        let mut flows = [busy(0, 90, ms(100)), busy(1, 10, ms(100))];
        for index in [0, 1] {
            control.on_acked(&flows, index, 0);
            round(&mut control, &mut flows, index, ms(100), 10);
        }
        // 10 · 30/130 = 2.3 segments queued: above the least share of two, which a tenth of the rate leaves it.
        let update = round(&mut control, &mut flows, 1, ms(130), 10).expect("a step");
        assert_eq!(update.cwnd, 9_000);
        // 90 · 10/110 = 8.2: below nine tenths of ten.
        let update = round(&mut control, &mut flows, 0, ms(110), 10).expect("a step");
        assert_eq!(update.cwnd, 91_000);
    }

    #[test]
    fn leaves_slow_start_when_a_queue_builds_up() {
        let (mut control, mut flows) = started(40);
        flows[0].in_slow_start = true;
        flows[0].ssthresh = u32::MAX;
        let update = round(&mut control, &mut flows, 0, ms(160), 10).expect("a step");
        assert_eq!(update.cwnd, 26_000);
        assert_eq!(update.ssthresh, 25_000);
    }

    #[test]
    fn drains_the_queue_when_its_delay_has_doubled() {
        let (mut control, mut flows) = started(300);
        flows[0].latest_rtt = Some(ms(110));
        // The base round put no queue on record; 10 ms (27 segments) is the least one, 20 ms twice that.
        round(&mut control, &mut flows, 0, ms(110), 10);
        let update = round(&mut control, &mut flows, 0, ms(121), 10).expect("a step");
        assert!((120_000..125_000).contains(&update.cwnd), "{update:?}");
    }

    #[test]
    fn few_samples_are_one_step_of_reno() {
        let (mut control, mut flows) = started(20);
        let update = round(&mut control, &mut flows, 0, ms(101), 2);
        assert_eq!(update.map(|u| u.cwnd), Some(20_050));
        // Three are enough.
        let (mut control, mut flows) = started(21);
        let update = round(&mut control, &mut flows, 0, ms(101), 3);
        assert_eq!(update.map(|u| u.cwnd), Some(22_000));
    }

    #[test]
    fn stands_still_with_alpha_segments_queued() {
        // 20 · 100/200 = 10.
        let (mut control, mut flows) = started(20);
        assert_eq!(round(&mut control, &mut flows, 0, ms(200), 4), None);
    }

    /// Otherwise the step down were followed by slow start.
    #[test]
    fn a_step_down_takes_the_threshold_below_the_window() {
        let (mut control, mut flows) = started(60);
        flows[0].ssthresh = flows[0].cwnd;
        let update = round(&mut control, &mut flows, 0, ms(150), 10);
        assert_eq!(update, Some(WindowUpdate { cwnd: 59_000, ssthresh: 58_000 }));
    }

    /// Both have 40 segments; in half the round trip that is twice the rate, and twice the share.
    #[test]
    fn rates_are_windows_over_round_trips() {
        let mut control = CoupledControl::new(Algorithm::Wvegas, Decrease::FromCwnd);
        let mut flows = [busy(0, 40, ms(100)), busy(1, 40, ms(50))];
        for (index, rtt) in [(0, ms(100)), (1, ms(50))] {
            control.on_acked(&flows, index, 0);
            round(&mut control, &mut flows, index, rtt, 10);
        }
        // 40 · 14/114 = 4.9 segments queued, and a share of 351/(351 + 800) of ten.
        let update = round(&mut control, &mut flows, 0, ms(114), 10);
        assert_eq!(update.map(|u| u.cwnd), Some(39_000));
        // 40 · 6/56 = 4.3, and 714/(351 + 714).
        let update = round(&mut control, &mut flows, 1, ms(56), 10);
        assert_eq!(update.map(|u| u.cwnd), Some(41_000));
    }

    #[test]
    fn what_was_sampled_before_a_loss_does_not_count() {
        let (mut control, mut flows) = started(20);
        flows[0].latest_rtt = Some(ms(130));
        let mut ack = |control: &mut CoupledControl| {
            flows[0].bytes_acked += 2000;
            control.on_acked(&flows, 0, 2000)
        };
        for _ in 0..8 {
            assert_eq!(ack(&mut control), None);
        }
        control.on_loss(&[busy(0, 20, ms(100))], 0);
        assert_eq!(ack(&mut control), None);
        // Two samples are left: a step of Reno.
        assert_eq!(ack(&mut control).map(|u| u.cwnd), Some(20_050));
    }

    /// Whose rate is zero takes no share from the others.
    #[test]
    fn a_timeout_gives_the_share_of_a_flow_to_the_others() {
        for (in_timeout_recovery, cwnd) in [(false, 9_000), (true, 11_000)] {
            let mut control = CoupledControl::new(Algorithm::Wvegas, Decrease::FromCwnd);
            let mut flows = [busy(0, 90, ms(100)), busy(1, 10, ms(100))];
            for index in [0, 1] {
                control.on_acked(&flows, index, 0);
                round(&mut control, &mut flows, index, ms(100), 10);
            }
            flows[0].in_timeout_recovery = in_timeout_recovery;
            control.on_loss(&flows, 0);
            // 10 · 30/130 = 2.3 segments: more than two of ten, which a tenth of the rate has, and less than ten.
            let update = round(&mut control, &mut flows, 1, ms(130), 10);
            assert_eq!(update.map(|u| u.cwnd), Some(cwnd));
        }
    }

    #[test]
    fn the_base_rtt_of_the_subflow_that_had_the_place_before_is_forgotten() {
        let (mut control, _) = started(40);
        control.forget(0);
        let mut flows = [busy(0, 40, ms(150))];
        control.on_acked(&flows, 0, 0);
        let update = round(&mut control, &mut flows, 0, ms(150), 10);
        assert_eq!(update.map(|u| u.cwnd), Some(41_000));
    }
}

prop_compose! {
    fn flow()(cwnd in 2u32..500, rtt in 1u64..400, recovery in any::<bool>(), slack in 0u32..3) -> SubflowView {
        let mut view = busy(0, cwnd, ms(rtt));
        view.in_recovery = recovery;
        view.flight = view.cwnd / (slack + 1);
        view
    }
}

fn numbered(mut flows: Vec<SubflowView>) -> Vec<SubflowView> {
    for (id, view) in flows.iter_mut().enumerate() {
        view.id.0 = id as u32;
    }
    flows
}

proptest! {
    #[test]
    fn lia_and_rtt_compensator_agree(flows in prop::collection::vec(flow(), 1..5)) {
        let mut flows = numbered(flows);
        for view in &mut flows {
            view.in_recovery = false;
            view.flight = view.cwnd;
        }
        for index in 0..flows.len() {
            let lia = rule(Algorithm::Lia, &flows, index);
            let paper = rule(Algorithm::RttCompensator, &flows, index);
            prop_assert!((lia.increase - paper.increase).abs() <= 1e-12 + 1e-9 * lia.increase);
            prop_assert_eq!(lia.ssthresh_after_loss, paper.ssthresh_after_loss);
        }
    }

    #[test]
    fn no_flow_grows_faster_than_reno_under_the_capped_rules(flows in prop::collection::vec(flow(), 1..5)) {
        let flows = numbered(flows);
        for algorithm in [Algorithm::Lia, Algorithm::RttCompensator] {
            for (index, view) in flows.iter().enumerate() {
                let rule = rule(algorithm, &flows, index);
                prop_assert!(rule.increase > 0.0 && rule.increase <= 1.0 / view.window_segments() + 1e-15);
            }
        }
    }

    #[test]
    fn balia_takes_between_half_and_three_quarters(flows in prop::collection::vec(flow(), 1..5)) {
        let flows = numbered(flows);
        for (index, view) in flows.iter().enumerate() {
            let left = rule(Algorithm::Balia, &flows, index).ssthresh_after_loss;
            let window = view.window_segments();
            prop_assert!(left >= (window / 4.0).max(1.0) - 1e-9 && left <= (window / 2.0).max(2.0) + 1e-9);
        }
    }

    #[test]
    fn every_rule_is_finite_and_leaves_a_segment(
        flows in prop::collection::vec(flow(), 1..5),
        acked in prop::collection::vec(1u32..100_000, 1..8),
    ) {
        let flows = numbered(flows);
        for algorithm in COUPLED {
            let mut control = CoupledControl::new(algorithm, Decrease::FromCwnd);
            for (step, octets) in acked.iter().enumerate() {
                let index = step % flows.len();
                if let Some(update) = control.on_acked(&flows, index, *octets) {
                    prop_assert!(update.cwnd >= 2 * flows[index].smss);
                }
                if step % 3 == 2 {
                    control.on_loss(&flows, index);
                }
                let rule = control.coupling(&flows, index);
                prop_assert!(rule.increase.is_finite() && rule.increase > -1.0);
                prop_assert!(rule.ssthresh_after_loss >= 1.0 && rule.ssthresh_after_loss.is_finite());
            }
        }
    }
}

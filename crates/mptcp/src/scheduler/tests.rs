use super::lowest_rtt::lowest_and_others;
use super::rule::SchedulingRule;
use super::{Decision, Scheduler};
use crate::config::{self, Config, GuardConfig};
use crate::id::SubflowId;
use crate::view::samples::{acknowledge, carry, queue, subflow};
use crate::view::{QueueView, SubflowView};
use proptest::prelude::*;
use ropewalk_units::{Duration, Instant, Rate};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn scheduler(kind: config::Scheduler) -> Scheduler {
    Scheduler::new(&Config { scheduler: kind, ..Config::linux() })
}

/// Obeys one decision as a connection does. `None` when it is to wait.
fn obey(decision: Decision, flows: &mut [SubflowView], queue: &mut QueueView) -> Option<(u32, u64)> {
    let (Decision::Send { subflow, octets, .. } | Decision::Copy { subflow, octets, .. }) = decision else {
        return None;
    };
    let view = flows.iter_mut().find(|s| s.id == subflow).expect("a subflow that exists");
    carry(view, octets as u32);
    if matches!(decision, Decision::Send { .. }) {
        queue.unsent = queue.unsent.saturating_sub(octets);
        queue.window_left = queue.window_left.saturating_sub(octets);
        queue.in_flight += octets;
        view.own_backlog = view.own_backlog.saturating_sub(octets);
    }
    Some((subflow.0, octets))
}

fn turns(
    scheduler: &mut Scheduler,
    flows: &mut [SubflowView],
    queue: &mut QueueView,
    most: usize,
) -> Vec<u32> {
    let mut order = Vec::new();
    while order.len() < most {
        let decision = scheduler.pick(Instant::ZERO, flows, queue);
        let Some((subflow, _)) = obey(decision, flows, queue) else { break };
        order.push(subflow);
    }
    order
}

fn reason(decision: Decision) -> &'static str {
    match decision {
        Decision::Send { reason, .. } | Decision::Copy { reason, .. } | Decision::Wait { reason, .. } => {
            reason
        }
    }
}

fn chosen(decision: Decision) -> Option<u32> {
    if let Decision::Send { subflow, .. } = decision { Some(subflow.0) } else { None }
}

#[test]
fn round_robin_takes_turns_and_leaves_out_the_full() {
    let mut flows = [subflow(0, 2, ms(10)), subflow(1, 4, ms(10)), subflow(2, 3, ms(10))];
    let mut scheduler = scheduler(config::Scheduler::RoundRobin);
    let order = turns(&mut scheduler, &mut flows, &mut queue(), 100);
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 1, 2, 1]);
}

#[test]
fn lowest_rtt_fills_the_fastest_first_and_shuns_loss_state() {
    let mut flows = [subflow(0, 2, ms(50)), subflow(1, 3, ms(10)), subflow(2, 2, ms(20))];
    let mut lowest = scheduler(config::Scheduler::LowestRtt);
    assert_eq!(turns(&mut lowest, &mut flows, &mut queue(), 100), [1, 1, 1, 2, 2, 0, 0]);
    acknowledge(&mut flows[1]);
    flows[1].in_timeout_recovery = true;
    assert_eq!(chosen(lowest.pick(Instant::ZERO, &flows, &queue())), None);
}

#[test]
fn the_earlier_of_two_with_one_rtt_is_filled_first() {
    let mut flows = [subflow(0, 2, ms(10)), subflow(1, 2, ms(10))];
    let mut lowest = scheduler(config::Scheduler::LowestRtt);
    assert_eq!(turns(&mut lowest, &mut flows, &mut queue(), 100), [0, 0, 1, 1]);
}

#[test]
fn weights_are_kept() {
    let weights = vec![3, 0, 2];
    let mut flows = [subflow(0, 300, ms(10)), subflow(1, 300, ms(10)), subflow(2, 300, ms(10))];
    let mut weighted = scheduler(config::Scheduler::WeightedRoundRobin { weights });
    let order = turns(&mut weighted, &mut flows, &mut queue(), 250);
    assert_eq!(order[..7], [0, 0, 0, 2, 2, 0, 0]);
    let count = |id| order.iter().filter(|o| **o == id).count();
    assert_eq!((count(0), count(1), count(2)), (150, 0, 100));
    // Weight 0 helps out when no other has room.
    flows[0].usable = false;
    flows[2].usable = false;
    assert_eq!(chosen(weighted.pick(Instant::ZERO, &flows, &queue())), Some(1));
}

#[test]
fn a_path_without_a_weight_counts_one() {
    let mut flows = [subflow(0, 300, ms(10)), subflow(1, 300, ms(10))];
    let mut weighted = scheduler(config::Scheduler::WeightedRoundRobin { weights: vec![2] });
    assert_eq!(turns(&mut weighted, &mut flows, &mut queue(), 6), [0, 0, 1, 0, 0, 1]);
}

#[test]
fn redundant_gives_each_subflow_its_own_backlog() {
    let mut flows = [subflow(0, 5, ms(50)), subflow(1, 9, ms(10))];
    for flow in &mut flows {
        flow.own_backlog = 6500;
    }
    let mut redundant = scheduler(config::Scheduler::Redundant);
    assert!(redundant.own_pointers());
    let order = turns(&mut redundant, &mut flows, &mut QueueView::default(), 100);
    assert_eq!(order.iter().filter(|id| **id == 1).count(), 7, "its window has room for all of it");
    assert_eq!(order.iter().filter(|id| **id == 0).count(), 5, "as many as its window takes");
    assert_eq!(flows[1].own_backlog, 0);
}

#[test]
fn backups_only_when_nothing_else_is_usable() {
    let kinds = [
        config::Scheduler::RoundRobin,
        config::Scheduler::LowestRtt,
        config::Scheduler::Linux,
        config::Scheduler::WeightedRoundRobin { weights: vec![] },
        config::Scheduler::Blest,
        config::Scheduler::Ecf,
        config::Scheduler::GoodputGuard(GuardConfig::default()),
    ];
    for kind in kinds {
        let mut flows = [subflow(0, 3, ms(10)), subflow(1, 3, ms(5))];
        flows[1].backup = true;
        let mut scheduler = scheduler(kind);
        let order = turns(&mut scheduler, &mut flows, &mut queue(), 100);
        assert!(!order.is_empty() && order.iter().all(|id| *id == 0), "{scheduler:?}: {order:?}");
        flows[0].usable = false;
        assert_eq!(chosen(scheduler.pick(Instant::ZERO, &flows, &queue())), Some(1), "{scheduler:?}");
    }
}

#[test]
fn an_idle_window_smaller_than_a_segment_still_moves() {
    let mut flow = subflow(0, 1, ms(10));
    flow.cwnd = 600;
    flow.cwnd_space = 600;
    let mut lowest = scheduler(config::Scheduler::LowestRtt);
    assert_eq!(chosen(lowest.pick(Instant::ZERO, &[flow], &queue())), Some(0));
    flow.pipe = 1;
    assert_eq!(chosen(lowest.pick(Instant::ZERO, &[flow], &queue())), None);
}

#[test]
fn linux_sends_bursts_where_the_queue_drains_first() {
    let mut flows = [subflow(0, 100, ms(10)), subflow(1, 100, ms(10))];
    flows[1].pacing_rate = Rate::from_bits_per_sec(flows[0].pacing_rate.bits_per_sec() / 3);
    let mut linux = scheduler(config::Scheduler::Linux);
    let mut queue = queue();
    let mut bursts = Vec::new();
    while let Some(burst) = obey(linux.pick(Instant::ZERO, &flows, &queue), &mut flows, &mut queue) {
        bursts.push(burst);
        if bursts.len() == 4 {
            break;
        }
    }
    // Both are empty: the first, for two pieces of the stream. Then the empty one.
    assert_eq!(bursts, [(0, 32_728), (0, 32_728), (1, 32_728), (1, 32_728)]);
    // The one that drains three times as fast.
    let next = obey(linux.pick(Instant::ZERO, &flows, &queue), &mut flows, &mut queue);
    assert_eq!(next, Some((0, 32_728)));
}

#[test]
fn linux_queues_beyond_the_window_but_not_beyond_the_memory() {
    let mut flows = [subflow(0, 20, ms(10))];
    let mut linux = scheduler(config::Scheduler::Linux);
    let mut queue = queue();
    let sent: u64 =
        std::iter::from_fn(|| obey(linux.pick(Instant::ZERO, &flows, &queue), &mut flows, &mut queue))
            .map(|(_, octets)| octets)
            .sum();
    assert_eq!(sent, 2 * 32_728, "the memory of 40 000 octets is looked at where a piece ends");
}

#[test]
fn linux_waits_when_the_quickest_is_full() {
    let mut flows = [subflow(0, 20, ms(1)), subflow(1, 20, ms(500))];
    carry(&mut flows[0], 40_000);
    carry(&mut flows[1], 30_000);
    let mut linux = scheduler(config::Scheduler::Linux);
    let decision = linux.pick(Instant::ZERO, &flows, &queue());
    assert_eq!(reason(decision), "linux: the quickest subflow's send memory is full");
}

fn paced(view: &mut SubflowView, octets_per_second: u64) {
    view.pacing_rate = Rate::from_bits_per_sec(8 * octets_per_second);
}

/// Two subflows that were paced at 1 MB/s each when they were first seen, and a window of 20 000 octets, which are a burst.
fn two_at_a_megabyte_a_second() -> (Scheduler, [SubflowView; 2], QueueView) {
    let mut flows = [subflow(0, 100, ms(10)), subflow(1, 100, ms(10))];
    flows.iter_mut().for_each(|flow| paced(flow, 1_000_000));
    let mut linux = scheduler(config::Scheduler::Linux);
    let queue = QueueView { window_left: 20_000, ..queue() };
    assert_eq!(chosen(linux.pick(Instant::ZERO, &flows, &queue)), Some(0));
    (linux, flows, queue)
}

/// (pace · queued + rate now · burst) / (queued + burst).
#[test]
fn linux_averages_the_pace_by_what_is_queued_and_by_what_is_added() {
    let (mut linux, mut flows, queue) = two_at_a_megabyte_a_second();
    (flows[0].memory_queued, flows[1].memory_queued) = (60_000, 100_000);
    paced(&mut flows[0], 3_000_000);
    assert_eq!(chosen(linux.pick(Instant::ZERO, &flows, &queue)), Some(0));
    // (1 · 60 000 + 3 · 20 000)/80 000 = 1.5 MB/s: 90 000 octets take 60 ms.
    flows[0].memory_queued = 90_000;
    for (other, chooses) in [(59_990, 1), (60_010, 0)] {
        flows[1].memory_queued = other;
        assert_eq!(chosen(linux.clone().pick(Instant::ZERO, &flows, &queue)), Some(chooses));
    }
}

#[test]
fn linux_forgets_the_pace_of_the_subflow_that_had_the_place_before() {
    let (mut linux, mut flows, queue) = two_at_a_megabyte_a_second();
    linux.forget(SubflowId(0));
    paced(&mut flows[0], 3_000_000);
    (flows[0].memory_queued, flows[1].memory_queued) = (90_000, 40_000);
    assert_eq!(chosen(linux.pick(Instant::ZERO, &flows, &queue)), Some(0), "30 ms and 40 ms");
}

/// The stream lies in pieces of 32 728 octets from its beginning: the second ends at 65 456.
#[test]
fn linux_gives_the_rest_of_a_piece_whatever_of_it_is_acknowledged() {
    let flows = [subflow(0, 100, ms(10))];
    for (data_acked, in_flight) in [(40_000, 0), (10_000, 30_000), (0, 40_000)] {
        let queue = QueueView { data_acked, in_flight, ..queue() };
        let decision = scheduler(config::Scheduler::Linux).pick(Instant::ZERO, &flows, &queue);
        assert!(matches!(decision, Decision::Send { octets: 25_456, .. }), "{decision:?}");
    }
}

#[test]
fn linux_ends_a_burst_with_the_data_there_is() {
    let flows = [subflow(0, 100, ms(10)), subflow(1, 100, ms(10))];
    for (unsent, next) in [(10_000, "linux: least time to drain"), (32_728, "linux: burst goes on")] {
        let mut linux = scheduler(config::Scheduler::Linux);
        linux.pick(Instant::ZERO, &flows, &QueueView { unsent, ..queue() });
        let later = QueueView { in_flight: unsent, ..queue() };
        assert_eq!(reason(linux.pick(Instant::ZERO, &flows, &later)), next, "{unsent}");
    }
}

#[test]
fn linux_waits_for_a_full_send_buffer() {
    let mut flows = [subflow(0, 100, ms(10))];
    flows[0].send_space = 0;
    let decision = scheduler(config::Scheduler::Linux).pick(Instant::ZERO, &flows, &queue());
    assert_eq!(reason(decision), "linux: the quickest subflow's send memory is full");
}

#[test]
fn linux_ends_the_burst_of_a_subflow_that_is_gone() {
    let flows = [subflow(0, 100, ms(10)), subflow(1, 100, ms(10))];
    let mut linux = scheduler(config::Scheduler::Linux);
    linux.pick(Instant::ZERO, &flows, &queue());
    assert_eq!(reason(linux.clone().pick(Instant::ZERO, &flows, &queue())), "linux: burst goes on");
    linux.forget(SubflowId(1));
    assert_eq!(reason(linux.clone().pick(Instant::ZERO, &flows, &queue())), "linux: burst goes on");
    linux.forget(SubflowId(0));
    assert_eq!(reason(linux.pick(Instant::ZERO, &flows, &queue())), "linux: least time to drain");
}

/// Fast: 10 ms, full. Slow: 200 ms, room for 10 segments.
fn heterogeneous() -> [SubflowView; 2] {
    let mut flows = [subflow(0, 20, ms(10)), subflow(1, 10, ms(200))];
    carry(&mut flows[0], 20_000);
    flows
}

#[test]
fn blest_waits_only_when_the_window_would_be_used_up() {
    let flows = heterogeneous();
    let window = |octets| QueueView { window_left: octets, ..queue() };
    let mut blest = scheduler(config::Scheduler::Blest);
    // X ≥ 20 round trips of 20 segments and growing: 600 000 octets or so.
    assert_eq!(reason(blest.pick(Instant::ZERO, &flows, &window(300_000))), "blest: would block");
    assert_eq!(reason(blest.pick(Instant::ZERO, &flows, &window(3_000_000))), "blest: would not block");
    let free = [subflow(0, 20, ms(10)), flows[1]];
    // Whatever the window: the fastest blocks nobody.
    assert_eq!(chosen(blest.pick(Instant::ZERO, &free, &window(5000))), Some(0));
}

/// The equations of §3.2 for a fast subflow in congestion avoidance, and the same in slow start: the window, in octets, below which
/// the slow one would block.
#[test]
fn blest_waits_below_what_the_fast_subflow_sends_meanwhile() {
    for (in_slow_start, ssthresh, segments) in [
        // (20 + 5/2) · 6: the window grows by one in each round trip.
        (false, 10_000, 135.0),
        // The window is ssthresh and one more at least: (30 + 1 + 5/2) · 6.
        (false, 30_000, 201.0),
        // 20 · (2⁶ − 1): it doubles.
        (true, 30_000, 1260.0),
    ] {
        let mut flows = [subflow(0, 20, ms(10)), subflow(1, 10, ms(200))];
        carry(&mut flows[0], 20_000);
        flows[0].in_slow_start = in_slow_start;
        flows[0].ssthresh = ssthresh;
        let mut blest = scheduler(config::Scheduler::Blest);
        // RTTs of 10 to 30 ms; the slow one's was 200 ms, and is 100 ms: 100/20 + 1 round trips.
        let ample = QueueView { window_left: 100_000_000, ..queue() };
        blest.pick(Instant::ZERO, &flows, &ample);
        flows[0].srtt = Some(ms(30));
        flows[1].srtt = Some(ms(100));
        blest.pick(Instant::ZERO, &flows, &ample);
        // λ is 1.2 − 0.01 after the first look. Of the window in flight and left, the slow subflow takes one segment.
        let needed = (segments * 1000.0 * 1.19) as u64 + 1000;
        let look = |window| QueueView { in_flight: 20_000, window_left: window - 20_000, ..queue() };
        for (window, verdict) in
            [(needed - 10, "blest: would block"), (needed + 10, "blest: would not block")]
        {
            let decision = blest.clone().pick(Instant::ZERO, &flows, &look(window));
            assert_eq!(reason(decision), verdict, "{in_slow_start} {ssthresh} {window}");
        }
    }
}

/// A slow subflow that is half full is expected half way between its extremes.
#[test]
fn blest_expects_a_loaded_subflow_to_be_as_slow_as_it_was() {
    let mut flows = [subflow(0, 20, ms(20)), subflow(1, 10, ms(200))];
    carry(&mut flows[0], 20_000);
    let mut blest = scheduler(config::Scheduler::Blest);
    let ample = QueueView { window_left: 100_000_000, ..queue() };
    blest.pick(Instant::ZERO, &flows, &ample);
    flows[1].srtt = Some(ms(100));
    blest.pick(Instant::ZERO, &flows, &ample);
    // Idle: 100 ms of 20 ms and one more. Half full: 150 ms, rounded up.
    assert_eq!(blest_sends_around(&blest, &flows, 6.0), [false, true]);
    flows[1].srtt = Some(ms(200));
    assert_eq!(blest_sends_around(&blest, &flows, 11.0), [false, true], "no sooner than its SRTT");
    flows[1].srtt = Some(ms(100));
    carry(&mut flows[1], 5000);
    assert_eq!(blest_sends_around(&blest, &flows, 8.0), [false, true]);
}

/// Is the slow subflow used with a window a little smaller, and a little larger, than what is sent in so many round trips of
/// the fast one? That has 20 segments; λ is 1.19.
fn blest_sends_around(blest: &Scheduler, flows: &[SubflowView; 2], round_trips: f64) -> [bool; 2] {
    let needed =
        ((20.0 + (round_trips - 1.0) / 2.0) * round_trips * 1190.0) as u64 + flows[1].queued() + 1000;
    [needed - 10, needed + 10].map(|window| {
        let look = QueueView { window_left: window, ..queue() };
        reason(blest.clone().pick(Instant::ZERO, flows, &look)) == "blest: would not block"
    })
}

#[test]
fn blest_forgets_how_slow_the_subflow_was_that_had_the_place_before() {
    let mut flows = [subflow(0, 20, ms(20)), subflow(1, 10, ms(200))];
    carry(&mut flows[0], 20_000);
    let mut blest = scheduler(config::Scheduler::Blest);
    blest.pick(Instant::ZERO, &flows, &QueueView { window_left: 100_000_000, ..queue() });
    blest.forget(SubflowId(1));
    flows[1].srtt = Some(ms(100));
    carry(&mut flows[1], 5000);
    // 100 ms of 20 ms and one more, although it is half full.
    assert_eq!(blest_sends_around(&blest, &flows, 6.0), [false, true]);
}

/// X λ > W − (queued + MSS) blocks, with λ = 1; what just fits does not.
#[test]
fn blest_sends_what_just_fits_the_window() {
    let flows = heterogeneous();
    let mut blest = scheduler(config::Scheduler::Blest);
    let mut now = Instant::ZERO;
    for _ in 0..40 {
        blest.pick(now, &flows, &QueueView { window_left: 3_000_000, ..queue() });
        now += ms(200);
    }
    // 200/10 + 1 round trips: X = (20 + 20/2) · 21 segments, and one for the slow subflow.
    for (window_left, verdict) in [(630_999, "blest: would block"), (631_000, "blest: would not block")] {
        let decision = blest.pick(now, &flows, &QueueView { window_left, ..queue() });
        assert_eq!(reason(decision), verdict);
    }
}

#[test]
fn blest_keeps_lambda_between_its_bounds() {
    let flows = heterogeneous();
    for (blocked, bound) in [(false, "lambda: 1.0,"), (true, "lambda: 1.3,")] {
        let mut blest = super::blest::Blest::default();
        for look in 0..40 {
            let opportunistic_retransmissions = if blocked { look } else { 0 };
            let window = QueueView { window_left: 3_000_000, opportunistic_retransmissions, ..queue() };
            blest.pick(Instant::ZERO + ms(200) * look, &flows, &window);
        }
        assert!(format!("{blest:?}").contains(bound), "{blest:?}");
    }
}

#[test]
fn blest_learns_from_opportunistic_retransmissions() {
    let flows = heterogeneous();
    let mut blest = super::blest::Blest::default();
    let window = QueueView { window_left: 3_000_000, ..queue() };
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    blest.pick(at(0), &flows, &window);
    let before = blest.clone();
    blest.pick(at(199), &flows, &window);
    assert_eq!(blest, before, "once per least SRTT of the slow subflow");
    blest.pick(at(200), &flows, &QueueView { opportunistic_retransmissions: 1, ..window });
    assert!(blest != before);
    let after_blocking = format!("{blest:?}");
    assert!(after_blocking.contains("lambda: 1.23"), "1.2 − 0.01 + 0.04: {after_blocking}");
}

#[test]
fn ecf_waits_for_the_fastest_at_the_end_of_a_transfer() {
    let flows = heterogeneous();
    let backlog = |octets| QueueView { unsent: octets, ..queue() };
    let mut ecf = scheduler(config::Scheduler::Ecf);
    // A short backlog: two rounds of the fastest (20 ms) beat 200 ms.
    let wait = ecf.pick(Instant::ZERO, &flows, &backlog(5_000));
    assert_eq!(reason(wait), "ecf: waiting for the fastest is earlier");
    // A long one: 1 + 1 000/20 rounds of 10 ms do not.
    assert_eq!(chosen(ecf.pick(Instant::ZERO, &flows, &backlog(1_000_000))), Some(1));
}

/// Algorithm 1 of the paper where both of its conditions matter: RTTs of 100 and 210 ms, δ = 30 ms.
#[test]
fn ecf_waits_only_if_the_slower_subflow_needs_longer_than_two_rounds_of_the_fastest() {
    let mut flows = [subflow(0, 20, ms(100)), subflow(1, 10, ms(210))];
    carry(&mut flows[0], 20_000);
    flows[1].rttvar = ms(60);
    // n = 2: 2 · 100 < 210 + 30. Then k/CWND_S · 210 ≥ 2 · 100 + 30 from k/CWND_S = 1.095… on.
    for (unsent, chooses) in [(10_900, Some(1)), (11_000, None), (19_000, None)] {
        let mut ecf = scheduler(config::Scheduler::Ecf);
        let decision = ecf.pick(Instant::ZERO, &flows, &QueueView { unsent, ..queue() });
        assert_eq!(chosen(decision), chooses, "{unsent}");
    }
}

#[test]
fn ecf_s_hysteresis_keeps_it_waiting() {
    let flows = heterogeneous();
    let mut ecf = scheduler(config::Scheduler::Ecf);
    // (1 + 420/20)·10 = 220 ms lies between (200 + 12.5) and 1.25 · that.
    let border = QueueView { unsent: 420_000, ..queue() };
    assert_eq!(chosen(ecf.pick(Instant::ZERO, &flows, &border)), Some(1));
    assert_eq!(chosen(ecf.pick(Instant::ZERO, &flows, &QueueView { unsent: 5_000, ..queue() })), None);
    assert_eq!(chosen(ecf.pick(Instant::ZERO, &flows, &border)), None);
}

#[test]
fn nothing_to_send_or_no_window_is_a_wait() {
    let flows = [subflow(0, 20, ms(10))];
    let mut lowest = scheduler(config::Scheduler::LowestRtt);
    assert_eq!(reason(lowest.pick(Instant::ZERO, &flows, &QueueView::default())), "nothing to send");
    let full = QueueView { window_left: 0, ..queue() };
    assert_eq!(reason(lowest.pick(Instant::ZERO, &flows, &full)), "connection-level window full");
}

#[test]
fn a_window_that_ends_within_a_segment_waits_for_more() {
    let flows = [subflow(0, 20, ms(10))];
    let mut lowest = scheduler(config::Scheduler::LowestRtt);
    let sliver = QueueView { window_left: 600, in_flight: 1, ..queue() };
    assert_eq!(chosen(lowest.pick(Instant::ZERO, &flows, &sliver)), None);
    // The last octets of the stream, and a window that is smaller than a segment altogether, do go.
    assert_eq!(chosen(lowest.pick(Instant::ZERO, &flows, &QueueView { unsent: 600, ..sliver })), Some(0));
    assert_eq!(chosen(lowest.pick(Instant::ZERO, &flows, &QueueView { in_flight: 0, ..sliver })), Some(0));
}

fn kind() -> impl Strategy<Value = config::Scheduler> {
    prop_oneof![
        Just(config::Scheduler::RoundRobin),
        Just(config::Scheduler::LowestRtt),
        Just(config::Scheduler::Linux),
        prop::collection::vec(0u32..5, 0..5)
            .prop_map(|weights| config::Scheduler::WeightedRoundRobin { weights }),
        Just(config::Scheduler::Redundant),
        Just(config::Scheduler::Blest),
        Just(config::Scheduler::Ecf),
        Just(config::Scheduler::GoodputGuard(GuardConfig::default())),
    ]
}

prop_compose! {
    fn flow()(
        cwnd in 1u32..40, rtt in 1u64..300, usable in prop::bool::weighted(0.8), backup in prop::bool::weighted(0.2),
        loss_state in prop::bool::weighted(0.1), share in 0u32..5, own_backlog in 0u64..50_000,
    ) -> SubflowView {
        let mut view = subflow(0, cwnd, ms(rtt));
        view.usable = usable;
        view.backup = backup;
        view.in_timeout_recovery = loss_state;
        view.own_backlog = own_backlog;
        carry(&mut view, cwnd * 250 * share);
        view
    }
}

fn numbered(mut flows: Vec<SubflowView>) -> Vec<SubflowView> {
    for (id, view) in flows.iter_mut().enumerate() {
        view.id = SubflowId(id as u32);
        view.path_index = id as u32;
    }
    flows
}

proptest! {
    /// Only usable subflows with room, never more than queue, window and buffer hold, never nothing.
    #[test]
    fn every_decision_can_be_obeyed(
        kind in kind(), flows in prop::collection::vec(flow(), 0..5),
        unsent in 0u64..100_000, window_left in 0u64..100_000, acks in prop::collection::vec(0usize..5, 0..10),
    ) {
        let mut flows = numbered(flows);
        let mut queue = QueueView { unsent, window_left, ..queue() };
        let linux = kind == config::Scheduler::Linux;
        let mut scheduler = scheduler(kind);
        let mut now = 0u64;
        for ack in acks {
            for _ in 0..1000 {
                let decision = scheduler.pick(Instant::from_nanos(now), &flows, &queue);
                if let Decision::Send { subflow, octets, .. } = decision {
                    let view = &flows[subflow.0 as usize];
                    prop_assert!(view.usable && octets > 0 && octets <= view.send_space);
                    prop_assert!(linux || u64::from(view.cwnd_space) >= octets.min(u64::from(view.smss)) || view.is_idle());
                    if scheduler.own_pointers() {
                        prop_assert!(octets <= view.own_backlog);
                    } else {
                        prop_assert!(octets <= queue.unsent && octets <= queue.window_left);
                    }
                }
                if obey(decision, &mut flows, &mut queue).is_none() {
                    break;
                }
            }
            now += 37_000_000;
            if let Some(view) = flows.get_mut(ack) {
                acknowledge(view);
            }
        }
    }

    /// A usable subflow with all its window free gets data sooner or later: nothing starves while others wait,
    /// and a lone subflow is always used.
    #[test]
    fn a_free_subflow_that_is_alone_is_used(kind in kind(), view in flow()) {
        let mut view = numbered(vec![view])[0];
        acknowledge(&mut view);
        view.usable = true;
        view.in_timeout_recovery = false;
        view.own_backlog = 5000;
        prop_assume!(!matches!(kind, config::Scheduler::Redundant) || view.own_backlog > 0);
        let decision = scheduler(kind).pick(Instant::ZERO, &[view], &queue());
        prop_assert_eq!(chosen(decision), Some(0));
    }

    #[test]
    fn round_robin_starves_nobody(flows in prop::collection::vec(flow(), 1..5)) {
        let mut flows = numbered(flows);
        for view in &mut flows {
            view.backup = false;
            acknowledge(view);
        }
        let usable: Vec<u32> = flows.iter().filter(|s| s.usable).map(|s| s.id.0).collect();
        for kind in [config::Scheduler::RoundRobin, config::Scheduler::WeightedRoundRobin { weights: vec![] }] {
            let order = turns(&mut scheduler(kind), &mut flows.clone(), &mut queue(), usable.len());
            let mut served = order.clone();
            served.sort_unstable();
            prop_assert_eq!(&served, &usable);
        }
    }

    #[test]
    fn the_same_snapshots_give_the_same_decisions(kind in kind(), flows in prop::collection::vec(flow(), 1..5)) {
        let flows = numbered(flows);
        let run = || {
            let (mut flows, mut queue, mut scheduler) = (flows.clone(), queue(), scheduler(kind.clone()));
            let order = turns(&mut scheduler, &mut flows, &mut queue, 50);
            (order, format!("{scheduler:?}"))
        };
        prop_assert_eq!(run(), run());
    }
}

proptest! {
    /// What lets a connection place a run of segments after one look at its subflows.
    #[test]
    fn the_lowest_rtt_stays_chosen_until_its_room_is_used_up(
        flows in prop::collection::vec((1u32..12, 1u64..4, 0u32..12), 1..5),
    ) {
        let loaded = |(id, &(cwnd, rtt, segments)): (usize, &(u32, u64, u32))| {
            let mut flow = subflow(id as u32, cwnd, ms(10 * rtt));
            carry(&mut flow, 1000 * segments.min(cwnd));
            flow
        };
        let mut flows: Vec<SubflowView> = flows.iter().enumerate().map(loaded).collect();
        loop {
            let (chosen, others) = lowest_and_others(&flows, u64::MAX);
            let Some(id) = chosen.map(|view| view.id) else { break };
            while flows[id.0 as usize].has_room(u64::MAX) {
                prop_assert_eq!(lowest_and_others(&flows, u64::MAX).0.map(|view| view.id), Some(id));
                carry(&mut flows[id.0 as usize], 1000);
            }
            prop_assert_eq!(lowest_and_others(&flows, u64::MAX).0.is_some(), others);
        }
    }
}

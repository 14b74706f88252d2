//! The send queue by itself.

use super::*;
use proptest::prelude::*;

fn to(subflow: u32, position_end: u64) -> Placement {
    Placement { subflow, slot: subflow as u8, position_end }
}

fn queue() -> SendQueue {
    let mut queue = SendQueue::new(Dsn::new(99));
    queue.write(10_000);
    queue.send_new(1000, to(0, 1000));
    queue.send_new(1000, to(1, 1000));
    queue.send_new(1000, to(0, 2000));
    queue.send_new(1000, to(0, 3000));
    queue
}

#[test]
fn contiguous_data_of_one_subflow_is_one_entry_and_dsns_begin_after_the_initial_one() {
    let queue = queue();
    assert_eq!(queue.sent.iter().map(|s| s.len).collect::<Vec<_>>(), [1000, 1000, 2000]);
    assert_eq!(queue.dsn(0), Dsn::new(100));
    assert_eq!(queue.data(Dsn::new(150)), 50);
    assert_eq!((queue.next(), queue.unscheduled()), (4000, 6000));
}

/// The entries after `before` octets for subflow 0, and then `given` for subflow `last`.
fn entries(before: u32, last: u32, given: &[u32]) -> Vec<(u64, u32, u32)> {
    let mut queue = SendQueue::new(Dsn::new(99));
    queue.write(1 << 20);
    queue.send_new(before, to(0, u64::from(before)));
    for len in given {
        queue.send_new(*len, to(last, 1 << 19));
    }
    queue.sent.iter().map(|sent| (sent.start, sent.len, sent.latest)).collect()
}

#[test]
fn twice_is_as_once_exactly_when_the_entries_are_the_same() {
    for before in [1, 1000, ENTRY_MAX / 2, ENTRY_MAX - 3000, ENTRY_MAX - 2000, ENTRY_MAX] {
        for len in [1, 2, 1000, 1500, ENTRY_MAX / 4, ENTRY_MAX / 2, ENTRY_MAX / 2 + 1] {
            for last in [0, 1] {
                let mut queue = SendQueue::new(Dsn::new(99));
                queue.write(1 << 20);
                queue.send_new(before, to(0, u64::from(before)));
                let same = entries(before, last, &[len, len]) == entries(before, last, &[2 * len]);
                assert_eq!(queue.takes_two_as_one(last, last as u8, len), same, "{before} {len} {last}");
            }
        }
    }
}

#[test]
fn a_data_ack_forgets_and_one_from_the_past_or_future_changes_nothing() {
    let mut queue = queue();
    assert!(queue.acknowledge(1500));
    assert_eq!((queue.head().unwrap().start, queue.head().unwrap().len), (1500, 500));
    assert!(!queue.acknowledge(1500));
    assert!(!queue.acknowledge(200));
    assert!(!queue.acknowledge(4001));
    assert!(queue.acknowledge(4000));
    assert!(queue.head().is_none());
}

#[test]
fn a_dead_subflow_s_data_is_reinjected_piece_by_piece_and_never_what_was_acknowledged() {
    let mut queue = queue();
    assert_eq!(queue.forget(0, 0b11), 3000);
    queue.acknowledge(300);
    let first = queue.reinjection().unwrap();
    assert_eq!((first.start, first.end(), first.carriers), (300, 1000, 0));
    queue.send_again(300, 500, to(1, 1500));
    let rest = queue.reinjection().unwrap();
    assert_eq!((rest.start, rest.end()), (800, 1000));
    queue.send_again(800, 200, to(1, 1700));
    assert_eq!(queue.reinjection().unwrap().start, 2000);
    queue.acknowledge(4000);
    assert!(queue.reinjection().is_none());
    assert!(!queue.has_reinjections());
}

#[test]
fn what_a_healthy_subflow_carries_too_is_not_queued() {
    let mut queue = queue();
    assert_eq!(queue.requeue(0, 0b10), 3000);
    queue.send_again(0, 1000, to(1, 2000));
    queue.skip_reinjection();
    queue.skip_reinjection();
    assert_eq!(queue.requeue(0, 0b10), 2000, "only what subflow 1 has not got");
    assert_eq!(queue.requeue(0, 0b10), 0, "nothing twice");
}

#[test]
fn everything_can_be_sent_again_in_order() {
    let mut queue = queue();
    queue.requeue(0, 0b10);
    queue.requeue_everything();
    queue.acknowledge(1500);
    let mut again = Vec::new();
    while let Some(sent) = queue.reinjection() {
        again.push((sent.start, sent.end()));
        queue.send_again(sent.start, sent.len, to(1, 0));
    }
    assert_eq!(again, [(1500, 2000), (2000, 4000)]);
}

#[test]
fn what_is_rewound_is_sent_anew_and_not_reinjected() {
    let mut queue = queue();
    queue.requeue(0, 0b10);
    queue.rewind(1500);
    assert_eq!((queue.next(), queue.unscheduled()), (1500, 8500));
    assert!(queue.reinjection().is_none());
    queue.send_new(2500, to(1, 9000));
    assert!(queue.acknowledge(1500));
    let head = queue.head().unwrap();
    assert_eq!((head.start, head.end(), head.latest), (1500, 4000, 1));
}

#[test]
fn the_oldest_range_is_reinjected_first_whenever_it_was_queued() {
    let mut queue = queue();
    queue.requeue(1, 0b01);
    queue.requeue(0, 0b10);
    let mut again = Vec::new();
    while let Some(sent) = queue.reinjection() {
        again.push(sent.start);
        queue.send_again(sent.start, sent.len, to(2, 0));
    }
    assert_eq!(again, [0, 1000, 2000]);
}

#[test]
fn the_head_can_be_sent_again_by_anyone() {
    let mut queue = queue();
    queue.requeue_head();
    let head = queue.reinjection().unwrap();
    assert_eq!((head.start, head.carriers), (0, 0));
}

/// What both carried before it does not count for it.
#[test]
fn new_data_behind_what_two_carry_is_on_its_own_subflow_only() {
    let mut queue = SendQueue::new(Dsn::new(99));
    queue.write(3000);
    queue.send_new(1000, to(0, 1000));
    queue.send_again(0, 1000, to(1, 1000));
    queue.send_new(1000, to(1, 2000));
    assert_eq!(queue.forget(1, 0b01), 1000);
    assert_eq!(queue.reinjection().map(|sent| (sent.start, sent.end())), Some((1000, 2000)));
}

#[test]
fn a_timeout_of_one_subflow_queues_nothing_that_it_did_not_carry() {
    let nobody_else = 0b100;
    let mut all = queue();
    assert_eq!(all.requeue(1, nobody_else), 1000);
    assert_eq!(all.reinjection().map(|sent| (sent.start, sent.end())), Some((1000, 2000)));
    let mut oldest = queue();
    oldest.requeue_oldest(1, nobody_else);
    assert_eq!(oldest.reinjection().map(|sent| (sent.start, sent.end())), Some((1000, 2000)));
    let mut elsewhere = queue();
    elsewhere.send_again(1000, 1000, to(2, 1000));
    elsewhere.requeue_oldest(1, nobody_else);
    assert!(elsewhere.reinjection().is_none(), "a healthy subflow carries it too");
}

#[test]
fn what_follows_a_dead_subflow_in_its_place_has_carried_nothing() {
    for slot in [0, 1] {
        let mut queue = queue();
        queue.forget(slot, 0);
        let sent = queue.reinjection().expect("it carried some");
        assert_eq!((sent.carriers, sent.excluded()), (0, 0), "place {slot}");
    }
}

#[test]
fn the_middle_of_a_range_can_be_sent_again_by_itself() {
    let mut queue = queue();
    queue.send_again(2500, 1000, to(1, 2000));
    assert_eq!(queue.requeue(0, 0b10), 2000, "all but the middle");
    let mut again = Vec::new();
    while let Some(sent) = queue.reinjection() {
        again.push((sent.start, sent.end()));
        queue.send_again(sent.start, sent.len, to(1, 0));
    }
    assert_eq!(again, [(0, 1000), (2000, 2500), (3500, 4000)]);
}

#[test]
fn a_rewind_keeps_what_lies_before_and_nothing_else() {
    let mut within = queue();
    within.rewind(1500);
    assert_eq!(within.holding(1200).map(|sent| (sent.start, sent.end())), Some((1000, 1500)));
    let mut whole = queue();
    whole.rewind(0);
    assert_eq!((whole.head(), whole.next()), (None, 0));
}

#[test]
fn a_copy_is_of_the_latest_range_that_the_subflow_has_not_carried() {
    let queue = queue();
    let latest = |slots| queue.latest_without(slots).map(|sent| (sent.start, sent.end()));
    assert_eq!(latest(0b01), Some((1000, 2000)));
    assert_eq!(latest(0b10), Some((2000, 4000)));
    assert_eq!(latest(0b11), None);
}

/// What a walk over everything would queue for the subflow in `slot`.
fn only_there(queue: &SendQueue, slot: u8, healthy: Slots) -> Vec<(u64, u32)> {
    let is_only_there =
        |sent: &&Sent| sent.carriers & (1 << slot) != 0 && sent.carriers & healthy == 0 && !sent.is_queued();
    queue.sent.iter().filter(is_only_there).map(|sent| (sent.start, sent.len)).collect()
}

fn queued(queue: &SendQueue) -> Vec<(u64, u32)> {
    queue.sent.iter().filter(|sent| sent.is_queued()).map(|sent| (sent.start, sent.len)).collect()
}

/// One thing that happens to a queue, drawn as three numbers. What ends or abandons a subflow must do as a walk over everything does.
fn happen(queue: &mut SendQueue, (kind, a, b): (u8, u64, u64)) -> Result<(), TestCaseError> {
    let slot = (b % 3) as u8;
    let healthy = (a % 8) as Slots;
    match kind {
        0..=2 => {
            let len = queue.unscheduled().min(1 + a % 2_000) as u32;
            if len > 0 {
                queue.send_new(len, to(u32::from(slot), 0));
            }
        }
        3 => {
            let start = queue.una() + a % (queue.next() - queue.una()).max(1);
            if let Some(sent) = queue.holding(start) {
                let len = (sent.end() - start).min(1 + b % 500) as u32;
                queue.send_again(start, len, to(u32::from(slot), 0));
            }
        }
        4 => {
            if let Some(sent) = queue.reinjection() {
                queue.send_again(sent.start, sent.len.min(1 + a as u32 % 700), to(u32::from(slot), 0));
            }
        }
        5 => {
            queue.acknowledge(queue.una() + a % 3_000);
        }
        6 | 7 => {
            let before = queued(queue);
            let spared = if kind == 6 { healthy } else { healthy & !(1 << slot) };
            let mut expected = only_there(queue, slot, spared);
            let octets = if kind == 6 { queue.requeue(slot, healthy) } else { queue.forget(slot, healthy) };
            prop_assert_eq!(octets, expected.iter().map(|(_, len)| u64::from(*len)).sum::<u64>());
            expected.extend(before);
            expected.sort_unstable();
            prop_assert_eq!(queued(queue), expected);
            let carries = |sent: &Sent| sent.carriers & (1 << slot) != 0;
            prop_assert!(kind == 6 || !queue.sent.iter().any(carries), "its slot may be used again");
        }
        8 => queue.requeue_head(),
        _ => queue.rewind(queue.una() + a % 10_000),
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_a_subflow_was_given_is_all_that_it_carries(
        events in proptest::collection::vec((0u8..10, any::<u64>(), any::<u64>()), 1..200),
    ) {
        let mut queue = SendQueue::new(Dsn::new(99));
        queue.write(100_000);
        for event in events {
            happen(&mut queue, event)?;
        }
    }
}

/// A hostile peer keeps a long queue on one subflow, and opens and resets others that are given a little.
#[test]
fn a_subflow_that_ends_costs_what_it_was_given() {
    const ROUNDS: u64 = 100;
    let mut queue = SendQueue::new(Dsn::new(99));
    queue.write(100_000_000);
    for _ in 0..5_000 {
        queue.send_new(1_000, to(0, 0));
        queue.send_new(1_000, to(1, 0));
    }
    queue.forget(1, 0b101);
    for _ in 0..ROUNDS {
        for _ in 0..10 {
            let sent = queue.reinjection().expect("what the one before it carried");
            queue.send_again(sent.start, sent.len, to(2, 0));
        }
        queue.send_new(1_000, to(2, 0));
        let looked_at = queue.for_each_carried(2, |_, _| {});
        assert!(looked_at <= 11, "{looked_at} ranges");
        assert_eq!(queue.forget(2, 0b101), 11_000);
    }
}

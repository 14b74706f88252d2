//! The scoreboard against worked cases and against a naive one.

use super::step::STEPS;
use super::*;
use proptest::prelude::*;

const START: u32 = u32::MAX - 5_000;
const LEN: u32 = 1000;

fn seq(segment: u32) -> Seq {
    Seq::new(START) + segment * LEN
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn queue(segments: u32) -> SentQueue {
    let mut queue = SentQueue::new(Keeps { retransmissions: true, losses: false });
    for i in 0..segments {
        let payload = Payload { offset: u64::from(i * LEN), len: LEN };
        queue.push(Sent::new(seq(i), payload, Marks::default(), at(u64::from(i))));
    }
    queue
}

fn delivery(now: u64) -> Delivery {
    Delivery::new(at(now), None, Duration::ZERO, seq(0))
}

#[test]
fn memory_of_a_large_window_is_given_back() {
    const SEGMENTS: u32 = 50 * SPARE as u32;
    let mut sent = queue(SEGMENTS);
    assert!(sent.segments.capacity() >= SEGMENTS as usize);
    sent.acknowledge_plain(seq(SEGMENTS));
    assert!(sent.segments.capacity() <= 2 * SPARE, "room for {} segments", sent.segments.capacity());
}

#[test]
fn memory_of_many_retransmissions_is_given_back() {
    const SEGMENTS: u32 = 50 * SPARE as u32;
    let mut sent = queue(SEGMENTS);
    sent.mark_all_lost();
    while let Some(lost) = sent.next_lost() {
        sent.mark_retransmitted(lost, at(10_000));
    }
    assert!(sent.retransmissions.capacity() >= SEGMENTS as usize);
    sent.acknowledge(seq(SEGMENTS), &mut delivery(20_000));
    let capacity = sent.retransmissions.capacity();
    assert!(capacity <= 2 * SPARE, "room for {capacity} retransmissions");
}

/// Whatever a peer SACKs of a long queue, and however often it says so: what an ACK costs does not depend on the queue.
#[test]
fn no_sack_block_has_the_whole_queue_looked_at() {
    const SEGMENTS: u32 = 5_000;
    // All but the first, which is repaired: nothing is left that could be sent again. Or the last one alone, which is not
    // enough to deem anything lost.
    for from in [1, SEGMENTS - 1] {
        let mut sent = queue(SEGMENTS);
        sent.sack(&[(seq(from), seq(SEGMENTS))], &mut delivery(10_000));
        assert_eq!(sent.last_unsacked(), Some(from as usize - 1));
        sent.mark_lost_below_sacks(3, LEN);
        while let Some(lost) = sent.next_lost() {
            sent.mark_retransmitted(lost, at(10_001));
        }
        let mut hole_from = sent.una();
        let before = STEPS.get();
        for _ in 0..1_000 {
            assert!(!sent.mark_lost_below_sacks(3, LEN));
            let (hole, looked_at) = sent.next_hole(hole_from);
            hole_from = looked_at;
            if let Some(hole) = hole {
                sent.mark_retransmitted(hole, at(10_001));
            }
        }
        let steps = STEPS.get() - before;
        assert!(steps <= SEGMENTS as usize + 3_000, "{steps} steps");
    }
}

/// A window of which much is lost and waits for room, while a peer has low retransmissions deemed lost again and again.
#[test]
fn what_is_to_be_sent_again_is_found_without_a_walk() {
    const SEGMENTS: u32 = 5_000;
    let mut sent = queue(SEGMENTS);
    sent.sack(&[(seq(10), seq(SEGMENTS - 1))], &mut delivery(10_000));
    sent.mark_all_lost();
    let before = STEPS.get();
    for round in 0..1_000 {
        for low in 0..10 {
            assert_eq!(sent.next_lost(), Some(low));
            sent.mark_retransmitted(low, at(10_001 + round));
        }
        assert_eq!(sent.next_lost(), Some(SEGMENTS as usize - 1), "what comes next, and has no room yet");
        (0..10).for_each(|low| assert!(sent.mark_lost(low)));
    }
    sent.audit(seq(0), seq(SEGMENTS));
    let steps = STEPS.get() - before;
    assert!(steps <= 1_000 * 30, "{steps} steps");
}

#[test]
fn an_ack_inside_a_segment_trims_it() {
    let mut queue = queue(3);
    let mut delivered = delivery(10);
    queue.acknowledge(seq(1) + 300, &mut delivered);
    assert_eq!((delivered.acked, delivered.delivered), (1300, 1300));
    let front = queue.front().unwrap();
    assert_eq!((front.seq, front.payload()), (seq(1) + 300, Payload { offset: 1300, len: 700 }));
    queue.audit(seq(1) + 300, seq(3));
}

/// Who cuts the data anew may acknowledge a part of a segment in any state.
#[test]
fn an_ack_inside_a_segment_trims_what_is_counted_of_it() {
    let (inside, all) = (seq(0) + 300, 4 * LEN);
    let trimmed = |queue: &mut SentQueue| {
        queue.acknowledge(inside, &mut delivery(30));
        queue.audit(inside, seq(4));
        (queue.pipe(all - 300), queue.wants_retransmission())
    };
    let mut lost = queue(4);
    lost.mark_lost(0);
    assert_eq!(trimmed(&mut lost), (3 * LEN, true));
    let mut repaired = queue(4);
    repaired.mark_lost(0);
    repaired.mark_retransmitted(0, at(20));
    assert_eq!(trimmed(&mut repaired), (3 * LEN + 700, false));
    let mut probed = queue(4);
    probed.mark_retransmitted(0, at(20));
    assert_eq!(trimmed(&mut probed), (3 * LEN + 2 * 700, false));
    let mut reported = queue(4);
    reported.sack(&[(seq(0), seq(1))], &mut delivery(20));
    assert_eq!(trimmed(&mut reported), (3 * LEN, false));
}

#[test]
fn segments_are_cut_with_their_marks() {
    let mut queue = queue(6);
    queue.sack(&[(seq(1), seq(2))], &mut delivery(20));
    queue.mark_lost(0);
    queue.mark_lost(2);
    queue.mark_retransmitted(2, at(20));
    assert!(queue.exceeds(seq(3), LEN - 1) && !queue.exceeds(seq(3), LEN));
    assert_eq!(queue.cut(LEN), [], "none is longer");
    // Three pieces of each; those of the second have arrived.
    let missing = queue.cut(400);
    assert_eq!((queue.len(), missing.len()), (18, 15));
    assert!(!missing.iter().any(|index| (3..6).contains(index)));
    queue.audit(seq(0), seq(6));
    assert_eq!((queue.sacked_segments, queue.to_retransmit, queue.marked), (3, LEN, 9));
    let payloads = [0, 400, 800].map(|offset| Payload { offset, len: (LEN - offset as u32).min(400) });
    assert_eq!([0, 1, 2].map(|index| queue.segments[index].payload()), payloads);
    for index in missing {
        queue.mark_lost(index);
    }
    queue.audit(seq(0), seq(6));
    assert_eq!((queue.to_retransmit, queue.pipe(6 * LEN)), (5 * LEN, 0));
}

#[test]
fn lost_means_enough_sacked_above() {
    // RFC 6675 §4: three runs, or more than two segments' worth of octets.
    let mut runs = queue(10);
    let blocks = [(seq(1), seq(2)), (seq(3), seq(4))];
    runs.sack(&blocks, &mut delivery(20));
    assert!(!runs.mark_lost_below_sacks(3, LEN));
    runs.sack(&[(seq(5), seq(6)), blocks[0], blocks[1]], &mut delivery(20));
    assert!(runs.mark_lost_below_sacks(3, LEN));
    assert_eq!((runs.lost, runs.next_lost()), (LEN, Some(0)), "the second hole has two runs above");
    let mut octets = queue(10);
    octets.sack(&[(seq(2), seq(5))], &mut delivery(20));
    assert!(octets.mark_lost_below_sacks(3, LEN));
    assert_eq!(octets.lost, 2 * LEN);
    // Each is judged once: what was repaired is not lost again by the same evidence.
    octets.mark_retransmitted(0, at(21));
    assert!(!octets.mark_lost_below_sacks(3, LEN));
    assert_eq!(octets.next_lost(), Some(1));
}

#[test]
fn overdue_originals_and_retransmissions_are_found_in_order_of_time() {
    let mut queue = queue(4);
    queue.sack(&[(seq(3), seq(4))], &mut delivery(20));
    let latest = (at(3), seq(4));
    // Sent at 0, 1 and 2 ms; overdue 20 ms after.
    assert!(queue.mark_overdue(at(20), latest, Duration::from_millis(20)).any);
    assert_eq!((queue.lost, queue.next_lost()), (LEN, Some(0)));
    let overdue = queue.mark_overdue(at(20), latest, Duration::from_millis(20));
    assert_eq!(overdue, Overdue { any: false, next: Some(Duration::from_millis(1)) });
    queue.mark_retransmitted(0, at(20));
    queue.mark_overdue(at(30), (at(25), seq(4)), Duration::from_millis(20));
    assert_eq!(queue.lost, 3 * LEN);
    assert_eq!(queue.next_lost(), Some(1), "the retransmission has its own time");
    queue.mark_overdue(at(40), (at(25), seq(4)), Duration::from_millis(20));
    assert_eq!(queue.next_lost(), Some(0));
    queue.audit(seq(0), seq(4));
}

/// RFC 8985 §6.2 step 5: what was sent before the latest that was delivered. A segment between them that was sent again
/// later has its own time.
#[test]
fn originals_on_both_sides_of_a_retransmission_are_overdue() {
    let mut queue = queue(4);
    queue.mark_retransmitted(1, at(20));
    queue.sack(&[(seq(3), seq(4))], &mut delivery(40));
    assert!(queue.mark_overdue(at(40), (at(3), seq(4)), Duration::from_millis(20)).any);
    assert_eq!((queue.lost, queue.retransmitted), (2 * LEN, LEN));
}

#[test]
fn a_lost_retransmission_is_a_loss() {
    let mut queue = queue(4);
    queue.mark_lost(0);
    queue.mark_retransmitted(0, at(20));
    queue.sack(&[(seq(1), seq(4))], &mut delivery(40));
    let latest = (at(25), seq(4));
    assert!(!queue.mark_overdue(at(39), latest, Duration::from_millis(20)).any);
    assert!(queue.mark_overdue(at(40), latest, Duration::from_millis(20)).any);
    assert_eq!(queue.next_lost(), Some(0));
}

/// After a timeout the segment has left once more: of the retransmission before nothing follows for it.
#[test]
fn a_retransmission_is_judged_by_its_last_time() {
    let mut queue = queue(4);
    queue.mark_lost(0);
    queue.mark_retransmitted(0, at(20));
    queue.mark_lost(0);
    queue.mark_retransmitted(0, at(60));
    queue.sack(&[(seq(1), seq(4))], &mut delivery(65));
    assert!(!queue.mark_overdue(at(65), (at(30), seq(4)), Duration::from_millis(20)).any);
    assert!(queue.mark_overdue(at(80), (at(61), seq(4)), Duration::from_millis(20)).any);
}

#[test]
fn an_undone_recovery_leaves_no_loss() {
    let mut queue = queue(6);
    queue.sack(&[(seq(4), seq(5))], &mut delivery(20));
    queue.mark_all_lost();
    queue.mark_retransmitted(0, at(20));
    assert_eq!(queue.pipe(6 * LEN), LEN);
    queue.unmark_all_lost();
    assert!(!queue.wants_retransmission());
    assert_eq!(queue.pipe(6 * LEN), 6 * LEN, "five unSACKed and one sent twice");
    queue.audit(seq(0), seq(6));
}

#[derive(Clone, Debug)]
enum Operation {
    Acknowledge(u32),
    /// Segments that have arrived, and in which order their blocks are told.
    Sack(Vec<u32>, usize),
    Lose(u32),
    Repair,
    Undo,
    LoseAll,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (0u32..40).prop_map(Operation::Acknowledge),
        (proptest::collection::vec(0u32..40, 1..8), 0usize..4).prop_map(|(s, r)| Operation::Sack(s, r)),
        (0u32..40).prop_map(Operation::Lose),
        Just(Operation::Repair),
        Just(Operation::Undo),
        Just(Operation::LoseAll),
    ]
}

/// The runs of `arrived` above `una`, turned by `turn`, at most four of them.
fn blocks(arrived: &[bool], una: u32, turn: usize) -> Vec<(Seq, Seq)> {
    let mut blocks = Vec::new();
    let mut i = una + 1;
    while i < 40 {
        let from = i;
        while i < 40 && arrived[i as usize] {
            i += 1;
        }
        if i > from {
            blocks.push((seq(from), seq(i)));
        }
        i += 1;
    }
    let turn = turn.min(blocks.len());
    blocks.rotate_left(turn);
    blocks.truncate(4);
    blocks
}

proptest! {
    /// Whatever happens, the totals are right, and exactly what was reported is SACKed.
    #[test]
    fn the_scoreboard_agrees_with_a_naive_one(operations in proptest::collection::vec(operation(), 1..60)) {
        let mut queue = queue(40);
        let (mut una, mut now) = (0u32, 100);
        let mut arrived = [false; 40];
        let mut reported = [false; 40];
        for operation in operations {
            now += 1;
            match operation {
                Operation::Acknowledge(to) => {
                    let mut delivered = delivery(now);
                    queue.acknowledge(seq(to.max(una)), &mut delivered);
                    let fresh = (una..to.max(una)).filter(|i| !reported[*i as usize]).count();
                    prop_assert_eq!(delivered.delivered, fresh as u32 * LEN);
                    una = una.max(to);
                }
                Operation::Sack(segments, turn) => {
                    for segment in segments {
                        arrived[segment as usize] = true;
                    }
                    let blocks = blocks(&arrived, una, turn);
                    let mut delivered = delivery(now);
                    queue.sack(&blocks, &mut delivered);
                    let mut fresh = 0;
                    for i in una..40 {
                        let told = blocks.iter().any(|(l, r)| l.before_eq(seq(i)) && seq(i).before(*r));
                        fresh += u32::from(told && !reported[i as usize]);
                        reported[i as usize] |= told;
                    }
                    prop_assert_eq!((delivered.sacked, delivered.delivered), (fresh * LEN, fresh * LEN));
                }
                Operation::Lose(segment) => {
                    if let Some(index) = queue.index_of(seq(segment)) {
                        queue.mark_lost(index);
                    }
                }
                Operation::Repair => {
                    if let Some(index) = queue.next_lost() {
                        queue.mark_retransmitted(index, at(now));
                    }
                }
                Operation::Undo => queue.unmark_all_lost(),
                Operation::LoseAll => queue.mark_all_lost(),
            }
            queue.audit(seq(una), seq(40));
            let sacked = (una..40).filter(|i| reported[*i as usize]).count();
            prop_assert_eq!(queue.sacked_segments() as usize, sacked);
        }
    }
}

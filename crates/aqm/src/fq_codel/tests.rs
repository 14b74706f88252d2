use crate::testing::{Log, load, ms, packet};

use super::*;
use ropewalk_units::Duration;

fn queue(limit: QueueLimit) -> FqCodel<u32> {
    let codel =
        CodelConfig { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false };
    FqCodel::new(limit, FqCodelConfig { codel, flows: 8, quantum: 1_000 })
}

/// Queues `count` packets of a flow, which are numbered from `flow * 1000`.
fn fill(queue: &mut FqCodel<u32>, log: &mut Log, flow: u32, count: u32, bytes: u32) {
    for number in 0..count {
        queue.enqueue(ms(0), packet(flow * 1_000 + number, bytes, ms(0)), load(0), log);
    }
}

fn order(queue: &mut FqCodel<u32>, log: &mut Log, count: usize) -> Vec<u32> {
    (0..count).filter_map(|_| queue.dequeue(ms(1), log)).map(|queued| queued.packet).collect()
}

#[test]
fn flows_take_turns_of_one_quantum() {
    let (mut queue, mut log) = (queue(QueueLimit::Packets(1_000)), Log::default());
    fill(&mut queue, &mut log, 1, 6, 500);
    fill(&mut queue, &mut log, 2, 4, 1_000);
    // Two packets of 500 for one of 1000.
    let sent = order(&mut queue, &mut log, 9);
    assert_eq!(sent, [1_000, 1_001, 2_000, 1_002, 1_003, 2_001, 1_004, 1_005, 2_002]);
}

#[test]
fn a_new_flow_goes_before_the_old_ones_once() {
    let (mut queue, mut log) = (queue(QueueLimit::Packets(1_000)), Log::default());
    fill(&mut queue, &mut log, 1, 10, 1_000);
    fill(&mut queue, &mut log, 2, 10, 1_000);
    order(&mut queue, &mut log, 5);
    fill(&mut queue, &mut log, 3, 1, 100);
    assert_eq!(order(&mut queue, &mut log, 1), [3_000]);
    // Emptied, it waits among the old ones: another packet of it is not new again.
    order(&mut queue, &mut log, 1);
    queue.enqueue(ms(1), packet(3_001, 100, ms(1)), load(0), &mut log);
    assert!(queue.new_flows.is_empty());
    assert!(order(&mut queue, &mut log, 3).contains(&3_001));
    // It is forgotten when its turn comes among the old flows and it is empty. Its next packet
    // makes it new.
    order(&mut queue, &mut log, 3);
    queue.enqueue(ms(1), packet(3_002, 100, ms(1)), load(0), &mut log);
    assert_eq!(order(&mut queue, &mut log, 1), [3_002]);
}

#[test]
fn what_came_last_can_be_taken_back_and_the_flow_keeps_its_turn() {
    let (mut queue, mut log) = (queue(QueueLimit::Packets(1_000)), Log::default());
    fill(&mut queue, &mut log, 1, 2, 500);
    fill(&mut queue, &mut log, 2, 2, 500);
    assert!(queue.take_last(3, |_| true).is_none(), "nothing of this flow waits");
    assert!(queue.take_last(1, |&last| last != 1_001).is_none(), "it is asked about the last one");
    let taken = queue.take_last(1, |_| true).map(|queued| (queued.packet, queued.bytes));
    assert_eq!(taken, Some((1_001, 500)));
    assert_eq!(queue.take_last(1, |_| true).map(|queued| queued.packet), Some(1_000));
    queue.enqueue(ms(0), packet(1_002, 500, ms(0)), load(0), &mut log);
    assert_eq!(order(&mut queue, &mut log, 9), [1_002, 2_000, 2_001]);
    assert!(log.dropped.is_empty());
}

#[test]
fn overflow_takes_the_head_of_the_fattest_queue() {
    let (mut queue, mut log) = (queue(QueueLimit::Packets(5)), Log::default());
    fill(&mut queue, &mut log, 1, 4, 1_000);
    fill(&mut queue, &mut log, 2, 1, 100);
    queue.enqueue(ms(0), packet(2_001, 100, ms(0)), load(5), &mut log);
    assert_eq!(log.dropped, [(ms(0), 1_000, Dropped::Full)]);
    assert_eq!(order(&mut queue, &mut log, 9).len(), 5);
}

#[test]
fn a_packet_too_large_for_the_limit_is_itself_dropped() {
    let (mut queue, mut log) = (queue(QueueLimit::Bytes(500)), Log::default());
    queue.enqueue(ms(0), packet(1_000, 1_000, ms(0)), load(0), &mut log);
    assert_eq!(log.dropped, [(ms(0), 1_000, Dropped::Full)]);
    assert_eq!(queue.dequeue(ms(1), &mut log), None);
}

#[test]
fn each_flow_has_its_own_codel() {
    let (mut queue, mut log) = (queue(QueueLimit::Packets(1_000)), Log::default());
    fill(&mut queue, &mut log, 1, 400, 1_000);
    let mut sparse = 0;
    for now in 0..300u64 {
        if now % 10 == 0 {
            queue.enqueue(ms(now), packet(2_000, 100, ms(now)), load(0), &mut log);
            sparse += 1;
        }
        queue.dequeue(ms(now), &mut log);
    }
    assert!(!log.dropped.is_empty() && log.dropped.iter().all(|&(_, id, _)| id / 1_000 == 1));
    let left = queue.drain();
    assert!(left.iter().filter(|queued| queued.packet == 2_000).count() <= 1, "{sparse} sent");
    assert!(left.is_sorted_by_key(|queued| queued.enqueued));
}

#[test]
fn a_flow_that_is_refused_keeps_its_turn() {
    let (mut queue, mut log) = (queue(QueueLimit::Packets(1_000)), Log::default());
    fill(&mut queue, &mut log, 1, 2, 1_000);
    fill(&mut queue, &mut log, 2, 2, 1_000);
    let mut asked = Vec::new();
    let queued = queue.dequeue_if(ms(1), &mut log, |first, bytes| {
        asked.push((first.packet, bytes));
        first.packet >= 2_000
    });
    assert_eq!(
        (queued.map(|queued| queued.packet), &asked[..]),
        (Some(2_000), &[(1_000, 2_000), (2_000, 2_000)][..])
    );
    assert_eq!(order(&mut queue, &mut log, 1), [1_000]);
    assert_eq!(queue.dequeue_if(ms(1), &mut log, |_, _| false), None);
    assert_eq!(order(&mut queue, &mut log, 9).len(), 2);
}

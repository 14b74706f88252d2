use crate::testing::{Log, load, ms, packet};

use super::*;

const CONFIG: CodelConfig =
    CodelConfig { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false };

fn queue(config: CodelConfig) -> CodelQueue<u32> {
    CodelQueue::new(QueueLimit::Packets(10_000), config)
}

/// Serves a queue that always holds `backlog` packets, one each ms, for `until` ms; each has waited
/// `backlog` ms.
fn serve(queue: &mut CodelQueue<u32>, log: &mut Log, backlog: u64, until: u64) -> Vec<u32> {
    let mut sent = Vec::new();
    let mut id = 0;
    for now in 0..until {
        while queue.fifo.packets.len() < backlog as usize {
            let enqueued = ms((now + queue.fifo.packets.len() as u64).saturating_sub(backlog));
            queue.enqueue(ms(now), packet(id, 1_000, enqueued), load(0), log);
            id += 1;
        }
        sent.extend(queue.dequeue(ms(now), log).map(|queued| queued.packet));
    }
    sent
}

#[test]
fn a_short_queue_is_left_alone() {
    let (mut queue, mut log) = (queue(CONFIG), Log::default());
    let sent = serve(&mut queue, &mut log, 4, 2_000);
    assert_eq!((sent.len(), log.dropped.len()), (2_000, 0));
}

#[test]
fn a_standing_queue_loses_packets_ever_faster() {
    let (mut queue, mut log) = (queue(CONFIG), Log::default());
    serve(&mut queue, &mut log, 50, 1_000);
    let times: Vec<u64> = log.dropped.iter().map(|(at, ..)| at.as_millis()).collect();
    // The delay reaches 5 ms at once: packets wait 50 ms, except at the start. The first drop comes
    // one interval after that was seen. Drop k + 1 comes 100 ms / sqrt(k) after drop k, at the
    // first dequeue from then on.
    let first = times[0];
    let mut expected = vec![first];
    let mut next = first as f64;
    for count in 1..times.len() {
        next += 100.0 / (count as f64).sqrt();
        expected.push(next.ceil() as u64);
    }
    assert!((100..=110).contains(&first), "{first}");
    assert!(times.len() > 15, "{times:?}");
    assert_eq!(times, expected);
    assert!(log.dropped.iter().all(|&(.., reason)| reason == Dropped::Codel));
}

#[test]
fn ecn_marks_instead_of_dropping_and_loses_nothing() {
    let (mut queue, mut log) =
        (queue(CodelConfig { ecn: true, ..CONFIG }), Log { ecn: true, ..Log::default() });
    let sent = serve(&mut queue, &mut log, 50, 1_000);
    assert_eq!((sent.len(), log.dropped.len()), (1_000, 0));
    assert!(log.marked.len() > 15, "{}", log.marked.len());
}

#[test]
fn dropping_ends_when_the_delay_falls_and_resumes_where_it_was() {
    let (mut queue, mut log) = (queue(CONFIG), Log::default());
    serve(&mut queue, &mut log, 50, 1_000);
    let reached = queue.codel.count;
    // One packet without delay ends it.
    queue.drain();
    queue.enqueue(ms(1_000), packet(1, 1_000, ms(1_000)), load(0), &mut log);
    assert!(queue.dequeue(ms(1_000), &mut log).is_some());
    assert!(!queue.codel.dropping && queue.codel.first_above.is_none());
    // RFC 8289 §5.5: within 16 intervals it starts again at the rate it had reached.
    for id in 0..200 {
        queue.enqueue(ms(1_001), packet(id, 1_000, ms(1_001)), load(0), &mut log);
    }
    let before = log.dropped.len();
    queue.dequeue(ms(1_010), &mut log);
    queue.dequeue(ms(1_110), &mut log);
    assert_eq!(log.dropped.len(), before + 1);
    assert!(queue.codel.dropping);
    assert_eq!(queue.codel.count, reached - 1);
}

#[test]
fn a_queue_of_one_packet_is_never_too_long() {
    let (mut queue, mut log) = (queue(CONFIG), Log::default());
    for now in 0..500 {
        // Each packet has waited a second, but leaves no more than one behind.
        while queue.fifo.packets.len() < 2 {
            queue.enqueue(ms(0), packet(0, 1_000, ms(0)), load(0), &mut log);
        }
        queue.dequeue(ms(1_000 + now), &mut log);
    }
    assert!(log.dropped.is_empty());
}

#[test]
fn the_hard_limit_drops_the_newcomer() {
    let mut queue = CodelQueue::new(QueueLimit::Bytes(2_500), CONFIG);
    let mut log = Log::default();
    queue.enqueue(ms(0), packet(1, 500, ms(0)), load(2), &mut log);
    queue.enqueue(ms(0), packet(2, 501, ms(0)), load(2), &mut log);
    assert_eq!(log.dropped, [(ms(0), 2, Dropped::Full)]);
}

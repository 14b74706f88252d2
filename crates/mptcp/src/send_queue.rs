//! What the connection has written and the peer has not yet data-acknowledged, and which subflows carried it.

use ropewalk_units::Dsn;
use std::collections::{BTreeSet, VecDeque};

/// A set of subflows, by their slots.
pub(crate) type Slots = u64;

/// Octets kept together in one entry at most, so that a reinjection moves pieces and not everything.
const ENTRY_MAX: u32 = 64 * 1024;

/// Which subflows may take a range from the reinjection queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaits {
    /// None: it is not queued.
    Nobody,
    /// Those that do not carry it: the others retransmit it themselves (RFC 8684 §3.3.6).
    Others,
    /// Any subflow.
    Anybody,
}

/// A range that was given to at least one subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    /// First octet.
    pub(crate) start: u64,
    /// Octets.
    pub(crate) len: u32,
    awaits: Awaits,
    /// Index of the subflow that was given it last.
    pub(crate) latest: u32,
    /// Where it ends in that subflow's own stream.
    pub(crate) position_end: u64,
    /// Living subflows that carried it.
    pub(crate) carriers: Slots,
}

impl Sent {
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.len as u64
    }

    fn is_queued(&self) -> bool {
        self.awaits != Awaits::Nobody
    }

    /// The subflows that it must not be given to.
    pub(crate) fn excluded(&self) -> Slots {
        if self.awaits == Awaits::Others { self.carriers } else { 0 }
    }

    /// Can it be prolonged by `len` octets for this subflow?
    fn takes(&self, subflow: u32, slot: u8, len: u32) -> bool {
        self.latest == subflow
            && self.carriers == 1 << slot
            && !self.is_queued()
            && self.len + len <= ENTRY_MAX
    }
}

/// Which subflow is given a range, and where it lands there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) subflow: u32,
    pub(crate) slot: u8,
    /// Where the range will end in the subflow's stream.
    pub(crate) position_end: u64,
}

/// The send buffer in ranges: `una ≤ next ≤ written`.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    /// DSN of the first octet.
    first: Dsn,
    /// All before is DATA_ACKed.
    una: u64,
    /// All before was given to a subflow.
    next: u64,
    /// All before was written by the application.
    written: u64,
    /// From `una` to `next`, in order and without gaps.
    sent: VecDeque<Sent>,
    /// Starts of the ranges to reinject, the oldest first whenever they were queued: the peer waits for that one (RFC 8684
    /// §3.3.6, the head of the connection-level data queue).
    reinject: BTreeSet<u64>,
}

impl SendQueue {
    /// An empty queue; `initial` is the host's initial DSN, the stream begins one after it (RFC 8684 §3.1).
    pub(crate) fn new(initial: Dsn) -> Self {
        Self {
            first: initial + 1,
            una: 0,
            next: 0,
            written: 0,
            sent: VecDeque::new(),
            reinject: BTreeSet::new(),
        }
    }

    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    pub(crate) const fn written(&self) -> u64 {
        self.written
    }

    /// Octets not yet given to any subflow.
    pub(crate) const fn unscheduled(&self) -> u64 {
        self.written - self.next
    }

    /// The DSN of an octet.
    pub(crate) fn dsn(&self, data: u64) -> Dsn {
        self.first + data
    }

    /// The octet of a DSN; may be "negative", that is huge.
    pub(crate) const fn data(&self, dsn: Dsn) -> u64 {
        dsn.since(self.first)
    }

    pub(crate) fn write(&mut self, octets: u64) {
        self.written += octets;
    }

    /// New data, the next `len` octets, goes to a subflow.
    #[inline]
    pub(crate) fn send_new(&mut self, len: u32, to: Placement) {
        let start = self.next;
        self.next += u64::from(len);
        if let Some(last) = self.sent.back_mut()
            && last.takes(to.subflow, to.slot, len)
        {
            last.len += len;
            last.position_end = to.position_end;
            return;
        }
        self.sent.push_back(Sent {
            start,
            len,
            awaits: Awaits::Nobody,
            latest: to.subflow,
            position_end: to.position_end,
            carriers: 1 << to.slot,
        });
    }

    /// Is it the same whether this subflow is given `len` octets twice, or twice as many at once?
    pub(crate) fn takes_two_as_one(&self, subflow: u32, slot: u8, len: u32) -> bool {
        let takes = |len| self.sent.back().is_some_and(|last| last.takes(subflow, slot, len));
        takes(2 * len) || (2 * len <= ENTRY_MAX && !takes(len))
    }

    /// Takes a DATA_ACK up to `una`, which lies between the old one and `next`. Returns whether it moved.
    pub(crate) fn acknowledge(&mut self, una: u64) -> bool {
        if una <= self.una || una > self.next {
            return false;
        }
        self.una = una;
        while let Some(first) = self.sent.front_mut() {
            if first.end() > una {
                if first.start < una {
                    first.len -= (una - first.start) as u32;
                    first.start = una;
                }
                break;
            }
            self.sent.pop_front();
        }
        true
    }

    /// The oldest range that is not DATA_ACKed.
    pub(crate) fn head(&self) -> Option<&Sent> {
        self.sent.front()
    }

    /// The range that holds an octet which was sent and is not DATA_ACKed.
    pub(crate) fn holding(&self, data: u64) -> Option<&Sent> {
        self.index_of(data).map(|at| &self.sent[at])
    }

    fn index_of(&self, data: u64) -> Option<usize> {
        let at = self.sent.partition_point(|sent| sent.end() <= data);
        (at < self.sent.len() && self.sent[at].start <= data).then_some(at)
    }

    /// Queues for reinjection what the subflow in `slot` carried, unless a subflow of `healthy` carried it too.
    /// Returns the octets queued.
    pub(crate) fn requeue(&mut self, slot: u8, healthy: Slots) -> u64 {
        let mut octets = 0;
        for sent in &mut self.sent {
            if sent.carriers & (1 << slot) != 0 && sent.carriers & healthy == 0 && !sent.is_queued() {
                sent.awaits = Awaits::Others;
                octets += u64::from(sent.len);
                self.reinject.insert(sent.start);
            }
        }
        octets
    }

    /// As [`Self::requeue`], but only the oldest of these ranges.
    pub(crate) fn requeue_oldest(&mut self, slot: u8, healthy: Slots) {
        let only_there = |sent: &&mut Sent| sent.carriers & (1 << slot) != 0 && sent.carriers & healthy == 0;
        if let Some(oldest) = self.sent.iter_mut().find(only_there)
            && !oldest.is_queued()
        {
            oldest.awaits = Awaits::Others;
            self.reinject.insert(oldest.start);
        }
    }

    /// The subflow in `slot` is gone: what only it carried is queued, and the slot may be used again.
    pub(crate) fn forget(&mut self, slot: u8, healthy: Slots) -> u64 {
        let octets = self.requeue(slot, healthy & !(1 << slot));
        for sent in &mut self.sent {
            sent.carriers &= !(1 << slot);
        }
        octets
    }

    /// Queues the oldest range as if nobody had carried it: subflows acknowledged it, yet no DATA_ACK came
    /// (RFC 8684 §3.3.6).
    pub(crate) fn requeue_head(&mut self) {
        if let Some(head) = self.sent.front_mut() {
            head.carriers = 0;
            head.awaits = Awaits::Anybody;
            self.reinject.insert(head.start);
        }
    }

    /// Everything that was given to subflows and is not DATA_ACKed is sent once more, in order.
    pub(crate) fn requeue_everything(&mut self) {
        self.reinject.clear();
        for sent in &mut self.sent {
            sent.awaits = Awaits::Anybody;
            self.reinject.insert(sent.start);
        }
    }

    /// Is there anything to reinject? Forgets what has been DATA_ACKed meanwhile.
    pub(crate) fn reinjection(&mut self) -> Option<Sent> {
        while let Some(&start) = self.reinject.first() {
            if let Some(at) = self.index_of(start.max(self.una))
                && self.sent[at].is_queued()
            {
                return Some(self.sent[at]);
            }
            self.reinject.pop_first();
        }
        None
    }

    /// Are ranges waiting for reinjection? May say so for ranges that were DATA_ACKed.
    pub(crate) fn has_reinjections(&self) -> bool {
        !self.reinject.is_empty()
    }

    /// Takes the range that [`SendQueue::reinjection`] gave off the queue without sending it: subflows that
    /// live carry it already.
    pub(crate) fn skip_reinjection(&mut self) {
        if let Some(start) = self.reinject.pop_first()
            && let Some(at) = self.index_of(start.max(self.una))
        {
            self.sent[at].awaits = Awaits::Nobody;
        }
    }

    /// Another subflow is given the first `len` octets from `start` of what was sent; the rest of a queued range
    /// stays queued.
    pub(crate) fn send_again(&mut self, start: u64, len: u32, to: Placement) {
        let Some(mut at) = self.index_of(start) else { return };
        if self.sent[at].start < start {
            self.split(at, start);
            at += 1;
        }
        if self.sent[at].len > len {
            self.split(at, start + u64::from(len));
        }
        let sent = &mut self.sent[at];
        sent.latest = to.subflow;
        sent.position_end = to.position_end;
        sent.carriers |= 1 << to.slot;
        sent.awaits = Awaits::Nobody;
    }

    /// Nothing waits for reinjection any more.
    pub(crate) fn cancel_reinjections(&mut self) {
        self.reinject.clear();
        for sent in &mut self.sent {
            sent.awaits = Awaits::Nobody;
        }
    }

    /// Everything from `data` on counts as never sent: it is sent again under an infinite mapping.
    pub(crate) fn rewind(&mut self, data: u64) {
        self.cancel_reinjections();
        while let Some(last) = self.sent.back_mut()
            && last.end() > data
        {
            if last.start < data {
                last.len = (data - last.start) as u32;
                break;
            }
            self.sent.pop_back();
        }
        self.next = self.next.min(data.max(self.una));
    }

    /// The latest range that none of `slots` carried.
    pub(crate) fn latest_without(&self, slots: Slots) -> Option<&Sent> {
        self.sent.iter().rev().find(|sent| sent.carriers & slots == 0)
    }

    fn split(&mut self, at: usize, start: u64) {
        let first = &mut self.sent[at];
        let rest = Sent { start, len: (first.end() - start) as u32, ..*first };
        first.len -= rest.len;
        if rest.is_queued() {
            // The queue names ranges by their start.
            self.reinject.insert(rest.start);
        }
        self.sent.insert(at + 1, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

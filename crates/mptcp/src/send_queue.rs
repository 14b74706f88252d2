//! What the connection has written and the peer has not yet data-acknowledged, and which subflows carried it.

mod given;
#[cfg(test)]
mod tests;

use given::Given;
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
    /// What each subflow was given, by its slot: all that it carries, and perhaps more.
    given: Vec<Given>,
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
            given: Vec::new(),
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
        self.note_given(to.slot, start, self.next);
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
        self.for_each_carried(slot, |sent, reinject| {
            if sent.carriers & healthy == 0 && !sent.is_queued() {
                sent.awaits = Awaits::Others;
                octets += u64::from(sent.len);
                reinject.insert(sent.start);
            }
        });
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
        self.for_each_carried(slot, |sent, _| sent.carriers &= !(1 << slot));
        if let Some(given) = self.given.get_mut(usize::from(slot)) {
            given.clear();
        }
        octets
    }

    /// Works on the ranges that the subflow in `slot` carries. It looks at no others than those of what it was given: a peer may end
    /// many subflows, and each may cost what was sent on it. Returns how many it looked at.
    fn for_each_carried(&mut self, slot: u8, mut work: impl FnMut(&mut Sent, &mut BTreeSet<u64>)) -> usize {
        let mut looked_at = 0;
        let Some(given) = self.given.get_mut(usize::from(slot)) else { return looked_at };
        given.prune(self.una);
        for range in given.ranges() {
            let first = self.sent.partition_point(|sent| sent.end() <= range.start);
            for sent in self.sent.range_mut(first..).take_while(|sent| sent.start < range.end) {
                looked_at += 1;
                if sent.carriers & (1 << slot) != 0 {
                    work(sent, &mut self.reinject);
                }
            }
        }
        looked_at
    }

    #[inline(always)]
    fn note_given(&mut self, slot: u8, start: u64, end: u64) {
        match self.given.get_mut(usize::from(slot)) {
            Some(given) => given.add(start..end, self.una),
            None => self.give_first(slot, start, end),
        }
    }

    #[cold]
    fn give_first(&mut self, slot: u8, start: u64, end: u64) {
        self.given.resize_with(usize::from(slot) + 1, Given::default);
        self.note_given(slot, start, end);
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
        let range = (sent.start, sent.end());
        self.note_given(to.slot, range.0, range.1);
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

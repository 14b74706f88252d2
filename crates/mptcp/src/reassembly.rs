//! The connection's stream, put together from what the subflows deliver (RFC 8684 §3.3.1), and what waiting
//! behind a hole costs.

use ropewalk_tcp::Pieces;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// Numbers half as many as there are lie neither before nor after.
const HALF_CIRCLE: u64 = 1 << 63;

/// The reorder buffer, and the octets ready to be read.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    /// All before has arrived.
    next: u64,
    /// All before has been read.
    read: u64,
    /// The first octets to read, none if it is empty. Inline: what arrives in order is read at once.
    ready: Payload,
    /// Those to read after it.
    more: VecDeque<Payload>,
    /// Behind a hole.
    waiting: Pieces,
    waiting_max: u64,
    /// Pieces that may wait, and to be read.
    most: usize,
    duplicate_octets: u64,
    blocked: Duration,
    blocked_since: Option<Instant>,
}

impl Reassembly {
    /// With so many pieces at most.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            next: 0,
            read: 0,
            ready: Payload::default(),
            more: VecDeque::new(),
            waiting: Pieces::default(),
            waiting_max: 0,
            most,
            duplicate_octets: 0,
            blocked: Duration::ZERO,
            blocked_since: None,
        }
    }

    /// The data octet that is expected next: what DATA_ACK says.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Octets read so far.
    pub(crate) const fn read_position(&self) -> u64 {
        self.read
    }

    /// Octets that can be read.
    pub(crate) const fn readable(&self) -> u64 {
        self.next - self.read
    }

    /// Octets behind a hole.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.octets()
    }

    /// The most octets that ever were behind a hole.
    pub(crate) const fn waiting_max(&self) -> u64 {
        self.waiting_max
    }

    /// Pieces behind a hole.
    pub(crate) fn pieces(&self) -> usize {
        self.waiting.len()
    }

    /// The place behind the highest octet that has arrived.
    pub(crate) fn end(&self) -> u64 {
        self.waiting.end().unwrap_or(self.next)
    }

    /// Names each range that is there: to be read, or behind a hole.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        self.more.iter().chain([&self.ready]).filter(|range| range.len > 0).for_each(|range| visit(*range));
        self.waiting.visit(visit);
    }

    /// Octets that arrived more than once.
    pub(crate) const fn duplicates(&self) -> u64 {
        self.duplicate_octets
    }

    /// How long data has waited behind a hole, up to the last [`Reassembly::account`].
    pub(crate) const fn blocked(&self) -> Duration {
        self.blocked
    }

    /// Brings the head-of-line account up to date: time counts while anything waits behind a hole.
    pub(crate) fn account(&mut self, now: Instant) {
        if let Some(since) = self.blocked_since {
            self.blocked += now.saturating_since(since);
            self.blocked_since = (!self.waiting.is_empty()).then_some(now);
        } else if !self.waiting.is_empty() {
            self.blocked_since = Some(now);
        }
    }

    /// Takes octets that a subflow delivered, `data` being the position of the first. Octets that are there
    /// already are counted and dropped, and so is what lies below the first octet of all, whose position is huge.
    #[inline(always)]
    pub(crate) fn insert(&mut self, now: Instant, data: u64, payload: Payload) {
        if data == self.next && self.waiting.is_empty() {
            self.deliver(payload, self.most);
        } else {
            self.insert_slowly(data, payload);
            self.account(now);
        }
    }

    fn insert_slowly(&mut self, mut data: u64, mut payload: Payload) {
        let old = self.next.wrapping_sub(data);
        // What is half a circle away lies on either side. Nobody may send so far ahead.
        if (1..=HALF_CIRCLE).contains(&old) {
            let old = old.min(u64::from(payload.len));
            self.duplicate_octets += old;
            data = data.wrapping_add(old);
            payload = skip(payload, old);
        }
        if payload.len == 0 {
            return;
        }
        if data == self.next {
            self.fill_hole(payload);
        } else {
            self.store(data, payload);
        }
    }

    /// Delivers octets that begin at `next`, and what they connect to.
    fn fill_hole(&mut self, mut payload: Payload) {
        if let Some(start) = self.waiting.start()
            && start - self.next < u64::from(payload.len)
        {
            // The overlap is kept from the older copy (RFC 8684 §3.3.1); the octets may reach beyond it and over several.
            let head = start - self.next;
            self.store(start, skip(payload, head));
            payload.len = head as u32;
        }
        if !self.deliver(payload, self.most) {
            return;
        }
        while let Some((piece, _)) = self.waiting.connect(self.next) {
            self.deliver(piece, usize::MAX);
        }
    }

    /// Puts octets where they can be read; not if that would be another one of `most` pieces.
    fn deliver(&mut self, payload: Payload, most: usize) -> bool {
        let Payload { offset, len } = payload;
        let last = self.more.back_mut().unwrap_or(&mut self.ready);
        if last.len == 0 {
            *last = payload;
        } else if last.offset + u64::from(last.len) == offset && last.len <= u32::MAX - len {
            last.len += len;
        } else if self.more.len() + 1 < most {
            self.more.push_back(payload);
        } else {
            return false;
        }
        self.next += u64::from(len);
        true
    }

    /// Puts what is new of the octets behind the hole.
    fn store(&mut self, data: u64, payload: Payload) {
        if let Some(added) = self.waiting.insert(data, payload, self.most) {
            self.duplicate_octets += u64::from(payload.len - added);
            self.waiting_max = self.waiting_max.max(self.waiting.octets());
        }
    }

    /// Reads up to `max` octets in order.
    pub(crate) fn read(&mut self, max: u64) -> Option<Payload> {
        let Payload { offset, len } = self.ready;
        let taken = u64::from(len).min(max) as u32;
        if taken == 0 {
            return None;
        }
        let payload = Payload { offset, len: taken };
        self.ready = Payload { offset: offset + u64::from(taken), len: len - taken };
        if taken == len
            && let Some(next) = self.more.pop_front()
        {
            self.ready = next;
        }
        self.read += u64::from(taken);
        Some(payload)
    }
}

/// Without the first octets.
const fn skip(payload: Payload, octets: u64) -> Payload {
    Payload { offset: payload.offset + octets, len: payload.len - octets as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn payload(offset: u64, len: u32) -> Payload {
        Payload { offset, len }
    }

    #[test]
    fn a_hole_blocks_and_its_time_is_counted() {
        let mut reassembly = Reassembly::new(4096);
        reassembly.insert(at(1), 0, payload(0, 10));
        reassembly.insert(at(2), 20, payload(20, 10));
        reassembly.insert(at(3), 30, payload(30, 10));
        assert_eq!((reassembly.next(), reassembly.readable(), reassembly.waiting()), (10, 10, 20));
        reassembly.insert(at(7), 10, payload(10, 10));
        assert_eq!((reassembly.next(), reassembly.waiting(), reassembly.waiting_max()), (40, 0, 20));
        assert_eq!(reassembly.blocked(), Duration::from_millis(5));
        reassembly.account(at(100));
        assert_eq!(reassembly.blocked(), Duration::from_millis(5), "nothing waits any more");
        assert_eq!(reassembly.read(15), Some(payload(0, 15)));
        assert_eq!(reassembly.read(u64::MAX), Some(payload(15, 25)));
        assert_eq!(reassembly.read(u64::MAX), None);
    }

    #[test]
    fn what_lies_below_the_first_octet_is_dropped_and_the_rest_is_taken() {
        for hole in [false, true] {
            let mut reassembly = Reassembly::new(4096);
            if hole {
                reassembly.insert(at(1), 50, payload(50, 10));
            }
            reassembly.insert(at(2), 0u64.wrapping_sub(7), payload(1000, 7));
            assert_eq!((reassembly.next(), reassembly.duplicates()), (0, 7), "all of it below");
            reassembly.insert(at(2), 0u64.wrapping_sub(7), payload(1000, 17));
            assert_eq!((reassembly.next(), reassembly.duplicates()), (10, 14), "three of it above");
            assert_eq!(reassembly.read(u64::MAX), Some(payload(1007, 10)));
        }
    }

    #[test]
    fn half_a_circle_ahead_nothing_is_kept() {
        let mut reassembly = Reassembly::new(4096);
        reassembly.insert(at(1), 0, payload(0, 10));
        reassembly.insert(at(2), 10 + HALF_CIRCLE, payload(10, 10));
        assert_eq!((reassembly.next(), reassembly.waiting(), reassembly.duplicates()), (10, 0, 10));
        assert_eq!(reassembly.end(), 10);
    }

    #[test]
    fn a_reader_that_sleeps_costs_no_more_than_so_many_pieces() {
        let mut reassembly = Reassembly::new(64);
        for i in 0..1000 {
            reassembly.insert(at(i), reassembly.next(), payload(10 * i, 1));
        }
        assert!(reassembly.more.len() <= 64 && reassembly.next() < 100);
    }

    proptest! {
        /// Overlaps and repeats in any order: every octet once and in order, the rest counted as duplicates.
        #[test]
        fn any_order_gives_the_stream(raw in prop::collection::vec((0u64..200, 1u32..40), 1..40)) {
            let mut reassembly = Reassembly::new(4096);
            let mut seen = vec![false; 300];
            let mut arrived = 0;
            for (i, &(data, len)) in raw.iter().enumerate() {
                reassembly.insert(at(i as u64), data, payload(data, len));
                seen[data as usize..data as usize + len as usize].fill(true);
                arrived += u64::from(len);
            }
            let whole = seen.iter().take_while(|seen| **seen).count() as u64;
            let distinct = seen.iter().filter(|seen| **seen).count() as u64;
            prop_assert_eq!(reassembly.next(), whole);
            prop_assert_eq!(reassembly.waiting(), distinct - whole);
            prop_assert_eq!(reassembly.duplicates(), arrived - distinct);
            let mut position = 0;
            while let Some(part) = reassembly.read(7) {
                prop_assert_eq!(part.offset, position);
                position += u64::from(part.len);
            }
            prop_assert_eq!(position, whole);
        }
    }
}

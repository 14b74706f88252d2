//! The connection's stream, put together from what the subflows deliver (RFC 8684 §3.3.1), and what waiting
//! behind a hole costs.

use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// Octets of the connection that arrived: `data` says where they belong, `payload` what they are.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    data: u64,
    payload: Payload,
}

impl Chunk {
    const fn end(&self) -> u64 {
        self.data + self.payload.len as u64
    }

    /// Without its first octets.
    const fn skip(self, octets: u64) -> Self {
        let payload = Payload { offset: self.payload.offset + octets, len: self.payload.len - octets as u32 };
        Self { data: self.data + octets, payload }
    }

    /// Its first octets only.
    const fn first(self, octets: u64) -> Self {
        Self { data: self.data, payload: Payload { offset: self.payload.offset, len: octets as u32 } }
    }
}

/// The reorder buffer, and the octets ready to be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// All before has arrived.
    next: u64,
    /// All before has been read.
    read: u64,
    /// The first octets to read, none if it is empty. Inline: what arrives in order is read at once.
    ready: Payload,
    /// Those to read after it.
    more: VecDeque<Payload>,
    /// Behind a hole, in order, without overlap.
    waiting: VecDeque<Chunk>,
    waiting_octets: u64,
    waiting_max: u64,
    duplicate_octets: u64,
    blocked: Duration,
    blocked_since: Option<Instant>,
}

impl Reassembly {
    /// The data octet that is expected next: what DATA_ACK says.
    #[inline]
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Octets read so far.
    #[inline]
    pub(crate) const fn read_position(&self) -> u64 {
        self.read
    }

    /// Octets that can be read.
    #[inline]
    pub(crate) const fn readable(&self) -> u64 {
        self.next - self.read
    }

    /// Octets behind a hole now, and the most there ever were.
    #[inline]
    pub(crate) const fn waiting(&self) -> (u64, u64) {
        (self.waiting_octets, self.waiting_max)
    }

    /// Octets that arrived more than once.
    #[inline]
    pub(crate) const fn duplicates(&self) -> u64 {
        self.duplicate_octets
    }

    /// How long data has waited behind a hole, up to the last [`Reassembly::account`].
    #[inline]
    pub(crate) const fn blocked(&self) -> Duration {
        self.blocked
    }

    /// Brings the head-of-line account up to date: time counts while anything waits behind a hole.
    #[inline]
    pub(crate) fn account(&mut self, now: Instant) {
        if let Some(since) = self.blocked_since {
            self.blocked += now.saturating_since(since);
            self.blocked_since = (!self.waiting.is_empty()).then_some(now);
        } else if !self.waiting.is_empty() {
            self.blocked_since = Some(now);
        }
    }

    /// Takes octets that a subflow delivered, `data` being the position of the first. Octets that are there
    /// already are counted and dropped.
    #[inline(always)]
    pub(crate) fn insert(&mut self, now: Instant, data: u64, payload: Payload) {
        let chunk = Chunk { data, payload };
        if data == self.next && self.waiting.is_empty() {
            self.deliver(chunk);
        } else {
            self.insert_slowly(chunk);
            self.account(now);
        }
    }

    fn insert_slowly(&mut self, mut chunk: Chunk) {
        if chunk.data < self.next {
            let old = (self.next - chunk.data).min(u64::from(chunk.payload.len));
            self.duplicate_octets += old;
            chunk = chunk.skip(old);
        }
        if chunk.payload.len > 0 {
            if chunk.data == self.next {
                self.fill_hole(chunk);
            } else {
                self.store(chunk);
            }
        }
    }

    /// Delivers a chunk that begins at `next`, and what it connects to.
    #[inline]
    fn fill_hole(&mut self, mut chunk: Chunk) {
        if let Some(first) = self.waiting.front()
            && first.data < chunk.end()
        {
            // The overlap is kept from the older copy; the chunk may reach beyond it and over several.
            let (head, rest) = (chunk.first(first.data - chunk.data), chunk.skip(first.data - chunk.data));
            self.store_between(rest);
            chunk = head;
        }
        self.deliver(chunk);
        while let Some(first) = self.waiting.front()
            && first.data == self.next
        {
            let chunk = self.waiting.pop_front().expect("just seen");
            self.waiting_octets -= u64::from(chunk.payload.len);
            self.deliver(chunk);
        }
    }

    #[inline]
    fn deliver(&mut self, chunk: Chunk) {
        let Payload { offset, len } = chunk.payload;
        self.next += u64::from(len);
        let last = self.more.back_mut().unwrap_or(&mut self.ready);
        if last.len == 0 {
            *last = chunk.payload;
        } else if last.offset + u64::from(last.len) == offset && last.len <= u32::MAX - len {
            last.len += len;
        } else {
            self.more.push_back(chunk.payload);
        }
    }

    /// Puts what is new of a chunk behind the hole.
    #[inline]
    fn store(&mut self, chunk: Chunk) {
        if self.waiting.back().is_none_or(|last| last.end() <= chunk.data) {
            // Beyond everything: nearly always.
            self.waiting_octets += u64::from(chunk.payload.len);
            self.waiting.push_back(chunk);
            self.waiting_max = self.waiting_max.max(self.waiting_octets);
        } else {
            self.store_between(chunk);
        }
    }

    #[inline(never)]
    fn store_between(&mut self, mut chunk: Chunk) {
        let mut at = self.waiting.partition_point(|c| c.end() <= chunk.data);
        while chunk.payload.len > 0 {
            let Some(&later) = self.waiting.get(at) else {
                self.put(at, chunk);
                break;
            };
            if later.data <= chunk.data {
                let known = later.end().min(chunk.end()) - chunk.data;
                self.duplicate_octets += known;
                chunk = chunk.skip(known);
                at += 1;
                continue;
            }
            let free = (later.data - chunk.data).min(u64::from(chunk.payload.len));
            self.put(at, chunk.first(free));
            chunk = chunk.skip(free);
            at += 1;
        }
        self.waiting_max = self.waiting_max.max(self.waiting_octets);
    }

    fn put(&mut self, at: usize, chunk: Chunk) {
        self.waiting_octets += u64::from(chunk.payload.len);
        if at == self.waiting.len() {
            self.waiting.push_back(chunk);
        } else {
            self.waiting.insert(at, chunk);
        }
    }

    /// Reads up to `max` octets in order.
    #[inline]
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
        let mut reassembly = Reassembly::default();
        reassembly.insert(at(1), 0, payload(0, 10));
        reassembly.insert(at(2), 20, payload(20, 10));
        reassembly.insert(at(3), 30, payload(30, 10));
        assert_eq!((reassembly.next(), reassembly.readable(), reassembly.waiting()), (10, 10, (20, 20)));
        reassembly.insert(at(7), 10, payload(10, 10));
        assert_eq!((reassembly.next(), reassembly.waiting()), (40, (0, 20)));
        assert_eq!(reassembly.blocked(), Duration::from_millis(5));
        reassembly.account(at(100));
        assert_eq!(reassembly.blocked(), Duration::from_millis(5), "nothing waits any more");
        assert_eq!(reassembly.read(15), Some(payload(0, 15)));
        assert_eq!(reassembly.read(u64::MAX), Some(payload(15, 25)));
        assert_eq!(reassembly.read(u64::MAX), None);
    }

    proptest! {
        /// Overlaps and repeats in any order: every octet once and in order, the rest counted as duplicates.
        #[test]
        fn any_order_gives_the_stream(raw in prop::collection::vec((0u64..200, 1u32..40), 1..40)) {
            let mut reassembly = Reassembly::default();
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
            prop_assert_eq!(reassembly.waiting().0, distinct - whole);
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

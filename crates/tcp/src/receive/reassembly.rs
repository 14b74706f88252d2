//! Puts what arrives back into order.

use ropewalk_units::{Seq, Ssn};
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// A piece of the incoming stream, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// The first octet's number relative to the peer's initial sequence number: the first octet of data is 1.
    pub ssn: Ssn,
    /// Which octets of the generated stream they are.
    pub payload: Payload,
}

/// Octets `[seq, seq + len)` that carry the stream from `offset` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Run {
    seq: Seq,
    len: u32,
    offset: u64,
}

impl Run {
    fn end(self) -> Seq {
        self.seq + self.len
    }

    /// Do the octets of `next` follow, in sequence space and in the stream?
    fn continues_with(self, next: Self) -> bool {
        self.end() == next.seq && self.offset + u64::from(self.len) == next.offset
    }

    /// Without the octets before `seq`.
    fn after(self, seq: Seq) -> Self {
        if seq.after(self.seq) {
            let cut = seq.since(self.seq).min(self.len);
            Self { seq: self.seq + cut, len: self.len - cut, offset: self.offset + u64::from(cut) }
        } else {
            self
        }
    }

    /// Without the octets from `seq` on.
    fn before(self, seq: Seq) -> Self {
        if seq.before(self.end()) {
            Self { len: if seq.after(self.seq) { seq.since(self.seq) } else { 0 }, ..self }
        } else {
            self
        }
    }
}

/// What arrived: `ready` may be read, `later` lies above a hole. Runs that touch, in sequence space and in
/// the stream, are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// The first run to read, empty if there is none. Inline: what arrives in order is read at once.
    ready: Run,
    /// Those to read after it.
    more: VecDeque<Run>,
    readable: u64,
    later: VecDeque<Run>,
}

impl Reassembly {
    /// Octets that may be read.
    #[inline]
    pub(crate) fn readable(&self) -> u64 {
        self.readable
    }

    /// Is there anything above a hole?
    #[inline]
    pub(crate) fn has_hole(&self) -> bool {
        !self.later.is_empty()
    }

    /// Where the octets above a hole end, if there are any.
    pub(crate) fn end(&self) -> Option<Seq> {
        self.later.back().map(|run| run.end())
    }

    /// As [`Self::insert_in_order`], while there is no hole.
    #[inline]
    pub(crate) fn append(&mut self, next: Seq, payload: Payload) -> Seq {
        self.append_ready(Run { seq: next, len: payload.len, offset: payload.offset });
        next + payload.len
    }

    /// Takes the octets at `next` = RCV.NXT and all that was waiting for them. Returns the new RCV.NXT.
    #[inline(never)]
    pub(crate) fn insert_in_order(&mut self, next: Seq, payload: Payload) -> Seq {
        self.append_ready(Run { seq: next, len: payload.len, offset: payload.offset });
        let mut next = next + payload.len;
        while let Some(run) = self.later.front().copied() {
            if run.seq.after(next) {
                break;
            }
            self.later.pop_front();
            let fresh = run.after(next);
            if fresh.len > 0 {
                next = fresh.end();
                self.append_ready(fresh);
            }
        }
        next
    }

    #[inline]
    fn append_ready(&mut self, run: Run) {
        self.readable += u64::from(run.len);
        let last = self.more.back_mut().unwrap_or(&mut self.ready);
        if last.len == 0 {
            *last = run;
        } else if last.continues_with(run) {
            last.len += run.len;
        } else {
            self.more.push_back(run);
        }
    }

    /// Stores octets above a hole. Returns how many of them were new; where octets overlap, the first copy
    /// stays.
    pub(crate) fn insert_out_of_order(&mut self, seq: Seq, payload: Payload) -> u32 {
        let mut run = Run { seq, len: payload.len, offset: payload.offset };
        // Arrivals above all others are the rule.
        if self.later.back().is_none_or(|last| last.end().before_eq(seq)) {
            match self.later.back_mut() {
                Some(last) if last.continues_with(run) => last.len += run.len,
                _ => self.later.push_back(run),
            }
            return run.len;
        }
        let mut added = 0;
        let mut index = self.later.partition_point(|old| old.end().before_eq(run.seq));
        while run.len > 0 {
            let Some(old) = self.later.get(index).copied() else {
                added += run.len;
                self.insert_at(index, run);
                break;
            };
            let gap = run.before(old.seq);
            if gap.len > 0 {
                added += gap.len;
                // An insertion may merge with its neighbours: find the place anew.
                self.insert_at(index, gap);
            }
            run = run.after(old.end());
            index = self.later.partition_point(|old| old.end().before_eq(run.seq));
        }
        added
    }

    /// Inserts a run that overlaps no other, merging it with both neighbours if it can be.
    fn insert_at(&mut self, index: usize, run: Run) {
        let joins_next = self.later.get(index).is_some_and(|next| run.continues_with(*next));
        let joins_previous = index > 0 && self.later[index - 1].continues_with(run);
        match (joins_previous, joins_next) {
            (true, true) => {
                let next = self.later.remove(index).map_or(0, |next| next.len);
                self.later[index - 1].len += run.len + next;
            }
            (true, false) => self.later[index - 1].len += run.len,
            (false, true) => {
                let next = self.later[index];
                self.later[index] = Run { len: run.len + next.len, ..run };
            }
            (false, false) => self.later.insert(index, run),
        }
    }

    /// The contiguous octets around `seq` above the hole, whatever stream they carry: what a SACK block says.
    pub(crate) fn block_around(&self, seq: Seq) -> Option<(Seq, Seq)> {
        let index = self.later.partition_point(|run| run.end().before_eq(seq));
        let run = self.later.get(index).filter(|run| run.seq.before_eq(seq))?;
        let (mut left, mut right) = (run.seq, run.end());
        for run in self.later.range(..index).rev() {
            if run.end() != left {
                break;
            }
            left = run.seq;
        }
        for run in self.later.range(index + 1..) {
            if run.seq != right {
                break;
            }
            right = run.end();
        }
        Some((left, right))
    }

    /// Reads at most `max` octets, in order, of one contiguous piece.
    #[inline]
    pub(crate) fn read(&mut self, max: u64, irs: Seq) -> Option<Received> {
        let Run { seq, len, offset } = self.ready;
        let taken = u64::from(len).min(max) as u32;
        if taken == 0 {
            return None;
        }
        let received = Received { ssn: Ssn::from_seq(seq, irs), payload: Payload { offset, len: taken } };
        self.ready = Run { seq: seq + taken, len: len - taken, offset: offset + u64::from(taken) };
        if taken == len
            && let Some(next) = self.more.pop_front()
        {
            self.ready = next;
        }
        self.readable -= u64::from(taken);
        Some(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payload(offset: u64, len: u32) -> Payload {
        Payload { offset, len }
    }

    #[test]
    fn blocks_join_across_runs_of_different_streams() {
        let mut r = Reassembly::default();
        r.insert_out_of_order(Seq::new(100), payload(5000, 50));
        r.insert_out_of_order(Seq::new(150), payload(9000, 50));
        assert_eq!(r.block_around(Seq::new(120)), Some((Seq::new(100), Seq::new(200))));
        assert_eq!(r.block_around(Seq::new(180)), Some((Seq::new(100), Seq::new(200))));
        assert_eq!(r.block_around(Seq::new(200)), None);
        assert_eq!(r.insert_in_order(Seq::new(90), payload(1, 10)), Seq::new(200));
        let irs = Seq::new(89);
        let read: Vec<_> = std::iter::from_fn(|| r.read(u64::MAX, irs)).collect();
        assert_eq!(read.len(), 3, "pieces of different streams stay apart");
        assert_eq!(read[1], Received { ssn: Ssn::new(11), payload: payload(5000, 50) });
    }

    proptest! {
        /// Any order, any overlap: every octet comes out once, in order, as it went in.
        #[test]
        fn pieces_in_any_order_give_the_stream(
            pieces in proptest::collection::vec((0u32..400, 1u32..60), 1..80),
            start in any::<u32>(),
        ) {
            let mut r = Reassembly::default();
            let mut next = Seq::new(start);
            let mut held = [false; 500];
            for (at, len) in pieces {
                let (seq, len) = (Seq::new(start.wrapping_add(at)), len);
                let done = next.since(Seq::new(start));
                if at + len > done {
                    let skip = done.saturating_sub(at);
                    let (seq, from) = (seq + skip, at + skip);
                    let fresh = held[from as usize..(at + len) as usize].iter().filter(|h| !**h).count();
                    if seq == next {
                        next = r.insert_in_order(next, payload(u64::from(from), len - skip));
                    } else {
                        let added = r.insert_out_of_order(seq, payload(u64::from(from), len - skip));
                        prop_assert_eq!(added as usize, fresh);
                    }
                    held[from as usize..(at + len) as usize].fill(true);
                }
            }
            let whole = held.iter().take_while(|h| **h).count() as u64;
            prop_assert_eq!(u64::from(next.since(Seq::new(start))), whole);
            prop_assert_eq!(r.readable(), whole);
            let mut at = 0;
            while let Some(received) = r.read(7, Seq::new(start)) {
                prop_assert_eq!(received.payload.offset, at);
                prop_assert_eq!(u64::from(received.ssn.get()), at);
                at += u64::from(received.payload.len);
            }
            prop_assert_eq!(at, whole);
        }
    }
}

//! Puts what arrives back into order.

use crate::spans::Spans;
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

/// Octets of the receive buffer for each run that it may hold: what a run costs beside its octets must not be for
/// nothing, or single octets would take many times the buffer.
const OCTETS_A_RUN: u32 = 256;
/// Runs that any buffer may hold.
const LEAST_RUNS: usize = 64;

/// What arrived: `ready` may be read, `later` lies above a hole. Runs that touch, in sequence space and in
/// the stream, are one.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    /// The first run to read, empty if there is none. Inline: what arrives in order is read at once.
    ready: Run,
    /// Those to read after it.
    more: VecDeque<Run>,
    readable: u64,
    later: VecDeque<Run>,
    /// What `later` covers, whatever stream it carries.
    blocks: Spans,
    /// New runs are refused beyond so many: they will be sent again.
    most: usize,
}

impl Reassembly {
    /// For a buffer of so many octets.
    pub(crate) fn new(buffer: u32) -> Self {
        Self {
            ready: Run::default(),
            more: VecDeque::new(),
            readable: 0,
            later: VecDeque::new(),
            blocks: Spans::default(),
            most: LEAST_RUNS.max((buffer / OCTETS_A_RUN) as usize),
        }
    }

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
        let run = Run { seq: next, len: payload.len, offset: payload.offset };
        if self.append_ready(run, self.most) { run.end() } else { next }
    }

    /// Takes the octets at `next` = RCV.NXT and all that was waiting for them. Returns the new RCV.NXT.
    #[inline(never)]
    pub(crate) fn insert_in_order(&mut self, next: Seq, payload: Payload) -> Seq {
        let run = Run { seq: next, len: payload.len, offset: payload.offset };
        if !self.append_ready(run, self.most) {
            return next;
        }
        let mut next = run.end();
        while let Some(run) = self.later.front().copied() {
            if run.seq.after(next) {
                break;
            }
            self.later.pop_front();
            let fresh = run.after(next);
            if fresh.len > 0 {
                next = fresh.end();
                self.append_ready(fresh, usize::MAX);
            }
        }
        self.blocks.forget_below(next);
        next
    }

    /// False, and nothing done, if that would make more than `most` runs.
    #[inline]
    fn append_ready(&mut self, run: Run, most: usize) -> bool {
        let last = self.more.back_mut().unwrap_or(&mut self.ready);
        if last.len == 0 {
            *last = run;
        } else if last.continues_with(run) {
            last.len += run.len;
        } else if self.more.len() < most {
            self.more.push_back(run);
        } else {
            return false;
        }
        self.readable += u64::from(run.len);
        true
    }

    /// Stores octets above a hole. Returns how many of them were new; where octets overlap, the first copy
    /// stays. `None`: there are too many runs already.
    pub(crate) fn insert_out_of_order(&mut self, seq: Seq, payload: Payload) -> Option<u32> {
        if self.later.len() >= self.most {
            return None;
        }
        let run = Run { seq, len: payload.len, offset: payload.offset };
        self.blocks.cover(seq, run.end());
        // Arrivals above all others are the rule.
        if self.later.back().is_none_or(|last| last.end().before_eq(seq)) {
            match self.later.back_mut() {
                Some(last) if last.continues_with(run) => last.len += run.len,
                _ => self.later.push_back(run),
            }
            return Some(run.len);
        }
        Some(self.insert_among(run))
    }

    /// Fills the gaps that `run` covers.
    fn insert_among(&mut self, mut run: Run) -> u32 {
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
        self.blocks.around(seq)
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
        let mut r = Reassembly::new(1 << 20);
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

    #[test]
    fn too_many_pieces_are_refused_until_the_hole_is_filled_and_read() {
        let mut r = Reassembly::new(0);
        // Every second octet, as no two of which touch; then the octets between them.
        for i in 0..LEAST_RUNS as u32 {
            assert_eq!(r.insert_out_of_order(Seq::new(11 + 2 * i), payload(u64::from(i), 1)), Some(1));
        }
        assert_eq!(r.insert_out_of_order(Seq::new(1000), payload(0, 1)), None);
        let mut next = Seq::new(10);
        while next.before(Seq::new(10 + 2 * LEAST_RUNS as u32)) {
            let filled = r.insert_in_order(next, payload(0, 1));
            if filled == next {
                // Nothing is read, so that nothing more is taken.
                assert!(r.more.len() >= LEAST_RUNS);
                while r.read(u64::MAX, Seq::new(9)).is_some() {}
            }
            next = filled;
        }
        assert!(!r.has_hole() && r.block_around(Seq::new(20)).is_none());
        assert_eq!(r.insert_out_of_order(Seq::new(1000), payload(0, 1)), Some(1));
    }

    proptest! {
        /// Any order, any overlap: every octet comes out once, in order, as it went in.
        #[test]
        fn pieces_in_any_order_give_the_stream(
            pieces in proptest::collection::vec((0u32..400, 1u32..60), 1..80),
            start in any::<u32>(),
        ) {
            let mut r = Reassembly::new(1 << 20);
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
                        prop_assert_eq!(added, Some(fresh as u32));
                        let block = r.block_around(seq).expect("stored");
                        let held = |at: Seq| held[at.since(Seq::new(start)) as usize];
                        prop_assert!(block.0.before_eq(seq) && block.1.after_eq(seq + (len - skip)));
                        prop_assert!(!held(block.0 - 1), "the block begins at a hole");
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

//! Puts what arrives back into order.

use super::pieces::Pieces;
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

/// What arrived above a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutOfOrder {
    /// Its octets.
    pub octets: u64,
    /// The pieces that they are in.
    pub pieces: usize,
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
}

/// What arrived: `ready` and `more` may be read, `later` lies above a hole. Runs that touch, in sequence space and in
/// the stream, are one.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    /// The first run to read, empty if there is none. Inline: what arrives in order is read at once.
    ready: Run,
    /// Those to read after it.
    more: VecDeque<Run>,
    readable: u64,
    /// By places: counts of octets since a hole opened.
    later: Pieces,
    /// RCV.NXT's place.
    place: u64,
    /// Pieces that may wait above a hole, and to be read: others are refused, and will be sent again.
    most: usize,
}

impl Reassembly {
    /// With so many pieces at most.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            ready: Run::default(),
            more: VecDeque::new(),
            readable: 0,
            later: Pieces::default(),
            place: 0,
            most,
        }
    }

    /// Octets that may be read.
    pub(crate) fn readable(&self) -> u64 {
        self.readable
    }

    /// Is there anything above a hole?
    pub(crate) fn has_hole(&self) -> bool {
        !self.later.is_empty()
    }

    /// What is above a hole.
    pub(crate) fn waiting(&self) -> OutOfOrder {
        OutOfOrder { octets: self.later.octets(), pieces: self.later.len() }
    }

    /// Names each range that is there: to be read, or above a hole.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        for run in self.more.iter().chain([&self.ready]).filter(|run| run.len > 0) {
            visit(Payload { offset: run.offset, len: run.len });
        }
        self.later.visit(visit);
    }

    /// Where the octets above a hole end, if there are any; `next` is RCV.NXT here and below.
    pub(crate) fn end(&self, next: Seq) -> Option<Seq> {
        self.later.end().map(|end| self.seq(next, end))
    }

    fn seq(&self, next: Seq, place: u64) -> Seq {
        next + (place - self.place) as u32
    }

    /// As [`Self::insert_in_order`], while there is no hole.
    pub(crate) fn append(&mut self, next: Seq, payload: Payload) -> Seq {
        let run = Run { seq: next, len: payload.len, offset: payload.offset };
        if self.append_ready(run, self.most) { next + payload.len } else { next }
    }

    /// As [`Self::append`] and [`Self::read`] of all of it, while nothing waits to be read.
    pub(crate) fn pass(&mut self, next: Seq, payload: Payload) -> Seq {
        debug_assert!(self.readable == 0, "what came before is read first");
        let end = next + payload.len;
        self.ready = Run { seq: end, len: 0, offset: payload.offset + u64::from(payload.len) };
        end
    }

    /// Takes the octets at `next` and all that was waiting for them. Returns the new RCV.NXT: the old one if what waits to be
    /// read is in too many pieces already, so that the octets are dropped.
    #[inline(never)]
    pub(crate) fn insert_in_order(&mut self, next: Seq, payload: Payload) -> Seq {
        let mut end = self.append(next, payload);
        if end == next || self.later.is_empty() {
            return end;
        }
        let mut place = self.place + u64::from(payload.len);
        while let Some((piece, _)) = self.later.connect(place) {
            let run = Run { seq: end, len: piece.len, offset: piece.offset };
            self.append_ready(run, usize::MAX);
            place += u64::from(piece.len);
            end += piece.len;
        }
        self.place = if self.later.is_empty() { 0 } else { place };
        end
    }

    fn append_ready(&mut self, run: Run, most: usize) -> bool {
        let last = self.more.back_mut().unwrap_or(&mut self.ready);
        if last.len == 0 {
            *last = run;
        } else if last.continues_with(run) {
            last.len += run.len;
        } else if self.more.len() + 1 < most {
            self.more.push_back(run);
        } else {
            return false;
        }
        self.readable += u64::from(run.len);
        true
    }

    /// Stores octets above a hole. Returns how many of them were new; where octets overlap, the first copy stays. `None`: the
    /// octets are dropped, as too many pieces wait.
    pub(crate) fn insert_out_of_order(&mut self, next: Seq, seq: Seq, payload: Payload) -> Option<u32> {
        self.later.insert(self.place + u64::from(seq.since(next)), payload, self.most)
    }

    /// The contiguous octets around `seq` above the hole, whatever stream they carry: what a SACK block says.
    pub(crate) fn block_around(&self, next: Seq, seq: Seq) -> Option<(Seq, Seq)> {
        if seq.before(next) {
            return None;
        }
        let (left, right) = self.later.block_around(self.place + u64::from(seq.since(next)))?;
        Some((self.seq(next, left), self.seq(next, right)))
    }

    /// Reads at most `max` octets, in order, of one contiguous piece.
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
        let (mut r, next) = (Reassembly::new(4096), Seq::new(90));
        r.insert_out_of_order(next, Seq::new(100), payload(5000, 50));
        r.insert_out_of_order(next, Seq::new(150), payload(9000, 50));
        assert_eq!(r.block_around(next, Seq::new(120)), Some((Seq::new(100), Seq::new(200))));
        assert_eq!(r.block_around(next, Seq::new(180)), Some((Seq::new(100), Seq::new(200))));
        assert_eq!(r.block_around(next, Seq::new(200)), None);
        assert_eq!(r.insert_in_order(next, payload(1, 10)), Seq::new(200));
        let irs = Seq::new(89);
        let read: Vec<_> = std::iter::from_fn(|| r.read(u64::MAX, irs)).collect();
        assert_eq!(read.len(), 3, "pieces of different streams stay apart");
        assert_eq!(read[1], Received { ssn: Ssn::new(11), payload: payload(5000, 50) });
    }

    #[test]
    fn too_many_pieces_are_refused_until_the_hole_is_filled_and_read() {
        let (mut r, mut next, most) = (Reassembly::new(64), Seq::new(10), 64);
        // Every second octet, as no two of which touch; then the octets between them.
        for i in 0..most as u32 {
            assert_eq!(r.insert_out_of_order(next, Seq::new(11 + 2 * i), payload(u64::from(i), 1)), Some(1));
        }
        assert_eq!(r.insert_out_of_order(next, Seq::new(1000), payload(0, 1)), None);
        while next.before(Seq::new(10 + 2 * most as u32)) {
            let filled = r.insert_in_order(next, payload(0, 1));
            if filled == next {
                // Nothing is read, so that nothing more is taken.
                assert!(r.more.len() + 1 >= most);
                while r.read(u64::MAX, Seq::new(9)).is_some() {}
            }
            next = filled;
        }
        assert!(!r.has_hole() && r.block_around(next, Seq::new(20)).is_none());
        assert_eq!(r.insert_out_of_order(next, Seq::new(1000), payload(0, 1)), Some(1));
    }

    #[test]
    fn what_is_refused_at_the_hole_lets_nothing_above_it_through() {
        let (mut r, mut next) = (Reassembly::new(64), Seq::new(10));
        // No two octets follow each other in the stream.
        let octet = |seq: Seq| payload(1000 * u64::from(seq.get()), 1);
        loop {
            let filled = r.insert_in_order(next, octet(next));
            if filled == next {
                break;
            }
            next = filled;
        }
        assert_eq!(r.insert_out_of_order(next, next + 1, octet(next + 1)), Some(1));
        let readable = r.readable();
        assert_eq!(r.insert_in_order(next, octet(next)), next, "still refused");
        assert_eq!((r.readable(), r.waiting().octets), (readable, 1));
        while r.read(u64::MAX, Seq::new(9)).is_some() {}
        assert_eq!(r.insert_in_order(next, octet(next)), next + 2);
        let read: Vec<_> = std::iter::from_fn(|| r.read(u64::MAX, Seq::new(9))).map(|r| r.payload).collect();
        assert_eq!(read, [octet(next), octet(next + 1)]);
    }

    proptest! {
        /// Any order, any overlap: every octet comes out once, in order, as it went in.
        #[test]
        fn pieces_in_any_order_give_the_stream(
            pieces in proptest::collection::vec((0u32..400, 1u32..60), 1..80),
            start in any::<u32>(),
        ) {
            let mut r = Reassembly::new(4096);
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
                        let piece = payload(u64::from(from), len - skip);
                        let added = r.insert_out_of_order(next, seq, piece);
                        prop_assert_eq!(added, Some(fresh as u32));
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

//! What senders learn by selective acknowledgements, as positions in their streams.

use super::packet::Socket;
use ropewalk_units::Seq;
use ropewalk_wire::{Payload, Segment};
use std::collections::{BTreeMap, VecDeque};

/// From where to where the data go.
type Way = (Socket, Socket);

/// Segments that have left their senders and are not acknowledged yet.
#[derive(Debug, Default)]
pub(super) struct Scoreboards {
    ways: BTreeMap<Way, VecDeque<Sent>>,
}

#[derive(Debug)]
struct Sent {
    seq: Seq,
    payload: Payload,
    is_sacked: bool,
}

impl Sent {
    fn end(&self) -> Seq {
        self.seq + self.payload.len
    }
}

impl Scoreboards {
    /// A segment with data has left its sender.
    pub(super) fn sent(&mut self, way: Way, segment: &Segment) {
        let waiting = self.ways.entry(way).or_default();
        let is_new = waiting.back().is_none_or(|last| last.end().before_eq(segment.seq));
        if is_new {
            waiting.push_back(Sent { seq: segment.seq, payload: segment.payload, is_sacked: false });
        }
    }

    /// An acknowledgement has reached the sender. Returns what it is the first to report beyond a hole; neighbours in
    /// the stream are one piece.
    pub(super) fn acknowledged(&mut self, way: Way, segment: &Segment) -> Vec<Payload> {
        let Some(waiting) = self.ways.get_mut(&way) else { return Vec::new() };
        while waiting.front().is_some_and(|first| first.end().before_eq(segment.ack)) {
            waiting.pop_front();
        }
        let mut pieces: Vec<Payload> = Vec::new();
        for &(left, right) in segment.options.sack.as_slice() {
            let first = waiting.partition_point(|sent| sent.seq.before(left));
            let covered = waiting.range_mut(first..).take_while(|sent| sent.end().before_eq(right));
            for sent in covered.filter(|sent| !sent.is_sacked) {
                sent.is_sacked = true;
                join(&mut pieces, sent.payload);
            }
        }
        pieces
    }
}

fn join(pieces: &mut Vec<Payload>, next: Payload) {
    match pieces.last_mut() {
        Some(last) if last.offset + u64::from(last.len) == next.offset => last.len += next.len,
        _ => pieces.push(next),
    }
}

#[cfg(test)]
mod tests;

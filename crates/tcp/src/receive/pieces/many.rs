//! Many pieces, in trees: whatever arrives costs O(log n), counted over all arrivals.

use super::step::{continues, count};
use ropewalk_wire::Payload;
use std::collections::BTreeMap;

/// Pieces by their places, without overlap; those that touch, in place and in the stream, are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Many {
    pieces: BTreeMap<u64, Payload>,
    /// Contiguous octets, whatever they carry: from, to.
    blocks: BTreeMap<u64, u64>,
}

impl Many {
    pub(super) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        self.pieces.values().for_each(|piece| visit(*piece));
    }

    /// From pieces without overlap, in order.
    pub(super) fn of(pieces: impl Iterator<Item = (u64, Payload)>) -> Self {
        let mut many = Self::default();
        for (at, payload) in pieces {
            count(1);
            many.pieces.insert(at, payload);
            many.cover(at, at + u64::from(payload.len));
        }
        many
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn first(&self) -> Option<(u64, Payload)> {
        self.pieces.first_key_value().map(|(&at, &payload)| (at, payload))
    }

    pub(super) fn end(&self) -> Option<u64> {
        self.blocks.last_key_value().map(|(_, &to)| to)
    }

    /// Octets that continue the highest piece. Returns whether these do.
    pub(super) fn append(&mut self, at: u64, payload: Payload) -> bool {
        let Some(mut last) = self.pieces.last_entry() else { return false };
        let piece = last.get_mut();
        let appended =
            self.blocks.last_key_value().is_some_and(|(_, &to)| to == at) && continues(*piece, payload);
        if appended {
            piece.len += payload.len;
            self.cover(at, at + u64::from(payload.len));
        }
        appended
    }

    /// Puts what is new of the octets between the pieces. Returns how many are. Each turn but two joins blocks that lay apart,
    /// so that their number bounds the turns of all calls.
    pub(super) fn insert(&mut self, mut at: u64, mut payload: Payload) -> u32 {
        let mut added = 0;
        while payload.len > 0 {
            count(1);
            let (skip, gap) = self.gap_at(at, u64::from(payload.len));
            payload = Payload { offset: payload.offset + u64::from(skip), len: payload.len - skip };
            at += u64::from(skip);
            if gap > 0 {
                self.put(at, Payload { offset: payload.offset, len: gap });
                self.cover(at, at + u64::from(gap));
                payload = Payload { offset: payload.offset + u64::from(gap), len: payload.len - gap };
                at += u64::from(gap);
                added += gap;
            }
        }
        added
    }

    /// Of `len` octets from `at` on: how many are held already, and how many free ones follow these.
    fn gap_at(&self, at: u64, len: u64) -> (u32, u32) {
        let around = self.blocks.range(..=at).next_back();
        let held = around.map_or(0, |(_, &to)| to.saturating_sub(at)).min(len);
        let next = self.blocks.range(at + held..).next();
        let free = next.map_or(len, |(&from, _)| from - at).min(len) - held;
        (held as u32, free as u32)
    }

    /// Notes octets that are not held, as part of a block.
    fn cover(&mut self, mut from: u64, mut to: u64) {
        if let Some(end) = self.blocks.remove(&to) {
            to = end;
        }
        if let Some((&start, &end)) = self.blocks.range(..from).next_back()
            && end == from
        {
            from = start;
        }
        self.blocks.insert(from, to);
    }

    /// Puts octets that are not held beside their neighbours.
    fn put(&mut self, at: u64, mut payload: Payload) {
        let end = at + u64::from(payload.len);
        if let Some(next) = self.pieces.get(&end)
            && continues(payload, *next)
        {
            payload.len += next.len;
            self.pieces.remove(&end);
        }
        if let Some((start, before)) = self.pieces.range_mut(..at).next_back()
            && start + u64::from(before.len) == at
            && continues(*before, payload)
        {
            before.len += payload.len;
            return;
        }
        self.pieces.insert(at, payload);
    }

    /// The first block shrinks with its pieces.
    pub(super) fn remove_first(&mut self) {
        let Some((at, payload)) = self.pieces.pop_first() else { return };
        let end = at + u64::from(payload.len);
        if let Some((_, to)) = self.blocks.pop_first().filter(|(_, to)| *to > end) {
            self.blocks.insert(end, to);
        }
    }

    /// The contiguous octets around a place, whatever they carry.
    pub(super) fn block_around(&self, at: u64) -> Option<(u64, u64)> {
        let (&from, &to) = self.blocks.range(..=at).next_back()?;
        (at < to).then_some((from, to))
    }
}

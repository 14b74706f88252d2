//! Octets above a hole, in pieces: what arrived out of order.
//!
//! Whatever arrives costs O(log n), counted over all arrivals, and no more pieces are kept than the owner allows: a peer
//! that sends single octets with gaps between them gains nothing.

use ropewalk_wire::Payload;
use std::collections::BTreeMap;

/// What a piece costs beside its octets, in octets of the receive buffer.
const PIECE: u32 = 256;
/// Pieces that the smallest buffer may hold.
const MOST_MIN: usize = 64;

/// How many pieces a receive buffer of so many octets may be in.
pub const fn most_pieces(receive_buffer: u32) -> usize {
    let most = (receive_buffer / PIECE) as usize;
    if most < MOST_MIN { MOST_MIN } else { most }
}

/// Places are counts of octets, which do not wrap. Pieces that touch, in place and in the stream that they carry, are one.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The highest piece, of no octets if there is none. Inline: nearly all arrivals touch no other.
    last: (u64, Payload),
    /// The others, by their places.
    earlier: BTreeMap<u64, Payload>,
    /// Contiguous octets, whatever they carry: from, to. The highest block, and the others.
    last_block: (u64, u64),
    earlier_blocks: BTreeMap<u64, u64>,
    octets: u64,
}

impl Pieces {
    /// Nothing above a hole?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.octets == 0
    }

    /// Octets held.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Pieces held.
    #[inline]
    pub fn len(&self) -> usize {
        self.earlier.len() + usize::from(self.octets > 0)
    }

    /// The place of the lowest octet, if there is one.
    #[inline]
    pub fn start(&self) -> Option<u64> {
        self.first().map(|(at, _)| at)
    }

    /// The place behind the highest octet, if there is one.
    #[inline]
    pub fn end(&self) -> Option<u64> {
        (self.octets > 0).then_some(self.last_block.1)
    }

    /// Takes octets. Returns how many of them are new; where they overlap, the older copy stays. `None`: `most` pieces are
    /// held, and nothing is taken.
    #[inline]
    pub fn insert(&mut self, at: u64, payload: Payload, most: usize) -> Option<u32> {
        if self.octets > 0 && at == self.last_block.1 && self.last_continues_with(payload.offset) {
            self.last.1.len += payload.len;
            self.last_block.1 += u64::from(payload.len);
            self.octets += u64::from(payload.len);
            return Some(payload.len);
        }
        self.insert_apart(at, payload, most)
    }

    /// Are the octets from `offset` of the stream on those that follow the highest piece?
    #[inline]
    fn last_continues_with(&self, offset: u64) -> bool {
        let Payload { offset: from, len } = self.last.1;
        from + u64::from(len) == offset && len < u32::MAX / 2
    }

    #[inline(never)]
    fn insert_apart(&mut self, at: u64, payload: Payload, most: usize) -> Option<u32> {
        if payload.len == 0 {
            return Some(0);
        }
        if self.len() >= most {
            return None;
        }
        if self.octets == 0 {
            self.last = (at, payload);
            self.last_block = (at, at + u64::from(payload.len));
            self.octets = u64::from(payload.len);
            return Some(payload.len);
        }
        // Everything lies in the trees meanwhile.
        self.earlier.insert(self.last.0, self.last.1);
        self.earlier_blocks.insert(self.last_block.0, self.last_block.1);
        let added = self.fill_gaps(at, payload);
        self.octets += u64::from(added);
        self.last = self.earlier.pop_last().unwrap_or_default();
        self.last_block = self.earlier_blocks.pop_last().unwrap_or_default();
        Some(added)
    }

    /// Each turn but two joins blocks that lay apart, so that their number bounds the turns of all calls.
    fn fill_gaps(&mut self, mut at: u64, mut payload: Payload) -> u32 {
        let mut added = 0;
        while payload.len > 0 {
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
        let around = self.earlier_blocks.range(..=at).next_back();
        let held = around.map_or(0, |(_, &to)| to.saturating_sub(at)).min(len);
        let next = self.earlier_blocks.range(at + held..).next();
        let free = next.map_or(len, |(&from, _)| from - at).min(len) - held;
        (held as u32, free as u32)
    }

    /// Notes octets that are not held, as part of a block.
    fn cover(&mut self, mut from: u64, mut to: u64) {
        if let Some(end) = self.earlier_blocks.remove(&to) {
            to = end;
        }
        if let Some((&start, &end)) = self.earlier_blocks.range(..from).next_back()
            && end == from
        {
            from = start;
        }
        self.earlier_blocks.insert(from, to);
    }

    /// Puts octets that are not held beside their neighbours.
    fn put(&mut self, at: u64, mut payload: Payload) {
        let end = at + u64::from(payload.len);
        if let Some(next) = self.earlier.get(&end)
            && payload.offset + u64::from(payload.len) == next.offset
            && payload.len < u32::MAX / 2 - next.len
        {
            payload.len += next.len;
            self.earlier.remove(&end);
        }
        if let Some((start, before)) = self.earlier.range_mut(..at).next_back()
            && start + u64::from(before.len) == at
            && before.offset + u64::from(before.len) == payload.offset
            && before.len < u32::MAX / 2 - payload.len
        {
            before.len += payload.len;
            return;
        }
        self.earlier.insert(at, payload);
    }

    /// All before `next` has arrived otherwise: takes out, in order, the pieces that connect to it. What lies below is
    /// dropped; returns how many octets were.
    #[inline]
    pub fn connect(&mut self, mut next: u64, mut deliver: impl FnMut(Payload)) -> u64 {
        let mut dropped = 0;
        while let Some((at, payload)) = self.first().filter(|(at, _)| *at <= next) {
            self.remove_first(at, payload);
            let old = (next - at).min(u64::from(payload.len));
            dropped += old;
            let fresh = Payload { offset: payload.offset + old, len: payload.len - old as u32 };
            if fresh.len > 0 {
                next += u64::from(fresh.len);
                deliver(fresh);
            }
        }
        dropped
    }

    #[inline]
    fn first(&self) -> Option<(u64, Payload)> {
        match self.earlier.first_key_value() {
            Some((&at, &payload)) => Some((at, payload)),
            None => (self.octets > 0).then_some(self.last),
        }
    }

    /// The first block shrinks with its pieces.
    #[inline]
    fn remove_first(&mut self, at: u64, payload: Payload) {
        let end = at + u64::from(payload.len);
        self.octets -= u64::from(payload.len);
        if self.earlier.pop_first().is_none() {
            self.last = (0, Payload::default());
        }
        match self.earlier_blocks.pop_first() {
            Some((_, to)) if to > end => {
                self.earlier_blocks.insert(end, to);
            }
            Some(_) => {}
            None => self.last_block.0 = end,
        }
    }

    /// The contiguous octets around a place, whatever they carry.
    pub fn block_around(&self, at: u64) -> Option<(u64, u64)> {
        if self.octets > 0 && self.last_block.0 <= at {
            return (at < self.last_block.1).then_some(self.last_block);
        }
        let (&from, &to) = self.earlier_blocks.range(..=at).next_back()?;
        (at < to).then_some((from, to))
    }
}

#[cfg(test)]
mod tests;

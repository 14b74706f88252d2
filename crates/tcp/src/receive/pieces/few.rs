//! Pieces in a sorted list, while what arrives touches its ends: there it costs no more than a few moves.
//!
//! The data of an honest peer arrive there, however many pieces there are: above all others, or at the hole.

use super::step::{continues, count};
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// How far from an end of the list something may change: moving so many pieces costs no more than walking a tree.
const NEAR: usize = 32;

/// Pieces by their places, without overlap; those that touch, in place and in the stream, are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Few {
    pieces: VecDeque<(u64, Payload)>,
    /// Contiguous octets, whatever they carry: from, to.
    blocks: VecDeque<(u64, u64)>,
}

fn end((at, payload): (u64, Payload)) -> u64 {
    at + u64::from(payload.len)
}

/// How many elements move when one of so many comes or goes.
fn moved(index: usize, len: usize) -> usize {
    index.min(len - index)
}

impl Few {
    pub(super) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        self.pieces.iter().for_each(|(_, piece)| visit(*piece));
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn first(&self) -> Option<(u64, Payload)> {
        self.pieces.front().copied()
    }

    pub(super) fn end(&self) -> Option<u64> {
        self.blocks.back().map(|(_, to)| *to)
    }

    /// The index of the first piece that ends above a place.
    fn index(&self, at: u64) -> usize {
        if self.end().is_none_or(|end| end <= at) {
            return self.pieces.len();
        }
        self.pieces.partition_point(|piece| end(*piece) <= at)
    }

    /// Do octets touch only pieces near one end of the list?
    pub(super) fn is_near(&self, at: u64, len: u32) -> bool {
        let count = self.pieces.len();
        count <= NEAR || self.index(at) + NEAR >= count || self.index(at + u64::from(len)) <= NEAR
    }

    /// All pieces, in order; none is left.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u64, Payload)> {
        self.blocks = VecDeque::new();
        std::mem::take(&mut self.pieces).into_iter()
    }

    /// Octets that continue the highest piece. Returns whether these do.
    pub(super) fn append(&mut self, at: u64, payload: Payload) -> bool {
        let (Some(last), Some(block)) = (self.pieces.back_mut(), self.blocks.back_mut()) else {
            return false;
        };
        let appended = block.1 == at && continues(last.1, payload);
        if appended {
            last.1.len += payload.len;
            block.1 += u64::from(payload.len);
        }
        appended
    }

    /// Puts what is new of the octets between the pieces. Returns how many are.
    pub(super) fn insert(&mut self, mut at: u64, mut payload: Payload) -> u32 {
        if payload.len > 0 && self.end().is_none_or(|end| end < at) {
            // Above all others: most of what opens a hole.
            self.pieces.push_back((at, payload));
            self.blocks.push_back((at, at + u64::from(payload.len)));
            return payload.len;
        }
        let mut added = 0;
        let mut index = self.index(at);
        while payload.len > 0 {
            count(1);
            let mut next = self.pieces.get(index).copied();
            if next.is_some_and(|piece| end(piece) <= at) {
                index += 1;
                next = self.pieces.get(index).copied();
            }
            let held = next.filter(|(start, _)| *start <= at).map_or(0, |piece| end(piece) - at);
            let free = next.map_or(u64::MAX, |(start, _)| start.saturating_sub(at));
            let len = u64::from(payload.len).min(if held > 0 { held } else { free }) as u32;
            if held == 0 {
                index = self.put(index, at, Payload { offset: payload.offset, len });
                self.cover(at, at + u64::from(len));
                added += len;
            }
            at += u64::from(len);
            payload = Payload { offset: payload.offset + u64::from(len), len: payload.len - len };
        }
        added
    }

    /// Puts octets that are not held before the piece at `index`. Returns the index of the piece that has them then.
    fn put(&mut self, index: usize, at: u64, mut payload: Payload) -> usize {
        if let Some(&(start, next)) = self.pieces.get(index)
            && start == at + u64::from(payload.len)
            && continues(payload, next)
        {
            payload.len += next.len;
            count(moved(index, self.pieces.len()));
            self.pieces.remove(index);
        }
        if let Some(before) = index.checked_sub(1).and_then(|before| self.pieces.get_mut(before))
            && end(*before) == at
            && continues(before.1, payload)
        {
            before.1.len += payload.len;
            return index - 1;
        }
        count(moved(index, self.pieces.len()));
        self.pieces.insert(index, (at, payload));
        index
    }

    /// Notes octets that are not held, as part of a block.
    fn cover(&mut self, from: u64, to: u64) {
        if self.end().is_none_or(|end| end < from) {
            return self.blocks.push_back((from, to));
        }
        let index = self.blocks.partition_point(|block| block.1 < from);
        let after = self.blocks.get(index + 1).copied();
        count(moved(index, self.blocks.len()));
        match self.blocks.get_mut(index) {
            Some(block) if block.1 == from => {
                block.1 = to;
                if let Some((_, end)) = after.filter(|(start, _)| *start == to) {
                    block.1 = end;
                    self.blocks.remove(index + 1);
                }
            }
            Some(block) if block.0 == to => block.0 = from,
            _ => self.blocks.insert(index, (from, to)),
        }
    }

    /// The first block shrinks with its pieces.
    pub(super) fn remove_first(&mut self) {
        let Some(piece) = self.pieces.pop_front() else { return };
        if let Some(block) = self.blocks.front_mut() {
            block.0 = end(piece);
            if block.0 == block.1 {
                self.blocks.pop_front();
            }
        }
    }

    /// The contiguous octets around a place, whatever they carry.
    pub(super) fn block_around(&self, at: u64) -> Option<(u64, u64)> {
        let index = self.blocks.partition_point(|block| block.1 <= at);
        self.blocks.get(index).copied().filter(|(from, _)| *from <= at)
    }
}

//! A few pieces, in a sorted list.

use super::continues;
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// The longest list: walking it costs no more than walking a tree.
const LONGEST: usize = 32;

/// Pieces by their places, without overlap; those that touch, in place and in the stream, are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Few(VecDeque<(u64, Payload)>);

#[inline]
fn end((at, payload): (u64, Payload)) -> u64 {
    at + u64::from(payload.len)
}

impl Few {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// One more arrival may make two pieces more: it can reach beyond a piece on both sides.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= LONGEST
    }

    #[inline]
    pub(super) fn first(&self) -> Option<(u64, Payload)> {
        self.0.front().copied()
    }

    #[inline]
    pub(super) fn end(&self) -> Option<u64> {
        self.0.back().map(|last| end(*last))
    }

    #[inline]
    pub(super) fn remove_first(&mut self) {
        self.0.pop_front();
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u64, Payload)> {
        std::mem::take(&mut self.0).into_iter()
    }

    /// Octets that continue the highest piece. Returns whether these do.
    #[inline]
    pub(super) fn append(&mut self, at: u64, payload: Payload) -> bool {
        let Some(last) = self.0.back_mut() else { return false };
        let appended = end(*last) == at && continues(last.1, payload);
        if appended {
            last.1.len += payload.len;
        }
        appended
    }

    /// Puts what is new of the octets between the pieces. Returns how many are.
    pub(super) fn insert(&mut self, mut at: u64, mut payload: Payload) -> u32 {
        let mut added = 0;
        let mut index = self.0.partition_point(|piece| end(*piece) <= at);
        while payload.len > 0 {
            let mut next = self.0.get(index).copied();
            if next.is_some_and(|piece| end(piece) <= at) {
                index += 1;
                next = self.0.get(index).copied();
            }
            let held = next.filter(|(start, _)| *start <= at).map_or(0, |piece| end(piece) - at);
            let free = next.map_or(u64::MAX, |(start, _)| start.saturating_sub(at));
            let len = u64::from(payload.len).min(if held > 0 { held } else { free }) as u32;
            if held == 0 {
                index = self.put(index, at, Payload { offset: payload.offset, len });
                added += len;
            }
            at += u64::from(len);
            payload = Payload { offset: payload.offset + u64::from(len), len: payload.len - len };
        }
        added
    }

    /// Puts octets that are not held before the piece at `index`. Returns the index of the piece that has them then.
    fn put(&mut self, index: usize, at: u64, mut payload: Payload) -> usize {
        if let Some(&(start, next)) = self.0.get(index)
            && start == at + u64::from(payload.len)
            && continues(payload, next)
        {
            payload.len += next.len;
            self.0.remove(index);
        }
        if let Some(before) = index.checked_sub(1).and_then(|before| self.0.get_mut(before))
            && end(*before) == at
            && continues(before.1, payload)
        {
            before.1.len += payload.len;
            return index - 1;
        }
        self.0.insert(index, (at, payload));
        index
    }

    /// The contiguous octets around a place, whatever they carry.
    pub(super) fn block_around(&self, at: u64) -> Option<(u64, u64)> {
        let index = self.0.partition_point(|piece| end(*piece) <= at);
        let piece = self.0.get(index).filter(|(start, _)| *start <= at)?;
        let (mut from, mut to) = (piece.0, end(*piece));
        let touches = |pair: (&(u64, Payload), &(u64, Payload))| end(*pair.0) == pair.1.0;
        for (lower, upper) in self.0.range(..index).rev().zip(self.0.range(..=index).rev()) {
            if !touches((lower, upper)) {
                break;
            }
            from = lower.0;
        }
        for (lower, upper) in self.0.range(index..).zip(self.0.range(index + 1..)) {
            if !touches((lower, upper)) {
                break;
            }
            to = end(*upper);
        }
        Some((from, to))
    }
}

//! The application's octets, which the protocol crates know as ranges only.

use ropewalk_wire::{Octets, Payload, Sum};
use std::collections::{BTreeMap, VecDeque};

/// A segment with fewer octets than this is kept in one piece with those before it, until the piece
/// has [`TOGETHER`] octets. So the memory of a segment is in proportion to its octets, however few
/// they are.
const FEW: usize = 256;
const TOGETHER: usize = 4 * 1024;

/// What was written and may still have to be sent, once more perhaps.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    octets: VecDeque<u8>,
    /// Place in the stream of the first octet that is kept.
    start: u64,
}

impl SendBuffer {
    /// The place behind the last octet.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.octets.len() as u64
    }

    pub(crate) fn write(&mut self, octets: &[u8]) {
        self.octets.extend(octets);
    }

    /// Forgets what lies before `place`.
    pub(crate) fn forget(&mut self, place: u64) {
        let old = place.saturating_sub(self.start).min(self.octets.len() as u64);
        self.octets.drain(..old as usize);
        self.start += old;
    }

    /// Octets that are kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.octets.len()
    }

    /// Copies a range into `out`.
    ///
    /// # Panics
    /// If a part of it was forgotten.
    pub(crate) fn copy(&self, range: Payload, out: &mut Vec<u8>) {
        let from = range.offset.checked_sub(self.start).expect("what is not acknowledged is kept") as usize;
        out.extend(self.octets.range(from..from + range.len as usize));
    }
}

impl Octets for SendBuffer {
    fn sum(&self, payload: Payload) -> Sum {
        let mut octets = Vec::with_capacity(payload.len as usize);
        self.copy(payload, &mut octets);
        Sum::default().add_octets(&octets)
    }
}

/// What arrived and has not been read. Octets get a place as they arrive, and a range's offset is
/// that place. What the connection holds can be read, in any order. The rest is swept out.
#[derive(Debug, Default)]
pub(crate) struct ReceiveStore {
    pieces: BTreeMap<u64, Vec<u8>>,
    /// Octets in all pieces.
    octets: usize,
    /// Place of the next octets.
    next: u64,
}

impl ReceiveStore {
    /// Keeps octets that arrived, and says where.
    pub(crate) fn put(&mut self, octets: &[u8]) -> u64 {
        let place = self.next;
        if !octets.is_empty() {
            self.append(octets);
            self.octets += octets.len();
            self.next += octets.len() as u64;
        }
        place
    }

    /// A piece of its own costs more than a few octets do: these lie together with those before
    /// them.
    fn append(&mut self, octets: &[u8]) {
        if octets.len() < FEW
            && let Some(mut last) = self.pieces.last_entry()
            && *last.key() + last.get().len() as u64 == self.next
            && last.get().len() < TOGETHER
        {
            return last.get_mut().extend_from_slice(octets);
        }
        self.pieces.insert(self.next, octets.to_vec());
    }

    /// Octets that are kept.
    pub(crate) fn len(&self) -> usize {
        self.octets
    }

    /// Copies a range that the connection delivered into `out`.
    pub(crate) fn copy(&self, range: Payload, out: &mut Vec<u8>) {
        let end = range.offset + u64::from(range.len);
        let mut place = range.offset;
        while place < end {
            let (start, piece) =
                self.pieces.range(..=place).next_back().expect("what the connection holds is kept");
            let from = (place - start) as usize;
            let len = ((end - place) as usize).min(piece.len() - from);
            out.extend_from_slice(&piece[from..from + len]);
            place += len as u64;
        }
    }

    /// Forgets everything but what the connection holds: ranges that do not overlap.
    pub(crate) fn sweep(&mut self, held: &[Payload]) {
        let mut kept = BTreeMap::new();
        for range in held.iter().filter(|range| range.len > 0) {
            let mut piece = Vec::with_capacity(range.len as usize);
            self.copy(*range, &mut piece);
            kept.insert(range.offset, piece);
        }
        self.octets = kept.values().map(Vec::len).sum();
        self.pieces = kept;
    }
}

impl Octets for ReceiveStore {
    fn sum(&self, payload: Payload) -> Sum {
        let mut octets = Vec::with_capacity(payload.len as usize);
        self.copy(payload, &mut octets);
        Sum::default().add_octets(&octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(offset: u64, len: u32) -> Payload {
        Payload { offset, len }
    }

    #[test]
    fn what_was_written_can_be_copied_until_it_is_forgotten() {
        let mut buffer = SendBuffer::default();
        buffer.write(b"abcdef");
        buffer.forget(2);
        buffer.write(b"gh");
        let mut out = Vec::new();
        buffer.copy(range(2, 3), &mut out);
        buffer.copy(range(6, 2), &mut out);
        assert_eq!((out.as_slice(), buffer.end(), buffer.len()), (&b"cdegh"[..], 8, 6));
        buffer.forget(100);
        assert_eq!((buffer.end(), buffer.len()), (8, 0), "what was not written cannot be forgotten");
    }

    #[test]
    fn a_range_may_lie_over_several_arrivals_and_a_sweep_keeps_what_is_held() {
        let mut store = ReceiveStore::default();
        let places =
            [store.put(b"abc"), store.put(b""), store.put(b"def"), store.put(b"ghi"), store.put(b"jkl")];
        assert_eq!(places, [0, 3, 3, 6, 9]);
        let mut out = Vec::new();
        store.copy(range(1, 7), &mut out);
        assert_eq!(out, b"bcdefgh");
        store.sweep(&[range(10, 1), range(4, 4)]);
        assert_eq!((store.pieces.len(), store.len()), (2, 5));
        assert_eq!(store.put(b"mno"), 12);
        out.clear();
        store.copy(range(10, 1), &mut out);
        store.copy(range(4, 4), &mut out);
        store.copy(range(12, 3), &mut out);
        assert_eq!(out, b"kefghmno", "behind a sweep nothing is joined to what does not touch it");
    }

    /// A hostile peer sends octets one by one, or long segments of which the connection takes an
    /// octet each.
    #[test]
    fn pieces_are_few_and_hold_what_is_held() {
        let mut store = ReceiveStore::default();
        let places: Vec<u64> = (0..100_000u32).map(|octet| store.put(&[octet as u8])).collect();
        assert!(store.pieces.len() <= 100_000 / TOGETHER + 1, "{} pieces", store.pieces.len());
        let mut out = Vec::new();
        store.copy(range(places[50_000], 3), &mut out);
        assert_eq!(out, [50_000u32 as u8, 50_001u32 as u8, 50_002u32 as u8]);
        let long = [7; 60_000];
        let held: Vec<Payload> = (0..10).map(|_| range(store.put(&long) + 100, 1)).collect();
        store.sweep(&held);
        let room: usize = store.pieces.values().map(Vec::capacity).sum();
        assert_eq!((store.len(), room), (10, 10));
    }
}

//! What was believed when a packet was sent, to compare with what its report says.

use crate::id::{FlowSeq, GlobalSeq, PathSeq};

/// How many packets back: more than are under way in a second at 90 Mbit/s.
const CAPACITY: u32 = 8192;

/// What the header of a packet said that may be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kept {
    pub(crate) global: GlobalSeq,
    pub(crate) flow_seq: FlowSeq,
    pub(crate) bucket: u16,
}

/// One packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Bytes sent on the path up to and including it, wrapping.
    pub(super) bytes: u32,
    /// The queue that it was believed to find, in µs.
    pub(super) backlog: i32,
    /// The corrections made until then, in µs.
    pub(super) corrections: i32,
    /// Its octets on the wire.
    pub(super) len: u32,
    /// Bytes sent since the queue was last believed empty, it included, and how long ago that was, in µs.
    pub(super) busy_bytes: u32,
    pub(super) busy_us: u32,
    /// Bytes sent since packets are held, zero if it was not.
    pub(super) held_bytes: u32,
    /// When it left, in wrapping µs.
    pub(super) left_at: u32,
    /// What its header said, if it may be sent again.
    pub(super) kept: Option<Kept>,
}

/// The last [`CAPACITY`] packets.
pub(super) struct SentLog(Vec<Entry>);

impl SentLog {
    pub(super) fn new() -> Self {
        Self(vec![Entry::default(); CAPACITY as usize])
    }

    #[inline]
    pub(super) fn push(&mut self, seq: PathSeq, entry: Entry) {
        self.0[(seq.get() % CAPACITY) as usize] = entry;
    }

    /// The packet just pushed is kept.
    #[inline]
    pub(super) fn keep(&mut self, seq: PathSeq, kept: Kept) {
        self.0[(seq.get() % CAPACITY) as usize].kept = Some(kept);
    }

    /// The entry of a packet, if it was sent before `next` and is still remembered.
    pub(super) fn get(&self, seq: PathSeq, next: PathSeq) -> Option<Entry> {
        let back = next.since(seq);
        if back == 0 || back > CAPACITY {
            return None;
        }
        Some(self.0[(seq.get() % CAPACITY) as usize])
    }
}

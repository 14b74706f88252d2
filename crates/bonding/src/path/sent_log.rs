//! The packets that were sent on a path. The controller needs them until they are reported, and
//! repairs until they are too old.

use crate::id::{FlowSeq, GlobalSeq, PathSeq};
use ropewalk_congestion::PacketState;
use ropewalk_units::{Duration, Instant};

/// How many packets are kept: more than are on their way in a second at 90 Mbit/s.
const CAPACITY: u32 = 8192;

/// A packet that may be sent again, and what its header said.
pub(crate) struct Kept<P> {
    pub(crate) packet: P,
    pub(crate) global: GlobalSeq,
    pub(crate) flow_seq: FlowSeq,
    pub(crate) bucket: u16,
}

/// Which packets are sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepairTerms {
    /// Packets that left longer ago than this are not sent again.
    pub(crate) age: Duration,
    /// The round trip of the path that carries the repair.
    pub(crate) round_trip: Duration,
}

/// One packet.
pub(super) struct Sent<P> {
    pub(super) seq: PathSeq,
    pub(super) state: PacketState,
    /// Its octets on the wire.
    pub(super) len: u32,
    /// Bytes sent on the path up to and including it, wrapping.
    pub(super) bytes: u32,
    /// The controller knows whether it was delivered or lost.
    pub(super) is_settled: bool,
    pub(super) kept: Option<Kept<P>>,
    /// When it was sent again last.
    pub(super) repaired_at: Option<Instant>,
}

/// The last [`CAPACITY`] packets. It uses no memory before the first.
pub(super) struct SentLog<P>(Vec<Option<Sent<P>>>);

impl<P> SentLog<P> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    const fn place(seq: PathSeq) -> usize {
        (seq.get() % CAPACITY) as usize
    }

    /// Adds a packet. Returns the packet that it replaces.
    #[inline]
    pub(super) fn push(&mut self, sent: Sent<P>) -> Option<Sent<P>> {
        if self.0.is_empty() {
            self.0.resize_with(CAPACITY as usize, || None);
        }
        self.0[Self::place(sent.seq)].replace(sent)
    }

    #[inline]
    pub(super) fn get(&self, seq: PathSeq) -> Option<&Sent<P>> {
        self.0.get(Self::place(seq))?.as_ref().filter(|sent| sent.seq == seq)
    }

    /// Returns a packet that is to be sent again now, and notes the time. The packet must still be
    /// here. It must have left less than `age` ago, and its last repair at least a `round_trip`
    /// ago: a later one may still be on its way.
    pub(super) fn repair(&mut self, now: Instant, seq: PathSeq, terms: &RepairTerms) -> Option<&Sent<P>> {
        let sent = self.0.get_mut(Self::place(seq))?.as_mut()?;
        let is_fresh = |at: Instant, most: Duration| now.saturating_since(at) < most;
        let is_under_way = sent.repaired_at.is_some_and(|at| is_fresh(at, terms.round_trip));
        let may_go = sent.seq == seq && is_fresh(sent.state.send_time, terms.age) && !is_under_way;
        if may_go {
            sent.repaired_at = Some(now);
        }
        may_go.then_some(sent)
    }

    /// Is the packet so old that nothing is known of it?
    pub(super) fn has_forgotten(&self, seq: PathSeq) -> bool {
        self.get(seq).is_none()
    }

    /// Marks a packet as reported. `None`: it was reported before, or is not here.
    #[inline]
    pub(super) fn settle(&mut self, seq: PathSeq) -> Option<&Sent<P>> {
        let sent = self.0.get_mut(Self::place(seq))?.as_mut()?;
        let is_news = sent.seq == seq && !sent.is_settled;
        if is_news {
            sent.is_settled = true;
        }
        is_news.then_some(sent)
    }
}

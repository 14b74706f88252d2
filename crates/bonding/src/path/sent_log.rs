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
    /// The peer does not miss the packet, its path fell silent: if it has been reported since, it is not sent again. Which of several
    /// packets were received, a report does not say.
    pub(crate) is_in_doubt: bool,
    /// Packets that left longer ago than this are not sent again.
    pub(crate) age: Duration,
    /// The round trip of the path that carries the repair.
    pub(crate) round_trip: Duration,
}

/// What is known of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// Nothing: it is on its way.
    Unknown,
    /// It was reported as received.
    Delivered,
    /// It was reported as lost, or given up.
    Lost,
}

/// One packet.
pub(super) struct Sent<P> {
    pub(super) seq: PathSeq,
    pub(super) state: PacketState,
    /// Its octets on the wire.
    pub(super) len: u32,
    /// Bytes sent on the path up to and including it, wrapping.
    pub(super) bytes: u32,
    /// The controller knows of it.
    pub(super) fate: Fate,
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
        let is_needless = is_under_way || (terms.is_in_doubt && sent.fate == Fate::Delivered);
        let may_go = sent.seq == seq && is_fresh(sent.state.send_time, terms.age) && !is_needless;
        if may_go {
            sent.repaired_at = Some(now);
        }
        may_go.then_some(sent)
    }

    /// Is the packet so old that nothing is known of it?
    pub(super) fn has_forgotten(&self, seq: PathSeq) -> bool {
        self.get(seq).is_none()
    }

    /// Notes what became of a packet. `None`: it was reported before, or is not here.
    #[inline]
    pub(super) fn settle(&mut self, seq: PathSeq, fate: Fate) -> Option<&Sent<P>> {
        let sent = self.0.get_mut(Self::place(seq))?.as_mut().filter(|sent| sent.seq == seq)?;
        let before = std::mem::replace(&mut sent.fate, fate);
        (before == Fate::Unknown).then_some(sent)
    }
}

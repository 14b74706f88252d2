//! What was sent on a path: for the controller until it is reported, and to be sent again.

use crate::id::{FlowSeq, GlobalSeq, PathSeq};
use crate::receive::incoming::ASKS;
use ropewalk_congestion::PacketState;

/// How many packets back: more than are under way in a second at 90 Mbit/s.
const CAPACITY: u32 = 8192;

/// So often a packet is sent again at the most: it is asked for twice, and goes once of itself when its path falls silent.
const REPAIRS_MOST: u8 = ASKS + 1;

/// A packet that may be sent again, and what its header said.
pub(crate) struct Kept<P> {
    pub(crate) packet: P,
    pub(crate) global: GlobalSeq,
    pub(crate) flow_seq: FlowSeq,
    pub(crate) bucket: u16,
}

/// One packet.
pub(super) struct Sent<P> {
    pub(super) seq: PathSeq,
    pub(super) state: PacketState,
    /// Its octets on the wire.
    pub(super) len: u32,
    /// Bytes sent on the path up to and including it, wrapping.
    pub(super) bytes: u32,
    /// The controller knows what became of it.
    pub(super) is_settled: bool,
    pub(super) kept: Option<Kept<P>>,
    /// How often it was sent again.
    pub(super) repairs: u8,
}

/// The last [`CAPACITY`] packets. Takes no memory before the first.
pub(super) struct SentLog<P>(Vec<Option<Sent<P>>>);

impl<P> SentLog<P> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    const fn place(seq: PathSeq) -> usize {
        (seq.get() % CAPACITY) as usize
    }

    /// Adds a packet; what is forgotten for it.
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

    /// It is to be sent again, if it is still there, and was not sent too often.
    pub(super) fn repair(&mut self, seq: PathSeq) -> Option<&Kept<P>> {
        let sent = self.0.get_mut(Self::place(seq))?.as_mut()?;
        let may_go = sent.seq == seq && sent.repairs < REPAIRS_MOST;
        sent.repairs += u8::from(may_go);
        sent.kept.as_ref().filter(|_| may_go)
    }

    /// Is it so old that nothing is known of it?
    pub(super) fn has_forgotten(&self, seq: PathSeq) -> bool {
        self.get(seq).is_none()
    }

    /// It is reported, if it was not before.
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

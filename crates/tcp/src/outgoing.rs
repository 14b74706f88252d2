//! A segment that is about to leave, as the sending half describes it.

use ropewalk_units::Seq;
use ropewalk_wire::{Ecn, Flags, Payload};

/// What the sender says of a segment; the receiver adds acknowledgement, window and options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outgoing {
    pub(crate) seq: Seq,
    pub(crate) payload: Payload,
    pub(crate) flags: Flags,
    pub(crate) ecn: Ecn,
}

impl Outgoing {
    /// A segment without data.
    pub(crate) fn bare(seq: Seq) -> Self {
        Self { seq, payload: Payload::default(), flags: Flags::ACK, ecn: Ecn::NotEct }
    }
}

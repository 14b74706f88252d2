//! Which packets may be sent again: what their headers said, by their number on the path.

use crate::id::{FlowSeq, GlobalSeq, PathSeq};

/// How many packets back: more than are under way in a second at 90 Mbit/s.
const CAPACITY: u32 = 8192;
/// Of so many packets sent one may be sent again, and so many at once: a path that loses more has to be left alone, not refilled.
const SENT_FOR_EACH: u32 = 8;
const BURST: u32 = 64;

/// A packet that was sent on a path, and that the driver keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeptPacket {
    pub(crate) seq: PathSeq,
    pub(crate) global: GlobalSeq,
    pub(crate) flow_seq: FlowSeq,
    pub(crate) bucket: u16,
    /// Octets on the wire; 0: none is kept here.
    pub(crate) wire_len: u32,
}

/// The last [`CAPACITY`] packets of a path. Takes no memory where none is kept.
#[derive(Default)]
pub(crate) struct KeptLog {
    ring: Vec<KeptPacket>,
    credit: u32,
}

impl KeptLog {
    pub(crate) fn new() -> Self {
        Self { ring: vec![KeptPacket::default(); CAPACITY as usize], credit: BURST * SENT_FOR_EACH }
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: KeptPacket) {
        self.credit = (self.credit + 1).min(BURST * SENT_FOR_EACH);
        self.ring[(packet.seq.get() % CAPACITY) as usize] = packet;
    }

    /// The packet, if it is known and may be sent again.
    pub(crate) fn take(&mut self, seq: PathSeq) -> Option<KeptPacket> {
        let packet = self.ring.get((seq.get() % CAPACITY) as usize)?;
        if packet.seq != seq || packet.wire_len == 0 {
            return None;
        }
        self.credit = self.credit.checked_sub(SENT_FOR_EACH)?;
        Some(*packet)
    }
}

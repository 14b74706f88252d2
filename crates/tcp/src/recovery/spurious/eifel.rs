//! Eifel detection (RFC 3522): the timestamp echoed tells which transmission the ACK answers.

use super::{Cause, Verdict};

/// One acceptable ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EifelAck {
    /// TSecr; `None` without the option.
    pub(crate) ts_ecr: Option<u32>,
    /// It carries a DSACK block.
    pub(crate) dsack: bool,
    /// It acknowledges all that was outstanding.
    pub(crate) covers_all: bool,
}

/// The detector of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Eifel {
    armed: Option<Armed>,
    /// A recovery is in progress, decided or not.
    in_recovery: bool,
    dsack_seen: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Armed {
    /// RFC 3522 §3.2 (2): RetransmitTS.
    retransmit_ts: u32,
    cause: Cause,
}

impl Eifel {
    /// RFC 3522 §3.2 (1) and (2): recovery begins with a retransmission of the oldest outstanding segment that
    /// carries TSval `retransmit_ts`. Nothing while a recovery is in progress: it must not be started over.
    pub(crate) fn begin(&mut self, retransmit_ts: u32, cause: Cause) {
        if !self.in_recovery {
            self.in_recovery = true;
            self.armed = Some(Armed { retransmit_ts, cause });
        }
    }

    /// The recovery is over.
    pub(crate) fn end(&mut self) {
        self.in_recovery = false;
        self.armed = None;
    }

    /// A DSACK came, on whatever ACK.
    pub(crate) fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// RFC 3522 §3.2 (3) to (6), for the first acceptable ACK after the retransmission.
    pub(crate) fn on_ack(&mut self, ack: &EifelAck) -> Verdict {
        let Some(armed) = self.armed.take() else { return Verdict::Undecided };
        self.dsack_seen |= ack.dsack;
        let Some(ts_ecr) = ack.ts_ecr else { return Verdict::Undecided };
        // (4), in the modular order of RFC 7323 §5.2.
        if ts_ecr.wrapping_sub(armed.retransmit_ts) < 1 << 31 {
            return Verdict::Genuine;
        }
        // (5): a DSACK, or an ACK of everything from a peer that may not report duplicates, could come from the
        // retransmission of a segment whose ACKs were all lost.
        if ack.dsack || (ack.covers_all && !self.dsack_seen) {
            return Verdict::Undecided;
        }
        Verdict::Spurious { cause: armed.cause }
    }
}

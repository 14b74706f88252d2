//! Events of a connection, for its owner.

use crate::state::CloseReason;
use ropewalk_units::{Duration, Seq};

/// Something happened. The rare events always come; those marked *trace* only with
/// [`crate::Config::trace`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// The peer's FIN arrived in order; what was before it may still wait to be read.
    PeerFinished,
    /// Our FIN, and so everything before it, is acknowledged.
    FinAcknowledged,
    /// The connection is over, or only TIME-WAIT is left of it (`Finished`).
    Closed(CloseReason),
    /// The retransmission timer fired; `consecutive` counts the timeouts since the last progress, this one
    /// included.
    TimeoutFired {
        /// Timeouts in a row.
        consecutive: u32,
        /// The RTO after back-off.
        rto: Duration,
    },
    /// Fast recovery began.
    RecoveryEntered {
        /// It ends when this is acknowledged.
        recover: Seq,
    },
    /// Fast or timeout recovery ended.
    RecoveryLeft,
    /// A recovery proved unnecessary and the window was restored.
    Undone,
    /// A tail loss probe was sent.
    TailLossProbeSent,
    /// *trace*: the window or ssthresh changed.
    CwndUpdated {
        /// In octets.
        cwnd: u32,
        /// In octets.
        ssthresh: u32,
    },
    /// *trace*: a round-trip time was measured.
    RttMeasured {
        /// This sample.
        sample: Duration,
        /// SRTT after it.
        srtt: Duration,
    },
    /// *trace*: a segment was retransmitted.
    Retransmitted {
        /// Its first octet.
        seq: Seq,
        /// Octets of data.
        len: u32,
    },
}

//! Retransmissions that were not needed: four detectors, and the response to a spurious timeout.
//!
//! A detector is armed where a loss recovery begins and fed the ACKs that follow. Each stands alone; together,
//! the first that says [`Verdict::Spurious`] wins.

mod detectors;
mod door;
mod dsack;
mod eifel;
mod frto;
mod response;

#[cfg(test)]
mod tests;

pub(crate) use detectors::Detectors;
pub(crate) use door::{Door, DoorPeriods};
pub(crate) use dsack::{Dsack, Origin};
pub(crate) use eifel::{Eifel, EifelAck};
pub(crate) use frto::{Frto, FrtoAck, FrtoAction};
pub(crate) use response::TimeoutMemory;

/// What began a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Duplicate ACKs, SACK blocks or RACK.
    Loss,
    /// The retransmission timer.
    Timeout,
}

/// What is known about the retransmissions of one recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Nothing yet, or nothing any more.
    Undecided,
    /// Something was lost.
    Genuine,
    /// Nothing was lost.
    Spurious {
        /// What had begun the recovery.
        cause: Cause,
    },
}

//! TCP-DOOR (Wang and Zhang, Improving TCP performance over mobile ad-hoc networks with out-of-order detection and
//! response, MobiHoc 2002, §3): out-of-order arrival is a sign of a new route, and not of congestion.
//!
//! In the paper, the receiver reports it in an option of its own. Here the sender sees it by SACK and timestamps: a
//! segment that was sent once arrives after a later one, or an original arrives after its retransmission was sent.

use super::{Cause, Verdict};
use ropewalk_units::{Duration, Instant};

/// How long out-of-order arrival counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DoorPeriods {
    /// T1 of the paper: for so long congestion control is off.
    pub(crate) quiet: Duration,
    /// T2 of the paper: a reduction that is no older is taken back.
    pub(crate) young: Duration,
}

/// The detector of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Door {
    /// When the window was last reduced, and why, if that has not been taken back.
    reduced: Option<(Instant, Cause)>,
    /// Until then congestion control is off.
    quiet_until: Option<Instant>,
}

impl Door {
    /// The window is about to be reduced.
    pub(crate) fn begin(&mut self, now: Instant, cause: Cause) {
        self.reduced = Some((now, cause));
    }

    /// Something has arrived out of order. Congestion control is off for a while, and a young reduction is taken back.
    pub(crate) fn on_out_of_order(&mut self, now: Instant, periods: &DoorPeriods) -> Verdict {
        self.quiet_until = Some(now.saturating_add(periods.quiet));
        match self.reduced.take() {
            Some((at, cause)) if now <= at.saturating_add(periods.young) => Verdict::Spurious { cause },
            _ => Verdict::Undecided,
        }
    }

    /// Is congestion control off: are losses repaired, and is the window left as it is?
    pub(crate) fn is_quiet(&self, now: Instant) -> bool {
        self.quiet_until.is_some_and(|until| now < until)
    }
}

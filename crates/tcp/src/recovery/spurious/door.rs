//! TCP-DOOR (Wang and Zhang, Improving TCP performance over mobile ad-hoc networks with out-of-order detection and response,
//! MobiHoc 2002, §3): what arrives out of order tells of another route, and not of a full queue.
//!
//! There the receiver tells by a bit of its own. Here SACK and timestamps tell the sender: of a segment, sent once, that
//! arrives below one that has arrived, and of an original that arrives after it was sent again.

use super::{Cause, Verdict};
use ropewalk_units::{Duration, Instant};

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

    /// Something has arrived out of order. For a `period` congestion control is off (there T1), and a reduction that is no older
    /// (there T2) is taken back.
    pub(crate) fn on_out_of_order(&mut self, now: Instant, period: Duration) -> Verdict {
        self.quiet_until = Some(now.saturating_add(period));
        match self.reduced.take() {
            Some((at, cause)) if now <= at.saturating_add(period) => Verdict::Spurious { cause },
            _ => Verdict::Undecided,
        }
    }

    /// Is congestion control off: are losses repaired, and is the window left as it is?
    pub(crate) fn is_quiet(&self, now: Instant) -> bool {
        self.quiet_until.is_some_and(|until| now < until)
    }
}

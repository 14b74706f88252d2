//! Detection by DSACK (RFC 2883, RFC 3708): every retransmission was reported as a duplicate.

use super::{Cause, Verdict};

/// The detector of one connection: the retransmissions of the last recovery that are not yet known to be
/// duplicates. It outlives the recovery, since the reports come a round-trip time after the retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Dsack {
    episode: Option<Episode>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Episode {
    cause: Cause,
    /// Segments retransmitted, not reported.
    outstanding: u32,
    /// Any at all.
    retransmitted: bool,
}

/// Who made a duplicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The sender: all of it was sent more than once in this recovery.
    Sender,
    /// The network.
    Network,
}

impl Dsack {
    /// A recovery begins.
    pub(crate) fn begin(&mut self, cause: Cause) {
        self.episode = Some(Episode { cause, outstanding: 0, retransmitted: false });
    }

    /// `segments` were sent again in it.
    pub(crate) fn on_retransmit(&mut self, segments: u32) {
        if let Some(episode) = &mut self.episode {
            episode.outstanding = episode.outstanding.saturating_add(segments);
            episode.retransmitted = true;
        }
    }

    /// The peer reports a duplicate of `segments`.
    pub(crate) fn on_dsack(&mut self, segments: u32, origin: Origin) -> Verdict {
        let Some(episode) = &mut self.episode else { return Verdict::Undecided };
        // RFC 3708 §3 (A): the network duplicates; no conclusion from this recovery.
        if origin == Origin::Network {
            self.episode = None;
            return Verdict::Undecided;
        }
        episode.outstanding = episode.outstanding.saturating_sub(segments.max(1));
        // RFC 3708 §3 (B): (B.2) one not reported, no conclusion; (B.1) all, and nothing was lost.
        if episode.outstanding > 0 || !episode.retransmitted {
            return Verdict::Undecided;
        }
        let cause = episode.cause;
        self.episode = None;
        Verdict::Spurious { cause }
    }

    /// Another detector decided first.
    pub(crate) fn stop(&mut self) {
        self.episode = None;
    }
}

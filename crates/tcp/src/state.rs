//! The states of a connection, its timers, and why it ended.

/// The states of RFC 9293 §3.3.2. LISTEN belongs to the host, which turns a SYN into a connection with
/// [`crate::Connection::accept`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No connection any more.
    Closed,
    /// A SYN is sent, or about to be.
    SynSent,
    /// Both SYNs are on their way; ours is not acknowledged yet.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// Our FIN is sent (or queued behind data) and not acknowledged.
    FinWait1,
    /// Our FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer sent its FIN; we may still send.
    CloseWait,
    /// Both FINs crossed; ours is not acknowledged yet.
    Closing,
    /// The peer closed first and our FIN is not acknowledged yet.
    LastAck,
    /// Both FINs are acknowledged; waits for stray segments to die.
    TimeWait,
}

impl State {
    /// Has the handshake completed, and is the connection not over?
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::SynSent | Self::SynReceived)
    }

    /// Does ABORT tell the peer by a RST (RFC 9293 §3.10.5)? Not where both sides have sent their FIN.
    pub(crate) const fn is_reset_by_abort(self) -> bool {
        !matches!(self, Self::Closed | Self::SynSent | Self::Closing | Self::LastAck | Self::TimeWait)
    }

    /// May the peer still send data that we would take (RFC 9293 §3.10.7.4, "check the segment text")?
    pub(crate) const fn takes_data(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// Do we still owe the peer data or a FIN: may segments with data leave in this state?
    pub(crate) const fn may_transmit(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }
}

/// Which timer is meant: what [`crate::Connection::poll_timeout`] waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerKind {
    /// RFC 6298: the retransmission timer.
    Retransmission,
    /// RFC 8985 §7: the tail loss probe.
    TailLossProbe,
    /// RFC 8985 §6.3: the reordering window of RACK.
    Reordering,
    /// The departure time of the next paced burst.
    Pacing,
    /// RFC 9293 §3.8.6.1: the zero-window probe.
    Persist,
    /// RFC 9293 §3.8.6.3: the delayed ACK.
    DelayedAck,
    /// RFC 9293 §3.4.2: 2 MSL.
    TimeWait,
}

/// Why a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseReason {
    /// Both sides sent FIN and acknowledged the other's.
    Finished,
    /// The peer sent RST.
    Reset,
    /// The peer answered our SYN with RST.
    Refused,
    /// The peer stopped answering: too many timeouts in a row.
    TimedOut,
    /// [`crate::Connection::abort`].
    Aborted,
}

impl std::fmt::Display for CloseReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Finished => "the connection was closed by both sides",
            Self::Reset => "the peer reset the connection",
            Self::Refused => "the peer refused the connection",
            Self::TimedOut => "the peer stopped answering",
            Self::Aborted => "the connection was aborted",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CloseReason::{self, Aborted, Finished, Refused, Reset, TimedOut};
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_says_something_of_its_own() {
        let all = [Finished, Reset, Refused, TimedOut, Aborted];
        let texts = all.iter().map(CloseReason::to_string).collect::<BTreeSet<_>>();
        assert!(texts.len() == all.len() && texts.iter().all(|text| text.starts_with("the ")), "{texts:?}");
    }
}

//! Events of a connection for its owner, and its timers.

use crate::id::{Path, SubflowId, Wanted};
use ropewalk_tcp as tcp;
use ropewalk_units::Duration;
use ropewalk_wire::{MptcpOption, ResetReason};
use std::net::SocketAddr;

/// Something happened. The rare events always come; those marked *trace* only with [`crate::Config::trace`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The connection is established: by Multipath TCP's handshake, or as plain TCP after `FellBack`.
    Established,
    /// The connection goes on as plain TCP on its one subflow (RFC 8684 §3.7).
    FellBack(FallbackReason),
    /// A subflow is to be opened: the driver picks its local port and calls
    /// [`Connection::open_subflow`](crate::Connection::open_subflow). Ports are the host's, which knows who uses them.
    SubflowWanted(Wanted),
    /// A subflow exists from now on: the driver registers its four-tuple. It may not be established yet.
    SubflowCreated {
        /// Which.
        id: SubflowId,
        /// Its ends.
        path: Path,
    },
    /// A subflow is fully established (RFC 8684 §3.2): data may travel on it.
    SubflowEstablished(SubflowId),
    /// A subflow is over.
    SubflowClosed {
        /// Which.
        id: SubflowId,
        /// Why.
        reason: SubflowCloseReason,
    },
    /// Nothing is left of a subflow, TIME-WAIT included: its four-tuple is free. What it counted can be read until the
    /// next subflow is opened or accepted. It may come more than once.
    SubflowGone(SubflowId),
    /// The peer announced an address (ADD_ADDR).
    AddressAnnounced {
        /// Its identifier.
        address_id: u8,
        /// Where it listens.
        address: SocketAddr,
    },
    /// The peer withdrew an address (REMOVE_ADDR).
    AddressRemoved {
        /// Its identifier.
        address_id: u8,
    },
    /// The peer changed the priority of a subflow (MP_PRIO).
    PriorityChanged {
        /// Which.
        id: SubflowId,
        /// B.
        backup: bool,
    },
    /// The peer will send nothing more: its DATA_FIN (or, after fallback, FIN) arrived in order.
    PeerFinished,
    /// All that was written, and the DATA_FIN (or FIN), is acknowledged by the peer.
    FinishAcknowledged,
    /// Both directions are finished and every subflow is closed.
    Closed,
    /// The connection ended with an error.
    Failed(FailureReason),
    /// Octets that another subflow carried before were given to this one.
    Reinjected {
        /// To which.
        id: SubflowId,
        /// Position of the first octet in the connection's stream.
        data: u64,
        /// How many.
        octets: u32,
        /// By opportunistic retransmission; otherwise after a timeout or a subflow's death.
        opportunistic: bool,
    },
    /// A subflow's window was reduced because it held the connection's window up (penalization).
    Penalized(SubflowId),
    /// The peer's mapping failed its checksum (RFC 8684 §3.3.1).
    ChecksumFailed(SubflowId),
    /// *trace*: the scheduler gave octets to a subflow.
    Scheduled {
        /// To which.
        id: SubflowId,
        /// Position of the first octet in the connection's stream.
        data: u64,
        /// How many.
        octets: u32,
        /// The scheduler's reason.
        reason: &'static str,
    },
    /// *trace*: data came that waits behind a hole from now on (head-of-line blocking).
    Blocked {
        /// Position of the first octet that is missing in the connection's stream.
        data: u64,
    },
    /// *trace*: nothing waits behind a hole any more.
    Unblocked {
        /// Position of the first octet that has not come yet.
        data: u64,
        /// How long something had waited.
        waited: Duration,
    },
    /// A subflow's own event.
    Subflow {
        /// Which.
        id: SubflowId,
        /// What.
        event: tcp::Event,
    },
}

impl Event {
    /// May it be lost without harm to a driver that keeps ports and four-tuples?
    pub(crate) const fn only_informs(&self) -> bool {
        matches!(
            self,
            Self::AddressAnnounced { .. }
                | Self::AddressRemoved { .. }
                | Self::PriorityChanged { .. }
                | Self::Reinjected { .. }
                | Self::Penalized(_)
                | Self::ChecksumFailed(_)
                | Self::Scheduled { .. }
                | Self::Blocked { .. }
                | Self::Unblocked { .. }
                | Self::Subflow { .. }
        )
    }
}

/// Why a connection fell back to TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FallbackReason {
    /// The peer's SYN or SYN/ACK had no MP_CAPABLE.
    NotCapable,
    /// SYNs with MP_CAPABLE were not answered, only one without it was.
    Blackhole,
    /// The host has learned of such a way, and does not offer MP_CAPABLE.
    NotOffered,
    /// The third ACK or the first data came without an MPTCP option.
    HandshakeStripped,
    /// Data or ACKs lost their options later on.
    Stripped,
    /// A checksum failed on the only subflow, and the peer was told with MP_FAIL.
    ChecksumFailed,
    /// The peer sent MP_FAIL or an infinite mapping.
    PeerFellBack,
}

/// Why a subflow ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubflowCloseReason {
    /// FIN on both sides.
    Finished,
    /// This host reset it.
    Aborted(ResetReason),
    /// The peer reset it; the reason if an MP_TCPRST came along.
    Reset(Option<ResetReason>),
    /// The peer refused its SYN.
    Refused,
    /// Too many timeouts in a row.
    TimedOut,
}

impl SubflowCloseReason {
    /// Anything but an orderly end?
    pub(crate) const fn is_failure(self) -> bool {
        !matches!(self, Self::Finished)
    }
}

/// What MP_TCPRST says: why a SYN with MP_JOIN is refused, or a subflow reset (RFC 8684 §3.2, §3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The cause may pass, so that the peer may try again (T).
    pub transient: bool,
    /// The cause.
    pub reason: ResetReason,
}

impl Refusal {
    /// No connection has the token, or it is none that can be joined: "MPTCP-specific error".
    pub const UNKNOWN: Self = Self { transient: false, reason: ResetReason::Mptcp };
    pub(crate) const PROHIBITED: Self = Self { transient: false, reason: ResetReason::Prohibited };
    pub(crate) const RESOURCES: Self = Self { transient: true, reason: ResetReason::Resources };

    /// MP_TCPRST, for the RST that answers the SYN.
    pub const fn option(self) -> MptcpOption {
        MptcpOption::Reset { transient: self.transient, reason: self.reason }
    }
}

/// Why a connection failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureReason {
    /// This host's application aborted it.
    Aborted,
    /// MP_FASTCLOSE came (RFC 8684 §3.5), or a RST on a connection that had fallen back.
    PeerAborted,
    /// The initial subflow was refused.
    Refused,
    /// No subflow is left, and not everything was delivered.
    NoSubflowLeft,
    /// The peer does not acknowledge the DATA_FIN although subflows live.
    TimedOut,
}

impl std::fmt::Display for FailureReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Aborted => "the connection was aborted",
            Self::PeerAborted => "the peer aborted the connection",
            Self::Refused => "the peer refused the connection",
            Self::NoSubflowLeft => "no subflow is left, and not everything was delivered",
            Self::TimedOut => "the peer does not acknowledge the end of the data",
        })
    }
}

/// Which timer is meant: what [`crate::Connection::poll_timeout`] waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerKind {
    /// One of a subflow.
    Subflow(tcp::TimerKind),
    /// Connection-level retransmission of data or DATA_FIN, or a probe of a closed window.
    Data,
    /// ADD_ADDR unanswered.
    AddAddress,
    /// A subflow should have been closed by the peer.
    Close,
    /// The third ACK of a MP_JOIN unanswered.
    Join,
    /// The path manager's next step.
    PathManager,
}

/// Counters since the connection began. Sizes in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Delivered to the application in order, or ready for it.
    pub bytes_delivered: u64,
    /// Arrived a second time at the connection level.
    pub duplicate_bytes: u64,
    /// Given to a further subflow after a timeout, a subflow's death or by opportunistic retransmission.
    pub reinjected_bytes: u64,
    /// Ranges reinjected because the connection-level window was full.
    pub opportunistic_retransmissions: u64,
    /// Windows reduced by penalization.
    pub penalizations: u64,
    /// How long data has waited behind a hole, up to the last event.
    pub hol_blocked: Duration,
    /// Waits behind a hole now.
    pub reorder_buffer: u64,
    /// Most that ever waited.
    pub reorder_buffer_max: u64,
    /// DATA_ACKed by the peer.
    pub bytes_acked: u64,
    /// Dropped because it lay beyond the advertised window.
    pub bytes_beyond_window: u64,
    /// Probes of a closed connection-level window.
    pub window_probes: u64,
    /// Mappings whose checksum failed.
    pub checksum_failures: u64,
}

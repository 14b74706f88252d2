//! What an analysis returns. Times count from the capture's first packet.

use ropewalk_units::{Duration, Instant};
use ropewalk_wire::ResetReason;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// What to report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Length of one [`Sample`]. Not 0.
    pub interval: Duration,
    /// Shortest time without new data that is a [`Gap`].
    pub gap: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { interval: Duration::from_millis(100), gap: Duration::from_millis(200) }
    }
}

/// Everything that was found in one capture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// The first packet's time since the epoch.
    pub start: Instant,
    /// From the first packet to the last.
    pub duration: Duration,
    /// Packets of the file.
    pub packets: u64,
    /// Packets that are not TCP, or too short to tell.
    pub other_packets: u64,
    /// The file ends within a packet.
    pub truncated: bool,
    /// The connections, in the order of their first packets.
    pub connections: Vec<Connection>,
}

/// The protocol of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Plain TCP.
    Tcp,
    /// Multipath TCP.
    Mptcp,
    /// Multipath TCP was asked for, and plain TCP came of it.
    FellBack,
    /// A subflow of a Multipath TCP connection whose handshake is not in the capture.
    LooseSubflow,
}

impl Kind {
    /// A word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::FellBack => "fell-back",
            Self::LooseSubflow => "loose-subflow",
        }
    }
}

/// Who sends. A connection's client is the host that sent the first SYN. If that is not in the
/// capture, it is the receiver of the SYN/ACK, or else the sender of the first segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl Direction {
    /// A word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "client-to-server",
            Self::Down => "server-to-client",
        }
    }
}

/// One connection.
#[derive(Clone, PartialEq, Debug)]
pub struct Connection {
    /// What it is.
    pub kind: Kind,
    /// The client's end of its first subflow.
    pub client: SocketAddr,
    /// The server's end of its first subflow.
    pub server: SocketAddr,
    /// Its first packet.
    pub start: Instant,
    /// Its last packet.
    pub end: Instant,
    /// The token of the server, by which others join (RFC 8684 §3.2).
    pub token: Option<u32>,
    /// The data of each direction: client to server, server to client.
    pub streams: [Stream; 2],
    /// Its subflows, in the order of their first packets.
    pub subflows: Vec<Subflow>,
    /// What happened on it, in order.
    pub events: Vec<Event>,
}

/// The data of one direction of a connection.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stream {
    /// Octets of data that were seen, each counted once.
    pub octets: u64,
    /// Octets that were acknowledged and are not in the capture.
    pub missing_octets: u64,
    /// The first new data.
    pub first: Option<Instant>,
    /// The last new data.
    pub last: Option<Instant>,
    /// Segments with new data that stand before data seen already (RFC 4737 §3.3, by DSN).
    pub late_segments: u64,
    /// How far the farthest of them lay behind the highest data seen, in octets.
    pub late_extent: u64,
    /// How long data that had come waited for data before them, in all: head-of-line blocking.
    pub blocked: Duration,
    /// The longest such time.
    pub longest_block: Duration,
    /// Mean time that an octet waited.
    pub mean_wait: Duration,
    /// Times without new data.
    pub gaps: Vec<Gap>,
}

impl Stream {
    /// Octets of data per second, from the first new data to the last. `None` if no time lies
    /// between.
    pub fn goodput(&self) -> Option<f64> {
        let time = self.last?.saturating_since(self.first?).as_secs_f64();
        (time > 0.0).then(|| self.octets as f64 / time)
    }
}

/// A time without new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The last new data before it.
    pub start: Instant,
    /// How long it was.
    pub duration: Duration,
    /// The subflow that brought data before it.
    pub before: usize,
    /// The subflow that brought data after it; another one makes the gap a handover.
    pub after: usize,
}

/// One subflow: a TCP connection.
#[derive(Clone, PartialEq, Debug)]
pub struct Subflow {
    /// The end on the side of the connection's client.
    pub client: SocketAddr,
    /// The end on the side of the connection's server.
    pub server: SocketAddr,
    /// It asked for backup priority when it began, or MP_PRIO made it one.
    pub backup: bool,
    /// Its first packet.
    pub start: Instant,
    /// Its last packet.
    pub end: Instant,
    /// What each direction carried: client to server, server to client.
    pub flows: [Flow; 2],
}

/// What one direction of a subflow carried. `fresh_octets` + `retransmitted_octets` +
/// `reinjected_octets` + `unmapped_octets` = `octets`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flow {
    /// Segments with data.
    pub segments: u64,
    /// Segments without.
    pub bare_segments: u64,
    /// Octets of data.
    pub octets: u64,
    /// Those that were seen for the first time, on any subflow.
    pub fresh_octets: u64,
    /// Those that this subflow had carried before.
    pub retransmitted_octets: u64,
    /// Those that another subflow had carried before.
    pub reinjected_octets: u64,
    /// Those that no mapping places in the data.
    pub unmapped_octets: u64,
    /// Shortest time from a segment to its acknowledgement, beginning and ending where the capture
    /// was taken.
    pub min_rtt: Option<Duration>,
    /// The median of these times.
    pub median_rtt: Option<Duration>,
    /// New data over time; intervals without any are left out.
    pub samples: Vec<Sample>,
}

/// New data in one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Where the interval begins.
    pub time: Instant,
    /// Octets of data that were seen for the first time, on any subflow.
    pub octets: u64,
}

/// Something that happened on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// When.
    pub time: Instant,
    /// On which of the connection's subflows.
    pub subflow: usize,
    /// The direction of the segment that told it.
    pub direction: Direction,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A SYN asked for a subflow.
    Syn,
    /// ADD_ADDR.
    AddAddress {
        /// Its identifier.
        id: u8,
        /// The address.
        address: IpAddr,
        /// The port, if one was given.
        port: Option<u16>,
    },
    /// REMOVE_ADDR.
    RemoveAddress(Vec<u8>),
    /// MP_PRIO: the subflow becomes a backup, or a regular subflow.
    Priority {
        /// Is it a backup?
        backup: bool,
    },
    /// MP_FAIL.
    Fail,
    /// MP_FASTCLOSE.
    FastClose,
    /// A mapping without end: plain TCP from here on.
    InfiniteMapping,
    /// DATA_FIN.
    DataFin,
    /// FIN.
    Fin,
    /// RST, with the reason that MP_TCPRST gives.
    Reset(Option<ResetReason>),
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syn => f.write_str("SYN"),
            Self::AddAddress { id, address, port: None } => write!(f, "ADD_ADDR {id}: {address}"),
            Self::AddAddress { id, address, port: Some(port) } => {
                write!(f, "ADD_ADDR {id}: {}", SocketAddr::new(*address, *port))
            }
            Self::RemoveAddress(ids) => write!(f, "REMOVE_ADDR {ids:?}"),
            Self::Priority { backup: true } => f.write_str("MP_PRIO: backup"),
            Self::Priority { backup: false } => f.write_str("MP_PRIO: no longer a backup"),
            Self::Fail => f.write_str("MP_FAIL"),
            Self::FastClose => f.write_str("MP_FASTCLOSE"),
            Self::InfiniteMapping => f.write_str("infinite mapping"),
            Self::DataFin => f.write_str("DATA_FIN"),
            Self::Fin => f.write_str("FIN"),
            Self::Reset(None) => f.write_str("RST"),
            Self::Reset(Some(reason)) => write!(f, "RST, MP_TCPRST {}: {reason:?}", *reason as u8),
        }
    }
}

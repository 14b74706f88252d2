//! The rows of the tables.

use ropewalk_units::Instant;

/// A connection.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionRow {
    /// Its name in the scenario; copies have a suffix.
    pub name: String,
    /// `tcp`, `mptcp` or `udp`.
    pub protocol: &'static str,
    /// The host that opens it.
    pub source: String,
    /// The host that it is opened to.
    pub destination: String,
    /// Octets delivered in order to the application at the end of the data direction.
    pub bytes: u64,
    /// `bytes` over the time from start to end, in Mbit/s.
    pub goodput_mbps: f64,
    /// When it was opened.
    pub start: Instant,
    /// When its last octet was delivered; for one that the end of the run cut off, that end.
    pub end: Option<Instant>,
    /// Did it do all that it was asked to, without an error?
    pub completed: bool,
    /// Time in which data waited behind a hole at connection level, in seconds.
    pub hol_blocked_s: f64,
    /// Most octets that waited so.
    pub reorder_buffer_max: u64,
    /// Octets sent again on another subflow.
    pub reinjected_bytes: u64,
    /// Octets that arrived more than once at connection level.
    pub duplicate_bytes: u64,
    /// Request/response transactions completed.
    pub transactions: u64,
    /// Their mean time in seconds.
    pub mean_response_s: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
}

/// A subflow.
#[derive(Clone, PartialEq, Debug)]
pub struct SubflowRow {
    /// The connection's name.
    pub connection: String,
    /// Its number, in the order of creation.
    pub subflow: u32,
    /// The path's name.
    pub path: String,
    /// Octets of payload acknowledged at subflow level.
    pub bytes: u64,
    /// `bytes` over the connection's time, in Mbit/s.
    pub throughput_mbps: f64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Those that turned out to be needless.
    pub spurious_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Smoothed round-trip time at the end, in ms.
    pub srtt_ms: Option<f64>,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Segments sent, pure ACKs included.
    pub segments: u64,
    /// Is it a backup?
    pub backup: bool,
}

/// A link direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRow {
    /// The link's name.
    pub name: String,
    /// `from->to`.
    pub direction: String,
    /// Octets transmitted, headers included.
    pub bytes: u64,
    /// Packets transmitted.
    pub packets: u64,
    /// Packets that the queue dropped.
    pub drops_queue: u64,
    /// Packets lost on the medium, or because the link was down.
    pub drops_loss: u64,
    /// Part of the time in which it transmitted.
    pub utilisation: f64,
    /// Packets marked with congestion experienced.
    pub ecn_marks: u64,
    /// Packets that were handed to it.
    pub offered: u64,
    /// Copies it made of packets.
    pub duplicates: u64,
    /// Packets that arrived at the other end.
    pub delivered: u64,
    /// Packets in its queue or on their way at the end.
    pub queued: u64,
}

/// A sample of a subflow, or of a connection.
#[derive(Clone, PartialEq, Debug)]
pub struct SeriesRow {
    /// When; rates are over the interval that ends here.
    pub time: Instant,
    /// Index into [`super::Outcome::connections`].
    pub connection: u32,
    /// Of a subflow; `None` for the connection's own row.
    pub subflow: Option<SubflowSample>,
    /// Subflow: payload acknowledged; connection: octets delivered in order; in Mbit/s.
    pub throughput_mbps: f64,
    /// Connection: octets waiting behind a hole.
    pub reorder_buffer: Option<u64>,
    /// Connection: time of this interval in which data waited behind a hole, in ms.
    pub hol_blocked_ms: Option<f64>,
}

/// The sender's state of a subflow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SubflowSample {
    /// Its number.
    pub subflow: u32,
    /// Index of its path in the scenario's list.
    pub path: u32,
    /// Congestion window in octets.
    pub cwnd: u32,
    /// Slow start threshold in octets; [`u32::MAX`]: not set yet.
    pub ssthresh: u32,
    /// Smoothed round-trip time in ms.
    pub srtt_ms: Option<f64>,
    /// Octets sent and not acknowledged.
    pub flight: u32,
}

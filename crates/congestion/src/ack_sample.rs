//! What an ACK tells.

use ropewalk_units::Duration;

/// What one ACK of new data tells the algorithms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckSample {
    /// Octets newly acknowledged, cumulatively.
    pub newly_acked: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The round-trip time measured with this ACK.
    pub latest_rtt: Option<Duration>,
    /// Octets acknowledged so far, this ACK's included.
    pub acked: u64,
    /// Octets sent so far, each counted once.
    pub sent: u64,
    /// Whether cwnd, not the application or the peer's window, was what held the sender back. A window that
    /// is not in use does not grow (RFC 9438 §5.8, and Linux for every algorithm).
    pub cwnd_limited: bool,
}

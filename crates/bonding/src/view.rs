//! Snapshots for observers.

use crate::event::PathState;
use crate::id::PathId;
use ropewalk_units::{Duration, Rate};

/// One path as its sending and receiving gateway sees it. Bytes are on the wire: packet, header and
/// the configured overhead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathView {
    /// Which.
    pub id: PathId,
    /// Whether packets get through.
    pub state: PathState,
    /// Packets sent that have a number on the path, copies included.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Octets on the wire of the one sent last; 0 before any was.
    pub last_len: u32,
    /// Packets received from the peer on this path that have a number there, without duplicates.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Such packets of the peer's that this path lost: they did not arrive within the loss timeout,
    /// or only by a repair.
    pub lost_received: u64,
    /// Such packets of ours that the peer reports as lost.
    pub lost_reported: u64,
    /// Their bytes, as far as reported.
    pub lost_reported_bytes: u64,
    /// Packets that this path had lost and that were sent again, by any path.
    pub repaired: u64,
    /// The scheduler's weight: its unit is the scheduler's (`docs/models/bonding.md`).
    pub weight: u32,
    /// Smoothed round-trip time of keepalives; `None` before the first answer.
    pub srtt: Option<Duration>,
    /// Estimate of the time a packet sent now would wait in queues on the way.
    pub queueing_delay: Duration,
    /// Estimate of the rate the path can deliver, in bits on the wire.
    pub delivery_rate: Rate,
    /// In-flight bound: octets on the wire that may be on their way; [`u32::MAX`]: any number.
    pub inflight_bound: u32,
}

/// The resequencer, for observers.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ResequencerView {
    /// Packets held back now.
    pub depth_packets: u32,
    /// Their bytes, without headers.
    pub depth_bytes: u64,
    /// The most packets ever held back at once.
    pub max_depth_packets: u32,
    /// How long a packet that arrived now on the fastest path would wait for a missing one.
    pub timeout: Duration,
    /// Packets delivered, held back before or not.
    pub delivered: u64,
    /// Packets that came after they had been given up.
    pub late: u64,
    /// Second and further copies.
    pub duplicates: u64,
    /// Missing packets that were given up.
    pub given_up: u64,
    /// The longest time a packet was held back.
    pub max_added_delay: Duration,
    /// The mean time that a delivered packet was held back.
    pub mean_added_delay: Duration,
}

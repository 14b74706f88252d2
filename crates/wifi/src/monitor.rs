//! Listening to the air: every frame, and who received it.

use crate::config::StationId;
use crate::frame::FrameKind;
use crate::phy::Rate;
use ropewalk_units::{Duration, Instant};

/// A frame that was on the air, as [`crate::Network::watch`] writes it down.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameRecord {
    /// When it began at its sender.
    pub begin: Instant,
    /// When it ended there.
    pub end: Instant,
    /// The sender.
    pub from: StationId,
    /// The channel.
    pub channel: u8,
    /// The receiver; none of a broadcast.
    pub to: Option<StationId>,
    /// What it is.
    pub kind: FrameKind,
    /// Its rate.
    pub rate: Rate,
    /// MPDU octets.
    pub octets: u32,
    /// The Duration field: for how long it reserves the medium after its end.
    pub reserved: Duration,
    /// Was a data frame sent before?
    pub is_retry: bool,
    /// The stations that decoded it, its receiver or not.
    pub decoded_by: Vec<StationId>,
}

/// A frame that a radio had locked on to and did not decode, because others were on the air
/// meanwhile. [`crate::Network::watch_collisions`] has it recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collision {
    /// When it was lost.
    pub at: Instant,
    /// The station that lost it.
    pub station: StationId,
    /// The channel.
    pub channel: u8,
    /// Whose frame it was.
    pub from: StationId,
    /// What it was.
    pub kind: FrameKind,
    /// Was it for this station?
    pub is_addressed: bool,
}

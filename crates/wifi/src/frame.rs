//! Frames on the air.

use crate::phy::{self, Rate};
use ropewalk_units::Duration;

/// The receiver address of a broadcast.
pub(crate) const BROADCAST: u32 = u32::MAX;

/// The longest packet a frame carries, in octets: an MSDU of 2304 (IEEE 802.11-2020 §9.2.4.7) less
/// the LLC and SNAP header.
pub const MAX_PACKET: u32 = 2_304 - phy::LLC_HEADER;

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data, to one station or to all.
    Data,
    /// Acknowledgement.
    Ack,
}

/// A frame as its receivers see it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    /// The radio it is for, or [`BROADCAST`].
    pub(crate) to: u32,
    pub(crate) rate: Rate,
    /// MPDU octets: header, payload and check sequence.
    pub(crate) octets: u32,
    /// The Duration field: how long the medium is reserved after the frame's end.
    pub(crate) reserved: Duration,
    /// Data only: the sequence number, and is it a repetition?
    pub(crate) sequence: u16,
    pub(crate) is_retry: bool,
}

impl Frame {
    pub(crate) fn control(kind: FrameKind, to: u32, rate: Rate, reserved: Duration) -> Self {
        let octets = match kind {
            FrameKind::Rts => phy::RTS,
            FrameKind::Cts => phy::CTS,
            FrameKind::Ack | FrameKind::Data => phy::ACK,
        };
        Self { kind, to, rate, octets, reserved, sequence: 0, is_retry: false }
    }
}

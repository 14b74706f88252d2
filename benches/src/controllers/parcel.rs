//! What goes over the line.

use ropewalk_sim::Packet;
use ropewalk_units::Instant;
use ropewalk_wire::Segment;

/// Octets of a segment's IP header.
const IP: u32 = 20;
/// Octets that the tunnel puts before an IP packet.
const TUNNEL: u32 = 40;
/// Octets of a full packet in the tunnel.
pub(crate) const FULL: u32 = 1_500;
/// Octets of a packet without congestion control.
pub(crate) const UDP: u32 = 1_250;

/// A flow of TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlowId {
    /// Within the tunnel.
    Inner,
    /// Beside it, by number.
    Cubic(usize),
}

/// A packet on the line.
#[derive(Clone, Debug)]
pub(crate) enum Parcel {
    /// A segment outside of the tunnel: all but the data of the inner flow.
    Segment(FlowId, Segment),
    /// A packet of the path.
    Datagram { number: u64, sent: Instant, bytes: u32, inner: Option<Segment> },
    /// A packet without congestion control.
    Udp,
    /// What came by the path, with its arrivals, and when the report left.
    Report { sent: Instant, arrived: Vec<(u64, Instant)> },
}

/// Octets of a segment with its IP header.
fn ip_len(segment: &Segment) -> u32 {
    segment.wire_len() + IP
}

/// Octets of a segment in the tunnel.
pub(crate) fn tunnelled(segment: &Segment) -> u32 {
    ip_len(segment) + TUNNEL
}

impl Packet for Parcel {
    fn wire_len(&self) -> u32 {
        match self {
            Self::Segment(_, segment) => ip_len(segment),
            Self::Datagram { bytes, .. } => *bytes,
            Self::Udp => UDP,
            Self::Report { .. } => IP + TUNNEL,
        }
    }

    fn is_data(&self) -> bool {
        !matches!(self, Self::Report { .. })
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

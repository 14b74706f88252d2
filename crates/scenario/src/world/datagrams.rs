//! A sender over UDP.

use super::packet::{Body, Datagram, Packet};
use super::transport::FourTuple;
use crate::application::{FrameSource, Paced, RecordedSource};
use ropewalk_units::Instant;
use ropewalk_wire::Payload;

/// What says when a datagram is due.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each flow, and most are paced")]
pub(crate) enum Due {
    /// One for each message.
    Paced(Paced),
    /// One for each packet of a frame.
    Frames(FrameSource),
    /// One for each that was recorded.
    Recorded(RecordedSource),
}

impl Due {
    /// Is one due? Each call that says so counts it as sent.
    fn count_if_due(&mut self, now: Instant) -> bool {
        match self {
            Self::Paced(paced) => paced.count_if_due(now),
            Self::Frames(frames) => frames.count_if_due(now),
            Self::Recorded(recorded) => recorded.count_if_due(now),
        }
    }

    /// When the next one is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Paced(paced) => paced.deadline(),
            Self::Frames(frames) => frames.deadline(),
            Self::Recorded(recorded) => recorded.deadline(),
        }
    }

    /// The octets of the last one, as a range of all.
    fn payload(&self) -> Payload {
        let len = match self {
            Self::Paced(paced) => paced.message(),
            Self::Frames(frames) => frames.packet(),
            Self::Recorded(recorded) => return recorded.payload(),
        };
        Payload { offset: (self.sent() - 1) * u64::from(len), len }
    }

    /// Sent so far.
    pub(crate) fn sent(&self) -> u64 {
        match self {
            Self::Paced(paced) => paced.sent(),
            Self::Frames(frames) => frames.sent(),
            Self::Recorded(recorded) => recorded.sent(),
        }
    }

    /// Has the last one been sent?
    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::Paced(paced) => paced.is_finished(),
            Self::Frames(frames) => frames.is_finished(),
            Self::Recorded(recorded) => recorded.is_finished(),
        }
    }
}

/// Sends one datagram whenever one is due.
#[derive(Debug)]
pub(crate) struct UdpSender {
    pub(crate) tuple: FourTuple,
    pub(crate) due: Due,
    /// Code point of its packets.
    pub(crate) dscp: u8,
}

impl UdpSender {
    /// The next datagram that is due.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if !self.due.count_if_due(now) {
            return None;
        }
        let number = self.due.sent() - 1;
        let payload = self.due.payload();
        let body = Body::Udp(Datagram { number, sent: now, payload });
        Some(Packet::new(self.tuple.local, self.tuple.remote, body).with_dscp(self.dscp))
    }
}

//! A paced sender over UDP.

use super::packet::{Body, Datagram, Packet};
use super::transport::FourTuple;
use crate::application::Paced;
use ropewalk_units::Instant;
use ropewalk_wire::Payload;

/// Sends one datagram per message.
#[derive(Debug)]
pub(crate) struct UdpSender {
    pub(crate) tuple: FourTuple,
    pub(crate) paced: Paced,
    /// Code point of its packets.
    pub(crate) dscp: u8,
}

impl UdpSender {
    /// The next datagram that is due.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if !self.paced.count_if_due(now) {
            return None;
        }
        let number = self.paced.sent() - 1;
        let len = self.paced.message();
        let payload = Payload { offset: number * u64::from(len), len };
        let body = Body::Udp(Datagram { number, sent: now, payload });
        Some(Packet::new(self.tuple.local, self.tuple.remote, body).with_dscp(self.dscp))
    }
}

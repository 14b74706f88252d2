//! One connection of the host, and its application's octets.

use crate::octets::{ReceiveStore, SendBuffer};
use crate::tuple::FourTuple;
use ropewalk_mptcp::{self as mptcp, SubflowId};
use ropewalk_tcp::{self as tcp, TooBig};
use ropewalk_units::{Dsn, Instant, Seq};
use ropewalk_wire::{Payload, Segment};
use std::collections::BTreeMap;

/// A sweep or a release looks at all that is held. It waits until so many octets could go, so that
/// its cost for each octet is small.
const WORTHWHILE: usize = 256 * 1024;

/// A connection.
#[derive(Debug)]
pub(crate) enum Transport {
    Tcp(Box<tcp::Connection>, FourTuple),
    Mptcp(Box<mptcp::Connection>, BTreeMap<SubflowId, FourTuple>),
}

/// A connection with its octets.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) transport: Transport,
    sent: SendBuffer,
    /// Octets that had been acknowledged when some were forgotten last.
    released: u64,
    received: ReceiveStore,
    /// Delivered by the connection, and not yet read by the application.
    ready: Vec<u8>,
    /// The application will not read any more.
    is_abandoned: bool,
    /// The timer that the host keeps for it.
    pub(crate) armed: Option<Instant>,
    /// It stands among those that may have something to send.
    pub(crate) is_active: bool,
}

impl Socket {
    pub(crate) fn new(transport: Transport) -> Self {
        let (sent, received) = (SendBuffer::default(), ReceiveStore::default());
        Self {
            transport,
            sent,
            released: 0,
            received,
            ready: Vec::new(),
            is_abandoned: false,
            armed: None,
            is_active: false,
        }
    }

    /// The data octet that the connection expects next: a DSN of 32 bits is one near it.
    pub(crate) fn near(&self) -> Dsn {
        match &self.transport {
            Transport::Tcp(..) => Dsn::new(0),
            Transport::Mptcp(connection, _) => connection.expected_dsn(),
        }
    }

    /// Keeps the octets of a segment that is about to be handled.
    pub(crate) fn keep(&mut self, segment: &mut Segment, octets: &[u8]) {
        segment.payload = Payload { offset: self.received.put(octets), len: octets.len() as u32 };
    }

    /// A segment whose octets are kept came for the connection.
    pub(crate) fn handle_segment(&mut self, now: Instant, subflow: Option<SubflowId>, segment: &Segment) {
        match (&mut self.transport, subflow) {
            (Transport::Tcp(connection, _), _) => connection.handle_segment(now, segment),
            (Transport::Mptcp(connection, _), Some(subflow)) => {
                connection.handle_segment_of(&self.received, now, subflow, segment);
            }
            (Transport::Mptcp(..), None) => {}
        }
    }

    /// A router says that a segment of ours was too long.
    pub(crate) fn packet_too_big(
        &mut self,
        now: Instant,
        subflow: Option<SubflowId>,
        seq: Seq,
        mss: u16,
    ) -> TooBig {
        match (&mut self.transport, subflow) {
            (Transport::Tcp(connection, _), _) => connection.packet_too_big(now, seq, mss),
            (Transport::Mptcp(connection, _), Some(subflow)) => {
                connection.packet_too_big(now, subflow, seq, mss)
            }
            (Transport::Mptcp(..), None) => TooBig::Ignored,
        }
    }

    /// Moves what the connection delivers to the application's side, and sweeps out what nobody
    /// holds.
    pub(crate) fn collect(&mut self, room: usize) {
        while self.ready.len() < room {
            let most = (room - self.ready.len()) as u64;
            let range = match &mut self.transport {
                Transport::Tcp(connection, _) => connection.read(most).map(|received| received.payload),
                Transport::Mptcp(connection, _) => connection.read(most),
            };
            let Some(range) = range else { break };
            self.received.copy(range, &mut self.ready);
        }
        let held = match &self.transport {
            Transport::Tcp(connection, _) => connection.held_octets(),
            Transport::Mptcp(connection, _) => connection.held_octets(),
        };
        if self.received.len() as u64 > 2 * held + WORTHWHILE as u64 {
            self.received.sweep(&self.held());
        }
    }

    /// Octets that it keeps of what the peer sent.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.received.len() + self.ready.len()
    }

    /// Octets that it keeps of what the application wrote.
    #[cfg(test)]
    pub(crate) fn unforgotten(&self) -> usize {
        self.sent.len()
    }

    fn held(&self) -> Vec<Payload> {
        let mut held = Vec::new();
        match &self.transport {
            Transport::Tcp(connection, _) => connection.visit_held(&mut |range| held.push(range)),
            Transport::Mptcp(connection, _) => connection.visit_held(&mut |range| held.push(range)),
        }
        held
    }

    /// Octets for the application.
    pub(crate) fn readable(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn read(&mut self, most: usize, out: &mut Vec<u8>) -> usize {
        let taken = most.min(self.ready.len());
        out.extend(self.ready.drain(..taken));
        taken
    }

    /// Takes as many octets as the send buffer has room for, and says how many.
    pub(crate) fn write(&mut self, octets: &[u8]) -> usize {
        let place = self.sent.end();
        let room = match &self.transport {
            Transport::Tcp(connection, _) => connection.send_space(),
            Transport::Mptcp(connection, _) => connection.send_space(),
        };
        let taken = room.min(octets.len() as u64) as usize;
        if taken > 0 {
            self.sent.write(&octets[..taken]);
            match &mut self.transport {
                Transport::Tcp(connection, _) => {
                    connection.push(Payload { offset: place, len: taken as u32 });
                }
                Transport::Mptcp(connection, _) => connection.push(taken as u64),
            }
        }
        taken
    }

    /// Forgets what both levels have acknowledged. Looking at all that is sent costs as much as
    /// there are segments, so this waits until [`WORTHWHILE`] more octets are acknowledged.
    pub(crate) fn release(&mut self) {
        let acknowledged = match &self.transport {
            Transport::Tcp(connection, _) => connection.stats().bytes_acked,
            Transport::Mptcp(connection, _) => connection.stats().bytes_acked,
        };
        if acknowledged < self.released + WORTHWHILE as u64 {
            return;
        }
        self.released = acknowledged;
        let mut oldest = self.sent.end();
        let mut keep = |range: Payload| oldest = oldest.min(range.offset);
        match &self.transport {
            Transport::Tcp(connection, _) => connection.visit_unacknowledged(&mut keep),
            Transport::Mptcp(connection, _) => connection.visit_unacknowledged(&mut keep),
        }
        self.sent.forget(oldest);
    }

    /// The octets of a segment that leaves.
    pub(crate) fn octets(&self, segment: &Segment, out: &mut Vec<u8>) {
        if segment.payload.len > 0 {
            self.sent.copy(segment.payload, out);
        }
    }

    /// No more will be written.
    pub(crate) fn finish(&mut self) {
        match &mut self.transport {
            Transport::Tcp(connection, _) => connection.finish(),
            Transport::Mptcp(connection, _) => connection.finish(),
        }
    }

    /// No more will be written or read.
    pub(crate) fn close(&mut self) {
        self.is_abandoned = true;
        if self.ready.is_empty() {
            self.finish();
        }
    }

    /// Is there data that nobody will read?
    pub(crate) fn abandons(&self) -> bool {
        self.is_abandoned && !self.ready.is_empty()
    }

    /// Ends at once; what was not read goes.
    pub(crate) fn abort(&mut self) {
        self.ready.clear();
        match &mut self.transport {
            Transport::Tcp(connection, _) => connection.abort(),
            Transport::Mptcp(connection, _) => connection.abort(),
        }
    }

    /// Has the peer finished, and has the application read everything?
    pub(crate) fn peer_finished(&self) -> bool {
        self.ready.is_empty()
            && match &self.transport {
                Transport::Tcp(connection, _) => connection.peer_finished(),
                Transport::Mptcp(connection, _) => connection.peer_finished(),
            }
    }

    /// The earliest time at which something happens without a packet.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.transport {
            Transport::Tcp(connection, _) => connection.poll_timeout().map(|(at, _)| at),
            Transport::Mptcp(connection, _) => connection.poll_timeout().map(|(at, _)| at),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match &mut self.transport {
            Transport::Tcp(connection, _) => connection.handle_timeout(now),
            Transport::Mptcp(connection, _) => connection.handle_timeout(now),
        }
    }

    /// The next segment and where it goes.
    pub(crate) fn transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<FourTuple> {
        match &mut self.transport {
            Transport::Tcp(connection, tuple) => connection.transmit(now, segment).then_some(*tuple),
            Transport::Mptcp(connection, tuples) => {
                let subflow = connection.transmit_of(&self.sent, now, segment)?;
                tuples.get(&subflow).copied()
            }
        }
    }
}

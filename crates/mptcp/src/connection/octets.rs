//! Where the connection stands in its streams, and which octets it still holds: for observers, and for a host that keeps
//! real ones beside it.

use super::Connection;
use ropewalk_tcp::State;
use ropewalk_units::Dsn;
use ropewalk_wire::Payload;

/// Where a connection stands in its two streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The first octet that is not DATA_ACKed.
    pub unacknowledged: Dsn,
    /// Behind the last octet that was written.
    pub written: Dsn,
    /// The octet that is expected next.
    pub expected: Dsn,
    /// Octets that have been sent, each once.
    pub sent: u64,
}

impl Connection {
    /// Where it stands.
    pub fn position(&self) -> Position {
        let queue = &self.sending.queue;
        Position {
            unacknowledged: queue.dsn(queue.una()),
            written: queue.dsn(queue.written()),
            expected: self.expected_dsn(),
            sent: queue.next(),
        }
    }

    /// The DSN that is expected next: one of 32 bits in a packet is the nearest to it (RFC 8684 §3.3.1).
    pub fn expected_dsn(&self) -> Dsn {
        self.receiving.expected()
    }

    /// Octets that arrived and were not read, on all levels.
    pub fn held_octets(&self) -> u64 {
        let subflows =
            self.subflows.iter().map(|subflow| subflow.tcp.held_octets() + subflow.unverified_octets());
        self.receiving.reassembly.readable() + self.receiving.reassembly.waiting() + subflows.sum::<u64>()
    }

    /// Names each range that arrived and was not read, in no particular order.
    pub fn visit_held(&self, visit: &mut impl FnMut(Payload)) {
        self.receiving.reassembly.visit(visit);
        for subflow in self.subflows.iter() {
            subflow.tcp.visit_held(visit);
            subflow.unverified.parts.iter().for_each(|part| visit(*part));
        }
    }

    /// Names each range of which something is not acknowledged: by DATA_ACK, or by the subflows that carry it.
    pub fn visit_unacknowledged(&self, visit: &mut impl FnMut(Payload)) {
        let (mut offset, end) = (self.sending.queue.una(), self.sending.queue.written());
        while offset < end {
            let len = (end - offset).min(u64::from(u32::MAX)) as u32;
            visit(Payload { offset, len });
            offset += u64::from(len);
        }
        for subflow in self.subflows.iter().filter(|subflow| subflow.tcp.state() != State::Closed) {
            subflow.tcp.visit_unacknowledged(visit);
        }
    }
}

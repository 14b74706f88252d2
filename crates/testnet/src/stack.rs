//! What a host runs.

use crate::application::Application;
use ropewalk_adversary::{Knowledge, Opening, Victim};
use ropewalk_mptcp::Path;
use ropewalk_tcp::State;
use ropewalk_units::Instant;
use ropewalk_wire::{Flags, Key, Segment};

/// One host's protocol with its application.
pub trait Stack {
    /// The application.
    fn application(&self) -> &Application;
    /// The application, to change it.
    fn application_mut(&mut self) -> &mut Application;
    /// Takes a segment that came by `path`. Returns the host's answer if no connection takes it.
    fn handle_segment(&mut self, now: Instant, path: Path, segment: &Segment) -> Option<Segment>;
    /// A timer may have expired.
    fn handle_timeout(&mut self, now: Instant);
    /// When something is to be done next: a timer, or a read.
    fn deadline(&self) -> Instant;
    /// Handles events, reads and writes.
    fn settle(&mut self, now: Instant);
    /// The next segment to leave.
    fn poll_transmit(&mut self, now: Instant) -> Option<(Path, Segment)>;
    /// An honest segment is on its way to this host, for an attacker to see.
    fn observe(&mut self, path: Path, segment: &Segment);
    /// The keys that an attacker has seen on the way to this host: its peer's, and its own.
    fn keys(&self) -> (Option<Key>, Option<Key>) {
        (None, None)
    }
    /// The attacker knows these keys too: the peer's, and this host's own.
    fn learn(&mut self, _keys: (Option<Key>, Option<Key>)) {}
    /// Everything was read, and the connection is closed in an orderly way.
    fn is_done(&self) -> bool;
    /// Would this host notice altered data?
    fn is_checked(&self) -> bool {
        true
    }
    /// The 4-tuples that there are, from this host's side.
    fn sockets(&self) -> Vec<Path>;
    /// What an attacker knows of the socket with this number.
    fn knowledge(&self, socket: usize) -> Knowledge;
    /// What the oracle must know of it; `peer` is the other host.
    fn victim(&self, socket: usize, peer: &Self) -> Victim;
    /// How far the connection is.
    fn phase(&self) -> Phase;
    /// How many segments it has sent.
    fn sent(&self) -> u64;
}

/// How far a host's connection is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Not open yet.
    Opening,
    /// Open.
    Open,
    /// The peer has finished.
    Closing,
}

/// How far the opening of a connection in this state has come.
pub(crate) const fn opening(state: State) -> Opening {
    match state {
        State::Closed => Opening::Closed,
        State::SynSent => Opening::SynSent,
        State::SynReceived => Opening::SynReceived,
        _ => Opening::Synchronized,
    }
}

/// Is it a SYN that opens a connection?
pub(crate) fn opens(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST)
}

/// RFC 9293 §3.10.7.1: the answer to a segment that nobody takes.
pub(crate) fn refuse(segment: &Segment) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    Some(if segment.flags.contains(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        Segment { ack: segment.end(), flags: Flags::RST | Flags::ACK, ..Segment::default() }
    })
}

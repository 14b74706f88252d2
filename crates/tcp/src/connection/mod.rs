//! One TCP connection: joins handshake, sender, receiver and timers.

mod close;
mod expected;
mod octets;
mod open;
mod receive;
#[cfg(test)]
mod tests;
mod timeout;
mod transmit;
mod views;

pub use receive::Acceptance;

use crate::context::Context;
use crate::event::Event;
use crate::handshake::Handshake;
use crate::outbox::Outbox;
use crate::receive::Received;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::state::State;
use ropewalk_congestion::Coupling;
use ropewalk_units::Instant;
use ropewalk_wire::Payload;

/// A sans-IO TCP connection, which is also one subflow of Multipath TCP.
///
/// It owns no clock and no socket. Drive it so: `handle_segment` or `handle_timeout`, then `poll_event` until
/// `None`, `read` and `push`, then [`poll_transmit`](Self::poll_transmit) until `None`, and last
/// [`poll_timeout`](Self::poll_timeout) once.
#[derive(Clone, Debug)]
// In this order in memory: what every segment needs, what a sender needs, what a receiver needs, and the rest. A
// thousand connections do not fit the cache as a whole.
#[repr(C)]
pub struct Connection {
    cx: Context,
    sender: Sender,
    receiver: Receiver,
    handshake: Handshake,
    /// When 2 MSL are over, in TIME-WAIT; [`Instant::MAX`] otherwise.
    time_wait: Instant,
}

impl Connection {
    /// Free octets of the send buffer.
    pub fn send_space(&self) -> u64 {
        self.sender.send_space(&self.cx)
    }

    /// Appends a range of the stream; the caller respects [`Self::send_space`]. A segment never spans two
    /// ranges whose offsets are not contiguous. Ignored after [`Self::finish`] and on a connection that is
    /// over.
    #[inline]
    pub fn push(&mut self, payload: Payload) {
        if self.cx.state != State::Closed {
            self.sender.push(&self.cx, payload);
        }
    }

    /// Octets pushed and never transmitted.
    pub fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    /// Octets that may be read, in order.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Reads at most `max` octets of one contiguous piece, in order.
    pub fn read(&mut self, max: u64) -> Option<Received> {
        let received = self.receiver.read(max, self.handshake.irs());
        // To the application of Multipath TCP this was not read yet.
        if self.cx.owns_window() && self.receiver.readable() == 0 {
            self.on_all_read();
        }
        received
    }

    /// The owner's buffer is tuned, and holds so many octets now. What this subflow offers of it follows, by two segments for each that
    /// arrives, and each such segment is acknowledged at once, as in Linux (`tcp_grow_window`).
    pub fn follow_buffer(&mut self, octets: u32) {
        self.receiver.follow_buffer(octets);
    }

    /// The application has read everything: an ACK that waited for that is due (see [`crate::DelayedAck::after_reading`]). Says
    /// whether there was one.
    #[inline]
    pub fn on_all_read(&mut self) -> bool {
        let waited = self.receiver.waits_for_reader();
        if waited {
            self.receiver.ack_at_once();
        }
        waited
    }

    /// Has the peer's FIN arrived, and is everything before it read?
    pub fn peer_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.cx.next_event()
    }

    /// Has [`Self::poll_event`] anything to tell?
    pub fn has_events(&self) -> bool {
        self.cx.has_events()
    }

    /// A pure ACK leaves at the next [`Self::poll_transmit`], for the owner to put options on. Nothing before
    /// the handshake is complete.
    pub fn request_ack(&mut self) {
        if self.cx.state.is_synchronized() {
            self.receiver.ack_alone();
        }
    }

    /// A duplicate ACK that another subflow got counts here ([`crate::Quirks::duplicates_blame`]).
    #[cold]
    pub fn blame(&mut self, now: Instant) {
        self.cx.now = now;
        self.sender.blame(&mut self.cx);
    }

    /// An old sequence number without data leaves at the next [`Self::poll_transmit`]: the peer answers with an ACK,
    /// which tells the owner's window (RFC 9293 §3.8.6.1). Nothing before the handshake is complete.
    pub fn probe(&mut self) {
        if self.cx.state.is_synchronized() {
            self.cx.outbox.put(Outbox::WINDOW_PROBE);
        }
    }

    /// What the coupled congestion control lays down, with [`crate::CongestionControl::Coupled`]; to be renewed
    /// before each ACK and timeout.
    pub fn set_coupling(&mut self, coupling: Coupling) {
        self.sender.set_coupling(coupling);
    }

    /// Multipath TCP's penalization: halves cwnd, and ssthresh too outside slow start.
    pub fn penalize(&mut self) {
        self.sender.penalize();
        self.sender.trace_window(&mut self.cx);
    }

    /// Sets cwnd and ssthresh, in octets, at least one segment each; for an algorithm that runs outside (wVegas).
    pub fn set_cwnd(&mut self, cwnd: u32, ssthresh: u32) {
        self.sender.set_cwnd(cwnd, ssthresh);
        self.sender.trace_window(&mut self.cx);
    }
}

impl Connection {
    /// What must hold at any time; for tests.
    ///
    /// # Panics
    /// When it does not hold.
    #[doc(hidden)]
    pub fn audit(&self) {
        self.sender.audit(&self.cx);
        // In SYN-RECEIVED an ACK may leave: a challenge, or one that says which segment was expected (RFC 9293 §3.10.7.4, RFC 5961
        // §3.2).
        let may_acknowledge = !matches!(self.cx.state, State::Closed | State::SynSent);
        assert!(may_acknowledge || !self.receiver.owes_ack(), "an ACK where there is no connection");
    }
}

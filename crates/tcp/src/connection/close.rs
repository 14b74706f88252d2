//! Closing: FIN, RST, and the end (RFC 9293 §3.6, §3.10.4, §3.10.5).

use super::Connection;
use crate::event::Event;
use crate::outbox::Outbox;
use crate::state::{CloseReason, State};
use ropewalk_units::Instant;

impl Connection {
    /// No more data will be pushed: a FIN follows the last octet. The peer may go on sending.
    pub fn finish(&mut self) {
        if !self.sender.finish() {
            return;
        }
        self.cx.state = match self.cx.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Ends the connection at once: a RST leaves at the next [`Self::poll_transmit`] if the peer knows of us and does not
    /// close already (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        if self.cx.state.is_reset_by_abort() {
            self.cx.outbox.put_reset(self.sender.nxt(), Some(self.receiver.next()));
        }
        if self.cx.state != State::Closed {
            self.close(CloseReason::Aborted);
        }
    }

    /// The connection is over.
    pub(super) fn close(&mut self, reason: CloseReason) {
        let reported = self.cx.state == State::TimeWait;
        self.cx.state = State::Closed;
        self.sender.stop();
        self.time_wait = Instant::MAX;
        self.cx.outbox.cancel(Outbox::SYN | Outbox::WINDOW_PROBE | Outbox::TAIL_PROBE);
        self.receiver.stop();
        if !reported {
            self.cx.event(Event::Closed(reason));
        }
    }

    /// Our FIN is acknowledged.
    pub(super) fn fin_acknowledged(&mut self) {
        self.cx.event(Event::FinAcknowledged);
        match self.cx.state {
            State::FinWait1 => self.cx.state = State::FinWait2,
            State::Closing => self.enter_time_wait(),
            State::LastAck => self.close(CloseReason::Finished),
            _ => {}
        }
    }

    /// The peer's FIN is in order.
    pub(super) fn on_peer_fin(&mut self) {
        self.cx.event(Event::PeerFinished);
        match self.cx.state {
            State::SynReceived | State::Established => self.cx.state = State::CloseWait,
            State::FinWait1 => self.cx.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(),
            _ => {}
        }
    }

    /// RFC 9293 §3.10.7.4: waits for 2 MSL.
    pub(super) fn enter_time_wait(&mut self) {
        if self.cx.state != State::TimeWait {
            self.cx.event(Event::Closed(CloseReason::Finished));
        }
        self.cx.state = State::TimeWait;
        self.time_wait = self.cx.now.saturating_add(self.cx.config.time_wait);
    }
}

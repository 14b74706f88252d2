//! Closing: FIN, RST, and the end (RFC 9293 §3.6, §3.10.4, §3.10.5).

use super::{Connection, Fin, Outbox};
use crate::event::Event;
use crate::state::{CloseReason, State, TimerKind};
use crate::timers::Timers;
use ropewalk_units::Instant;

impl Connection {
    /// No more data will be pushed: a FIN follows the last octet. The peer may go on sending.
    pub fn finish(&mut self) {
        if self.fin != Fin::None {
            return;
        }
        self.fin = Fin::Wanted;
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Ends the connection at once: a RST leaves at the next [`Self::poll_transmit`] if the peer knows of us.
    pub fn abort(&mut self) {
        let told = !matches!(self.state, State::Closed | State::SynSent | State::TimeWait);
        if told {
            self.outbox.put_reset(self.nxt, Some(self.window.next()));
        }
        if self.state != State::Closed {
            self.close(CloseReason::Aborted);
        }
    }

    /// The connection is over.
    pub(super) fn close(&mut self, reason: CloseReason) {
        let waiting = self.state == State::TimeWait;
        self.state = State::Closed;
        self.timers = Timers::default();
        self.outbox.cancel(Outbox::SYN | Outbox::WINDOW_PROBE | Outbox::TAIL_PROBE);
        self.acks.sent();
        // TIME-WAIT has told already.
        if !waiting {
            self.event(Event::Closed(reason));
        }
    }

    /// Our FIN is acknowledged.
    pub(super) fn fin_acknowledged(&mut self) {
        self.event(Event::FinAcknowledged);
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(),
            State::LastAck => self.close(CloseReason::Finished),
            _ => {}
        }
    }

    /// The peer's FIN is in order.
    pub(super) fn take_peer_fin(&mut self) {
        self.peer_fin_taken = true;
        self.acks.at_once();
        self.event(Event::PeerFinished);
        match self.state {
            State::SynReceived | State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(),
            _ => {}
        }
    }

    /// RFC 9293 §3.10.7.4: waits for 2 MSL.
    pub(super) fn enter_time_wait(&mut self) {
        if self.state != State::TimeWait {
            self.event(Event::Closed(CloseReason::Finished));
        }
        self.state = State::TimeWait;
        self.timers.stop_sending();
        self.timers.slow = self.now.saturating_add(self.config.time_wait);
        self.timers.slow_kind = TimerKind::TimeWait;
    }

    /// 2 MSL are over.
    pub(super) fn time_wait_over(&mut self) {
        self.timers.slow = Instant::MAX;
        self.close(CloseReason::Finished);
    }
}

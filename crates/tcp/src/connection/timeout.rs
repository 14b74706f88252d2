//! Timers: retransmission, probes, reordering, delayed ACKs, TIME-WAIT.

use super::Connection;
use crate::outbox::Outbox;
use crate::state::{CloseReason, TimerKind};
use ropewalk_units::Instant;
use std::ops::ControlFlow::{self, Break, Continue};

impl Connection {
    /// Handles every deadline that has come; early calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.cx.now = now;
        self.sender.on_time(&self.cx);
        self.receiver.handle_timeout(now);
        if let Break(reason) = self.expire(now) {
            self.close(reason);
        }
        self.sender.feed_model(&self.cx);
    }

    /// The timers that change more than when something leaves. Breaks off if the connection is over.
    fn expire(&mut self, now: Instant) -> ControlFlow<CloseReason> {
        self.sender.expire_early(&mut self.cx);
        if self.time_wait <= now {
            return Break(CloseReason::Finished);
        }
        self.sender.expire_persist(&mut self.cx)?;
        if self.cx.state.is_synchronized() {
            return self.sender.expire_retransmission(&mut self.cx);
        }
        self.expire_syn()
    }

    /// RFC 6298 §5.4 to §5.7 for a SYN.
    fn expire_syn(&mut self) -> ControlFlow<CloseReason> {
        if !self.sender.expire_syn(&self.cx)? {
            return Continue(());
        }
        self.handshake.on_timeout();
        self.cx.outbox.put(Outbox::SYN);
        Continue(())
    }

    /// When to call [`Self::handle_timeout`], and what will happen then.
    pub fn poll_timeout(&self) -> Option<(Instant, TimerKind)> {
        let mut next = self.sender.timers().next();
        if self.time_wait < next.0 {
            next = (self.time_wait, TimerKind::TimeWait);
        }
        if self.receiver.deadline() < next.0 {
            next = (self.receiver.deadline(), TimerKind::DelayedAck);
        }
        (next.0 != Instant::MAX).then_some(next)
    }

    /// When to call [`Self::handle_timeout`]; [`Instant::MAX`] if no timer runs. The time of [`Self::poll_timeout`], for
    /// owners of many connections.
    pub fn deadline(&self) -> Instant {
        self.sender.timers().first().min(self.receiver.deadline()).min(self.time_wait)
    }
}

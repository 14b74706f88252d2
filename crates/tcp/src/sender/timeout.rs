//! Timers about what was sent: retransmission, RACK's reordering window, persist.

use super::Sender;
use crate::config::LossRecovery;
use crate::context::Context;
use crate::event::Event;
use crate::outbox::Outbox;
use crate::recovery::Phase;
use crate::recovery::spurious::Cause;
use crate::send::queue::Marks;
use crate::state::{CloseReason, TimerKind};
use ropewalk_congestion::Timeout;
use std::ops::ControlFlow::{self, Break, Continue};

impl Sender {
    /// Time has passed: the next burst may leave.
    pub(crate) fn on_time(&mut self, cx: &Context) {
        self.deferred = false;
        self.check_app_limited(cx);
        self.timers.expire_pacing(cx.now);
    }

    /// The timers that come before the retransmission timer: the tail loss probe, or RACK's.
    pub(crate) fn expire_early(&mut self, cx: &mut Context) {
        match self.timers.expire_early(cx.now) {
            None => {}
            Some(TimerKind::TailLossProbe) => self.tail_loss_probe(cx),
            Some(_) => self.reordering_timeout(cx),
        }
    }

    /// RFC 9293 §3.8.6.1. Breaks off if the peer does not answer any more.
    pub(crate) fn expire_persist(&mut self, cx: &mut Context) -> ControlFlow<CloseReason> {
        if self.timers.expire_persist(cx.now) { self.persist_timeout(cx) } else { Continue(()) }
    }

    /// RFC 6298 §5.4 to §5.7. Breaks off if the peer does not answer any more.
    pub(crate) fn expire_retransmission(&mut self, cx: &mut Context) -> ControlFlow<CloseReason> {
        if self.timers.expire_retransmission(cx.now) { self.retransmission_timeout(cx) } else { Continue(()) }
    }

    /// … for a SYN, which is sent again if this is true.
    pub(crate) fn expire_syn(&mut self, cx: &Context) -> ControlFlow<CloseReason, bool> {
        if !self.timers.expire_retransmission(cx.now) {
            return Continue(false);
        }
        if self.timeouts.on_syn_timeout() > cx.config.max_syn_retransmissions {
            return Break(CloseReason::TimedOut);
        }
        self.rtt.back_off();
        Continue(true)
    }

    fn retransmission_timeout(&mut self, cx: &mut Context) -> ControlFlow<CloseReason> {
        if self.queue.is_empty() {
            return Continue(());
        }
        if self.timeouts.on_timeout(self.peer.size() == 0) > cx.config.max_retransmissions {
            return Break(CloseReason::TimedOut);
        }
        cx.stats.timeouts += 1;
        self.believe_after_timeout(cx);
        if !self.keeps_window(cx) {
            self.rtt.back_off();
        }
        self.timers.restart_retransmission(cx.now, self.rtt.rto());
        self.timers.stop_early();
        self.recovery.tail_probe = None;
        self.begin_again(cx, Cause::Timeout);
        let (consecutive, rto) = (self.timeouts.consecutive(), self.rtt.rto());
        cx.event(Event::TimeoutFired { consecutive, rto });
        self.trace_window(cx);
        Continue(())
    }

    /// RFC 5681 §3.1: everything unacknowledged may be lost; begin again with one segment. So after a timeout, and after a
    /// fast retransmit where there is no fast recovery.
    pub(super) fn begin_again(&mut self, cx: &Context, cause: Cause) {
        let in_series = self.timeouts.consecutive() > 1;
        // Linux does not reduce twice for one window; RFC 5681 §3.1 only looks at further timeouts of a segment.
        let in_recovery = self.recovery.phase == Phase::Fast && !self.is_at_recovery_point(cx);
        let reduced = cx.config.ssthresh_from_cwnd && in_recovery;
        let flight = self.flight().saturating_sub(self.by_limited_transmit());
        self.begin_detection(cx, cause);
        if cause == Cause::Timeout {
            self.begin_frto(cx);
        }
        self.mark_losses_of_timeout(cx);
        let flight = if self.controller.models_path() { self.pipe() } else { flight };
        let timeout = if in_series || reduced { Timeout::Repeated } else { Timeout::First };
        if !self.keeps_window(cx) {
            self.controller.on_timeout(flight, timeout);
        }
        self.recovery.enter_timeout(self.sent_mark());
        self.ecn.recover = self.sent_mark();
        self.ecn.reduced = cx.agreed.ecn;
    }

    fn mark_losses_of_timeout(&mut self, cx: &Context) {
        // RFC 2018 §8: a peer that SACKed the first segment and does not acknowledge it has dropped it.
        if self.queue.front().is_some_and(|front| front.marks.has(Marks::SACKED)) {
            self.queue.forget_sacks();
        }
        if self.recovery.method != LossRecovery::Rack {
            return self.queue.mark_all_lost();
        }
        // RFC 8985 §6.3: the first segment, and those that RACK has waited for long enough.
        let wait = self.recovery.rack.wait(&self.queue, &self.circumstances(cx));
        for index in 0..self.queue.len() {
            let overdue = self.queue.get(index).is_some_and(|sent| sent.sent_at + wait <= cx.now);
            if index == 0 || overdue {
                self.queue.mark_lost(index);
            }
        }
    }

    /// RFC 8985 §6.3: the reordering window is over.
    fn reordering_timeout(&mut self, cx: &mut Context) {
        let undelivered = self.flight().saturating_sub(self.queue.sacked());
        if self.run_rack(cx) && self.recovery.phase == Phase::Open {
            self.enter_fast_recovery(cx, 0, undelivered);
            self.trace_window(cx);
        }
    }

    /// RFC 9293 §3.8.6.1: probe a closed window, ever more rarely.
    fn persist_timeout(&mut self, cx: &mut Context) -> ControlFlow<CloseReason> {
        if !cx.state.may_transmit() {
            return Continue(());
        }
        self.timeouts.on_persist();
        // A window that is only too small is used now (RFC 9293 §3.8.6.2.1, the override timeout).
        if self.peer.size() == 0 {
            if self.timeouts.on_probe() > cx.config.max_retransmissions {
                return Break(CloseReason::TimedOut);
            }
            cx.outbox.put(Outbox::WINDOW_PROBE);
        }
        self.start_persist(cx);
        Continue(())
    }

    /// (Re)starts the persist timer with its back-off.
    pub(super) fn start_persist(&mut self, cx: &Context) {
        let backed_off = self.rtt.rto().saturating_mul(1 << self.timeouts.persist_backoff().min(32));
        self.timers.restart_persist(cx.now, backed_off.min(cx.config.rto_max));
    }
}

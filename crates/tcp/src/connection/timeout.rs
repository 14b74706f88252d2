//! Timers: retransmission, probes, reordering, delayed ACKs, TIME-WAIT.

use super::recovery::Phase;
use super::{Connection, LossRecovery, Outbox};
use crate::event::Event;
use crate::rack::Probe;
use crate::state::{CloseReason, TimerKind};
use ropewalk_units::{Duration, Instant};

/// RFC 8985 §7.2 WCDelAckT: what a receiver may wait with the ACK of a single segment (Linux: its least RTO).
const WORST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// Linux adds two clock ticks to a probe's timeout.
const PROBE_SLACK: Duration = Duration::from_millis(2);
/// PTO without a round-trip time (RFC 8985 §7.2).
const PROBE_INITIAL: Duration = Duration::from_secs(1);

impl Connection {
    /// Handles every deadline that has come; early calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.check_app_limited();
        if self.timers.pacing <= now {
            self.timers.pacing = Instant::MAX;
        }
        if self.acks.deadline() <= now {
            self.acks.expired();
        }
        if self.timers.early <= now {
            self.timers.early = Instant::MAX;
            match self.timers.early_kind {
                TimerKind::TailLossProbe => self.tail_loss_probe(),
                _ => self.reordering_timeout(),
            }
        }
        if self.timers.slow <= now {
            self.timers.slow = Instant::MAX;
            match self.timers.slow_kind {
                TimerKind::TimeWait => self.time_wait_over(),
                _ => self.persist_timeout(),
            }
        }
        if self.timers.retransmission <= now {
            self.timers.retransmission = Instant::MAX;
            if self.state.is_synchronized() { self.retransmission_timeout() } else { self.syn_timeout() }
        }
        self.tell_model();
    }

    /// When to call [`Self::handle_timeout`], and what will happen then.
    #[inline]
    pub fn poll_timeout(&self) -> Option<(Instant, TimerKind)> {
        self.timers.next(self.acks.deadline())
    }

    /// When to call [`Self::handle_timeout`]; [`Instant::MAX`] if no timer runs. The time of [`Self::poll_timeout`], for
    /// owners of many connections.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.timers.first().min(self.acks.deadline())
    }

    /// RFC 6298 §5.4 to §5.7 for a SYN.
    fn syn_timeout(&mut self) {
        self.consecutive_timeouts += 1;
        if self.consecutive_timeouts > self.config.max_syn_retransmissions {
            return self.close(CloseReason::TimedOut);
        }
        self.syn_retransmissions += 1;
        self.rtt.back_off();
        self.outbox.put(Outbox::SYN);
    }

    /// RFC 6298 §5.4 to §5.7.
    fn retransmission_timeout(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        if self.is_hopeless() {
            return self.close(CloseReason::TimedOut);
        }
        self.stats.timeouts += 1;
        self.rtt.back_off();
        self.timers.retransmission = self.now.saturating_add(self.rtt.rto());
        self.timers.early = Instant::MAX;
        self.probe = None;
        self.begin_again(true);
        let (consecutive, rto) = (self.consecutive_timeouts, self.rtt.rto());
        self.event(Event::TimeoutFired { consecutive, rto });
        self.trace_window();
    }

    /// Counts another retransmission without progress. RFC 9293 §3.8.6.1: a peer that has closed its window over data on
    /// its way, and answers, is not dead: what is sent again is a probe then.
    fn is_hopeless(&mut self) -> bool {
        self.consecutive_timeouts += 1;
        if self.consecutive_timeouts == 1 {
            self.timeouts_excused = 0;
        }
        let in_vain = if self.peer.window == 0 {
            self.timeouts_excused = self.consecutive_timeouts;
            self.probes_unanswered += 1;
            self.probes_unanswered
        } else {
            self.consecutive_timeouts - self.timeouts_excused
        };
        in_vain > self.config.max_retransmissions
    }

    /// RFC 5681 §3.1: everything unacknowledged may be lost; begin again with one segment (but see
    /// [`crate::Config::timeout_halves_window`]). So after a timeout, and after
    /// a fast retransmit where there is no fast recovery.
    pub(super) fn begin_again(&mut self, by_timeout: bool) {
        let in_series = self.consecutive_timeouts > 1;
        // Linux does not reduce twice for one window; RFC 5681 §3.1 only looks at further timeouts of a segment.
        let reduced = self.config.ssthresh_from_cwnd && self.recovery.phase == Phase::Fast;
        let flight = self.flight().saturating_sub(self.recovery.limited);
        self.begin_detection(by_timeout);
        if by_timeout {
            self.begin_frto();
        }
        self.mark_losses_of_timeout();
        let half = self.controller.cwnd() / 2;
        let flight = if self.controller.models_path() { self.pipe() } else { flight };
        self.controller.on_timeout(flight, !in_series && !reduced);
        if by_timeout && self.config.timeout_halves_window {
            self.controller.set_cwnd(half.max(self.controller.cwnd()));
        }
        self.prr = None;
        self.recovery.close();
        self.recovery.phase = Phase::Timeout;
        self.recovery.recover = self.sent_mark();
        self.recovery.fast_retransmit = true;
        self.ecn.recover = self.sent_mark();
        self.ecn.reduced = self.peer.ecn;
    }

    fn mark_losses_of_timeout(&mut self) {
        // RFC 2018 §8: a peer that SACKed the first segment and does not acknowledge it has dropped it.
        if self.queue.front().is_some_and(|front| front.marks.has(crate::send::queue::Marks::SACKED)) {
            self.queue.forget_sacks();
        }
        if self.loss_recovery != LossRecovery::Rack {
            return self.queue.mark_all_lost();
        }
        // RFC 8985 §6.3: the first segment, and those that RACK has waited for long enough.
        let wait = self.rack.wait(&self.queue, &self.circumstances());
        for index in 0..self.queue.len() {
            let overdue = self.queue.get(index).is_some_and(|sent| sent.sent_at + wait <= self.now);
            if index == 0 || overdue {
                self.queue.mark_lost(index);
            }
        }
    }

    /// RFC 8985 §6.3: the reordering window is over.
    fn reordering_timeout(&mut self) {
        let undelivered = self.flight().saturating_sub(self.queue.sacked());
        if self.run_rack() && self.recovery.phase == Phase::Open {
            self.enter_fast_recovery(0, undelivered);
            self.trace_window();
        }
    }

    /// RFC 9293 §3.8.6.1: probe a closed window, ever more rarely.
    fn persist_timeout(&mut self) {
        if !self.state.may_transmit() {
            return;
        }
        self.persist_backoff += 1;
        // A window that is only too small is used now (RFC 9293 §3.8.6.2.1, the override timeout).
        if self.peer.window == 0 {
            self.probes_unanswered += 1;
            if self.probes_unanswered > self.config.max_retransmissions {
                return self.close(CloseReason::TimedOut);
            }
            self.outbox.put(Outbox::WINDOW_PROBE);
        }
        self.start_persist();
    }

    /// (Re)starts the persist timer with its back-off.
    pub(super) fn start_persist(&mut self) {
        let backed_off = self.rtt.rto().saturating_mul(1 << self.persist_backoff.min(32));
        self.timers.slow = self.now.saturating_add(backed_off.min(self.config.rto_max));
        self.timers.slow_kind = TimerKind::Persist;
    }

    /// RFC 8985 §7.2: schedules a probe for the tail, if loss detection could do without a timeout.
    #[inline]
    pub(super) fn schedule_probe(&mut self) {
        if !self.config.tail_loss_probe || self.loss_recovery == LossRecovery::NewReno {
            return;
        }
        if self.recovery.phase != Phase::Open || self.queue.sacked() > 0 || self.probe.is_some() {
            if self.timers.early_kind == TimerKind::TailLossProbe {
                self.timers.early = Instant::MAX;
            }
            return;
        }
        if self.queue.is_empty() {
            return;
        }
        let mut timeout = self.rtt.srtt().map_or(PROBE_INITIAL, |srtt| srtt * 2);
        timeout += if self.queue.len() == 1 { WORST_DELAYED_ACK } else { PROBE_SLACK };
        // RFC 8985 §7.2: never later than the RTO.
        self.timers.early = self.now.saturating_add(timeout).min(self.timers.retransmission);
        self.timers.early_kind = TimerKind::TailLossProbe;
    }

    /// RFC 8985 §7.3: send new data, or the last segment again.
    fn tail_loss_probe(&mut self) {
        if self.queue.is_empty() || self.probe.is_some() || self.recovery.phase != Phase::Open {
            return;
        }
        self.outbox.put(Outbox::TAIL_PROBE);
        self.timers.retransmission = self.now.saturating_add(self.rtt.rto());
    }

    /// The probe left.
    pub(super) fn probe_sent(&mut self, retransmission: bool) {
        self.probe = Some(Probe { end: self.sent_mark(), retransmission });
        self.stats.tail_loss_probes += 1;
        self.timers.retransmission = self.now.saturating_add(self.rtt.rto());
        if self.timers.early_kind == TimerKind::TailLossProbe {
            self.timers.early = Instant::MAX;
        }
        self.event(Event::TailLossProbeSent);
    }

    /// RFC 8985 §7.4.2: did the probe repair a loss that nothing else showed?
    pub(super) fn judge_probe(&mut self, ack: &super::ack::Ack) {
        let Some(probe) = self.probe else { return };
        let una = self.queue.una();
        if una < probe.end {
            return;
        }
        // The DSACK of the probe itself: both it and the original arrived.
        let reported = ack.dsack.is_some_and(|dsack| dsack.right == probe.end);
        if !probe.retransmission || reported {
            self.probe = None;
        } else if una > probe.end {
            // An ACK above the probe without a DSACK: the original was lost, one reduction is due.
            self.probe = None;
            if self.recovery.phase == Phase::Open {
                self.controller.on_repaired_loss(self.flight());
            }
        } else if !ack.advanced && ack.delivery.sacked == 0 {
            // Both arrived: the duplicate made this duplicate ACK.
            self.probe = None;
        }
    }
}

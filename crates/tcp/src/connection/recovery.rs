//! Loss detection and recovery: RFC 5681 and 6582, RFC 6675, RFC 8985, with or without RFC 9937.

use super::Connection;
use super::ack::Ack;
use crate::config::LossRecovery;
use crate::event::Event;
use crate::prr::{Prr, PrrAck};
use crate::rack::Circumstances;
use crate::state::TimerKind;
use ropewalk_units::{Duration, Instant, Mark};

/// DupThresh (RFC 5681 §3.2).
pub(super) const DUP_THRESH: u32 = 3;
/// Linux `tcp_max_reordering`.
const MAX_DUP_THRESH: u32 = 300;

/// Where the connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// No loss to repair.
    Open,
    /// Fast recovery.
    Fast,
    /// After a timeout.
    Timeout,
}

/// The variables of loss recovery.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    pub(super) phase: Phase,
    /// RecoveryPoint (RFC 6675 §2), `recover` (RFC 6582 §3.2): recovery ends when this is acknowledged.
    pub(super) recover: Mark,
    /// Duplicate ACKs in a row.
    pub(super) duplicates: u32,
    /// DupThresh; grows with proof of reordering.
    pub(super) threshold: u32,
    /// Without SACK: octets that duplicate ACKs say have left the network, by which RFC 6582 §3.2 inflates cwnd.
    pub(super) credit: i64,
    /// One segment may be retransmitted regardless of cwnd.
    pub(super) fast_retransmit: bool,
    /// How many segments had arrived above the hole when fast recovery began: the extent of the reordering, if
    /// that was all it was.
    pub(super) overtaken: u32,
    /// RFC 6675 §4 NextSeg (3) goes on from here.
    pub(super) hole_from: Mark,
    /// RFC 6675 §4 RescueRxt: one for each recovery.
    pub(super) rescue: bool,
    /// Octets sent by limited transmit: no part of FlightSize (RFC 3042 §2).
    pub(super) limited: u32,
    /// F-RTO: new segments that may go out whatever cwnd says (RFC 5682 §3.1 (2b)).
    pub(super) new_segments: u8,
    /// RFC 4015 §3.2 (11) is still to be done at the next measurement.
    pub(super) late: bool,
}

impl Recovery {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Open,
            recover: Mark::START,
            duplicates: 0,
            threshold: DUP_THRESH,
            credit: 0,
            fast_retransmit: false,
            overtaken: 0,
            hole_from: Mark::START,
            rescue: false,
            limited: 0,
            new_segments: 0,
            late: false,
        }
    }

    /// Back to normal.
    pub(super) fn close(&mut self) {
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.credit = 0;
        self.fast_retransmit = false;
        self.rescue = false;
        self.limited = 0;
    }

    /// Proof that segments arrive this much out of order.
    pub(super) fn raise_threshold(&mut self, segments: u32) {
        self.threshold = self.threshold.max(segments).min(MAX_DUP_THRESH);
    }
}

impl Connection {
    /// Any ACK that is not plain.
    pub(super) fn recover(&mut self, ack: &Ack) {
        self.recovery.duplicates =
            if ack.advanced { 0 } else { self.recovery.duplicates + u32::from(ack.duplicate) };
        self.judge_probe(ack);
        self.react_to_ecn(ack);
        let limit = self.judge_recovery(ack);
        let lost = self.find_losses(ack);
        match self.recovery.phase {
            Phase::Open => self.in_open(ack, lost),
            Phase::Fast => self.in_fast_recovery(ack, lost),
            Phase::Timeout => self.in_slow_start_after_timeout(ack),
        }
        if let Some(limit) = limit.filter(|limit| *limit < self.controller.cwnd()) {
            self.controller.set_cwnd(limit);
        }
        if !ack.advanced && ack.delivery.sacked > 0 {
            // RFC 8985 §7.2: no probe while something is SACKed.
            self.schedule_probe();
        }
    }

    pub(super) fn circumstances(&self) -> Circumstances {
        Circumstances {
            now: self.now,
            recovering: self.recovery.phase != Phase::Open,
            threshold: self.recovery.threshold,
            min_rtt: self.rtt.recent_min().unwrap_or(Duration::ZERO),
            srtt: self.rtt.srtt().unwrap_or(Duration::ZERO),
        }
    }

    /// Marks what must be lost. Returns whether anything new was.
    fn find_losses(&mut self, ack: &Ack) -> bool {
        match self.loss_recovery {
            LossRecovery::NewReno => false,
            LossRecovery::Sack => {
                let by_sacks = self.queue.mark_lost_below_sacks(self.recovery.threshold, self.smss);
                // RFC 6675 §5 (1): DupThresh duplicate ACKs are enough for the first segment.
                let by_count = self.recovery.phase == Phase::Open
                    && self.recovery.duplicates >= self.recovery.threshold
                    && self.queue.mark_lost(0);
                by_sacks || by_count
            }
            LossRecovery::Rack => {
                let highest = self.queue.highest_sacked().map_or(self.queue.una(), |end| self.mark(end));
                self.rack.update(self.now, highest, &ack.delivery);
                self.run_rack()
            }
        }
    }

    /// RFC 8985 §6.2 step 5, on ACKs and when the reordering timer fires.
    pub(super) fn run_rack(&mut self) -> bool {
        let circumstances = self.circumstances();
        let (lost, wait) = self.rack.detect(&mut self.queue, &circumstances);
        if let Some(wait) = wait {
            self.timers.early = self.now.saturating_add(wait.max(Duration::from_nanos(1)));
            self.timers.early_kind = TimerKind::Reordering;
        } else if self.timers.early_kind == TimerKind::Reordering {
            self.timers.early = Instant::MAX;
        }
        lost
    }

    /// Is the retransmitted segment, or what duplicate ACKs point at, reason for fast recovery?
    fn in_open(&mut self, ack: &Ack, lost: bool) {
        let by_duplicates = self.loss_recovery == LossRecovery::NewReno
            && ack.duplicate
            && self.recovery.duplicates >= self.recovery.threshold
            // RFC 6582 §3.2 step 2: not again for what was sent before the last recovery.
            && self.queue.una() > self.recovery.recover;
        if by_duplicates {
            self.queue.mark_lost(0);
        }
        if lost || by_duplicates || self.queue.wants_retransmission() {
            return self.enter_fast_recovery(ack.delivery.delivered, ack.undelivered_before);
        }
        if ack.advanced {
            self.recovery.limited = 0;
            // RFC 3168 §6.1.2: no growth by an ACK that tells of congestion.
            if !ack.ece {
                self.grow(ack.delivery.acked, ack.delivery.newest);
            }
        }
    }

    /// RFC 5681 §3.2 step 2, RFC 6582 §3.2 step 2, RFC 6675 §5 (4), RFC 9937 §6.
    pub(super) fn enter_fast_recovery(&mut self, delivered: u32, undelivered_before: u32) {
        if !self.config.fast_recovery {
            return self.begin_again(false);
        }
        let flight = self.flight().saturating_sub(self.recovery.limited);
        self.begin_detection(false);
        self.recovery.phase = Phase::Fast;
        self.recovery.recover = self.sent_mark();
        self.recovery.fast_retransmit = true;
        self.recovery.hole_from = self.queue.una();
        self.recovery.rescue = true;
        self.recovery.overtaken = self.queue.sacked_segments().max(self.recovery.duplicates);
        self.timers.early =
            if self.timers.early_kind == TimerKind::TailLossProbe { Instant::MAX } else { self.timers.early };
        let ssthresh = self.controller.on_loss(flight);
        self.ecn.recover = self.sent_mark();
        self.ecn.reduced = self.peer.ecn;
        if self.loss_recovery == LossRecovery::NewReno {
            self.recovery.credit = i64::from(self.recovery.duplicates) * i64::from(self.smss);
        }
        if self.config.prr && !self.controller.models_path() {
            self.prr = Some(Prr::new(ssthresh, undelivered_before));
            self.reduce_proportionally(self.delivered_for_prr(delivered, 0), false);
        } else {
            self.controller.set_cwnd(ssthresh);
        }
        self.stats.fast_recoveries += 1;
        self.event(Event::RecoveryEntered { recover: self.nxt });
    }

    /// RFC 9937 §5: without SACK a duplicate ACK counts as one segment, and what those counted is taken off
    /// the next advance.
    fn delivered_for_prr(&self, delivered: u32, credit_before: i64) -> u32 {
        if self.loss_recovery != LossRecovery::NewReno {
            return delivered;
        }
        if delivered == 0 { self.smss } else { (i64::from(delivered) - credit_before).max(0) as u32 }
    }

    fn reduce_proportionally(&mut self, delivered: u32, safe: bool) {
        let inflight = self.pipe();
        let smss = self.smss;
        if let Some(prr) = &mut self.prr {
            let count = prr.on_ack(&PrrAck { delivered, inflight, safe, smss });
            self.controller.set_cwnd(inflight.saturating_add(count));
        }
    }

    fn in_fast_recovery(&mut self, ack: &Ack, lost: bool) {
        if ack.advanced && self.queue.una() >= self.recovery.recover {
            return self.leave_fast_recovery();
        }
        let credit_before = self.recovery.credit;
        if self.loss_recovery == LossRecovery::NewReno {
            self.newreno_in_recovery(ack);
        }
        if self.prr.is_some() && (ack.delivery.delivered > 0 || ack.duplicate) {
            let delivered = self.delivered_for_prr(ack.delivery.delivered, credit_before);
            self.reduce_proportionally(delivered, ack.advanced && !lost);
        }
    }

    /// RFC 6582 §3.2 step 3.
    fn newreno_in_recovery(&mut self, ack: &Ack) {
        let smss = i64::from(self.smss);
        if ack.duplicate {
            // RFC 5681 §3.2 step 4: inflate.
            self.recovery.credit += smss;
        } else if ack.advanced {
            // A partial ACK: the next hole, and deflate by what was acknowledged, less one segment.
            let acked = i64::from(ack.delivery.acked);
            self.recovery.credit -= acked;
            if acked >= smss {
                self.recovery.credit += smss;
            }
            if self.prr.is_some() {
                self.recovery.credit = self.recovery.credit.max(0);
            }
            self.queue.mark_lost(0);
            self.recovery.fast_retransmit = true;
        }
    }

    fn leave_fast_recovery(&mut self) {
        let ssthresh = self.controller.ssthresh();
        if let Some(prr) = self.prr.take() {
            // RFC 9937 §6: on exit cwnd = ssthresh.
            self.controller.set_cwnd(prr.ssthresh());
        } else if self.loss_recovery == LossRecovery::NewReno {
            // RFC 6582 §3.2 step 3, full ACK, option (1): no burst.
            let flight = self.flight().max(self.smss) + self.smss;
            self.controller.set_cwnd(ssthresh.min(flight));
        } else {
            self.controller.set_cwnd(ssthresh);
        }
        self.close_recovery();
    }

    /// Fast or timeout recovery is over.
    pub(super) fn close_recovery(&mut self) {
        self.controller.exit_recovery();
        self.recovery.close();
        self.prr = None;
        self.rack.on_recovery_end();
        self.end_detection();
        self.event(Event::RecoveryLeft);
    }

    /// Slow start over what the timeout left.
    fn in_slow_start_after_timeout(&mut self, ack: &Ack) {
        if !ack.advanced {
            return;
        }
        let done = self.queue.una() >= self.recovery.recover;
        self.usage.limited = true;
        if !ack.ece {
            self.grow(ack.delivery.acked, ack.delivery.newest);
        }
        if self.loss_recovery == LossRecovery::NewReno && !done {
            // Everything is marked lost already; a partial ACK only moves on.
            self.recovery.credit = 0;
        }
        if done {
            self.close_recovery();
        }
    }

    /// RFC 3168 §6.1.2: as a loss, once for each window. The peer echoes until CWR has arrived, which is above the mark: so
    /// only an ACK of something above it can tell of another congestion.
    fn react_to_ecn(&mut self, ack: &Ack) {
        let again = self.queue.una() <= self.ecn.recover;
        if !ack.ece || again || self.recovery.phase != Phase::Open {
            return;
        }
        self.ecn.recover = self.sent_mark();
        self.ecn.reduced = true;
        self.controller.on_ecn(self.flight());
        self.stats.ecn_reductions += 1;
    }
}

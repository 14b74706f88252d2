//! Loss detection and recovery at work: RFC 5681 and 6582, RFC 6675, RFC 8985, with or without RFC 9937.

use super::Sender;
use super::ack::Ack;
use crate::config::LossRecovery;
use crate::context::Context;
use crate::event::Event;
use crate::recovery::Phase;
use crate::recovery::prr::{Prr, PrrAck, ReductionBound};
use crate::recovery::rack::{Circumstances, RackRtt};
use crate::recovery::spurious::Cause;
use ropewalk_units::Duration;

impl Sender {
    /// Any ACK that is not plain.
    pub(super) fn recover(&mut self, cx: &mut Context, ack: &Ack) {
        let counted = self.counted(cx, ack);
        self.recovery.duplicates =
            if ack.advanced { 0 } else { self.recovery.duplicates + u32::from(ack.duplicate) };
        self.judge_blame(cx, ack);
        self.on_ack_of_probe(ack);
        self.react_to_ecn(cx, ack);
        let limit = self.judge_recovery(cx, ack);
        let lost = self.find_losses(cx, ack);
        match self.recovery.phase {
            Phase::Open => self.in_open(cx, ack, lost, counted),
            Phase::Fast => self.in_fast_recovery(cx, ack, lost, counted),
            Phase::Timeout => self.in_slow_start_after_timeout(cx, ack, counted),
        }
        if let Some(limit) = limit.filter(|limit| *limit < self.controller.cwnd()) {
            self.controller.set_cwnd(limit);
        }
        if !ack.advanced && ack.delivery.sacked > 0 {
            // RFC 8985 §7.2: no probe while something is SACKed.
            self.schedule_probe(cx);
        }
    }

    /// The octets by which an ACK makes the window grow.
    fn counted(&self, cx: &Context, ack: &Ack) -> u32 {
        if !cx.config.growth_by_delivery {
            return ack.delivery.acked;
        }
        let told = match self.recovery.phase {
            Phase::Open => i64::from(self.recovery.duplicates) * i64::from(self.smss),
            Phase::Fast => self.recovery.credit,
            Phase::Timeout => 0,
        };
        self.newly_delivered(cx, ack.delivery.delivered, told)
    }

    pub(super) fn circumstances(&self, cx: &Context) -> Circumstances {
        Circumstances {
            now: cx.now,
            recovering: self.recovery.phase != Phase::Open,
            threshold: self.recovery.threshold,
            min_rtt: self.rtt.recent_min().unwrap_or(Duration::ZERO),
            srtt: self.rtt.srtt().unwrap_or(Duration::ZERO),
        }
    }

    /// Marks what must be lost. Returns whether anything new was.
    fn find_losses(&mut self, cx: &Context, ack: &Ack) -> bool {
        match self.recovery.method {
            LossRecovery::NewReno => false,
            LossRecovery::Sack => {
                if cx.config.spurious.door {
                    self.note_delivered(cx, ack);
                }
                let by_sacks = self.queue.mark_lost_below_sacks(self.recovery.threshold, self.smss);
                // RFC 6675 §5 (1): DupThresh duplicate ACKs are enough for the first segment.
                let by_count = self.recovery.phase == Phase::Open
                    && self.recovery.duplicates >= self.recovery.threshold
                    && self.queue.mark_lost(0);
                by_sacks || by_count
            }
            LossRecovery::Rack => {
                self.note_delivered(cx, ack);
                self.run_rack(cx)
            }
        }
    }

    /// RFC 8985 §6.2 steps 2 and 3.
    fn note_delivered(&mut self, cx: &Context, ack: &Ack) {
        let highest = self.queue.highest_sacked().map_or(self.queue.una(), |end| self.mark(end));
        let rtt = if cx.config.rack_rtt_as_linux { RackRtt::LookedAt } else { RackRtt::Latest };
        self.recovery.rack.update(cx.now, highest, &ack.delivery, rtt);
    }

    /// RFC 8985 §6.2 step 5, on ACKs and when the reordering timer fires.
    pub(super) fn run_rack(&mut self, cx: &Context) -> bool {
        let circumstances = self.circumstances(cx);
        let overdue = self.recovery.rack.detect(&mut self.queue, &circumstances);
        self.timers.set_reordering(cx.now, overdue.next);
        overdue.any
    }

    /// Is the retransmitted segment, or what duplicate ACKs point at, reason for fast recovery?
    fn in_open(&mut self, cx: &mut Context, ack: &Ack, lost: bool, counted: u32) {
        let by_duplicates = self.recovery.method == LossRecovery::NewReno
            && ack.duplicate
            && self.recovery.duplicates >= self.recovery.threshold
            // RFC 6582 §3.2 step 2: not again for what was sent before the last recovery.
            && self.queue.una() > self.recovery.recover;
        if by_duplicates {
            self.queue.mark_lost(0);
        }
        if lost || by_duplicates || self.queue.wants_retransmission() || self.is_lost_anew() {
            return self.enter_fast_recovery(cx, ack.delivery.delivered, ack.undelivered_before);
        }
        if ack.advanced {
            self.recovery.limited = 0;
            // RFC 3168 §6.1.2: no growth by an ACK that tells of congestion.
            if !ack.ece {
                self.grow(cx, counted, ack.delivery.newest);
            }
        }
    }

    /// RFC 5681 §3.2 step 2, RFC 6582 §3.2 step 2, RFC 6675 §5 (4), RFC 9937 §6.
    pub(super) fn enter_fast_recovery(&mut self, cx: &mut Context, delivered: u32, undelivered_before: u32) {
        if !cx.config.fast_recovery {
            return self.begin_again(cx, Cause::Loss);
        }
        if self.keeps_window(cx) {
            return self.repair_only(cx);
        }
        let limited = self.by_limited_transmit();
        self.begin_detection(cx, Cause::Loss);
        self.recovery.enter_fast(self.sent_mark(), self.queue.una(), self.queue.sacked_segments());
        self.timers.stop_probe();
        let ssthresh = self.controller.on_loss(self.flight().saturating_sub(limited));
        self.ecn.recover = self.sent_mark();
        self.ecn.reduced = cx.agreed.ecn;
        if self.counts_duplicates(cx) {
            self.recovery.credit = i64::from(self.recovery.duplicates) * i64::from(self.smss);
        }
        if cx.config.prr && !self.controller.models_path() {
            self.recovery.prr = Some(if cx.config.whole_segments {
                let limited = if self.counts_duplicates(cx) { limited } else { 0 };
                Prr::in_segments(ssthresh, undelivered_before.saturating_sub(limited), self.smss)
            } else {
                Prr::new(ssthresh, undelivered_before)
            });
            let delivered = if delivered == 0 && self.counts_duplicates(cx) { self.smss } else { delivered };
            self.reduce_proportionally(self.newly_delivered(cx, delivered, 0), ReductionBound::Conservative);
        } else {
            self.controller.set_cwnd(ssthresh);
        }
        cx.stats.fast_recoveries += 1;
        cx.event(Event::RecoveryEntered { recover: self.nxt });
    }

    /// Octets on their way that were sent beyond cwnd: two segments at most (RFC 3042 §2). They are no part of FlightSize (RFC 5681 §3.2
    /// step 2).
    pub(super) fn by_limited_transmit(&self) -> u32 {
        self.recovery.limited.min(2 * self.smss)
    }

    /// Fast recovery that leaves the window as it is.
    fn repair_only(&mut self, cx: &mut Context) {
        self.recovery.enter_fast(self.sent_mark(), self.queue.una(), self.queue.sacked_segments());
        self.recovery.keeps_window = true;
        self.timers.stop_probe();
        cx.stats.fast_recoveries += 1;
        cx.event(Event::RecoveryEntered { recover: self.nxt });
    }

    /// Do duplicate ACKs say what has left the network? With SACK, its blocks say it, also for a sender that finds
    /// losses as NewReno does.
    fn counts_duplicates(&self, cx: &Context) -> bool {
        self.recovery.method == LossRecovery::NewReno && !cx.agreed.sack
    }

    /// RFC 9937 §5: without SACK what duplicate ACKs have told of (`told` octets) is taken off the next advance. An advance delivers something,
    /// though duplicates of ACKs may have told of all of it (as Linux, `tcp_remove_reno_sacks`).
    fn newly_delivered(&self, cx: &Context, delivered: u32, told: i64) -> u32 {
        if !self.counts_duplicates(cx) {
            return delivered;
        }
        (i64::from(delivered) - told).max(i64::from(self.smss.min(delivered))) as u32
    }

    fn reduce_proportionally(&mut self, delivered: u32, bound: ReductionBound) {
        let inflight = self.pipe();
        let smss = self.smss;
        if let Some(prr) = &mut self.recovery.prr {
            let count = prr.on_ack(&PrrAck { delivered, inflight, bound, smss });
            self.controller.set_cwnd(inflight.saturating_add(count));
        }
    }

    fn in_fast_recovery(&mut self, cx: &mut Context, ack: &Ack, lost: bool, counted: u32) {
        if ack.advanced && self.has_recovered(cx) {
            self.leave_fast_recovery(cx);
            return self.behind_fast_recovery(cx, ack, lost, counted);
        }
        if self.is_at_recovery_point(cx) {
            return self.wait_at_recovery_point();
        }
        let credit_before = self.recovery.credit;
        if self.recovery.method == LossRecovery::NewReno {
            self.newreno_in_recovery(cx, ack);
        }
        if self.recovery.prr.is_some() && (ack.delivery.delivered > 0 || ack.duplicate) {
            let delivered = if ack.advanced || !self.counts_duplicates(cx) {
                self.newly_delivered(cx, ack.delivery.delivered, credit_before)
            } else {
                (self.recovery.credit - credit_before).max(0) as u32
            };
            let is_safe = ack.advanced && !lost;
            let bound = if is_safe { ReductionBound::SlowStart } else { ReductionBound::Conservative };
            self.reduce_proportionally(delivered, bound);
        }
    }

    /// RFC 6582 §3.2 step 3, full ACK. Linux without SACK waits for one more: duplicate ACKs of what was sent before the
    /// recovery cannot begin another then (`tcp_is_non_sack_preventing_reopen`).
    fn has_recovered(&self, cx: &Context) -> bool {
        self.queue.una() >= self.recovery.recover && !self.is_at_recovery_point(cx)
    }

    /// Is all acknowledged that was sent before the recovery, and nothing more? Until something above is acknowledged Linux neither counts
    /// duplicate ACKs nor repairs anything: what was sent next and is lost waits for a timeout.
    pub(crate) fn is_at_recovery_point(&self, cx: &Context) -> bool {
        self.recovery.method == LossRecovery::NewReno
            && cx.config.recovery_ends_above
            && self.queue.una() == self.recovery.recover
    }

    /// All is on its way again that duplicate ACKs told of, and cwnd is ssthresh. So new data leave only when less is on its way.
    fn wait_at_recovery_point(&mut self) {
        self.recovery.credit = 0;
        if let Some(prr) = &self.recovery.prr {
            self.controller.set_cwnd(prr.ssthresh());
        }
    }

    /// RFC 6582 §3.2 step 3.
    fn newreno_in_recovery(&mut self, cx: &Context, ack: &Ack) {
        if self.counts_duplicates(cx) {
            self.adjust_credit(ack);
        }
        if ack.advanced && self.queue.una() < self.recovery.recover {
            self.queue.mark_lost(0);
            self.recovery.fast_retransmit = true;
        }
    }

    /// RFC 5681 §3.2 step 4: a duplicate ACK inflates the window. RFC 6582 §3.2 step 3: an advance deflates it by what was acknowledged,
    /// less one segment, which filled the hole.
    fn adjust_credit(&mut self, ack: &Ack) {
        if ack.duplicate {
            // RFC 5681 §5: at least one segment is missing, so no more duplicates can be honest (as Linux, `tcp_limit_reno_sacked`).
            let most = i64::from(self.flight()) - i64::from(self.smss);
            self.recovery.credit =
                (self.recovery.credit + i64::from(self.smss)).min(most.max(self.recovery.credit));
        } else if ack.advanced {
            let acked = ack.delivery.acked;
            let filled = if acked >= self.smss { self.smss } else { 0 };
            self.recovery.credit -= i64::from(acked) - i64::from(filled);
            if self.recovery.prr.is_some() || self.queue.una() >= self.recovery.recover {
                self.recovery.credit = self.recovery.credit.max(0);
            }
        }
    }

    fn leave_fast_recovery(&mut self, cx: &mut Context) {
        let ssthresh = self.controller.ssthresh();
        if self.recovery.keeps_window {
            return self.close_recovery(cx);
        }
        if let Some(prr) = self.recovery.prr.take() {
            // RFC 9937 §6: on exit cwnd = ssthresh.
            self.controller.set_cwnd(prr.ssthresh());
        } else if self.recovery.method == LossRecovery::NewReno {
            // RFC 6582 §3.2 step 3, full ACK, option (1): no burst.
            let flight = self.flight().max(self.smss) + self.smss;
            self.controller.set_cwnd(ssthresh.min(flight));
        } else {
            self.controller.set_cwnd(ssthresh);
        }
        self.close_recovery(cx);
    }

    /// What was lost above the point where a recovery ends, and perhaps sent again, was sent after it had begun. That is another loss (RFC 5681
    /// §4.3), and begins another recovery. Otherwise the ACK counts for the window with `growth_by_delivery`, as in Linux
    /// (`tcp_fastretrans_alert` and then `tcp_cong_avoid`).
    fn behind_fast_recovery(&mut self, cx: &mut Context, ack: &Ack, lost: bool, counted: u32) {
        if cx.config.growth_by_delivery || lost || self.is_lost_anew() {
            self.in_open(cx, ack, lost, counted);
        }
    }

    /// Is something deemed lost that no recovery has answered? A model of the path judges losses by itself.
    fn is_lost_anew(&self) -> bool {
        self.queue.has_lost() && !self.controller.models_path()
    }

    /// Fast or timeout recovery is over.
    fn close_recovery(&mut self, cx: &mut Context) {
        self.controller.exit_recovery();
        self.recovery.close();
        self.recovery.rack.on_recovery_end();
        self.end_detection();
        cx.event(Event::RecoveryLeft);
    }

    /// Slow start over what the timeout left.
    fn in_slow_start_after_timeout(&mut self, cx: &mut Context, ack: &Ack, counted: u32) {
        self.count_answers_to_new(cx, ack);
        if !ack.advanced {
            return;
        }
        let done = self.has_recovered(cx);
        self.usage.set_limited();
        if !ack.ece {
            self.grow(cx, counted, ack.delivery.newest);
        }
        if done {
            self.close_recovery(cx);
        }
    }

    /// Without SACK duplicate ACKs tell that what F-RTO sent anew has arrived, so that more may leave (Linux `tcp_process_loss`).
    fn count_answers_to_new(&mut self, cx: &Context, ack: &Ack) {
        if !cx.config.spurious.frto || !self.counts_duplicates(cx) {
            return;
        }
        if ack.advanced {
            self.recovery.credit = 0;
        } else if self.sent_mark() > self.recovery.recover && !self.is_at_recovery_point(cx) {
            self.adjust_credit(ack);
        }
    }

    /// RFC 3168 §6.1.2: as a loss, once for each window. The peer echoes until CWR has arrived, which is above the mark: so
    /// only an ACK of something above it can tell of another congestion.
    fn react_to_ecn(&mut self, cx: &mut Context, ack: &Ack) {
        let again = self.queue.una() <= self.ecn.recover;
        if !ack.ece || again || self.recovery.phase != Phase::Open {
            return;
        }
        self.ecn.recover = self.sent_mark();
        self.ecn.reduced = true;
        self.controller.on_ecn(self.flight());
        cx.stats.ecn_reductions += 1;
    }
}

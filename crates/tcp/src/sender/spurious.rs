//! Recoveries that were not needed: runs the detectors, and restores the window.

use super::Sender;
use super::ack::{Ack, DuplicateReport};
use crate::context::Context;
use crate::event::Event;
use crate::recovery::Phase;
use crate::recovery::spurious::{
    Cause, DoorPeriods, EifelAck, FrtoAck, FrtoAction, Origin, TimeoutMemory, Verdict,
};
use ropewalk_units::Seq;

impl Sender {
    fn detects(&self, cx: &Context) -> bool {
        let spurious = cx.config.spurious;
        spurious.dsack || spurious.eifel || spurious.frto || spurious.door
    }

    /// A recovery begins; cwnd and ssthresh are still as before.
    pub(super) fn begin_detection(&mut self, cx: &Context, cause: Cause) {
        // RFC 3522 §3.2, RFC 4015 §3.2: not while a recovery is in progress.
        let undone = self.queue.una() < self.recovery.detectors.undone_up_to;
        if !self.detects(cx) || self.recovery.phase != Phase::Open || undone {
            return;
        }
        let snapshot = self.controller.snapshot();
        let (flight, ssthresh) = (self.flight(), self.controller.ssthresh());
        let granularity = cx.config.clock_granularity;
        let (srtt, rttvar) = (self.rtt.srtt(), self.rtt.rttvar());
        let (now, sent) = (cx.timestamp(), self.sent_mark());
        let detectors = &mut self.recovery.detectors;
        match &mut detectors.snapshot {
            Some(kept) => **kept = snapshot,
            kept => *kept = Some(Box::new(snapshot)),
        }
        detectors.repaired.clear();
        let memory = || TimeoutMemory::new(flight, ssthresh, srtt, rttvar, granularity);
        detectors.timeout = (cause == Cause::Timeout).then(memory);
        if cx.config.spurious.eifel && cx.agreed.timestamps {
            detectors.eifel.begin(now, cause);
        }
        if cx.config.spurious.dsack && cx.agreed.sack {
            detectors.dsack.begin(cause);
        }
        if cause == Cause::Loss {
            detectors.frto.on_fast_recovery(sent);
        }
        if cx.config.spurious.door {
            detectors.door.begin(cx.now, cause);
        }
    }

    /// RFC 5682 §3.1 (1): after every timeout.
    pub(super) fn begin_frto(&mut self, cx: &Context) {
        self.recovery.new_segments = 0;
        if cx.config.spurious.frto && self.recovery.phase != Phase::Fast {
            let again = self.timeouts.consecutive() > 1;
            self.recovery.detectors.frto.begin(self.queue.una(), self.sent_mark(), again);
        }
    }

    /// The recovery is over. A DSACK may still prove that it was not needed.
    pub(super) fn end_detection(&mut self) {
        self.recovery.detectors.eifel.end();
        self.recovery.detectors.frto.stop();
        self.recovery.new_segments = 0;
    }

    /// A segment was sent again.
    pub(super) fn on_retransmitted(&mut self, cx: &Context, left: Seq, right: Seq) {
        if self.detects(cx) && self.recovery.phase != Phase::Open {
            let (left, right) = (self.mark(left), self.mark(right));
            self.recovery.detectors.repaired.add(left, right);
            self.recovery.detectors.dsack.on_retransmit(1);
        }
    }

    /// Asks the detectors. The answer is the largest cwnd that F-RTO allows after this ACK.
    pub(super) fn judge_recovery(&mut self, cx: &mut Context, ack: &Ack) -> Option<u32> {
        let mut verdict = self.on_dsack(cx, ack);
        if ack.advanced && verdict == Verdict::Undecided && cx.config.spurious.eifel {
            let echo = ack.echo.filter(|_| cx.agreed.timestamps);
            let covers_all = self.una == self.nxt;
            let dsack = ack.dsack.is_some();
            verdict = self.recovery.detectors.eifel.on_ack(&EifelAck { ts_ecr: echo, dsack, covers_all });
        }
        let mut limit = None;
        if self.recovery.detectors.frto.is_active() && !matches!(verdict, Verdict::Spurious { .. }) {
            let action = self.ask_frto(cx, ack);
            match action {
                FrtoAction::SendNew => self.recovery.new_segments = 2,
                FrtoAction::Recover { segments } => limit = Some(segments * self.smss),
                FrtoAction::Wait | FrtoAction::Spurious => {}
            }
            if action.verdict() != Verdict::Undecided {
                verdict = action.verdict();
            }
        }
        match (self.ask_door(cx, ack), verdict) {
            (_, Verdict::Spurious { cause }) => {
                if cause == Cause::Loss && self.recovery.detectors.snapshot.is_some() {
                    // The hint of RFC 3522 §3.2 (6).
                    self.recovery.raise_threshold(self.recovery.overtaken + 1);
                }
                self.undo(cx, cause, ack);
            }
            (Verdict::Spurious { cause }, _) => self.undo(cx, cause, ack),
            _ => {}
        }
        limit
    }

    /// TCP-DOOR: did something arrive out of order?
    fn ask_door(&mut self, cx: &Context, ack: &Ack) -> Verdict {
        let out_of_order = ack.delivery.reordered.is_some() || ack.delivery.late_original;
        let Some(srtt) = self.rtt.srtt().filter(|_| cx.config.spurious.door && out_of_order) else {
            return Verdict::Undecided;
        };
        let periods = DoorPeriods {
            quiet: cx.config.door_t1.unwrap_or(srtt),
            young: cx.config.door_t2.unwrap_or(srtt),
        };
        self.recovery.detectors.door.on_out_of_order(cx.now, &periods)
    }

    /// TCP-DOOR: are losses repaired without a reduction?
    pub(super) fn keeps_window(&self, cx: &Context) -> bool {
        cx.config.spurious.door && self.recovery.detectors.door.is_quiet(cx.now)
    }

    fn ask_frto(&mut self, cx: &Context, ack: &Ack) -> FrtoAction {
        // RFC 5682 §3.1 (2) and (3): what neither acknowledges nor reports anything new is no duplicate ACK.
        if !ack.advanced && !ack.duplicate {
            return FrtoAction::Wait;
        }
        let window = !cx.owns_window() || self.flight() < ack.window;
        // Without SACK what was sent again may have let the ACK advance over originals that had arrived before.
        let tells = cx.agreed.sack || !ack.delivery.retransmitted;
        let question = FrtoAck {
            snd_una: self.queue.una(),
            advanced: ack.advanced,
            highest: self.mark(ack.delivery.original_end.map_or(self.una, |end| end.max(self.una))),
            original_below: tells && ack.delivery.original_end.is_some(),
            snd_max: self.sent_mark(),
            can_send_new: self.stream.unsent() > 0 && window,
        };
        self.recovery.detectors.frto.on_ack(&question)
    }

    /// RFC 3708: the peer reports what arrived twice.
    fn on_dsack(&mut self, cx: &mut Context, ack: &Ack) -> Verdict {
        let Some(DuplicateReport { left, right }) = ack.dsack else { return Verdict::Undecided };
        self.recovery.rack.on_dsack(self.queue.una(), self.sent_mark());
        self.recovery.detectors.eifel.on_dsack();
        // As many segments as the block is long (Linux `tcp_dsack_seen`).
        let segments = right.since(left).div_ceil(u64::from(self.smss)) as u32;
        let ours = self.recovery.detectors.repaired.covers(left, right);
        let origin = if ours { Origin::Sender } else { Origin::Network };
        let counted = self.recovery.detectors.counted.min(segments);
        self.recovery.detectors.counted -= counted;
        self.add_spurious(cx, segments - counted);
        if cx.config.spurious.dsack {
            self.recovery.detectors.dsack.on_dsack(segments, origin)
        } else {
            Verdict::Undecided
        }
    }

    /// Takes the reduction back.
    fn undo(&mut self, cx: &mut Context, cause: Cause, ack: &Ack) {
        let Some(snapshot) = self.recovery.detectors.snapshot.take() else { return };
        // RFC 4015 §3.2 (9): a path that marks congestion gets no window back.
        if !ack.ece {
            self.controller.restore(&snapshot);
            if let Some(memory) = self.recovery.detectors.timeout {
                let initial = self.controller.initial_window();
                let (cwnd, ssthresh) = memory.window(self.flight(), ack.delivery.acked, initial);
                self.controller.set_cwnd(cwnd);
                self.controller.set_ssthresh(ssthresh);
            }
        }
        let memory = self.recovery.detectors.timeout.take();
        self.recovery.detectors.undone_up_to = self.sent_mark();
        self.recovery.detectors.late = memory.filter(|_| cause == Cause::Timeout);
        self.recovery.late = self.recovery.detectors.late.is_some();
        // RFC 4015 §3.2 (8): go on with new data.
        self.queue.unmark_all_lost();
        self.count_spurious(cx, ack);
        self.recovery.detectors.dsack.stop();
        self.end_detection();
        if self.recovery.phase != Phase::Open {
            self.recovery.close();
        }
        cx.stats.undone += 1;
        cx.event(Event::Undone);
    }

    /// Every retransmission of the recovery counts as spurious, once: those that a DSACK reported already, or
    /// will report, count there.
    fn count_spurious(&mut self, cx: &mut Context, ack: &Ack) {
        let retransmissions = self.recovery.detectors.repaired.segments;
        if ack.dsack.is_none() {
            self.add_spurious(cx, retransmissions);
            self.recovery.detectors.counted += retransmissions;
        }
    }

    /// A DSACK may also report what the network duplicated: no more is spurious than was retransmitted.
    fn add_spurious(&mut self, cx: &mut Context, retransmissions: u32) {
        let counted = cx.stats.spurious_retransmissions + u64::from(retransmissions);
        cx.stats.spurious_retransmissions = counted.min(cx.stats.retransmissions);
    }
}

//! Recoveries that were not needed: the detectors at work, and the window's return.

use super::ack::{Ack, Reported};
use super::recovery::Phase;
use super::{Connection, LossRecovery};
use crate::event::Event;
use crate::spurious::{Dsack, Eifel, EifelAck, Frto, FrtoAck, FrtoAction, TimeoutMemory, Verdict};
use ropewalk_congestion::Snapshot;
use ropewalk_units::{Duration, Mark, Seq};

/// What a recovery sent again: ranges in order that do not touch.
#[derive(Clone, Debug, Default)]
struct Repaired {
    ranges: Vec<(Mark, Mark)>,
    /// Retransmissions.
    segments: u32,
}

impl Repaired {
    fn clear(&mut self) {
        self.ranges.clear();
        self.segments = 0;
    }

    /// Segments go out again in order as a rule, and then join the last range or follow it.
    fn add(&mut self, left: Mark, right: Mark) {
        self.segments += 1;
        let from = self.ranges.partition_point(|range| range.1 < left);
        let to = self.ranges.partition_point(|range| range.0 <= right);
        match self.ranges.get_mut(from..to).and_then(<[_]>::first_mut) {
            None => self.ranges.insert(from, (left, right)),
            Some(first) => {
                first.0 = first.0.min(left);
                let end = self.ranges[to - 1].1.max(right);
                self.ranges[from].1 = end;
                self.ranges.drain(from + 1..to);
            }
        }
    }

    fn covers(&self, left: Mark, right: Mark) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < right);
        self.ranges.get(at).is_some_and(|range| range.0 <= left)
    }
}

/// The detectors of one connection, and what is kept to undo a recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Detectors {
    eifel: Eifel,
    pub(super) frto: Frto,
    dsack: Dsack,
    /// Before the reduction.
    snapshot: Option<Box<Snapshot>>,
    /// RFC 4015 §3.2 (0), if a timeout began the recovery.
    timeout: Option<TimeoutMemory>,
    /// RFC 4015 §3.2 (11) is still to be done at the next measurement.
    late: Option<TimeoutMemory>,
    /// What this recovery retransmitted.
    repaired: Repaired,
    /// Retransmissions counted as spurious already, whose DSACKs may still come, also during a later recovery.
    counted: u32,
}

impl Detectors {
    /// RFC 4015 §3.2 (11): SRTT and RTTVAR for the first measurement after a spurious timeout.
    #[cold]
    pub(super) fn late_rtt(&mut self, sample: Duration) -> Option<(Duration, Duration)> {
        self.late.take().map(|memory| memory.rtt(sample))
    }
}

impl Connection {
    fn detects(&self) -> bool {
        let spurious = self.config.spurious;
        spurious.dsack || spurious.eifel || spurious.frto
    }

    /// A recovery begins; cwnd and ssthresh are still as before.
    pub(super) fn begin_detection(&mut self, by_timeout: bool) {
        // RFC 3522 §3.2, RFC 4015 §3.2: not while a recovery is in progress.
        if !self.detects() || self.recovery.phase != Phase::Open {
            return;
        }
        let snapshot = self.controller.snapshot();
        let (flight, ssthresh) = (self.flight(), self.controller.ssthresh());
        let granularity = self.config.clock_granularity;
        let (srtt, rttvar) = (self.rtt.srtt(), self.rtt.rttvar());
        let (now, sent) = (self.timestamp(), self.sent_mark());
        let detectors = &mut self.detectors;
        match &mut detectors.snapshot {
            Some(kept) => **kept = snapshot,
            kept => *kept = Some(Box::new(snapshot)),
        }
        detectors.repaired.clear();
        detectors.timeout =
            by_timeout.then(|| TimeoutMemory::new(flight, ssthresh, srtt, rttvar, granularity));
        if self.config.spurious.eifel && self.peer.timestamps {
            detectors.eifel.begin(now, by_timeout);
        }
        if self.config.spurious.dsack && self.peer.sack {
            detectors.dsack.begin(by_timeout);
        }
        if !by_timeout {
            detectors.frto.on_fast_recovery(sent);
        }
    }

    /// RFC 5682 §3.1 (1): after every timeout.
    pub(super) fn begin_frto(&mut self) {
        self.recovery.new_segments = 0;
        if self.config.spurious.frto && self.loss_recovery != LossRecovery::NewReno {
            self.detectors.frto.begin(self.queue.una(), self.sent_mark());
        }
    }

    /// The recovery is over. A DSACK may still prove that it was not needed.
    pub(super) fn end_detection(&mut self) {
        self.detectors.eifel.end();
        self.detectors.frto.stop();
        self.recovery.new_segments = 0;
    }

    /// A segment was sent again.
    pub(super) fn note_retransmission(&mut self, left: Seq, right: Seq) {
        if self.detects() && self.recovery.phase != Phase::Open {
            let (left, right) = (self.mark(left), self.mark(right));
            self.detectors.repaired.add(left, right);
            self.detectors.dsack.on_retransmit(1);
        }
    }

    /// Asks the detectors. The answer is the largest cwnd that F-RTO allows after this ACK.
    pub(super) fn judge_recovery(&mut self, ack: &Ack) -> Option<u32> {
        let mut verdict = self.judge_dsack(ack);
        if ack.advanced && verdict == Verdict::Undecided && self.config.spurious.eifel {
            let echo = ack.echo.filter(|_| self.peer.timestamps);
            let covers_all = self.una == self.nxt;
            let dsack = ack.dsack.is_some();
            verdict = self.detectors.eifel.on_ack(&EifelAck { ts_ecr: echo, dsack, covers_all });
        }
        let mut limit = None;
        if self.detectors.frto.is_active() && !matches!(verdict, Verdict::Spurious { .. }) {
            let action = self.ask_frto(ack);
            match action {
                FrtoAction::SendNew => self.recovery.new_segments = 2,
                FrtoAction::Recover { segments } => limit = Some(segments * self.smss),
                FrtoAction::Wait | FrtoAction::Spurious => {}
            }
            if action.verdict() != Verdict::Undecided {
                verdict = action.verdict();
            }
        }
        if let Verdict::Spurious { by_timeout } = verdict {
            self.undo(by_timeout, ack);
        }
        limit
    }

    fn ask_frto(&mut self, ack: &Ack) -> FrtoAction {
        let window = !self.owns_window() || self.flight() < self.peer.window;
        let question = FrtoAck {
            snd_una: self.queue.una(),
            advanced: ack.advanced,
            highest: self.mark(ack.delivery.original_end.map_or(self.una, |end| end.max(self.una))),
            original_below: ack.delivery.original_end.is_some(),
            snd_max: self.sent_mark(),
            can_send_new: self.stream.unsent() > 0 && window,
        };
        if !ack.advanced && ack.delivery.sacked == 0 && !ack.duplicate {
            return FrtoAction::Wait;
        }
        self.detectors.frto.on_ack(&question)
    }

    /// RFC 3708: the peer reports what arrived twice.
    fn judge_dsack(&mut self, ack: &Ack) -> Verdict {
        let Some(Reported { left, right }) = ack.dsack else { return Verdict::Undecided };
        self.rack.on_dsack(self.queue.una(), self.sent_mark());
        self.detectors.eifel.on_dsack();
        // As many segments as the block is long (Linux `tcp_dsack_seen`).
        let segments = right.since(left).div_ceil(u64::from(self.smss)) as u32;
        let ours = self.detectors.repaired.covers(left, right);
        let counted = self.detectors.counted.min(segments);
        self.detectors.counted -= counted;
        self.add_spurious(segments - counted);
        if self.config.spurious.dsack {
            self.detectors.dsack.on_dsack(segments, ours)
        } else {
            Verdict::Undecided
        }
    }

    /// Takes the reduction back.
    fn undo(&mut self, by_timeout: bool, ack: &Ack) {
        let Some(snapshot) = self.detectors.snapshot.take() else { return };
        // RFC 4015 §3.2 (9): a path that marks congestion gets no window back.
        if !ack.ece {
            self.controller.restore(&snapshot);
            if let Some(memory) = self.detectors.timeout {
                let initial = self.controller.initial_window();
                let (cwnd, ssthresh) = memory.window(self.flight(), ack.delivery.acked, initial);
                self.controller.set_cwnd(cwnd);
                self.controller.set_ssthresh(ssthresh);
            }
        }
        self.detectors.late = self.detectors.timeout.take().filter(|_| by_timeout);
        self.recovery.late = self.detectors.late.is_some();
        if !by_timeout {
            // The hint of RFC 3522 §3.2 (6).
            self.recovery.raise_threshold(self.recovery.overtaken + 1);
        }
        // RFC 4015 §3.2 (8): go on with new data.
        self.queue.unmark_all_lost();
        self.count_spurious(ack);
        self.detectors.dsack.stop();
        self.end_detection();
        if self.recovery.phase != Phase::Open {
            self.recovery.close();
            self.prr = None;
        }
        self.stats.undone += 1;
        self.event(Event::Undone);
    }

    /// Every retransmission of the recovery counts as spurious, once: those that a DSACK reported already, or
    /// will report, count there.
    fn count_spurious(&mut self, ack: &Ack) {
        let retransmissions = self.detectors.repaired.segments;
        if ack.dsack.is_none() {
            self.add_spurious(retransmissions);
            self.detectors.counted += retransmissions;
        }
    }

    /// A DSACK may also report what the network duplicated: no more is spurious than was retransmitted.
    fn add_spurious(&mut self, retransmissions: u32) {
        let counted = self.stats.spurious_retransmissions + u64::from(retransmissions);
        self.stats.spurious_retransmissions = counted.min(self.stats.retransmissions);
    }
}

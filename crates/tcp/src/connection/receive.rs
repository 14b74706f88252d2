//! Segments arrive: the stages of RFC 9293 §3.10.7, in its order.
//!
//! acceptable? ▸ rst ▸ syn ▸ ack valid? ║ ack ▸ window ▸ text ▸ fin
//!
//! The stages before the double line decide whether the segment is acceptable. Those after it change the connection.
//! Between them an owner above may drop the segment.

use super::Connection;
use crate::handshake::Opening;
use crate::outbox::Outbox;
use crate::receive::Freshness;
use crate::sender::{Progress, TooBig};
use crate::state::{CloseReason, State};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Flags, Segment};
use std::ops::ControlFlow::{self, Break, Continue};

/// Whether a segment goes on to the next stage of its judgement.
type Stage = ControlFlow<Acceptance>;

/// What [`Connection::judge`] found of a segment: which parts of it [`Connection::process`] takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acceptance {
    /// Dropped, and answered where an answer is due: nothing that it says counts.
    Rejected,
    /// A RST that RFC 5961 §3.2 lets through: the connection is over.
    Reset,
    /// It opens the connection: a SYN that answers ours, or the acknowledgement of our SYN/ACK.
    Opening,
    /// SND.UNA =< SEG.ACK =< SND.NXT.
    Current,
    /// SEG.ACK lies below SND.UNA, within RFC 5961 §5.2's limit: only its data and its FIN count.
    Old,
    /// Its owner says that it only signals: it is no duplicate ACK.
    Signal,
}

impl Connection {
    /// A segment of this connection arrived.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if self.expects(segment) {
            return self.process_expected(now, segment);
        }
        let acceptance = self.judge(now, segment);
        self.process(segment, acceptance);
    }

    /// The first half of [`Self::handle_segment`]: judges a segment, answers what has to be refused, and obeys a RST. An
    /// owner above looks at what is accepted before it goes on to [`Self::process`], or drops it.
    #[inline(always)]
    pub fn judge(&mut self, now: Instant, segment: &Segment) -> Acceptance {
        self.cx.now = now;
        self.cx.stats.segments_received += 1;
        match self.cx.state {
            State::Closed => self.refuse_in_closed(segment),
            State::SynSent => self.judge_in_syn_sent(segment),
            _ => match self.examine(segment) {
                Continue(()) => Acceptance::Current,
                Break(acceptance) => acceptance,
            },
        }
    }

    #[inline]
    fn examine(&mut self, segment: &Segment) -> Stage {
        self.acceptability(segment)?;
        self.rst(segment)?;
        self.syn(segment)?;
        self.ack(segment)
    }

    /// A router says that a segment which begins at `seq` was too long for a path that has this MSS: its MTU less the fixed headers
    /// of IP and TCP. Who calls this sees to it that the MSS is none that no path has.
    pub fn packet_too_big(&mut self, now: Instant, seq: Seq, mss: u16) -> TooBig {
        self.cx.now = now;
        if !self.cx.state.is_synchronized() {
            return TooBig::Ignored;
        }
        self.sender.on_too_big(&mut self.cx, seq, mss)
    }

    /// The second half: takes what [`Self::judge`] has just accepted.
    pub fn process(&mut self, segment: &Segment, acceptance: Acceptance) {
        match acceptance {
            Acceptance::Current => self.on_ack(segment),
            Acceptance::Opening if self.cx.state == State::SynSent => return self.on_answer(segment),
            Acceptance::Opening => self.establish(segment),
            Acceptance::Old => self.sender.on_old_ack(segment),
            Acceptance::Signal => self.sender.on_signal(),
            Acceptance::Rejected | Acceptance::Reset => return,
        }
        if self.cx.state != State::Closed {
            self.window(segment);
            self.text(segment);
            self.fin(segment);
        }
    }

    /// RFC 9293 §3.10.7.1: a segment for a connection that does not exist is answered with a RST.
    #[cold]
    fn refuse_in_closed(&mut self, segment: &Segment) -> Acceptance {
        if !segment.flags.contains(Flags::RST) {
            if segment.flags.contains(Flags::ACK) {
                self.cx.outbox.put_answer(segment.ack, None);
            } else {
                self.cx.outbox.put_answer(Seq::default(), Some(segment.end()));
            }
        }
        Acceptance::Rejected
    }

    /// RFC 9293 §3.10.7.3: SYN-SENT.
    #[cold]
    fn judge_in_syn_sent(&mut self, segment: &Segment) -> Acceptance {
        let has_ack = segment.flags.contains(Flags::ACK);
        let ack_ok = self.handshake.is_acknowledged_by(segment, self.sender.nxt());
        if has_ack && !ack_ok {
            if !segment.flags.contains(Flags::RST) {
                self.cx.outbox.put_reset(segment.ack, None);
            }
            return Acceptance::Rejected;
        }
        if segment.flags.contains(Flags::RST) && ack_ok {
            self.close(CloseReason::Refused);
            return Acceptance::Reset;
        }
        let answers = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::RST);
        if answers { Acceptance::Opening } else { Acceptance::Rejected }
    }

    /// … a SYN, with or without an acknowledgement of ours.
    #[cold]
    fn on_answer(&mut self, segment: &Segment) {
        let has_ack = segment.flags.contains(Flags::ACK);
        self.on_peer_syn(segment);
        let ecn = segment.flags.contains(Flags::ECE);
        let set_up = ecn && segment.flags.contains(Flags::CWR) != has_ack;
        let first = self.handshake.retransmissions() == 0;
        self.cx.agreed.ecn = self.cx.config.uses_ecn() && set_up && first;
        if has_ack {
            self.establish(segment);
            // The third segment of the handshake leaves alone, as from a real stack whose connect() returns.
            self.receiver.ack_alone();
        } else {
            // Simultaneous open, RFC 9293 §3.5 figure 7.
            self.cx.state = State::SynReceived;
            self.cx.outbox.put(Outbox::SYN);
        }
    }

    /// RFC 9293 §3.10.7.4, first: is the sequence number in the window? With PAWS before it (RFC 7323 §5.3).
    #[inline]
    fn acceptability(&mut self, segment: &Segment) -> Stage {
        self.timestamp_is_acceptable(segment)?;
        if self.receiver.is_next(segment) || self.receiver.in_window(segment.seq, segment.sequence_len()) {
            return Continue(());
        }
        self.unacceptable(segment);
        Break(Acceptance::Rejected)
    }

    /// RFC 7323 §5.3 R1 and R2, §4.3 (2).
    fn timestamp_is_acceptable(&mut self, segment: &Segment) -> Stage {
        if !self.cx.agreed.timestamps || segment.flags.contains(Flags::RST) {
            return Continue(());
        }
        match self.receiver.freshness(&self.cx, segment) {
            Freshness::Fresh => return Continue(()),
            Freshness::Unstamped => {}
            Freshness::Stale => self.unacceptable(segment),
        }
        Break(Acceptance::Rejected)
    }

    /// Answers with an ACK that says where we are.
    #[cold]
    fn unacceptable(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if self.cx.state == State::SynReceived && segment.flags.contains(Flags::SYN) {
            return self.syn_again(segment);
        }
        if segment.flags.contains(Flags::SYN) || segment.sequence_len() == 0 {
            return self.receiver.challenge_old(&self.cx, segment);
        }
        self.cx.stats.duplicate_bytes_received += u64::from(segment.payload.len);
        let next = self.receiver.next();
        let end = segment.end().min(next);
        if segment.seq.before(end) && self.sender.ack_is_plausible(segment) {
            // RFC 2883 §4: only what lies below RCV.NXT arrived before. The rest is dropped: no block may report it.
            self.receiver.on_old_data(&self.cx, segment.seq, end);
        } else {
            self.receiver.ack_at_once();
        }
        // RFC 9293 §3.10.7.4: a retransmitted FIN restarts TIME-WAIT.
        if self.cx.state == State::TimeWait && segment.flags.contains(Flags::FIN) && segment.end() == next {
            self.enter_time_wait();
        }
    }

    /// The peer's SYN once more: our SYN/ACK was lost, or both SYN/ACKs of a simultaneous open crossed.
    #[cold]
    fn syn_again(&mut self, segment: &Segment) {
        if segment.seq != self.handshake.irs() {
            return self.receiver.challenge(&self.cx);
        }
        if self.handshake.is_acknowledged_by(segment, self.sender.nxt()) {
            self.establish(segment);
            self.receiver.ack_alone();
        } else if !segment.flags.contains(Flags::ACK) {
            // RFC 3168 §6.1.1: not after a SYN that does not ask for it.
            self.cx.agreed.ecn &= segment.flags.contains(Flags::ECE | Flags::CWR);
            self.cx.outbox.put(Outbox::SYN);
        }
    }

    /// Second: RST, with RFC 5961 §3.2 (RFC 9293 §3.10.7.4): only the exact number resets.
    fn rst(&mut self, segment: &Segment) -> Stage {
        if segment.flags.contains(Flags::RST) { self.on_reset(segment) } else { Continue(()) }
    }

    #[cold]
    fn on_reset(&mut self, segment: &Segment) -> Stage {
        if segment.seq == self.receiver.next() {
            // RFC 9293 §3.10.7.4: who opened actively is told that the connection was refused.
            let refused = self.cx.state == State::SynReceived && self.handshake.opening() == Opening::Active;
            self.close(if refused { CloseReason::Refused } else { CloseReason::Reset });
            return Break(Acceptance::Reset);
        }
        self.receiver.challenge(&self.cx);
        Break(Acceptance::Rejected)
    }

    /// Fourth: a SYN in the window is answered with a challenge ACK (RFC 5961 §4.2).
    fn syn(&mut self, segment: &Segment) -> Stage {
        if !segment.flags.contains(Flags::SYN) {
            return Continue(());
        }
        self.receiver.challenge(&self.cx);
        Break(Acceptance::Rejected)
    }

    /// Fifth: is the acknowledgement one of what was sent?
    fn ack(&mut self, segment: &Segment) -> Stage {
        if !segment.flags.contains(Flags::ACK) {
            return Break(Acceptance::Rejected);
        }
        if self.cx.state == State::SynReceived {
            return self.ack_of_syn(segment);
        }
        if segment.ack.after(self.sender.nxt()) {
            // RFC 9293 §3.10.7.4, RFC 5961 §7: it acknowledges what was never sent.
            self.receiver.challenge(&self.cx);
            return Break(Acceptance::Rejected);
        }
        if segment.ack.before(self.sender.una()) {
            return self.old_ack(segment);
        }
        Continue(())
    }

    /// … in SYN-RECEIVED.
    #[cold]
    fn ack_of_syn(&mut self, segment: &Segment) -> Stage {
        if !self.handshake.is_acknowledged_by(segment, self.sender.nxt()) {
            self.cx.outbox.put_reset(segment.ack, None);
            return Break(Acceptance::Rejected);
        }
        Break(Acceptance::Opening)
    }

    /// RFC 5961 §5.2: an ACK below the window that we ever offered data in is an attack or very stale. Others are old: their
    /// data counts, their window does not.
    #[inline(never)]
    fn old_ack(&mut self, segment: &Segment) -> Stage {
        if !self.sender.ack_is_plausible(segment) {
            self.receiver.challenge(&self.cx);
            return Break(Acceptance::Rejected);
        }
        Break(Acceptance::Old)
    }

    /// … what it acknowledges.
    fn on_ack(&mut self, segment: &Segment) {
        match self.sender.on_ack(&mut self.cx, segment) {
            Progress::Idle => return,
            Progress::Data => {}
            Progress::Fin => self.fin_acknowledged(),
        }
        self.sender.conclude_ack(&mut self.cx);
    }

    /// … the window that it tells (RFC 9293 §3.10.7.4), and the peer's clock.
    #[inline(always)]
    pub(super) fn window(&mut self, segment: &Segment) {
        self.receiver.record_timestamp(&self.cx, segment);
        self.sender.update_window(segment);
    }

    /// Seventh: the data.
    fn text(&mut self, segment: &Segment) {
        if segment.payload.len > 0 && self.cx.state.takes_data() {
            self.receiver.on_text(&mut self.cx, segment, self.sender.rtt().rto());
        }
    }

    /// Eighth: the FIN, remembered until everything before it has arrived.
    fn fin(&mut self, segment: &Segment) {
        let known = segment.flags.contains(Flags::FIN) || self.receiver.knows_fin();
        if known && self.receiver.on_fin(&self.cx, segment) {
            self.on_peer_fin();
        }
    }
}

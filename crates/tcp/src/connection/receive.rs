//! Segments arrive: the stages of RFC 9293 §3.10.7, in its order.
//!
//! acceptable? ▸ rst ▸ syn ▸ ack valid? ║ ack ▸ window ▸ text ▸ fin
//!
//! At the double line an owner above decides what becomes of the segment: all before it only judges, all after it
//! counts.

use super::{Connection, Outbox};
use crate::state::{CloseReason, State};
use ropewalk_congestion::CongestionControl;
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Ecn, Flags, Segment};
use std::ops::ControlFlow::{self, Break, Continue};

/// Whether a segment goes on to the next stage of its judgement.
type Stage = ControlFlow<Acceptance>;

/// What [`Connection::judge`] says about a segment, and [`Connection::take`] then takes of it.
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

impl Acceptance {
    /// Does what the segment says count?
    #[inline]
    pub fn counts(self) -> bool {
        !matches!(self, Self::Rejected | Self::Reset)
    }
}

/// RFC 7323 §5.5: TS.Recent is no proof after 24 days of silence.
const TS_RECENT_VALID: Duration = Duration::from_secs(24 * 24 * 3600);
/// Linux `tcp_invalid_ratelimit`: ACKs that answer segments without data are at least so far apart, so that two
/// ends that disagree do not answer each other for ever.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);
/// Honest probes of a window come an RTO apart at least.
const PROBE_INTERVAL: Duration = Duration::from_millis(100);

impl Connection {
    /// A segment of this connection arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        let acceptance = self.judge(now, segment);
        self.take(segment, acceptance);
    }

    /// The first half of [`Self::handle_segment`]: judges a segment, answers what has to be refused, and obeys a RST. An
    /// owner above looks at what is accepted before it goes on to [`Self::take`], or drops it.
    #[inline(always)]
    pub fn judge(&mut self, now: Instant, segment: &Segment) -> Acceptance {
        self.now = now;
        self.stats.segments_received += 1;
        match self.state {
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

    /// The second half: takes what [`Self::judge`] has just accepted.
    #[inline]
    pub fn take(&mut self, segment: &Segment, acceptance: Acceptance) {
        match acceptance {
            Acceptance::Current => self.take_ack(segment),
            Acceptance::Opening if self.state == State::SynSent => return self.take_answer(segment),
            Acceptance::Opening => self.establish(segment),
            // So that SND.WL1 follows RCV.NXT whatever the ACKs say.
            Acceptance::Old => self.peer.wl1 = self.peer.wl1.max(segment.seq),
            Acceptance::Signal => self.probes_unanswered = 0,
            Acceptance::Rejected | Acceptance::Reset => return,
        }
        if self.state != State::Closed {
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
                self.outbox.put_reset(segment.ack, None);
            } else {
                self.outbox.put_reset(Seq::default(), Some(segment.end()));
            }
        }
        Acceptance::Rejected
    }

    /// RFC 9293 §3.10.7.3: SYN-SENT.
    #[cold]
    fn judge_in_syn_sent(&mut self, segment: &Segment) -> Acceptance {
        let has_ack = segment.flags.contains(Flags::ACK);
        let ack_ok = has_ack && segment.ack == self.iss + 1 && self.nxt == self.iss + 1;
        if has_ack && !ack_ok {
            if !segment.flags.contains(Flags::RST) {
                self.outbox.put_reset(segment.ack, None);
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
    fn take_answer(&mut self, segment: &Segment) {
        let has_ack = segment.flags.contains(Flags::ACK);
        self.take_syn(segment);
        let ecn = segment.flags.contains(Flags::ECE);
        let set_up = ecn && segment.flags.contains(Flags::CWR) != has_ack;
        self.peer.ecn = self.config.uses_ecn() && set_up && self.syn_retransmissions == 0;
        if has_ack {
            self.establish(segment);
            // The third segment of the handshake leaves alone, as from a real stack whose connect() returns.
            self.acks.pure();
        } else {
            // Simultaneous open, RFC 9293 §3.5 figure 7.
            self.state = State::SynReceived;
            self.outbox.put(Outbox::SYN);
        }
    }

    /// RFC 9293 §3.10.7.4, first: is the sequence number in the window? With PAWS before it (RFC 7323 §5.3).
    #[inline]
    fn acceptability(&mut self, segment: &Segment) -> Stage {
        self.timestamp_is_acceptable(segment)?;
        let next = self.window.next();
        // In order and within the window: nearly every segment.
        let plain =
            segment.seq == next && (segment.payload.len == 0 || segment.end().before_eq(self.window.edge()));
        if plain || self.in_window(segment.seq, segment.sequence_len()) {
            return Continue(());
        }
        self.unacceptable(segment);
        Break(Acceptance::Rejected)
    }

    /// RFC 7323 §5.3 R3: only an acceptable segment moves TS.Recent, and only one whose ACK is acceptable too: forged
    /// clocks would have honest segments dropped. A spurious retransmission that overtakes originals would, too.
    #[inline]
    fn record_timestamp(&mut self, segment: &Segment) {
        if self.peer.timestamps
            && let Some(timestamps) = segment.options.timestamps
            && !segment.flags.contains(Flags::RST)
            && segment.seq.before_eq(self.peer.last_ack_sent)
        {
            self.peer.ts_recent = timestamps.value;
            self.peer.ts_recent_at = self.now;
        }
    }

    /// RFC 9293 §3.4: the four cases.
    #[inline(never)]
    fn in_window(&self, seq: Seq, len: u32) -> bool {
        let (next, size) = (self.window.next(), self.window.size());
        let inside = |seq: Seq| seq.after_eq(next) && seq.before(next + size);
        match (len, size) {
            (0, 0) => seq == next,
            (0, _) => inside(seq) || seq == next + size,
            // RFC 9293 §3.10.7.4: with a window of zero nothing is taken, but a valid ACK is.
            (_, 0) => seq == next,
            (_, _) => inside(seq) || inside(seq + (len - 1)) || (seq.before(next) && (seq + len).after(next)),
        }
    }

    /// RFC 7323 §5.3 R1 and R2, §4.3 (2).
    #[inline]
    fn timestamp_is_acceptable(&mut self, segment: &Segment) -> Stage {
        if !self.peer.timestamps || segment.flags.contains(Flags::RST) {
            return Continue(());
        }
        let Some(timestamps) = segment.options.timestamps else {
            // RFC 7323 §3.2: without the option it SHOULD be dropped silently.
            return Break(Acceptance::Rejected);
        };
        let older = (timestamps.value.wrapping_sub(self.peer.ts_recent) as i32) < 0;
        if !older || self.now.saturating_since(self.peer.ts_recent_at) > TS_RECENT_VALID {
            return Continue(());
        }
        self.unacceptable(segment);
        Break(Acceptance::Rejected)
    }

    /// Answers with an ACK that says where we are.
    #[cold]
    fn unacceptable(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if self.state == State::SynReceived && segment.flags.contains(Flags::SYN) {
            return self.syn_again(segment);
        }
        if segment.flags.contains(Flags::SYN) || segment.sequence_len() == 0 {
            return self.challenge_old(segment);
        }
        self.stats.duplicate_bytes_received += u64::from(segment.payload.len);
        let next = self.window.next();
        let end = segment.end().min(next);
        if segment.seq.before(end) && self.ack_is_plausible(segment) {
            // RFC 2883 §4: only what lies below RCV.NXT arrived before. The rest is dropped: no block may report it.
            self.report_duplicate(segment.seq, end);
            self.acks.duplicate(&self.config.delayed_ack);
        } else {
            self.acks.at_once();
        }
        // RFC 9293 §3.10.7.4: a retransmitted FIN restarts TIME-WAIT.
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) && segment.end() == next {
            self.enter_time_wait();
        }
    }

    /// A segment outside the window that brings nothing. A window probe, a keepalive or a repeated SYN/ACK lies just below
    /// RCV.NXT: no flood of other segments may use up its answer.
    fn challenge_old(&mut self, segment: &Segment) {
        if segment.seq + 1 != self.window.next() {
            return self.challenge();
        }
        if self.limits.probe.allows(self.now, PROBE_INTERVAL) {
            self.acks.at_once();
        }
    }

    /// The peer's SYN once more: our SYN/ACK was lost, or both SYN/ACKs of a simultaneous open crossed.
    #[cold]
    fn syn_again(&mut self, segment: &Segment) {
        if segment.seq != self.irs {
            return self.challenge();
        }
        let acknowledged = segment.flags.contains(Flags::ACK) && segment.ack == self.iss + 1;
        if acknowledged && self.nxt == self.iss + 1 {
            self.establish(segment);
            self.acks.pure();
        } else if !segment.flags.contains(Flags::ACK) {
            // RFC 3168 §6.1.1: not after a SYN that does not ask for it.
            self.peer.ecn &= segment.flags.contains(Flags::ECE | Flags::CWR);
            self.outbox.put(Outbox::SYN);
        }
    }

    /// Octets from `left` up to `right` arrived a second time: the next ACK says so (RFC 2883 §4).
    fn report_duplicate(&mut self, left: Seq, right: Seq) {
        // What lies below the peer's SYN never arrived.
        let known = self.stats.bytes_received + u64::from(self.peer_fin_taken);
        let next = self.window.next();
        let arrived = left.after_eq(next) || u64::from(next.since(left)) <= known;
        if arrived && self.peer.sack && self.config.report_duplicates {
            self.sacks.duplicated((left, right));
        }
    }

    /// A challenge ACK (RFC 5961 §3.2, §4.2, §5.2), not too often (§7).
    #[cold]
    fn challenge(&mut self) {
        if self.limits.challenge.allows(self.now, CHALLENGE_INTERVAL) {
            self.acks.at_once();
        }
    }

    /// Second: RST, with RFC 5961 §3.2 (RFC 9293 §3.10.7.4): only the exact number resets.
    #[inline]
    fn rst(&mut self, segment: &Segment) -> Stage {
        if segment.flags.contains(Flags::RST) { self.take_reset(segment) } else { Continue(()) }
    }

    #[cold]
    fn take_reset(&mut self, segment: &Segment) -> Stage {
        if segment.seq == self.window.next() {
            // RFC 9293 §3.10.7.4: who opened actively is told that the connection was refused.
            let refused = self.state == State::SynReceived && !self.passive;
            self.close(if refused { CloseReason::Refused } else { CloseReason::Reset });
            return Break(Acceptance::Reset);
        }
        self.challenge();
        Break(Acceptance::Rejected)
    }

    /// Fourth: a SYN in the window is answered with a challenge ACK (RFC 5961 §4.2).
    #[inline]
    fn syn(&mut self, segment: &Segment) -> Stage {
        if !segment.flags.contains(Flags::SYN) {
            return Continue(());
        }
        self.challenge();
        Break(Acceptance::Rejected)
    }

    /// Fifth: is the acknowledgement one of what was sent?
    #[inline]
    fn ack(&mut self, segment: &Segment) -> Stage {
        if !segment.flags.contains(Flags::ACK) {
            return Break(Acceptance::Rejected);
        }
        if self.state == State::SynReceived {
            return self.ack_of_syn(segment);
        }
        if segment.ack.after(self.nxt) {
            // RFC 9293 §3.10.7.4, RFC 5961 §7: it acknowledges what was never sent.
            self.challenge();
            return Break(Acceptance::Rejected);
        }
        if segment.ack.before(self.una) {
            return self.old_ack(segment);
        }
        Continue(())
    }

    /// … in SYN-RECEIVED.
    #[cold]
    fn ack_of_syn(&mut self, segment: &Segment) -> Stage {
        if segment.ack != self.iss + 1 || self.nxt != self.iss + 1 {
            self.outbox.put_reset(segment.ack, None);
            return Break(Acceptance::Rejected);
        }
        Break(Acceptance::Opening)
    }

    /// RFC 5961 §5.2: an ACK below the window that we ever offered data in is an attack or very stale. Others are old: their
    /// data counts, their window does not.
    #[inline(never)]
    fn old_ack(&mut self, segment: &Segment) -> Stage {
        if !self.ack_is_plausible(segment) {
            self.challenge();
            return Break(Acceptance::Rejected);
        }
        Break(Acceptance::Old)
    }

    /// RFC 5961 §5.2: SND.UNA - MAX.SND.WND =< SEG.ACK =< SND.NXT, and nothing below our SYN. A subflow's MAX.SND.WND is that
    /// of the connection, which the window field of each subflow tells.
    fn ack_is_plausible(&self, segment: &Segment) -> bool {
        let age = self.una.since(segment.ack);
        let oldest = u64::from(self.peer.max_window).min(self.queue.una().get());
        segment.ack.before_eq(self.nxt) && (segment.ack.after_eq(self.una) || u64::from(age) <= oldest)
    }

    /// The window field in octets.
    #[inline]
    pub(super) fn scaled_window(&self, segment: &Segment) -> u32 {
        let scale = if segment.flags.contains(Flags::SYN) { 0 } else { self.peer.scale };
        u32::from(segment.window) << scale
    }

    /// … its update (RFC 9293 §3.10.7.4: SND.UNA =< SEG.ACK, which SND.UNA is now, and only from newer segments). SND.WL2,
    /// the last ACK that did so, is never above SND.UNA and so needs no memory.
    #[inline]
    fn window(&mut self, segment: &Segment) {
        self.record_timestamp(segment);
        let peer = &mut self.peer;
        if segment.ack != self.una || segment.seq.before(peer.wl1) {
            return;
        }
        let window = u32::from(segment.window) << peer.scale;
        peer.wl1 = segment.seq;
        peer.window = window;
        peer.max_window = peer.max_window.max(window);
        if window > 0 && self.persist_backoff > 0 {
            // RFC 9293 §3.8.6.1: the next time probing begins anew.
            self.persist_backoff = 0;
            self.timers.stop_persist();
        }
    }

    /// Seventh: the data.
    #[inline]
    fn text(&mut self, segment: &Segment) {
        let len = segment.payload.len;
        if len == 0 || !self.state.takes_data() {
            return;
        }
        if self.peer.ecn {
            self.notice_congestion(segment);
        }
        let next = self.window.next();
        let plain = segment.seq == next && !self.reassembly.has_hole() && self.peer_fin.is_none();
        if plain && segment.end().before_eq(self.window.edge()) {
            self.take_in_order(segment);
        } else {
            self.take_trimmed(segment);
        }
        let echo = self.full_segments_echo(segment);
        self.window.tune(self.now, self.stats.bytes_received, echo, self.acks.segment_size(1));
    }

    /// RFC 3168 §6.1.3.
    #[cold]
    fn notice_congestion(&mut self, segment: &Segment) {
        if self.config.congestion_control == CongestionControl::Dctcp {
            return self.notice_mark(segment.ecn == Ecn::Ce);
        }
        if segment.flags.contains(Flags::CWR) {
            self.ecn.echo = false;
        }
        if segment.ecn == Ecn::Ce {
            if !self.ecn.echo {
                self.acks.at_once();
            }
            self.ecn.echo = true;
        }
    }

    /// RFC 8257 §3.2: ECN-Echo says what the last segment bore. When that changes, what came before is acknowledged
    /// first, with the old echo; the change itself is told at once.
    fn notice_mark(&mut self, marked: bool) {
        if marked == self.ecn.echo {
            return;
        }
        if self.acks.is_pending() {
            self.outbox.put_echo(self.window.next(), self.ecn.echo);
            self.acks.sent();
        }
        self.ecn.echo = marked;
        self.acks.at_once();
    }

    /// The timestamp that a full-sized segment echoes: its age is the round-trip time as a receiver sees it.
    #[inline]
    fn full_segments_echo(&self, segment: &Segment) -> Option<u32> {
        let timestamps = segment.options.timestamps.filter(|_| self.peer.timestamps)?;
        let full = segment.payload.len >= self.acks.segment_size(1);
        (full && timestamps.echo != 0).then_some(timestamps.echo)
    }

    #[inline]
    fn take_in_order(&mut self, segment: &Segment) {
        let next = self.reassembly.append(segment.seq, segment.payload);
        self.received_up_to(next);
        self.acks.in_order(self.now, segment.payload.len, &self.config.delayed_ack, self.rtt.rto());
    }

    /// RCV.NXT moves to `next`.
    #[inline]
    fn received_up_to(&mut self, next: Seq) {
        self.stats.bytes_received += u64::from(next.since(self.window.next()));
        self.window.advance(next);
    }

    /// Data of which perhaps only a part is new, in the window, and in order.
    #[inline(never)]
    fn take_trimmed(&mut self, segment: &Segment) {
        let next = self.window.next();
        // RFC 9293 §3.10.7.4: nothing follows the FIN.
        let edge = self.peer_fin.map_or(self.window.edge(), |fin| fin.min(self.window.edge()));
        let (mut seq, mut payload) = (segment.seq, segment.payload);
        if seq.before(next) {
            let old = next.since(seq).min(payload.len);
            self.stats.duplicate_bytes_received += u64::from(old);
            self.report_duplicate(seq, seq + old);
            self.acks.duplicate(&self.config.delayed_ack);
            seq += old;
            payload.offset += u64::from(old);
            payload.len -= old;
        }
        if (seq + payload.len).after(edge) {
            let room = if edge.after(seq) { edge.since(seq) } else { 0 };
            self.stats.duplicate_bytes_received += u64::from(payload.len - room);
            payload.len = room;
        }
        if payload.len == 0 {
            return self.acks.at_once();
        }
        if seq == next {
            self.fill_hole(seq, payload);
        } else {
            self.store_above_hole(segment, seq, payload);
        }
    }

    /// RFC 5681 §4.2: data that fills a hole, wholly or in part, is acknowledged at once.
    fn fill_hole(&mut self, seq: Seq, payload: ropewalk_wire::Payload) {
        let had_hole = self.reassembly.has_hole();
        let overlap = self.reassembly.block_around(seq, seq + (payload.len - 1));
        if let Some((left, _)) = overlap {
            let right = seq + payload.len;
            self.stats.duplicate_bytes_received += u64::from(right.since(left));
            self.report_duplicate(left, right);
        }
        let next = self.reassembly.insert_in_order(seq, payload);
        self.received_up_to(next);
        self.sacks.advanced(next);
        self.acks.in_order(self.now, payload.len, &self.config.delayed_ack, self.rtt.rto());
        if had_hole {
            self.acks.at_once();
        }
    }

    /// RFC 5681 §4.2: data above a hole is acknowledged at once.
    fn store_above_hole(&mut self, segment: &Segment, seq: Seq, payload: ropewalk_wire::Payload) {
        self.stats.out_of_order_segments += 1;
        let next = self.window.next();
        let Some(added) = self.reassembly.insert_out_of_order(next, seq, payload) else {
            return self.acks.at_once();
        };
        self.stats.duplicate_bytes_received += u64::from(payload.len - added);
        if added == 0 {
            // RFC 2883 §4.2: a duplicate above the hole.
            self.report_duplicate(seq, seq + payload.len);
        }
        if segment.flags.contains(Flags::FIN) {
            self.note_fin(segment.seq + segment.payload.len);
        }
        if self.peer.sack
            && let Some((left, right)) = self.reassembly.block_around(next, seq)
        {
            let fin = u32::from(self.peer_fin == Some(right));
            self.sacks.received((left, right + fin));
        }
        self.acks.at_once();
    }

    /// Eighth: the FIN, remembered until everything before it has arrived.
    #[inline]
    fn fin(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::FIN) || self.peer_fin.is_some() {
            self.take_fin(segment);
        }
    }

    #[cold]
    fn take_fin(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::FIN) && self.state.takes_data() {
            let seq = segment.seq + segment.payload.len;
            self.note_fin(seq);
            if segment.payload.len == 0 && seq.after(self.window.next()) {
                self.fin_above_hole(seq);
            }
        }
        if self.peer_fin == Some(self.window.next()) && !self.peer_fin_taken {
            self.window.advance(self.window.next() + 1);
            self.sacks.advanced(self.window.next());
            self.take_peer_fin();
        }
    }

    /// The FIN is the octet `seq`. The first one that fits counts: within the window, and above all that has arrived.
    fn note_fin(&mut self, seq: Seq) {
        let next = self.window.next();
        let end = self.reassembly.end(next).unwrap_or(next);
        if self.peer_fin.is_none() && seq.after_eq(end) && seq.before_eq(self.window.edge()) {
            self.peer_fin = Some(seq);
        }
    }

    /// A FIN without data arrived before the data: report it as any other octet.
    fn fin_above_hole(&mut self, seq: Seq) {
        if self.peer.sack && self.peer_fin == Some(seq) {
            let left =
                self.reassembly.block_around(self.window.next(), seq - 1).map_or(seq, |(left, _)| left);
            self.sacks.received((left, seq + 1));
        }
        self.acks.at_once();
    }
}

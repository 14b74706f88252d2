//! The next segment with data or a FIN.

use super::Sender;
use super::defer::Deferral;
use super::packet::Place;
use crate::config::LossRecovery;
use crate::context::Context;
use crate::event::Event;
use crate::outgoing::Outgoing;
use crate::recovery::Phase;
use crate::recovery::rack::Probe;
use crate::send::queue::{Marks, Sent};
use crate::send::{Fin, Room};
use ropewalk_units::Mark;
use ropewalk_wire::{Ecn, Flags};

/// What keeps new data from leaving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocked {
    /// Nothing to send.
    Empty,
    Congestion,
    PeerWindow,
    Nagle,
    /// More may leave with it after the next ACK.
    Deferred(Deferral),
}

impl Sender {
    /// May [`Self::next_segment`] have a segment, or something to take note of? When the answer is no, calling it would
    /// change nothing.
    pub(crate) fn may_have_data(&self, cx: &Context) -> bool {
        if self.timers.is_pacing() {
            return self.owes_what_timed_out();
        }
        if self.queue.wants_retransmission() || self.recovery.phase != Phase::Open {
            return true;
        }
        if self.stream.unsent() == 0 {
            return self.fin == Fin::Wanted;
        }
        if self.deferred {
            return false;
        }
        let held = self.is_held_by_congestion(cx, self.next_len()) && self.usage.is_limited();
        !held
    }

    /// RFC 8985 §7.3 TLP_send_probe.
    #[inline(never)]
    pub(crate) fn tail_probe(&mut self, cx: &mut Context) -> Option<Outgoing> {
        let flight = self.flight();
        let window = if cx.owns_window() { self.peer.usable(flight) } else { u32::MAX };
        let len = self.next_len();
        if len > 0 && len <= window {
            let segment = self.send_new(cx, len);
            self.on_probe_sent(cx, Probe::NewData);
            return Some(segment);
        }
        let index = self.queue.last_unsacked()?;
        let segment = self.send_again(cx, index);
        self.on_probe_sent(cx, Probe::Retransmission);
        Some(segment)
    }

    /// Repairs first, then new data, then repairs on suspicion (RFC 6675 §4 NextSeg).
    pub(crate) fn next_segment(&mut self, cx: &mut Context) -> Option<Outgoing> {
        if self.is_held_by_pacer(cx) {
            return if self.owes_what_timed_out() { self.transmit_lost(cx) } else { None };
        }
        if self.queue.wants_retransmission()
            && let Some(segment) = self.transmit_lost(cx)
        {
            return Some(segment);
        }
        self.widen_when_due(cx);
        match self.next_new(cx) {
            Ok(len) => return Some(self.send_new(cx, len)),
            Err(Blocked::PeerWindow) => {
                if self.queue.is_empty() && !self.timers.is_persisting() {
                    self.start_persist(cx);
                }
            }
            Err(Blocked::Congestion) => self.usage.set_limited(),
            Err(Blocked::Deferred(why)) => self.defer(why),
            Err(Blocked::Empty | Blocked::Nagle) => {}
        }
        let suspects = self.recovery.phase == Phase::Fast && self.recovery.method == LossRecovery::Sack;
        if suspects { self.transmit_suspect(cx) } else { None }
    }

    /// What a timeout sends again has waited long enough: no pacer holds it, as in Linux (`tcp_retransmit_timer`).
    fn owes_what_timed_out(&self) -> bool {
        self.recovery.phase == Phase::Timeout
            && self.recovery.fast_retransmit
            && self.queue.wants_retransmission()
    }

    /// RFC 6675 §4 NextSeg (1).
    #[inline(never)]
    fn transmit_lost(&mut self, cx: &mut Context) -> Option<Outgoing> {
        let index = self.next_repair()?;
        self.recovery.fast_retransmit = false;
        Some(self.send_again(cx, index))
    }

    /// The lowest segment deemed lost, if it may leave now.
    fn next_repair(&mut self) -> Option<usize> {
        let index = self.queue.next_lost()?;
        if !self.recovery.fast_retransmit {
            if self.recovery.detectors.frto.is_active() {
                return None;
            }
            let len = self.queue.get(index)?.len;
            if self.pipe() + len > self.controller.cwnd() {
                return None;
            }
        }
        Some(index)
    }

    /// RFC 6675 §4 NextSeg (3) and (4).
    #[inline(never)]
    fn transmit_suspect(&mut self, cx: &mut Context) -> Option<Outgoing> {
        if self.pipe() + self.smss > self.controller.cwnd() {
            return None;
        }
        let index = self.next_suspect(cx)?;
        Some(self.send_again(cx, index))
    }

    fn next_suspect(&mut self, cx: &Context) -> Option<usize> {
        let (hole, looked_at) = self.queue.next_hole(self.recovery.hole_from);
        self.recovery.hole_from = looked_at;
        if hole.is_some() {
            return hole;
        }
        if self.recovery.rescue_due && self.queue.highest_sacked().is_some() {
            let index = self.queue.last_unsacked()?;
            // A segment whose acknowledgement cannot have come yet is not sent again.
            let age = cx.now.saturating_since(self.queue.get(index)?.sent_at);
            if self.rtt.srtt().is_some_and(|srtt| age >= srtt) {
                self.recovery.rescue_due = false;
                return Some(index);
            }
        }
        None
    }

    /// Octets that count against cwnd for new data.
    pub(super) fn outstanding(&self, cx: &Context) -> u32 {
        if self.recovery.phase != Phase::Open {
            return self.pipe();
        }
        if self.queue.is_plain() && self.recovery.duplicates == 0 {
            // Nothing is SACKed, lost or sent again: all the cases below say this.
            return self.flight();
        }
        if !cx.config.limited_transmit {
            return self.flight();
        }
        if self.recovery.method == LossRecovery::NewReno {
            // RFC 3042 §2: two segments beyond cwnd, one for each of the first duplicate ACKs.
            let duplicates = self.recovery.duplicates.min(2);
            return self.flight().saturating_sub(duplicates * self.smss);
        }
        self.queue.pipe(self.flight())
    }

    /// Octets of data of the next new segment, 0 for a FIN alone; or why there is none.
    fn next_new(&self, cx: &Context) -> Result<u32, Blocked> {
        let unsent = self.stream.unsent();
        if unsent == 0 {
            return self.next_fin(cx);
        }
        let len = self.next_len();
        if self.is_held_by_congestion(cx, len) {
            return Err(Blocked::Congestion);
        }
        let len = self.fit_window(cx, len)?;
        if len < self.smss && self.nagle_holds(cx, len, unsent) {
            return Err(Blocked::Nagle);
        }
        match self.deferral(cx) {
            Some(why) => Err(Blocked::Deferred(why)),
            None => Ok(len),
        }
    }

    /// Octets of the next new segment, if nothing else limits it.
    pub(super) fn next_len(&self) -> u32 {
        u64::from(self.smss).min(self.stream.front_len()) as u32
    }

    pub(super) fn is_held_by_congestion(&self, cx: &Context, len: u32) -> bool {
        self.recovery.new_segments == 0 && self.outstanding(cx) + len > self.controller.cwnd()
    }

    /// A FIN alone is not held by cwnd.
    fn next_fin(&self, cx: &Context) -> Result<u32, Blocked> {
        if self.fin != Fin::Wanted {
            return Err(Blocked::Empty);
        }
        if cx.owns_window() && self.flight() >= self.peer.size() {
            return Err(Blocked::PeerWindow);
        }
        Ok(0)
    }

    /// RFC 9293 §3.8.6.2.1 (silly window avoidance): a segment of full length, or half of the largest window seen.
    /// Less is sent only when nothing is on its way and the window has stayed small (persist timer).
    pub(super) fn fit_window(&self, cx: &Context, len: u32) -> Result<u32, Blocked> {
        if !cx.owns_window() {
            return Ok(len);
        }
        let usable = self.peer.usable(self.flight());
        if usable >= len {
            return Ok(len);
        }
        let override_timeout = self.timeouts.persist_backoff() > 0 && self.queue.is_empty();
        if usable > 0 && (usable >= self.peer.largest() / 2 || override_timeout) {
            return Ok(usable);
        }
        Err(Blocked::PeerWindow)
    }

    /// Nagle's algorithm as Linux does it (Minshall): the tail waits only for another small segment. What an
    /// owner above hands down in pieces is its business.
    fn nagle_holds(&self, cx: &Context, len: u32, unsent: u64) -> bool {
        cx.config.nagle
            && cx.owns_window()
            && u64::from(len) == unsent
            && self.fin == Fin::None
            && self.small_end > self.queue.una()
    }

    /// Cuts and sends a new segment of `len` octets, with the FIN if it is the last.
    #[inline(always)]
    fn send_new(&mut self, cx: &mut Context, len: u32) -> Outgoing {
        if self.queue.is_empty() {
            self.restart(cx);
        }
        let ends_packet = cx.config.defer_packets && self.take_from_packet(len);
        let payload = self.stream.cut(len);
        if ends_packet {
            self.end_written_packet();
        }
        let seq = self.nxt;
        let last = self.stream.unsent() == 0;
        let fin = last && self.fin == Fin::Wanted;
        if self.recovery.phase == Phase::Open && self.recovery.duplicates > 0 {
            self.recovery.limited += len;
        }
        let end = seq + len + u32::from(fin);
        self.pace_departure(cx, end, len + u32::from(fin), len);
        let marks = if fin { Marks::FIN } else { Marks::default() };
        self.queue.push(Sent::new(seq, payload, marks, cx.now));
        self.nxt = end;
        let mut flags = Flags::ACK;
        let mut last_of_packet = false;
        if fin {
            self.fin = Fin::Sent(self.nxt);
            flags |= Flags::FIN;
        }
        if cx.config.push_packets || cx.config.send_autotuning || cx.config.defer_packets {
            let place = self.place_in_packet(cx, len, ends_packet);
            last_of_packet = cx.config.push_packets && place == Place::Last;
        }
        if last || last_of_packet {
            flags |= Flags::PSH;
        }
        if len < self.smss {
            self.small_end = self.sent_mark();
        } else if self.full_end == Mark::START {
            self.full_end = self.sent_mark();
        }
        cx.stats.bytes_sent += u64::from(len);
        self.recovery.new_segments = self.recovery.new_segments.saturating_sub(1);
        self.after_data(cx, len);
        self.measure_usage(cx);
        let mut segment = Outgoing { seq, payload, flags, ecn: Ecn::NotEct };
        if cx.agreed.ecn && len > 0 {
            self.mark_ecn(&mut segment);
        }
        segment
    }

    /// RFC 3168 §6.1.2, §6.1.5: only new data is ECN-capable, and carries CWR.
    #[cold]
    fn mark_ecn(&mut self, segment: &mut Outgoing) {
        segment.ecn = Ecn::Ect0;
        if std::mem::take(&mut self.ecn.reduced) {
            segment.flags |= Flags::CWR;
        }
    }

    /// RFC 5681 §4.1: the window of an idle connection says nothing about the path any more.
    #[cold]
    fn restart(&mut self, cx: &mut Context) {
        let idle = cx.now.saturating_since(self.last_sent);
        let rto = self.rtt.rto();
        if cx.config.idle_restart && idle > rto && cx.stats.data_segments_sent > 0 {
            self.controller.restart_after_idle(idle, rto);
            self.trace_window(cx);
        }
        self.controller.on_transmit_start(cx.now, idle);
        self.rate.on_restart(cx.now);
    }

    /// Sends a segment of the queue again.
    #[inline(never)]
    fn send_again(&mut self, cx: &mut Context, index: usize) -> Outgoing {
        let now = cx.now;
        let (seq, payload, end, fin) = self.queue.get(index).map_or_else(Default::default, |sent| {
            (sent.seq, sent.payload(), sent.end(), sent.end() != sent.seq + sent.payload().len)
        });
        self.pace_departure(cx, end, end.since(seq), payload.len);
        self.queue.mark_retransmitted(index, now);
        if cx.config.send_autotuning {
            self.queue.make_packet_of(index);
        }
        cx.stats.retransmissions += 1;
        cx.stats.retransmitted_bytes += u64::from(payload.len);
        self.on_retransmitted(cx, seq, end);
        self.after_data(cx, payload.len);
        if index == 0 {
            // RFC 6298 §5: the segment that the timer watches is not sent again within one RTO of its last transmission.
            self.timers.restart_retransmission(now, self.rtt.rto());
        }
        if cx.config.trace {
            cx.event(Event::Retransmitted { seq, len: payload.len });
        }
        let flags = if fin { Flags::ACK | Flags::FIN | Flags::PSH } else { Flags::ACK };
        Outgoing { seq, payload, flags, ecn: Ecn::NotEct }
    }

    /// Timers and recovery after any segment with data or FIN.
    fn after_data(&mut self, cx: &mut Context, len: u32) {
        cx.stats.data_segments_sent += u64::from(len > 0);
        self.last_sent = cx.now;
        if self.recovery.phase == Phase::Fast
            && let Some(prr) = &mut self.recovery.prr
        {
            prr.on_sent(len);
        }
        // RFC 6298 §5.1.
        self.timers.start_retransmission(cx.now, self.rtt.rto());
        self.timers.stop_persist();
        self.timeouts.end_persist();
        self.schedule_probe(cx);
    }

    /// Linux `tcp_cwnd_validate`: how much of the window this round used.
    #[inline(always)]
    fn measure_usage(&mut self, cx: &Context) {
        let is_full = self.outstanding(cx) + self.smss > self.controller.cwnd();
        let room = if is_full { Room::None } else { Room::Segment };
        self.usage.on_sent(self.queue.una(), self.flight(), room);
    }
}

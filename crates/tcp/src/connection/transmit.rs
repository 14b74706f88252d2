//! Segments leave.

use super::recovery::Phase;
use super::{Connection, Fin, LossRecovery, Outbox};
use crate::event::Event;
use crate::send::queue::Sent;
use crate::state::State;
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Ecn, Flags, Options, Payload, SackBlocks, Segment, Timestamps};

/// What keeps new data from leaving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Blocked {
    /// Nothing to send.
    Empty,
    Congestion,
    PeerWindow,
    Nagle,
}

impl Connection {
    /// The next segment that may leave now; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.transmit(now, &mut segment).then_some(segment)
    }

    /// As [`Self::poll_transmit`], but written over `segment`, where it is to stay: moving segments about costs more
    /// than making them. Returns whether there was one.
    #[inline(always)]
    pub fn transmit(&mut self, now: Instant, segment: &mut Segment) -> bool {
        self.now = now;
        if !self.outbox.is_empty() && self.transmit_due(segment) {
            return true;
        }
        if self.acks.wants_pure() {
            return self.pure_ack(segment);
        }
        let has_data = self.stream.unsent() > 0 || !self.queue.is_empty() || self.fin == Fin::Wanted;
        (has_data && self.state.may_transmit() && self.transmit_data(segment)) || self.transmit_ack(segment)
    }

    /// May [`Self::transmit`] have a segment? When the answer is no, it has no segment, and calling it would change
    /// nothing. The question is cheap, and saves a search after most segments.
    #[inline(always)]
    pub fn wants_to_transmit(&self) -> bool {
        !self.outbox.is_empty() || self.acks.is_due() || self.may_have_data() || self.owes_window_update()
    }

    /// May [`Self::transmit_data`] have a segment, or something to take note of?
    #[inline]
    fn may_have_data(&self) -> bool {
        if self.timers.pacing != Instant::MAX {
            return false;
        }
        if self.queue.wants_retransmission() || self.recovery.phase != Phase::Open {
            return true;
        }
        if self.stream.unsent() == 0 {
            return self.fin == Fin::Wanted;
        }
        let held = self.is_held_by_congestion(self.next_len()) && self.usage.limited;
        !held
    }

    /// What leaves whatever the windows say.
    #[cold]
    fn transmit_due(&mut self, segment: &mut Segment) -> bool {
        if self.outbox.take(Outbox::RESET) {
            let (seq, ack) = self.outbox.reset;
            *segment = self.reset(seq, ack);
            return true;
        }
        if self.outbox.take(Outbox::SYN) {
            *segment = self.syn_segment();
            return true;
        }
        if self.outbox.take(Outbox::ECHO) {
            let (ack, echo) = self.outbox.echo;
            return self.ack_before_marks(segment, ack, echo);
        }
        if self.outbox.take(Outbox::WINDOW_PROBE) {
            return self.window_probe(segment);
        }
        self.outbox.take(Outbox::TAIL_PROBE) && self.tail_probe(segment)
    }

    fn reset(&mut self, seq: Seq, ack: Option<Seq>) -> Segment {
        self.stats.segments_sent += 1;
        let flags = if ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST };
        // RFC 7323 §3.2: a RST too carries a timestamp.
        let timestamps = self.stamp();
        let options = Options { timestamps, ..Options::default() };
        Segment { seq, ack: ack.unwrap_or_default(), flags, options, ..Segment::default() }
    }

    /// RFC 9293 §3.5: SYN, or SYN/ACK once the peer's is known; with the options of RFC 7323 and RFC 2018.
    fn syn_segment(&mut self) -> Segment {
        self.nxt = self.iss + 1;
        if self.syn_retransmissions == 0 {
            self.syn_sent_at = self.now;
        }
        self.timers.retransmission = self.now.saturating_add(self.rtt.rto());
        self.stats.segments_sent += 1;
        let answer = self.state == State::SynReceived;
        // RFC 3168 §6.1.1.1: a SYN that got no answer may have been dropped for its ECN bits.
        let ecn =
            if answer { self.peer.ecn } else { self.config.uses_ecn() && self.syn_retransmissions == 0 };
        let mut flags = if answer { Flags::SYN | Flags::ACK } else { Flags::SYN };
        if ecn {
            flags |= if answer { Flags::ECE } else { Flags::ECE | Flags::CWR };
        }
        let timestamps = if answer { self.peer.timestamps } else { self.config.timestamps };
        let options = Options {
            mss: Some(self.config.mss),
            window_scale: self.config.window_scale.filter(|_| !answer || self.peer.scaling),
            sack_permitted: if answer { self.peer.sack } else { self.config.sack },
            timestamps: timestamps.then(|| Timestamps { value: self.timestamp(), echo: self.peer.ts_recent }),
            ..Options::default()
        };
        let ack = if answer { self.window.next() } else { Seq::default() };
        let window = self.window.advertise_on_syn();
        Segment { seq: self.iss, ack, flags, window, options, ..Segment::default() }
    }

    /// RFC 8257 §3.2: acknowledges what came before the marks changed.
    fn ack_before_marks(&mut self, segment: &mut Segment, ack: Seq, echo: bool) -> bool {
        let acks = self.acks.clone();
        self.pure_ack(segment);
        self.acks = acks;
        // The same right edge of the window, seen from further back.
        let back = segment.ack.since(ack) >> self.window.scale();
        segment.window = segment.window.saturating_add(u16::try_from(back).unwrap_or(u16::MAX));
        segment.ack = ack;
        segment.flags = if echo { Flags::ACK | Flags::ECE } else { Flags::ACK };
        true
    }

    /// RFC 9293 §3.8.6.1: an old sequence number without data, as Linux sends: the answer tells the window.
    fn window_probe(&mut self, segment: &mut Segment) -> bool {
        self.stats.window_probes += 1;
        self.write(segment, self.una - 1, Payload::default(), Flags::ACK)
    }

    /// RFC 8985 §7.3 TLP_send_probe.
    #[inline(never)]
    fn tail_probe(&mut self, segment: &mut Segment) -> bool {
        let flight = self.flight();
        let window = if self.owns_window() { self.peer.window.saturating_sub(flight) } else { u32::MAX };
        let len = self.next_len();
        if len > 0 && len <= window && self.fin_allows_data() {
            self.send_new(segment, len);
            self.probe_sent(false);
            return true;
        }
        let Some(index) = self.queue.last_unsacked() else { return false };
        self.send_again(segment, index);
        self.probe_sent(true);
        true
    }

    fn fin_allows_data(&self) -> bool {
        !matches!(self.fin, Fin::Sent(_))
    }

    /// Repairs first, then new data, then repairs on suspicion (RFC 6675 §4 NextSeg).
    #[inline]
    fn transmit_data(&mut self, segment: &mut Segment) -> bool {
        if self.is_held_by_pacer() {
            return false;
        }
        if self.queue.wants_retransmission() && self.transmit_lost(segment) {
            return true;
        }
        match self.next_new() {
            Ok(len) => return self.send_new(segment, len),
            Err(Blocked::PeerWindow) => {
                if self.queue.is_empty() && self.timers.slow == Instant::MAX {
                    self.start_persist();
                }
            }
            Err(Blocked::Congestion) => self.usage.limited = true,
            Err(Blocked::Empty | Blocked::Nagle) => {}
        }
        self.recovery.phase == Phase::Fast
            && self.loss_recovery == LossRecovery::Sack
            && self.transmit_suspect(segment)
    }

    /// RFC 6675 §4 NextSeg (1).
    #[inline(never)]
    fn transmit_lost(&mut self, segment: &mut Segment) -> bool {
        let Some(index) = self.next_repair() else { return false };
        self.recovery.fast_retransmit = false;
        self.send_again(segment, index)
    }

    /// The lowest segment deemed lost, if it may leave now.
    #[inline]
    fn next_repair(&mut self) -> Option<usize> {
        let index = self.queue.next_lost()?;
        if !self.recovery.fast_retransmit {
            if self.detectors.frto.is_active() {
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
    fn transmit_suspect(&mut self, segment: &mut Segment) -> bool {
        if self.pipe() + self.smss > self.controller.cwnd() {
            return false;
        }
        let Some(index) = self.next_suspect() else { return false };
        self.send_again(segment, index)
    }

    fn next_suspect(&mut self) -> Option<usize> {
        if let Some(index) = self.queue.next_hole(self.recovery.hole_from) {
            self.recovery.hole_from = self.mark(self.queue.get(index)?.end());
            return Some(index);
        }
        if self.recovery.rescue && self.queue.highest_sacked().is_some() {
            let index = self.queue.last_unsacked()?;
            // What has not had the time to be acknowledged needs no rescue.
            let age = self.now.saturating_since(self.queue.get(index)?.sent_at);
            if self.rtt.srtt().is_some_and(|srtt| age >= srtt) {
                self.recovery.rescue = false;
                return Some(index);
            }
        }
        None
    }

    /// Octets that count against cwnd for new data.
    #[inline]
    pub(super) fn outstanding(&self) -> u32 {
        if self.recovery.phase != Phase::Open {
            return self.pipe();
        }
        if self.queue.is_plain() && self.recovery.duplicates == 0 {
            // Nothing is SACKed, lost or sent again: all the cases below say this.
            return self.flight();
        }
        if !self.config.limited_transmit {
            return self.flight();
        }
        if self.loss_recovery == LossRecovery::NewReno {
            // RFC 3042 §2: two segments beyond cwnd, one for each of the first duplicate ACKs.
            let duplicates = self.recovery.duplicates.min(2);
            return self.flight().saturating_sub(duplicates * self.smss);
        }
        self.queue.pipe(self.flight())
    }

    /// Octets of data of the next new segment, 0 for a FIN alone; or why there is none.
    #[inline]
    fn next_new(&self) -> Result<u32, Blocked> {
        let unsent = self.stream.unsent();
        if unsent == 0 {
            return self.next_fin();
        }
        let len = self.next_len();
        if self.is_held_by_congestion(len) {
            return Err(Blocked::Congestion);
        }
        let len = self.fit_window(len)?;
        if len < self.smss && self.nagle_holds(len, unsent) {
            return Err(Blocked::Nagle);
        }
        Ok(len)
    }

    /// Octets of the next new segment, if nothing else limits it.
    #[inline]
    fn next_len(&self) -> u32 {
        u64::from(self.smss).min(self.stream.front_len()) as u32
    }

    #[inline]
    fn is_held_by_congestion(&self, len: u32) -> bool {
        self.recovery.new_segments == 0 && self.outstanding() + len > self.controller.cwnd()
    }

    /// A FIN alone is not held by cwnd.
    #[inline]
    fn next_fin(&self) -> Result<u32, Blocked> {
        if self.fin != Fin::Wanted {
            return Err(Blocked::Empty);
        }
        if self.owns_window() && self.flight() >= self.peer.window {
            return Err(Blocked::PeerWindow);
        }
        Ok(0)
    }

    /// RFC 9293 §3.8.6.2.1 (silly window avoidance): a segment of full length, or half of the largest window seen.
    /// Less is sent only when nothing is on its way and the window has stayed small (persist timer).
    #[inline]
    fn fit_window(&self, len: u32) -> Result<u32, Blocked> {
        if !self.owns_window() {
            return Ok(len);
        }
        let usable = self.peer.window.saturating_sub(self.flight());
        if usable >= len {
            return Ok(len);
        }
        let override_timeout = self.persist_backoff > 0 && self.queue.is_empty();
        if usable > 0 && (usable >= self.peer.max_window / 2 || override_timeout) {
            return Ok(usable);
        }
        Err(Blocked::PeerWindow)
    }

    /// Nagle's algorithm as Linux does it (Minshall): the tail waits only for another small segment. What an
    /// owner above hands down in pieces is its business.
    fn nagle_holds(&self, len: u32, unsent: u64) -> bool {
        self.config.nagle
            && self.owns_window()
            && u64::from(len) == unsent
            && self.fin == Fin::None
            && self.small_end > self.queue.una()
    }

    /// Cuts and sends a new segment of `len` octets, with the FIN if it is the last.
    #[inline(always)]
    fn send_new(&mut self, segment: &mut Segment, len: u32) -> bool {
        if self.queue.is_empty() {
            self.restart();
        }
        let payload = self.stream.cut(len);
        let seq = self.nxt;
        let last = self.stream.unsent() == 0;
        let fin = last && self.fin == Fin::Wanted;
        if self.recovery.phase == Phase::Open && self.recovery.duplicates > 0 {
            self.recovery.limited += len;
        }
        let end = seq + len + u32::from(fin);
        self.before_departure(end, len + u32::from(fin), len);
        self.queue.push(Sent::new(seq, payload, fin, self.now));
        self.nxt = end;
        let mut flags = Flags::ACK;
        if fin {
            self.fin = Fin::Sent(self.nxt);
            flags |= Flags::FIN;
        }
        if last {
            flags |= Flags::PSH;
        }
        if len < self.smss {
            self.small_end = self.sent_mark();
        }
        self.stats.bytes_sent += u64::from(len);
        self.recovery.new_segments = self.recovery.new_segments.saturating_sub(1);
        self.after_data(len);
        self.measure_usage();
        self.write(segment, seq, payload, flags);
        if self.peer.ecn && len > 0 {
            self.mark_ecn(segment);
        }
        true
    }

    /// RFC 3168 §6.1.2, §6.1.5: only new data is ECN-capable, and carries CWR.
    #[cold]
    fn mark_ecn(&mut self, segment: &mut Segment) {
        segment.ecn = Ecn::Ect0;
        if std::mem::take(&mut self.ecn.reduced) {
            segment.flags |= Flags::CWR;
        }
    }

    /// RFC 5681 §4.1: the window of an idle connection says nothing about the path any more.
    #[cold]
    fn restart(&mut self) {
        let idle = self.now.saturating_since(self.last_sent);
        let rto = self.rtt.rto();
        if self.config.idle_restart && idle > rto && self.stats.data_segments_sent > 0 {
            self.controller.restart_after_idle(idle, rto);
            self.trace_window();
        }
        self.rate.on_restart(self.now);
    }

    /// Sends a segment of the queue again.
    #[inline(never)]
    fn send_again(&mut self, segment: &mut Segment, index: usize) -> bool {
        let now = self.now;
        let (seq, payload, end, fin) = self.queue.get(index).map_or_else(Default::default, |sent| {
            (sent.seq, sent.payload(), sent.end(), sent.end() != sent.seq + sent.payload().len)
        });
        self.before_departure(end, end.since(seq), payload.len);
        self.queue.mark_retransmitted(index, now);
        self.stats.retransmissions += 1;
        self.stats.retransmitted_bytes += u64::from(payload.len);
        self.note_retransmission(seq, end);
        self.after_data(payload.len);
        if index == 0 {
            // RFC 6298 §5: the segment that the timer watches is not sent again within one RTO of its last transmission.
            self.timers.retransmission = now.saturating_add(self.rtt.rto());
        }
        if self.config.trace {
            self.event(Event::Retransmitted { seq, len: payload.len });
        }
        let flags = if fin { Flags::ACK | Flags::FIN | Flags::PSH } else { Flags::ACK };
        self.write(segment, seq, payload, flags)
    }

    /// Timers and recovery after any segment with data or FIN.
    #[inline]
    fn after_data(&mut self, len: u32) {
        self.stats.data_segments_sent += u64::from(len > 0);
        self.last_sent = self.now;
        if self.recovery.phase == Phase::Fast
            && let Some(prr) = &mut self.prr
        {
            prr.on_sent(len);
        }
        // RFC 6298 §5.1.
        if self.timers.retransmission == Instant::MAX {
            self.timers.retransmission = self.now.saturating_add(self.rtt.rto());
        }
        self.timers.stop_persist();
        self.persist_backoff = 0;
        self.schedule_probe();
    }

    /// Linux `tcp_cwnd_validate`: how much of the window this round used.
    #[inline(always)]
    fn measure_usage(&mut self) {
        let limited = self.outstanding() + self.smss > self.controller.cwnd();
        let flight = self.flight();
        let usage = &mut self.usage;
        if self.queue.una() >= usage.round_end || limited || (!usage.limited && flight > usage.most) {
            usage.limited = limited;
            usage.most = flight;
            usage.round_end = self.queue.una() + flight;
        }
    }

    /// An ACK, if one is due or reading opened the window.
    #[inline]
    fn transmit_ack(&mut self, segment: &mut Segment) -> bool {
        if self.acks.is_due() && self.state.is_synchronized() {
            return self.pure_ack(segment);
        }
        self.owes_window_update() && self.pure_ack(segment)
    }

    /// Has reading opened the window so far that the peer should know?
    #[inline]
    fn owes_window_update(&self) -> bool {
        let segment_size = self.acks.segment_size(self.smss);
        self.state.takes_data() && self.window.wants_update(self.reassembly.readable(), segment_size)
    }

    #[inline(always)]
    fn pure_ack(&mut self, segment: &mut Segment) -> bool {
        self.stats.acks_sent += 1;
        self.write(segment, self.nxt, Payload::default(), Flags::ACK)
    }

    /// RFC 7323 §3.2: the timestamp of any segment, once both SYNs carried one.
    #[inline(always)]
    fn stamp(&self) -> Option<Timestamps> {
        let echo = self.peer.ts_recent;
        self.peer.timestamps.then(|| Timestamps { value: self.timestamp(), echo })
    }

    /// Any segment of a synchronized connection: acknowledgement, window and options. True: there is one.
    #[inline(always)]
    fn write(&mut self, segment: &mut Segment, seq: Seq, payload: Payload, flags: Flags) -> bool {
        self.stats.segments_sent += 1;
        let next = self.window.next();
        let segment_size = self.acks.segment_size(self.smss);
        let window = self.window.advertise(self.reassembly.readable(), segment_size);
        let timestamps = self.stamp();
        let mut told = true;
        let mut sack = SackBlocks::EMPTY;
        if !self.sacks.is_empty() {
            sack = self.sack_blocks(payload.len);
            told = !sack.is_empty();
        }
        self.peer.last_ack_sent = next;
        // Blocks that find no room leave in a pure ACK after this segment.
        if told {
            self.acks.sent();
        }
        let flags = if self.ecn.echo { flags | Flags::ECE } else { flags };
        let options = Options { timestamps, sack, ..Options::default() };
        *segment = Segment { seq, ack: next, flags, window, payload, options, ecn: Ecn::NotEct };
        true
    }

    /// The blocks that fit beside `len` octets of data.
    #[inline(never)]
    fn sack_blocks(&mut self, len: u32) -> SackBlocks {
        let timestamps = if self.peer.timestamps { 12 } else { 0 };
        let mut room = Options::SPACE - timestamps;
        if len > 0 {
            let mss = u32::from(self.config.mss.min(self.peer.mss));
            let reserved = self.config.option_reserve;
            room = room.saturating_sub(reserved);
            room = room.min(mss.saturating_sub(len + timestamps + reserved));
        }
        self.sacks.take((room.saturating_sub(4) / 8) as usize)
    }
}

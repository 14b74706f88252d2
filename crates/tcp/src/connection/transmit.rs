//! Segments leave.

use super::Connection;
use crate::outbox::{Outbox, Reset};
use crate::outgoing::Outgoing;
use ropewalk_units::Instant;
use ropewalk_wire::{Flags, Options, Segment, Timestamps};

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
        self.cx.now = now;
        if !self.cx.outbox.is_empty() && self.transmit_due(segment) {
            return true;
        }
        if self.receiver.owes_ack_alone() {
            return self.pure_ack(segment);
        }
        if self.sender.has_data()
            && self.cx.state.may_transmit()
            && let Some(outgoing) = self.sender.next_segment(&mut self.cx)
        {
            return self.write(segment, outgoing);
        }
        self.transmit_ack(segment)
    }

    /// May [`Self::transmit`] have a segment? When the answer is no, it has no segment, and calling it would change
    /// nothing. The question is cheap, and saves a search after most segments.
    #[inline(always)]
    pub fn wants_to_transmit(&self) -> bool {
        !self.cx.outbox.is_empty()
            || self.receiver.owes_ack()
            || self.sender.may_have_data(&self.cx)
            || self.receiver.owes_window_update(&self.cx, self.sender.smss())
    }

    /// What leaves whatever the windows say.
    #[cold]
    fn transmit_due(&mut self, segment: &mut Segment) -> bool {
        if let Some(reset) = self.cx.outbox.take_reset() {
            *segment = self.reset_segment(reset);
            return true;
        }
        if self.cx.outbox.take(Outbox::SYN) {
            *segment = self.syn_segment();
            return true;
        }
        if let Some(echoed) = self.cx.outbox.take_echoed() {
            self.count_ack();
            let (nxt, smss) = (self.sender.nxt(), self.sender.smss());
            self.receiver.acknowledge_before_marks(&self.cx, segment, nxt, smss, echoed);
            return true;
        }
        if self.cx.outbox.take(Outbox::WINDOW_PROBE) {
            return self.window_probe(segment);
        }
        if !self.cx.outbox.take(Outbox::TAIL_PROBE) {
            return false;
        }
        let probe = self.sender.tail_probe(&mut self.cx);
        probe.is_some_and(|outgoing| self.write(segment, outgoing))
    }

    fn reset_segment(&mut self, Reset { seq, ack }: Reset) -> Segment {
        self.cx.stats.segments_sent += 1;
        let flags = if ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST };
        // RFC 7323 §3.2: a RST too carries a timestamp. Without ACK it echoes none.
        let echo =
            |stamp: Timestamps| Timestamps { echo: if ack.is_some() { stamp.echo } else { 0 }, ..stamp };
        let timestamps = self.receiver.stamp(&self.cx).map(echo);
        let options = Options { timestamps, ..Options::default() };
        Segment { seq, ack: ack.unwrap_or_default(), flags, options, ..Segment::default() }
    }

    /// RFC 9293 §3.8.6.1: an old sequence number without data, as Linux sends: the answer tells the window.
    fn window_probe(&mut self, segment: &mut Segment) -> bool {
        self.cx.stats.window_probes += 1;
        self.write(segment, Outgoing::bare(self.sender.una() - 1))
    }

    /// An ACK, if one is due or reading opened the window.
    fn transmit_ack(&mut self, segment: &mut Segment) -> bool {
        if self.receiver.owes_ack() || self.receiver.owes_window_update(&self.cx, self.sender.smss()) {
            return self.pure_ack(segment);
        }
        false
    }

    fn pure_ack(&mut self, segment: &mut Segment) -> bool {
        self.cx.stats.acks_sent += 1;
        self.write(segment, Outgoing::bare(self.sender.nxt()))
    }

    /// Any segment of a synchronized connection: acknowledgement, window and options. True: there is one.
    #[inline(always)]
    fn write(&mut self, segment: &mut Segment, outgoing: Outgoing) -> bool {
        self.cx.stats.segments_sent += 1;
        self.receiver.acknowledge(&self.cx, segment, outgoing, self.sender.smss());
        true
    }

    fn count_ack(&mut self) {
        self.cx.stats.acks_sent += 1;
        self.cx.stats.segments_sent += 1;
    }
}

//! The text of a segment (RFC 9293 §3.10.7.4): in order, above a hole, or a second time.

use super::Receiver;
use crate::context::Context;
use crate::receive::InOrder;
use ropewalk_units::{Duration, Seq};
use ropewalk_wire::{Flags, Payload, Segment};

/// In octets: shorter segments make no window grow (Linux `tcp_event_data_recv`).
const LEAST_TO_GROW: u32 = 128;

impl Receiver {
    /// The data of a segment. `idle` is how long a pause makes the peer restart from a small window.
    pub(crate) fn on_text(&mut self, cx: &mut Context, segment: &Segment, idle: Duration) {
        if cx.agreed.ecn {
            self.notice_congestion(cx, segment);
        }
        let next = self.window.next();
        let plain = segment.seq == next && !self.reassembly.has_hole() && self.fin.is_none();
        if plain && segment.end().before_eq(self.window.edge()) {
            return self.on_expected_text(cx, segment, idle);
        }
        self.on_overlapping(cx, segment, idle);
        self.tune_window(cx, segment);
    }

    /// The next data, all of it within the window, while nothing waits above a hole and no FIN has come.
    #[inline(always)]
    pub(crate) fn on_expected_text(&mut self, cx: &mut Context, segment: &Segment, idle: Duration) {
        let next = self.reassembly.append(segment.seq, segment.payload);
        self.on_in_order(cx, segment, next, idle);
        self.tune_window(cx, segment);
    }

    /// The same, and it is read at once. Nothing else waits to be read.
    #[inline(always)]
    pub(crate) fn pass_expected_text(&mut self, cx: &mut Context, segment: &Segment, idle: Duration) {
        let next = self.reassembly.pass(segment.seq, segment.payload);
        self.on_in_order(cx, segment, next, idle);
        self.tune_window(cx, segment);
        self.window.read(segment.payload.len);
    }

    #[inline(always)]
    fn tune_window(&mut self, cx: &Context, segment: &Segment) {
        let echo = self.full_segments_echo(cx, segment);
        self.window.tune(cx.now, cx.stats.bytes_received, echo, self.acks.segment_size(1));
    }

    /// The timestamp that a full-sized segment echoes: its age is the round-trip time as a receiver sees it.
    fn full_segments_echo(&self, cx: &Context, segment: &Segment) -> Option<u32> {
        let timestamps = segment.options.timestamps.filter(|_| cx.agreed.timestamps)?;
        let full = segment.payload.len >= self.acks.segment_size(1);
        (full && timestamps.echo != 0).then_some(timestamps.echo)
    }

    /// The data of a segment has moved RCV.NXT to `next`.
    #[inline(always)]
    fn on_in_order(&mut self, cx: &mut Context, segment: &Segment, next: Seq, idle: Duration) {
        self.received_up_to(cx, next);
        let arrived = InOrder { octets: segment.payload.len, push: segment.flags.contains(Flags::PSH) };
        self.acks.in_order(cx.now, arrived, cx.config.mss, &cx.config.delayed_ack, idle);
        self.grow_offer(segment.payload.len);
    }

    /// A segment of `octets` arrived. A window that grows is announced at once (Linux `tcp_grow_window`, `icsk_ack.quick`).
    #[inline]
    fn grow_offer(&mut self, octets: u32) {
        if octets >= LEAST_TO_GROW && self.window.grow_offer(self.acks.segment_size(1)) {
            self.acks.window_grew();
        }
    }

    /// RCV.NXT moves to `next`.
    fn received_up_to(&mut self, cx: &mut Context, next: Seq) {
        cx.stats.bytes_received += u64::from(next.since(self.window.next()));
        self.window.advance(next);
    }

    /// Data of which perhaps only a part is new, in the window, and in order.
    #[inline(never)]
    fn on_overlapping(&mut self, cx: &mut Context, segment: &Segment, idle: Duration) {
        let next = self.window.next();
        // RFC 9293 §3.10.7.4: nothing follows the FIN.
        let edge = self.fin.map_or(self.window.edge(), |fin| fin.min(self.window.edge()));
        let (mut seq, mut payload) = (segment.seq, segment.payload);
        if seq.before(next) {
            let old = next.since(seq).min(payload.len);
            cx.stats.duplicate_bytes_received += u64::from(old);
            self.report_duplicate(cx, seq, seq + old);
            self.acks.duplicate(&cx.config.delayed_ack);
            seq += old;
            payload.offset += u64::from(old);
            payload.len -= old;
        }
        if (seq + payload.len).after(edge) {
            let room = if edge.after(seq) { edge.since(seq) } else { 0 };
            cx.stats.duplicate_bytes_received += u64::from(payload.len - room);
            payload.len = room;
        }
        if payload.len == 0 {
            return self.acks.at_once();
        }
        if seq == next {
            self.fill_hole(cx, (seq, payload), segment.flags.contains(Flags::PSH), idle);
        } else {
            self.store_above_hole(cx, segment, seq, payload);
        }
    }

    /// RFC 5681 §4.2: data that fills a hole, wholly or in part, is acknowledged at once.
    fn fill_hole(&mut self, cx: &mut Context, (seq, payload): (Seq, Payload), push: bool, idle: Duration) {
        let had_hole = self.reassembly.has_hole();
        let overlap = self.reassembly.block_around(seq, seq + (payload.len - 1));
        if let Some((left, _)) = overlap {
            let right = seq + payload.len;
            cx.stats.duplicate_bytes_received += u64::from(right.since(left));
            self.report_duplicate(cx, left, right);
        }
        let next = self.reassembly.insert_in_order(seq, payload);
        if had_hole && cx.config.delayed_ack.after_reading {
            self.window.acknowledge_unread(next.since(seq));
        }
        self.received_up_to(cx, next);
        self.sacks.advanced(next);
        let arrived = InOrder { octets: payload.len, push };
        self.acks.in_order(cx.now, arrived, cx.config.mss, &cx.config.delayed_ack, idle);
        self.grow_offer(payload.len);
        if had_hole {
            self.acks.at_once();
        }
    }

    /// RFC 5681 §4.2: data above a hole is acknowledged at once.
    fn store_above_hole(&mut self, cx: &mut Context, segment: &Segment, seq: Seq, payload: Payload) {
        cx.stats.out_of_order_segments += 1;
        let next = self.window.next();
        let Some(added) = self.reassembly.insert_out_of_order(next, seq, payload) else {
            return self.acks.at_once();
        };
        cx.stats.duplicate_bytes_received += u64::from(payload.len - added);
        if added == 0 {
            // RFC 2883 §4.2: a duplicate above the hole.
            self.report_duplicate(cx, seq, seq + payload.len);
        }
        if segment.flags.contains(Flags::FIN) {
            self.note_fin(segment.seq + segment.payload.len);
        }
        if cx.agreed.sack
            && let Some((left, right)) = self.reassembly.block_around(next, seq)
        {
            let fin = u32::from(self.fin == Some(right));
            self.sacks.received((left, right + fin));
        }
        if cx.agreed.sack {
            // Without SACK the window stands still: a duplicate ACK repeats it (RFC 5681 §2).
            self.grow_offer(payload.len);
        }
        self.acks.at_once();
    }
}

//! What a segment of ours tells the peer: acknowledgement, window, SACK blocks, timestamp and ECN-Echo.

use super::Receiver;
use crate::context::Context;
use crate::outbox::EchoedAck;
use crate::outgoing::Outgoing;
use crate::receive::Filling;
use ropewalk_units::Seq;
use ropewalk_wire::{Flags, Options, SackBlocks, Segment, Timestamps};

impl Receiver {
    /// Writes a segment of a synchronized connection; `smss` is the size of ours, which the window's growth is measured by.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, cx: &Context, segment: &mut Segment, outgoing: Outgoing, smss: u32) {
        let Outgoing { seq, payload, flags, ecn } = outgoing;
        let next = self.window.next();
        let segment_size = self.acks.segment_size(smss);
        let window = self.window.advertise(self.filling(), segment_size);
        let timestamps = self.stamp(cx);
        let mut complete = true;
        let mut sack = SackBlocks::EMPTY;
        if !self.sacks.is_empty() {
            sack = self.sack_blocks(cx, payload.len);
            complete = !sack.is_empty();
        }
        self.clock.on_ack_sent(next);
        if payload.len > 0 {
            self.acks.data_leaves(cx.now, &cx.config.delayed_ack);
        }
        // Blocks that find no room leave in a pure ACK after this segment.
        if complete {
            self.acks.sent();
        }
        let flags = if self.echoes_congestion { flags | Flags::ECE } else { flags };
        segment.options.clear();
        segment.options.timestamps = timestamps;
        if !sack.is_empty() {
            segment.options.sack = sack;
        }
        segment.seq = seq;
        segment.ack = next;
        segment.flags = flags;
        segment.window = window;
        segment.payload = payload;
        segment.ecn = ecn;
    }

    /// RFC 8257 §3.2: acknowledges what came before the marks changed. What is due later stays due.
    pub(crate) fn acknowledge_before_marks(
        &mut self,
        cx: &Context,
        segment: &mut Segment,
        nxt: Seq,
        smss: u32,
        echoed: EchoedAck,
    ) {
        let acks = self.acks.clone();
        self.acknowledge(cx, segment, Outgoing::bare(nxt), smss);
        self.acks = acks;
        // The right edge of the window stays where it is, though the acknowledgement is an earlier one.
        let back = segment.ack.since(echoed.ack) >> self.window.scale();
        segment.window = segment.window.saturating_add(u16::try_from(back).unwrap_or(u16::MAX));
        segment.ack = echoed.ack;
        segment.flags = if echoed.ece { Flags::ACK | Flags::ECE } else { Flags::ACK };
    }

    /// What takes from the window.
    #[inline]
    fn filling(&self) -> Filling {
        let waiting = if self.reassembly.has_hole() { self.reassembly.waiting().octets } else { 0 };
        Filling { unread: self.reassembly.readable(), waiting }
    }

    /// RFC 7323 §3.2: the timestamp of any segment, once both SYNs carried one.
    pub(crate) fn stamp(&self, cx: &Context) -> Option<Timestamps> {
        let echo = self.clock.recent();
        cx.agreed.timestamps.then(|| Timestamps { value: cx.timestamp(), echo })
    }

    /// What a SYN or SYN/ACK echoes of the peer's clock.
    pub(crate) fn stamp_of_syn(&self, cx: &Context) -> Timestamps {
        Timestamps { value: cx.timestamp(), echo: self.clock.recent() }
    }

    /// The blocks that fit beside `len` octets of data.
    #[inline(never)]
    fn sack_blocks(&mut self, cx: &Context, len: u32) -> SackBlocks {
        let timestamps = if cx.agreed.timestamps { 12 } else { 0 };
        let mut room = Options::SPACE - timestamps;
        if len > 0 {
            let mss = u32::from(cx.config.mss.min(cx.agreed.mss));
            let reserved = cx.config.option_reserve;
            room = room.saturating_sub(reserved);
            room = room.min(mss.saturating_sub(len + timestamps + reserved));
        }
        self.sacks.take((room.saturating_sub(4) / 8) as usize)
    }

    /// Has reading opened the window so far that the peer should know?
    pub(crate) fn owes_window_update(&self, cx: &Context, smss: u32) -> bool {
        let segment_size = self.acks.segment_size(smss);
        cx.state.takes_data() && self.window.wants_update(self.filling(), segment_size)
    }
}

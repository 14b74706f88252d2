//! Header prediction (Van Jacobson, "4BSD TCP header prediction", Computer Communication Review 20:2, 1990): while data
//! flows one way, nearly every segment is the next data at one end, and a plain acknowledgement of it at the other.
//!
//! For such a segment, few stages of [`super::receive`] do anything. This file does only that.

use super::Connection;
use crate::state::State;
use ropewalk_units::Instant;
use ropewalk_wire::{Flags, Segment};

impl Connection {
    /// Is it a segment that [`Self::process_expected`] may take? All of this must hold:
    /// - The connection is established, timestamps are agreed upon, ECN is not, and no FIN has come.
    /// - Of the flags only ACK is set, and perhaps PSH, no SACK block is there, and the timestamp is not older than TS.Recent.
    /// - It begins at RCV.NXT, and ends within the window.
    /// - With data: nothing of ours is on its way, and nothing waits above a hole.
    /// - Without: it acknowledges something, in no recovery, and every segment on its way was sent once.
    #[inline(always)]
    pub fn expects(&self, segment: &Segment) -> bool {
        self.cx.state == State::Established
            && segment.flags | Flags::PSH == Flags::ACK | Flags::PSH
            && segment.options.sack.is_empty()
            && self.cx.agreed.timestamps
            && !self.cx.agreed.ecn
            && self.receiver.expects(segment)
            && self.sender.expects(segment)
    }

    /// Takes a segment of which [`Self::expects`] has just said yes, as [`Self::judge`] and [`Self::process`] would.
    #[inline(always)]
    pub fn process_expected(&mut self, now: Instant, segment: &Segment) {
        self.cx.now = now;
        self.cx.stats.segments_received += 1;
        if segment.payload.len > 0 {
            self.sender.on_idle_ack(&self.cx);
            self.window(segment);
            self.receiver.on_expected_text(&mut self.cx, segment, self.sender.rtt().rto());
        } else {
            self.sender.on_expected_ack(&mut self.cx, segment);
            self.window(segment);
        }
    }

    /// As [`Self::process_expected`] of data and then [`Self::read`], for the owner of the window. Nothing else waits to be read.
    #[inline(always)]
    pub fn pass_expected(&mut self, now: Instant, segment: &Segment) {
        self.cx.now = now;
        self.cx.stats.segments_received += 1;
        self.sender.on_idle_ack(&self.cx);
        self.window(segment);
        self.receiver.pass_expected_text(&mut self.cx, segment, self.sender.rtt().rto());
    }
}

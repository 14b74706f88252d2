//! A segment's text that is not taken: there is no room for it, or it was never offered any.

use super::{Connection, Mode};
use ropewalk_units::Ssn;
use ropewalk_wire::{Flags, Segment};

/// A segment as if it carried nothing.
#[cold]
pub(super) fn without_text(segment: &Segment) -> Segment {
    let mut bare = segment.clone();
    bare.payload.len = 0;
    bare.flags = Flags::from_bits(bare.flags.bits() & !Flags::FIN.bits());
    bare
}

impl Connection {
    /// Is there no room for a segment's text? What it acknowledges and the window that it offers count all the same
    /// (RFC 9293 §3.10.7.4).
    #[inline(always)]
    pub(super) fn refuses_text(&mut self, at: usize, segment: &Segment) -> bool {
        if segment.payload.len == 0 {
            return false;
        }
        if self.mode == Mode::Tcp && self.is_beyond_plain_window(at, segment) {
            self.subflows[at].request_ack();
            return true;
        }
        segment.seq.after(self.subflows[at].tcp.rcv_nxt()) && !self.may_wait(segment.payload.len)
    }

    /// After fallback the subflow acknowledges for good, so that what ends beyond the connection's window is not taken at all.
    /// Octets that the peer sends before an infinite mapping are not the stream's.
    #[cold]
    fn is_beyond_plain_window(&self, at: usize, segment: &Segment) -> bool {
        let subflow = &self.subflows[at];
        let end = Ssn::from_seq(segment.seq + segment.payload.len, subflow.tcp.irs());
        let (Some(infinite), Some(end)) = (subflow.infinite_in, subflow.position_in(end)) else {
            return false;
        };
        end > infinite.position && infinite.data + (end - infinite.position) > self.receiving.window.edge()
    }

    /// May so many octets wait above a hole of a subflow? All that waits on whatever subflow, and behind a hole of the
    /// connection, shares the receive buffer. What finds no room is dropped. What is expected next always finds room.
    #[cold]
    fn may_wait(&self, octets: u32) -> bool {
        let reassembly = &self.receiving.reassembly;
        let (mut waiting, mut pieces) = (reassembly.waiting(), reassembly.pieces());
        for subflow in self.subflows.live() {
            let above = subflow.tcp.out_of_order();
            waiting += above.octets;
            pieces += above.pieces;
        }
        let buffer = self.config.receive_buffer;
        waiting + u64::from(octets) <= u64::from(buffer) && pieces < self.config.tcp.most_pieces(buffer)
    }
}

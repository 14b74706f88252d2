//! The peer's FIN, remembered until everything before it has arrived.

use super::Receiver;
use crate::context::Context;
use ropewalk_units::Seq;
use ropewalk_wire::{Flags, Segment};

impl Receiver {
    /// Has a FIN arrived, in order or not?
    pub(crate) fn knows_fin(&self) -> bool {
        self.fin.is_some()
    }

    /// A segment has a FIN, or one came before. Is the FIN in order now, and was it not before?
    #[cold]
    pub(crate) fn on_fin(&mut self, cx: &Context, segment: &Segment) -> bool {
        if segment.flags.contains(Flags::FIN) && cx.state.takes_data() {
            let seq = segment.seq + segment.payload.len;
            self.note_fin(seq);
            if segment.payload.len == 0 && seq.after(self.window.next()) {
                self.fin_above_hole(cx, seq);
            }
        }
        let in_order = self.fin == Some(self.window.next()) && !self.fin_reached;
        if in_order {
            self.window.advance(self.window.next() + 1);
            self.sacks.advanced(self.window.next());
            self.fin_reached = true;
            self.acks.at_once();
        }
        in_order
    }

    /// The FIN is the octet `seq`. The first one that fits counts: within the window, and above all that has arrived.
    pub(super) fn note_fin(&mut self, seq: Seq) {
        let next = self.window.next();
        let end = self.reassembly.end(next).unwrap_or(next);
        if self.fin.is_none() && seq.after_eq(end) && seq.before_eq(self.window.edge()) {
            self.fin = Some(seq);
        }
    }

    /// A FIN without data arrived before the data: report it as any other octet.
    fn fin_above_hole(&mut self, cx: &Context, seq: Seq) {
        if cx.agreed.sack && self.fin == Some(seq) {
            let left =
                self.reassembly.block_around(self.window.next(), seq - 1).map_or(seq, |(left, _)| left);
            self.sacks.received((left, seq + 1));
        }
        self.acks.at_once();
    }
}

//! Packets that several segments left in: what they take of the send buffer is freed with their last segment.

use super::{Marks, SentQueue};

impl SentQueue {
    /// Packets that have all left and are not cumulatively acknowledged as a whole.
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    /// The last segment was the last of its packet.
    pub(crate) fn end_packet(&mut self) {
        if let Some(last) = self.segments.len().checked_sub(1) {
            self.end_packet_with(last);
        }
    }

    /// The segment is a packet of its own from now on, as it is sent again alone.
    pub(crate) fn make_packet_of(&mut self, index: usize) {
        if index > 0 {
            self.end_packet_with(index - 1);
        }
        self.end_packet_with(index);
    }

    fn end_packet_with(&mut self, index: usize) {
        let marks = &mut self.segments[index].marks;
        self.packets += u32::from(!marks.has(Marks::PACKET_END));
        marks.set(Marks::PACKET_END);
    }
}

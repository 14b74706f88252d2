//! The window that the peer advertises.

use ropewalk_units::Seq;
use ropewalk_wire::{Flags, Segment};

/// SND.WND and what is remembered of it.
#[derive(Clone, Debug)]
pub(crate) struct PeerWindow {
    size: u32,
    largest: u32,
    /// SND.WL1 (RFC 9293 §3.3.1): at or above the last segment that moved RCV.NXT, and so always comparable with it.
    updated_by: Seq,
    scale: u8,
}

impl PeerWindow {
    /// Of a peer that has said nothing.
    pub(crate) fn unknown() -> Self {
        Self { size: 0, largest: 0, updated_by: Seq::new(0), scale: 0 }
    }

    /// The peer's SYN. RFC 7323 §2.2: its window is never scaled.
    pub(crate) fn open(&mut self, syn: &Segment, scale: u8) {
        let size = u32::from(syn.window);
        *self = Self { size, largest: size, updated_by: syn.seq, scale };
    }

    /// SND.WND in octets.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// The largest one seen.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// The shift of the window field.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// What is left of it beside `flight` octets.
    pub(crate) fn usable(&self, flight: u32) -> u32 {
        self.size.saturating_sub(flight)
    }

    /// The window field in octets.
    pub(crate) fn of(&self, segment: &Segment) -> u32 {
        let scale = if segment.flags.contains(Flags::SYN) { 0 } else { self.scale };
        u32::from(segment.window) << scale
    }

    /// Is the segment newer than the last one that told a window (RFC 9293 §3.10.7.4)? SND.WL2, the last ACK that did so,
    /// is never above SND.UNA and so needs no memory.
    pub(crate) fn is_updated_by(&self, segment: &Segment) -> bool {
        segment.seq.after_eq(self.updated_by)
    }

    /// A segment other than a SYN tells the window. Returns it.
    pub(crate) fn update(&mut self, segment: &Segment) -> u32 {
        let size = u32::from(segment.window) << self.scale;
        self.set(segment.seq, size);
        size
    }

    /// The segment that completes the handshake, which may be a SYN/ACK, tells the window.
    pub(crate) fn establish(&mut self, segment: &Segment) {
        self.set(segment.seq, self.of(segment));
    }

    fn set(&mut self, seq: Seq, size: u32) {
        self.updated_by = seq;
        self.size = size;
        self.largest = self.largest.max(size);
    }

    /// The segment moves RCV.NXT and tells no window: SND.WL1 follows RCV.NXT whatever the ACKs say.
    pub(crate) fn follow(&mut self, segment: &Segment) {
        self.updated_by = self.updated_by.max(segment.seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u32, window: u16) -> Segment {
        Segment { seq: Seq::new(seq), window, flags: Flags::ACK, ..Segment::default() }
    }

    #[test]
    fn the_window_of_a_syn_is_not_scaled_and_later_ones_are() {
        let mut window = PeerWindow::unknown();
        window.open(&segment(10, 1000), 3);
        assert_eq!((window.size(), window.scale()), (1000, 3));
        assert_eq!(window.update(&segment(11, 1000)), 8000);
        assert_eq!((window.usable(7000), window.usable(9000)), (1000, 0));
        assert_eq!(window.update(&segment(12, 0)), 0);
        assert_eq!(window.largest(), 8000);
    }

    #[test]
    fn an_older_segment_does_not_tell_the_window() {
        let mut window = PeerWindow::unknown();
        window.open(&segment(u32::MAX - 1, 1000), 0);
        assert!(!window.is_updated_by(&segment(u32::MAX - 2, 500)));
        window.follow(&segment(5, 500));
        assert_eq!(window.size(), 1000);
        assert!(window.is_updated_by(&segment(5, 500)) && !window.is_updated_by(&segment(4, 500)));
    }
}

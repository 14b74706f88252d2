//! The send buffer: how much an application may write.
//!
//! Linux counts memory and not payload, lets the buffer follow the window, and writes whole packets.

use crate::memory;

/// What is taken of it, and the units in which more is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    /// Octets of memory.
    pub(crate) memory: u64,
    /// Octets of data that wait to be sent.
    pub(crate) unsent: u64,
    /// Octets of data that a packet takes when it is written.
    pub(crate) packet: u32,
    /// Memory of a packet beside its data.
    pub(crate) beside: u64,
}

/// A send buffer that counts memory.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    /// Octets of memory. A packet is begun while fewer are taken.
    limit: u32,
    /// The congestion window in octets that it was grown for; 0: for none yet.
    window: u32,
    /// Octets of data that the last packet still takes.
    tail: u32,
    /// The application has filled it, and hears of room when a third of it is free (Linux `sk_stream_is_writeable`).
    full: bool,
}

impl SendBuffer {
    pub(crate) const fn new(limit: u32) -> Self {
        Self { limit, window: 0, tail: 0, full: false }
    }

    /// Octets that may be written.
    pub(crate) fn space(&self, held: Held) -> u64 {
        if self.awaits_room(held.memory) {
            return 0;
        }
        let free = u64::from(self.limit).saturating_sub(held.memory);
        let packets = free.div_ceil(u64::from(held.packet) + held.beside);
        u64::from(self.tail_beside(held.unsent)) + packets * u64::from(held.packet)
    }

    /// Has the application filled it, and does it wait for a third of it while so much memory is held at least?
    #[inline]
    pub(crate) fn awaits_room(&self, held: u64) -> bool {
        self.full && memory::keeps_waiting(u64::from(self.limit), held)
    }

    /// Octets of data that the last packet still takes, unless it has left.
    fn tail_beside(&self, unsent: u64) -> u32 {
        if unsent == 0 { 0 } else { self.tail }
    }

    /// So many octets were written, with which so much is held.
    pub(crate) fn on_written(&mut self, octets: u32, held: Held) {
        let tail = self.tail_beside(held.unsent - u64::from(octets));
        self.tail = match octets.checked_sub(tail) {
            None => tail - octets,
            Some(rest) => (held.packet - rest % held.packet) % held.packet,
        };
        self.full = self.tail == 0 && held.memory >= u64::from(self.limit);
    }

    /// Would a congestion window of so many octets make it larger?
    pub(crate) fn may_grow(&self, window: u32) -> bool {
        self.full && window > self.window
    }

    /// It holds so much memory at least from now on, as is due to this congestion window.
    pub(crate) fn grow(&mut self, limit: u32, window: u32) {
        self.limit = self.limit.max(limit);
        self.window = self.window.max(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: u32 = 46_080;

    /// Segments of 1 448 octets in packets of 22, as to a peer with a window of 64 kB.
    fn held(memory: u64, unsent: u64) -> Held {
        Held { memory, unsent, packet: 22 * 1448, beside: 832 }
    }

    #[test]
    fn packets_are_begun_while_there_is_any_room() {
        let buffer = SendBuffer::new(BUFFER);
        assert_eq!(buffer.space(held(0, 0)), 2 * 22 * 1448, "the first leaves room for a second");
        assert_eq!(buffer.space(held(45_000, 20_000)), 22 * 1448);
        assert_eq!(buffer.space(held(46_080, 20_000)), 0);
    }

    #[test]
    fn an_application_that_filled_it_hears_of_room_when_a_third_is_free() {
        let mut buffer = SendBuffer::new(BUFFER);
        buffer.on_written(2 * 22 * 1448, held(65_376, 63_712));
        assert!(buffer.may_grow(1) && !buffer.may_grow(0));
        assert_eq!(buffer.space(held(30_721, 28_000)), 0);
        assert_eq!(buffer.space(held(30_720, 28_000)), 22 * 1448);
        buffer.grow(92_160, 20 * 1448);
        assert_eq!(buffer.space(held(61_440, 28_000)), 22 * 1448);
        buffer.grow(46_080, 10 * 1448);
        assert_eq!(buffer.space(held(61_440, 28_000)), 22 * 1448, "it never shrinks");
    }

    #[test]
    fn the_last_packet_is_filled_up_whatever_is_held() {
        let mut buffer = SendBuffer::new(BUFFER);
        buffer.on_written(50_000, held(51_664, 50_000));
        assert!(!buffer.may_grow(u32::MAX), "13 712 octets go into the second packet");
        assert_eq!(buffer.space(held(51_664, 50_000)), 13_712);
        assert_eq!(buffer.space(held(51_664, 0)), 0, "it has left");
        buffer.on_written(13_000, held(64_664, 63_000));
        assert_eq!(buffer.space(held(64_664, 63_000)), 712);
        buffer.on_written(712, held(65_376, 63_712));
        assert!(buffer.may_grow(1) && !buffer.may_grow(0));
    }
}

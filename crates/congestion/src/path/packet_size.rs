//! The size of the packets that a path carries. Controllers count in packets, and a path that carries ACKs alone must not
//! queue as much as four full packets are.

use super::UNKNOWN;
use ropewalk_units::Instant;

/// The size of the largest packets of one or two spells of [`UNKNOWN`], rounded up to a half, a quarter, … of a full packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketSize {
    full: u32,
    /// The largest of the spell before, and of this one.
    largest: [u32; 2],
    since: Instant,
    packet: u32,
}

impl PacketSize {
    /// Packets count as full until two spells have passed without one.
    pub(super) fn new(full: u32, now: Instant) -> Self {
        Self { full, largest: [full; 2], since: now, packet: full }
    }

    /// A packet of `size` octets leaves. Returns the size to count in, if it is another than before.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, size: u32) -> Option<u32> {
        let is_over = now.saturating_since(self.since) >= UNKNOWN;
        if size <= self.largest[1] && !is_over {
            return None;
        }
        if is_over {
            self.largest = [self.largest[1], 0];
            self.since = now;
        }
        self.largest[1] = self.largest[1].max(size);
        let packet = self.rounded();
        (packet != std::mem::replace(&mut self.packet, packet)).then_some(packet)
    }

    fn rounded(&self) -> u32 {
        let largest = self.largest[0].max(self.largest[1]).max(1);
        let halvings = (self.full / largest).checked_ilog2().unwrap_or(0);
        (self.full >> halvings).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;

    const FULL_PACKET: u32 = 1548;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn sizes() -> PacketSize {
        PacketSize::new(FULL_PACKET, Instant::ZERO)
    }

    #[test]
    fn acks_alone_make_packets_small_after_two_spells() {
        let mut sizes = sizes();
        let changes: Vec<(u64, u32)> = (0..5000)
            .step_by(10)
            .filter_map(|millis| Some((millis, sizes.on_sent(at(millis), 100)?)))
            .collect();
        // 1548 / 100 is between 8 and 16.
        assert_eq!(changes, [(2000, FULL_PACKET / 8)]);
    }

    #[test]
    fn the_first_full_packet_counts_at_once_and_for_two_spells() {
        let mut sizes = sizes();
        (0..3000).step_by(10).for_each(|millis| _ = sizes.on_sent(at(millis), 100));
        assert_eq!(sizes.on_sent(at(3010), FULL_PACKET), Some(FULL_PACKET));
        let small = (3020..9000).step_by(10).find(|&millis| sizes.on_sent(at(millis), 100).is_some());
        assert_eq!(small, Some(5010));
    }

    #[test]
    fn sizes_that_are_nearly_full_change_nothing() {
        let mut sizes = sizes();
        assert!((0..5000).step_by(10).all(|millis| sizes.on_sent(at(millis), 775).is_none()));
        assert_eq!(sizes.on_sent(at(5000), 2 * FULL_PACKET), None);
    }
}

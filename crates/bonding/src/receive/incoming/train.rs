//! Packet trains. Packets that come more spread out than they left have waited in one queue. They
//! come at the rate at which that queue is emptied (Dovrolis, Ramanathan, Moore, "Packet-dispersion
//! techniques", IEEE/ACM ToN 2004).

use crate::clock::micros;
use crate::tuning::Tuning;
use crate::wire::control::TrainPacket;
use ropewalk_congestion::{INITIAL_WINDOW, UNKNOWN};
use ropewalk_units::{Duration, Instant};

/// The packets since the first of a train. Clocks are in µs and wrap; each is only compared with
/// itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// The first packets of a train tell a rate if there are at least `least` after the first one,
    /// and if they come over at least `long`: a short buffer on a slow line drops the rest.
    least: u32,
    long: Duration,
    /// When the first packet left, and when it came.
    first: Option<(u32, u32)>,
    /// Octets and packets after the first.
    octets: u32,
    packets: u32,
    /// The number of the packet that came last.
    number: u32,
    /// Nothing is missing of what came since packet 0.
    is_whole: bool,
    /// The rate in kbit/s of the last train that was long enough, and when it was measured.
    rate: Option<(u32, Instant)>,
}

impl Train {
    pub(super) fn new(tuning: &Tuning) -> Self {
        Self {
            least: tuning.bond.train_packets,
            // The time of two reports.
            long: tuning.copa.report_interval * 2,
            first: None,
            octets: 0,
            packets: 0,
            number: 0,
            is_whole: false,
            rate: None,
        }
    }

    /// A packet of a train came.
    pub(super) fn note(&mut self, now: Instant, packet: &TrainPacket, octets: u32) {
        let before = std::mem::replace(&mut self.number, packet.number);
        if packet.number == 0 || before > packet.number {
            // A new train, or packets out of order, whose times say nothing about a queue.
            (self.first, self.octets, self.packets) = (None, 0, 0);
        }
        self.is_whole = packet.number == 0 || self.is_whole && packet.number == before + 1;
        let came_at = micros(now);
        let Some((left, came)) = self.first else {
            self.first = Some((packet.timestamp, came_at));
            return;
        };
        let (left_in, came_in) = (packet.timestamp.wrapping_sub(left), came_at.wrapping_sub(came));
        self.octets = self.octets.saturating_add(octets);
        self.packets += 1;
        let is_long = Duration::from_micros(u64::from(came_in)) >= self.long;
        let is_enough = self.is_whole && self.packets >= self.least && is_long;
        // The whole train, except for a packet that a short buffer may drop.
        if left_in < came_in && (is_enough || self.packets >= INITIAL_WINDOW - 2) {
            self.rate = Some(((u64::from(self.octets) * 8_000 / u64::from(came_in)) as u32, now));
        }
    }

    /// The rate of the last recent train in kbit/s; 0: there was none. Each report repeats it for a
    /// while, since reports may be lost.
    pub(super) fn rate(&self, now: Instant) -> u32 {
        self.rate.filter(|(_, at)| now.saturating_since(*at) < UNKNOWN).map_or(0, |(rate, _)| rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PathId;

    /// The rate that packets with these numbers tell. They have 1500 octets, and leave and come
    /// this many µs apart.
    fn rate(numbers: &[u32], left_each: u32, came_each: u32) -> u32 {
        let mut train = Train::new(&Tuning::default());
        let at = |place: u32| Instant::ZERO + Duration::from_micros(1_000_000 + u64::from(place * came_each));
        for (place, &number) in numbers.iter().enumerate() {
            let timestamp = 7_000_000u32.wrapping_add(place as u32 * left_each);
            let packet = TrainPacket { path: PathId(0), number, timestamp };
            train.note(at(place as u32), &packet, 1500);
        }
        train.rate(at(numbers.len() as u32))
    }

    #[test]
    fn a_train_comes_at_the_rate_of_the_line() {
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(rate(&all, 0, 200), 60_000);
        assert_eq!(rate(&all[..9], 0, 200), 60_000, "the last one was dropped");
        assert_eq!(rate(&all[..8], 0, 200), 0, "too short");
        assert_eq!(rate(&all, 200, 200), 0, "not spread");
    }

    #[test]
    fn the_first_packets_of_a_long_train_tell_a_slow_line() {
        let rate = |numbers: &[u32]| rate(numbers, 0, 6_000);
        assert_eq!(rate(&[0, 1, 2, 3]), 2_000);
        assert_eq!(rate(&[0, 1, 2]), 0, "too short");
        assert_eq!(rate(&[0, 1, 3, 4]), 0, "one is missing");
        assert_eq!(rate(&[2, 3, 5, 6]), 0, "not the first");
        assert_eq!(rate(&[0, 3, 1, 2, 4, 5]), 0, "out of order");
        assert_eq!(rate(&[0, 1, 4, 0, 1, 2, 3]), 2_000, "the next train");
    }
}

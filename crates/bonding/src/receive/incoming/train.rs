//! Packet trains: packets that come more spread out than they left have waited in one queue. They come at the rate at which it
//! is emptied (Dovrolis, Ramanathan, Moore, "Packet-dispersion techniques", IEEE/ACM ToN 2004).

use crate::clock::micros;
use crate::wire::control::TrainPacket;
use ropewalk_units::{Duration, Instant};

/// So many packets tell a rate: an initial window of ten (RFC 6928) less what a short buffer may drop of it.
const PACKETS: u32 = 8;
/// Of a train without data fewer do, if they are its first and come for so long, in µs: a short buffer on a slow line drops the rest. By chance,
/// over a path that reorders, they hardly come in this order.
const LEAST: u32 = 3;
const LONG: u32 = 10_000;
/// A train that goes on is told again each so many packets.
const LONGEST: u32 = 64;
/// Packets that leave within this part of the time in which they come are a train.
const SPREAD: (u32, u32) = (3, 4);

/// A packet that comes so long after the one before belongs to another train, in µs: the line was dead, not slow. A full packet takes as long at 62 kbit/s.
const GAP: u32 = 200_000;

/// So long a train is told of.
const FRESH: Duration = Duration::from_secs(1);

/// The packets since the first of a train. Clocks in µs, wrapping; each is only compared with itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    /// Of the first: when it left, and when it came.
    first: Option<(u32, u32)>,
    /// When the last one came.
    last: u32,
    /// After the first.
    octets: u32,
    packets: u32,
    /// Of the packet without data that came last.
    number: u32,
    /// What came since packet 0 of a train without data is that train, with nothing missing.
    is_whole: bool,
    /// kbit/s of the last that was long enough, and when it came.
    rate: Option<(u32, Instant)>,
}

impl Train {
    /// A packet with data came that had left at `timestamp`.
    #[inline]
    pub(super) fn note(&mut self, now: Instant, timestamp: u32, octets: u32) {
        self.is_whole = false;
        self.add(now, timestamp, octets);
    }

    #[inline]
    fn add(&mut self, now: Instant, timestamp: u32, octets: u32) {
        let came_at = micros(now);
        let first = self.first.unwrap_or((timestamp, came_at));
        let (left_in, came_in) = (timestamp.wrapping_sub(first.0), came_at.wrapping_sub(first.1));
        let is_spread = (came_in as i32) > 0 && left_in <= came_in / SPREAD.1 * SPREAD.0;
        let gap = came_at.wrapping_sub(std::mem::replace(&mut self.last, came_at));
        if !is_spread || self.packets >= LONGEST || gap > GAP {
            (self.first, self.octets, self.packets) = (Some((timestamp, came_at)), 0, 0);
            return;
        }
        self.octets = self.octets.saturating_add(octets);
        self.packets += 1;
        let is_long = self.is_whole && self.packets >= LEAST && came_in >= LONG;
        if is_long || self.packets >= PACKETS {
            self.rate = Some(((u64::from(self.octets) * 8_000 / u64::from(came_in)) as u32, now));
        }
    }

    /// A packet of a train without data.
    pub(super) fn note_numbered(&mut self, now: Instant, packet: &TrainPacket, octets: u32) {
        let before = std::mem::replace(&mut self.number, packet.number);
        if packet.number == 0 || before > packet.number {
            self.end();
        }
        self.is_whole = packet.number == 0 || self.is_whole && packet.number == before + 1;
        self.add(now, packet.timestamp, octets);
    }

    /// Packets come out of order: their times tell nothing of a queue.
    pub(super) fn end(&mut self) {
        *self = Self { number: self.number, ..Self::default() };
    }

    /// kbit/s of the last train of late; 0: there was none. Told again and again, since reports may be lost.
    pub(super) fn rate(&self, now: Instant) -> u32 {
        self.rate.filter(|(_, at)| now.saturating_since(*at) < FRESH).map_or(0, |(rate, _)| rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PathId;

    /// Packets of 1500 octets that leave and come each so many µs.
    fn rate(packets: u32, left_each: u32, came_each: u32) -> u32 {
        let mut train = Train::default();
        for place in 0..packets {
            let now = Instant::ZERO + Duration::from_micros(u64::from(1_000_000 + place * came_each));
            train.note(now, 7_000_000u32.wrapping_sub(50).wrapping_add(place * left_each), 1500);
        }
        train.rate(Instant::ZERO + Duration::from_secs(1))
    }

    #[test]
    fn a_train_comes_at_the_rate_of_the_line() {
        assert_eq!(rate(10, 0, 200), 60_000);
        assert_eq!(rate(200, 140, 200), 60_000);
        assert_eq!(rate(8, 0, 200), 0, "too short");
        assert_eq!(rate(200, 160, 200), 0, "hardly spread");
        assert_eq!(rate(200, 200, 200), 0);
    }

    /// Packets without data that leave at once and come each 6 ms.
    fn numbered_rate(numbers: &[u32]) -> u32 {
        let mut train = Train::default();
        let at = |place: usize| Instant::ZERO + Duration::from_micros(1_000_000 + place as u64 * 6_000);
        for (place, &number) in numbers.iter().enumerate() {
            train.note_numbered(
                at(place),
                &TrainPacket { path: PathId(0), number, timestamp: 990_000 },
                1500,
            );
        }
        train.rate(at(numbers.len()))
    }

    #[test]
    fn the_first_packets_of_a_long_train_tell_a_slow_line() {
        assert_eq!(numbered_rate(&[0, 1, 2, 3]), 2_000);
        assert_eq!(numbered_rate(&[0, 1, 2]), 0, "too short");
        assert_eq!(numbered_rate(&[0, 1, 3, 4]), 0, "one is missing");
        assert_eq!(numbered_rate(&[2, 3, 5, 6]), 0, "not the first");
        assert_eq!(numbered_rate(&[0, 3, 1, 2, 4, 5]), 0, "out of order");
        assert_eq!(numbered_rate(&[0, 1, 4, 0, 1, 2, 3]), 2_000, "the next train");
    }

    #[test]
    fn what_waited_for_a_dead_line_is_no_train() {
        let mut train = Train::default();
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        train.note(at(1000), 990_000, 1500);
        (0..20).for_each(|place| train.note(at(21_000 + place), 991_000 + 2000 * place as u32, 1500));
        assert_eq!(train.rate(at(21_100)), 0);
    }
}

//! Packet trains: packets that come more spread out than they left have waited in one queue, so they come at the rate at which it
//! is emptied (Dovrolis, Ramanathan, Moore, "Packet-dispersion techniques", IEEE/ACM ToN 2004).

use crate::clock::micros;
use crate::wire::control::TrainPacket;
use ropewalk_units::{Duration, Instant};

/// So many packets tell a rate: an initial window of ten (RFC 6928) less what a short buffer may drop of it.
const PACKETS: u32 = 8;
/// A train that comes for so long, in µs, tells it with fewer packets: what delays vary by is a small part of that.
const LONG: u32 = 10_000;
/// … but a pair may be any two (Dovrolis et al., §III).
const LEAST: u32 = 3;
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
    /// kbit/s of the last that was long enough, and when it came.
    rate: Option<(u32, Instant)>,
}

impl Train {
    /// A packet came that had left at `timestamp`.
    #[inline]
    pub(super) fn note(&mut self, now: Instant, timestamp: u32, octets: u32) {
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
        if self.packets >= PACKETS || self.packets >= LEAST && came_in >= LONG {
            self.rate = Some(((u64::from(self.octets) * 8_000 / u64::from(came_in)) as u32, now));
        }
    }

    /// A packet of a train without data.
    pub(super) fn note_numbered(&mut self, now: Instant, packet: &TrainPacket, octets: u32) {
        if std::mem::replace(&mut self.number, packet.number) > packet.number {
            self.end();
        }
        self.note(now, packet.timestamp, octets);
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
        assert_eq!(rate(4, 0, 6_000), 2_000, "a slow line needs fewer");
        assert_eq!(rate(3, 0, 6_000), 0);
        assert_eq!(rate(200, 160, 200), 0, "hardly spread");
        assert_eq!(rate(200, 200, 200), 0);
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

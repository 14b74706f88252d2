//! Does a path lose packets?

use ropewalk_congestion::MIN_RTT_FILTER_LEN;
use ropewalk_units::Instant;

/// Packets lost in the last 5 to 10 s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    /// Fewer losses than this count as chance.
    some: u32,
    current: u32,
    before: u32,
    since: Instant,
    /// The part of the packets that is lost, smoothed like round-trip times (RFC 6298 §2). It is
    /// forgotten with the losses themselves, since the path may have carried nothing since.
    part: f64,
}

impl Losses {
    pub(super) fn new(some: u32, now: Instant) -> Self {
        Self { some, current: 0, before: 0, since: now, part: 0.0 }
    }

    /// A report tells of this many more lost packets.
    pub(super) fn note(&mut self, now: Instant, packets: u32) {
        if now.saturating_since(self.since) >= MIN_RTT_FILTER_LEN / 2 {
            self.before = std::mem::take(&mut self.current);
            self.since = now;
            if !self.are_some() {
                self.part = 0.0;
            }
        }
        self.current = self.current.saturating_add(packets);
    }

    /// A report tells of this many lost and delivered packets.
    pub(super) fn note_part(&mut self, lost: u32, delivered: u32) {
        if lost + delivered > 0 {
            let part = f64::from(lost) / f64::from(lost + delivered);
            self.part += (part - self.part) / 8.0;
        }
    }

    /// The part of the packets that is lost.
    pub(super) fn part(&self) -> f64 {
        self.part
    }

    /// Are there more losses than chance brings?
    pub(super) fn are_some(&self) -> bool {
        self.current.saturating_add(self.before) >= self.some
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;

    #[test]
    fn two_in_ten_seconds_are_some() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut losses = Losses::new(2, at(0));
        let told = [(1, 1, false), (3, 1, true), (6, 0, true), (9, 1, true), (12, 0, false), (13, 1, true)];
        for (seconds, packets, expected) in told {
            losses.note(at(seconds), packets);
            assert_eq!(losses.are_some(), expected, "after {seconds} s");
        }
    }
}

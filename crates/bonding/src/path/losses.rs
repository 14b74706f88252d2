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

    /// Nothing is known of the part that is lost.
    pub(super) fn forget_part(&mut self) {
        self.part = 0.0;
    }

    /// The part of the packets that is lost.
    pub(super) fn part(&self) -> f64 {
        self.part
    }

    /// The part of runs of `packets` packets that lose any.
    pub(super) fn part_of_runs(&self, packets: u32) -> f64 {
        1.0 - (1.0 - self.part).powi(packets as i32)
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
    fn a_run_loses_one_more_often_than_a_packet_is_lost() {
        let losses = Losses { part: 0.01, ..Losses::new(2, Instant::ZERO) };
        assert!((losses.part_of_runs(1) - 0.01).abs() < 1e-9);
        assert!((losses.part_of_runs(42) - 0.3443).abs() < 1e-3);
    }

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

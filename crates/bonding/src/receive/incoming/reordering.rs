//! How far a path reorders: how long after a packet that overtook it another may still come.
//!
//! It is like RACK's reordering window (RFC 8985 §6.2, step 4), but measured: path numbers show how
//! late each packet was.

use crate::tuning::BondTuning;
use ropewalk_congestion::MIN_RTT_FILTER_LEN;
use ropewalk_units::{Duration, Instant};

/// After this time older lateness counts half. It is half the time for which a base round trip
/// counts.
fn half_life() -> Duration {
    MIN_RTT_FILTER_LEN / 2
}

/// One path's window. It is zero until the path has reordered, except for the first packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReorderingWindow {
    /// Greatest lateness of this period, and of those before, faded.
    most: Duration,
    before: Duration,
    since: Instant,
    trial_packets: u32,
    /// At least this, while the path is new.
    trial: Duration,
    margin: u64,
}

impl ReorderingWindow {
    pub(super) fn new(tuning: &BondTuning, now: Instant) -> Self {
        Self {
            most: Duration::ZERO,
            before: Duration::ZERO,
            since: now,
            trial_packets: tuning.trial_packets,
            trial: tuning.trial,
            margin: u64::from(tuning.reordering_margin),
        }
    }

    /// A packet has come in order.
    #[inline]
    pub(super) fn on_packet(&mut self) {
        self.trial_packets = self.trial_packets.saturating_sub(1);
    }

    /// A packet came `late_by` after one that overtook it.
    pub(super) fn note(&mut self, now: Instant, late_by: Duration) {
        self.fade(now);
        self.most = self.most.max(late_by);
    }

    fn fade(&mut self, now: Instant) {
        while now.saturating_since(self.since) >= half_life() {
            if self.most.max(self.before) == Duration::ZERO {
                self.since = now;
                return;
            }
            self.before = self.most.max(self.before / 2);
            self.most = Duration::ZERO;
            self.since = self.since.saturating_add(half_life());
        }
    }

    /// The greatest recent lateness.
    pub(super) fn extent(&mut self, now: Instant) -> Duration {
        self.fade(now);
        self.most.max(self.before)
    }

    /// How long a missing packet may still come after one that overtook it.
    pub(super) fn length(&mut self, now: Instant) -> Duration {
        let learnt = self.extent(now) * self.margin;
        if self.trial_packets > 0 { learnt.max(self.trial) } else { learnt }
    }

    #[cfg(test)]
    pub(super) fn end_trial(&mut self) {
        self.trial_packets = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn it_is_twice_the_greatest_lateness_and_fades() {
        let mut window = ReorderingWindow::new(&BondTuning::default(), at(0));
        assert_eq!(window.length(at(0)), ms(50));
        (0..64).for_each(|_| window.on_packet());
        assert_eq!(window.length(at(1)), Duration::ZERO);
        window.note(at(1000), ms(8));
        window.note(at(1000), ms(4));
        assert_eq!(window.length(at(9_999)), ms(16), "for five seconds at least");
        assert_eq!(window.length(at(10_000)), ms(8));
        window.note(at(14_000), ms(5));
        assert_eq!(window.length(at(15_000)), ms(10));
        // Ten half-lives on, hardly anything is left of it, and an hour later nothing.
        assert!(window.length(at(70_000)) < Duration::from_micros(20));
        assert_eq!(window.length(at(3_670_000)), Duration::ZERO);
        window.note(at(90_000), ms(3));
        assert_eq!(window.length(at(90_000)), ms(6));
    }
}

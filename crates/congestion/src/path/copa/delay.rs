//! Round-trip times: the least of long, the least of half a round trip, and the range of the last rounds. Seconds.

use crate::path::{BASE_HISTORY, PathSample};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// The gain of the estimate of jitter (RFC 3550 §6.4.1).
const JITTER_GAIN: f64 = 1.0 / 16.0;
/// Rounds of the range that "nearly empty" is measured by, and the share of it (§3).
pub(super) const RANGE_ROUNDS: usize = 4;
const NEARLY_EMPTY: f64 = 0.1;

#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    /// Seconds and round-trip times, ascending in both: the first is the least of the window.
    long: VecDeque<(f64, f64)>,
    short: VecDeque<(f64, f64)>,
    latest: f64,
    /// What is no queue's doing.
    reordering: f64,
    /// What was delivered is told of so much later.
    lag: f64,
    /// The least round trip of the report before, and by how much such ones differ from one to the next (RFC 3550 §6.4.1).
    before: Option<f64>,
    jitter: f64,
    most_in_round: f64,
    least_in_round: f64,
    most: [f64; RANGE_ROUNDS],
    rounds: usize,
}

fn push(filter: &mut VecDeque<(f64, f64)>, now: f64, rtt: f64, window: f64, apart: f64) {
    while filter.back().is_some_and(|(_, last)| *last >= rtt) {
        filter.pop_back();
    }
    if filter.back().is_none_or(|(at, _)| now - at >= apart) {
        filter.push_back((now, rtt));
    }
    while filter.len() > 1 && filter.front().is_some_and(|(at, _)| *at < now - window) {
        filter.pop_front();
    }
}

impl Delays {
    pub(super) fn update(&mut self, now: Instant, sample: &PathSample, competing: bool) {
        let Some(rtt) = sample.least_rtt else { return };
        let (now, rtt) = (now.as_secs_f64(), rtt.as_secs_f64());
        self.reordering = sample.reordering.as_secs_f64();
        self.lag = sample.lag.as_secs_f64();
        let change = self.before.replace(rtt).map_or(0.0, |before| (rtt - before).abs());
        self.jitter += (change - self.jitter) * JITTER_GAIN;
        // While others hold the queue the base shows in drains only, which forget what is older.
        let window = if competing { f64::INFINITY } else { BASE_HISTORY.as_secs_f64() };
        push(&mut self.long, now, rtt, window, 0.1);
        push(&mut self.short, now, rtt, sample.srtt.as_secs_f64() / 2.0, 0.0);
        self.latest = sample.rate.rtt.map_or(rtt, Duration::as_secs_f64);
        self.most_in_round = self.most_in_round.max(self.latest);
        if self.least_in_round == 0.0 || rtt < self.least_in_round {
            self.least_in_round = rtt;
        }
    }

    /// A round trip without queue that was not measured with the path's own packets.
    pub(super) fn assume(&mut self, now: Instant, base: Duration) {
        push(&mut self.long, now.as_secs_f64(), base.as_secs_f64(), BASE_HISTORY.as_secs_f64(), 0.0);
        push(&mut self.short, now.as_secs_f64(), base.as_secs_f64(), 0.0, 0.0);
    }

    /// Was the queue of the round that ends nearly empty once? `floor`: a queue that counts as none.
    pub(super) fn end_round(&mut self, floor: f64) -> bool {
        self.most[self.rounds % RANGE_ROUNDS] = self.most_in_round;
        self.rounds += 1;
        let range = self.range();
        let least = self.least_in_round - self.base();
        self.most_in_round = 0.0;
        self.least_in_round = 0.0;
        least <= (NEARLY_EMPTY * range).max(floor) + self.reordering
    }

    /// By how much delays of the last rounds were longer than the base.
    pub(super) fn range(&self) -> f64 {
        self.most.iter().copied().fold(0.0, f64::max) - self.base()
    }

    /// The longest wait of the last round.
    pub(super) fn round_queue(&self) -> f64 {
        self.most[(self.rounds + RANGE_ROUNDS - 1) % RANGE_ROUNDS] - self.base()
    }

    /// Is a base known, of a path that is not known to reorder?
    pub(super) fn are_in_order(&self) -> bool {
        self.base() > 0.0 && self.reordering == 0.0
    }

    /// The base may have risen: what is older counts no more.
    pub(super) fn forget_before(&mut self, at: Instant) {
        let at = at.as_secs_f64();
        while self.long.len() > 1 && self.long.front().is_some_and(|(seen, _)| *seen < at) {
            self.long.pop_front();
        }
    }

    pub(super) fn base(&self) -> f64 {
        self.long.front().map_or(0.0, |(_, rtt)| *rtt)
    }

    /// RTTstanding.
    pub(super) fn standing(&self) -> f64 {
        self.short.front().map_or(0.0, |(_, rtt)| *rtt)
    }

    /// By how much later than round trips say reports come.
    pub(super) fn lag(&self) -> f64 {
        self.lag
    }

    /// By how much delays vary from report to report.
    pub(super) fn jitter(&self) -> f64 {
        self.jitter
    }

    /// d_q.
    pub(super) fn queue(&self) -> f64 {
        (self.standing() - self.base() - self.reordering).max(0.0)
    }

    /// The queue that the packet delivered last met.
    pub(super) fn latest_queue(&self) -> f64 {
        (self.latest - self.base() - self.reordering).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_sample::RateSample;

    /// A report each second tells of so many milliseconds.
    fn pass(delays: &mut Delays, from: u64, seconds: u64, rtt: u64) {
        let (rtt, zero) = (Duration::from_millis(rtt), Duration::ZERO);
        let sample = PathSample {
            rate: RateSample::default(),
            least_rtt: Some(rtt),
            srtt: rtt,
            reordering: zero,
            lag: zero,
        };
        for second in from..from + seconds {
            delays.update(Instant::ZERO + Duration::from_secs(second), &sample, false);
        }
    }

    #[test]
    fn the_base_is_the_least_of_ten_minutes() {
        let mut delays = Delays::default();
        pass(&mut delays, 0, 1, 50);
        pass(&mut delays, 1, 599, 150);
        assert_eq!(delays.base(), 0.05);
        pass(&mut delays, 600, 2, 150);
        assert_eq!(delays.base(), 0.15);
    }
}

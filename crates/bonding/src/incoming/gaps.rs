//! Numbers of one path that are missing, until they come or are given up as lost.

use crate::id::PathSeq;
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// The most gaps kept open; beyond, the oldest counts as lost.
const GAPS_MOST: usize = 256;

/// Numbers from `from` up to but not including `until`, found missing at `at`.
#[derive(Clone, Copy)]
struct Gap {
    from: PathSeq,
    until: PathSeq,
    at: Instant,
}

/// The open gaps, oldest first, and what has been lost for good.
pub(super) struct Gaps {
    open: VecDeque<Gap>,
    pub(super) lost: u64,
}

impl Default for Gaps {
    fn default() -> Self {
        Self { open: VecDeque::with_capacity(GAPS_MOST + 1), lost: 0 }
    }
}

impl Gaps {
    pub(super) fn open(&mut self, from: PathSeq, until: PathSeq, at: Instant) {
        self.open.push_back(Gap { from, until, at });
        self.bound();
    }

    fn bound(&mut self) {
        if self.open.len() > GAPS_MOST {
            self.lose_oldest();
        }
    }

    fn lose_oldest(&mut self) {
        if let Some(gap) = self.open.pop_front() {
            self.lost += u64::from(gap.until.since(gap.from));
        }
    }

    /// A missing number came. `false`: it was not missing, or given up.
    pub(super) fn fill(&mut self, seq: PathSeq) -> bool {
        let holds = |gap: &Gap| !seq.before(gap.from) && seq.before(gap.until);
        let Some(place) = self.open.iter().position(holds) else { return false };
        let gap = self.open[place];
        let below = Gap { until: seq, ..gap };
        let above = Gap { from: seq.next(), ..gap };
        match (below.from == below.until, above.from == above.until) {
            (true, true) => drop(self.open.remove(place)),
            (true, false) => self.open[place] = above,
            (false, true) => self.open[place] = below,
            (false, false) => {
                self.open[place] = above;
                self.open.insert(place, below);
                self.bound();
            }
        }
        true
    }

    /// What has been missing for `timeout` is lost.
    pub(super) fn expire(&mut self, now: Instant, timeout: Duration) {
        while self.open.front().is_some_and(|gap| now.saturating_since(gap.at) >= timeout) {
            self.lose_oldest();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seq(number: u32) -> PathSeq {
        PathSeq::new(number)
    }

    #[test]
    fn a_number_that_comes_in_time_is_not_lost() {
        let mut gaps = Gaps::default();
        gaps.open(seq(u32::MAX - 1), seq(3), Instant::ZERO);
        for number in [0, u32::MAX - 1, 2] {
            assert!(gaps.fill(seq(number)));
            assert!(!gaps.fill(seq(number)), "it was filled");
        }
        let timeout = Duration::from_millis(50);
        gaps.expire(Instant::ZERO + timeout - Duration::from_nanos(1), timeout);
        assert_eq!(gaps.lost, 0);
        gaps.expire(Instant::ZERO + timeout, timeout);
        assert_eq!(gaps.lost, 2);
        assert!(!gaps.fill(seq(1)), "it was given up");
    }

    #[test]
    fn the_oldest_of_too_many_gaps_is_lost() {
        let mut gaps = Gaps::default();
        for number in 0..=GAPS_MOST as u32 {
            gaps.open(seq(2 * number), seq(2 * number + 1), Instant::ZERO);
        }
        assert_eq!((gaps.lost, gaps.open.len()), (1, GAPS_MOST));
    }
}

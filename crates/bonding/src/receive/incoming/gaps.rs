//! Numbers of one path that are missing, until they come or are forgotten.

mod repair;

pub(super) use repair::Terms;

use super::reordering::ReorderingWindow;
use crate::id::{GlobalSeq, PathSeq};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// The most gaps kept; beyond, the oldest is forgotten.
const GAPS_MOST: usize = 1024;

/// Numbers from `from` up to but not including `until`, found missing at `at`.
#[derive(Clone, Copy)]
struct Gap {
    from: PathSeq,
    until: PathSeq,
    at: Instant,
    /// The bond's number of the packet before: what is missing was sent later. `None`: nothing came
    /// before.
    after: Option<GlobalSeq>,
    /// Packets that had come on the path before it was found.
    arrivals: u32,
    /// When it was asked for last.
    asked_at: Option<Instant>,
}

/// A missing number that came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// How long after the first packet that overtook it this one came.
    pub(super) late_by: Duration,
    /// It counts as lost already.
    pub(super) is_lost: bool,
}

/// The gaps, oldest and lowest first, and what has been lost for good.
///
/// The first gaps are judged twice: which are not waited for any more, and which count as lost.
/// They are kept all the same, since a packet that still comes shows how far the path reorders.
pub(super) struct Gaps {
    all: VecDeque<Gap>,
    /// How many of the first gaps are not waited for.
    passed: usize,
    /// How many of the first gaps count as lost.
    counted: usize,
    /// How many of the first gaps were asked for, and when one of them is to be asked for again.
    asked: usize,
    ask_again_at: Instant,
    /// Packets that came in order. Keepalives count as well, since they also show what is missing.
    arrivals: u32,
    pub(super) lost: u64,
}

impl Default for Gaps {
    fn default() -> Self {
        Self {
            all: VecDeque::with_capacity(GAPS_MOST + 1),
            passed: 0,
            counted: 0,
            asked: 0,
            ask_again_at: Instant::MAX,
            arrivals: 0,
            lost: 0,
        }
    }
}

impl Gaps {
    /// Later packets have come.
    #[inline]
    pub(super) fn note_arrivals(&mut self, count: u32) {
        self.arrivals = self.arrivals.wrapping_add(count);
    }

    pub(super) fn open(&mut self, from: PathSeq, until: PathSeq, at: Instant, after: Option<GlobalSeq>) {
        self.all.push_back(Gap { from, until, at, after, arrivals: self.arrivals, asked_at: None });
        self.bound();
    }

    fn bound(&mut self) {
        if self.all.len() > GAPS_MOST {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(gap) = self.all.pop_front() else { return };
        if self.counted == 0 {
            self.lost += u64::from(gap.until.since(gap.from));
        }
        self.counted = self.counted.saturating_sub(1);
        self.passed = self.passed.saturating_sub(1);
        self.asked = self.asked.saturating_sub(1);
    }

    /// A missing number came, with the bond's number `global`. `None`: it was not missing, or is
    /// forgotten.
    pub(super) fn fill(&mut self, now: Instant, seq: PathSeq, global: GlobalSeq) -> Option<Found> {
        let place = self.all.partition_point(|gap| !seq.before(gap.until));
        let gap = *self.all.get(place).filter(|gap| !seq.before(gap.from))?;
        let found = Found { late_by: now.saturating_since(gap.at), is_lost: place < self.counted };
        let below = Gap { until: seq, ..gap };
        let above = Gap { from: seq.next(), after: Some(global), ..gap };
        match (below.from == below.until, above.from == above.until) {
            (true, true) => {
                self.all.remove(place);
                self.passed -= usize::from(place < self.passed);
                self.counted -= usize::from(place < self.counted);
                self.asked -= usize::from(place < self.asked);
            }
            (true, false) => self.all[place] = above,
            (false, true) => self.all[place] = below,
            (false, false) => {
                self.all[place] = above;
                self.all.insert(place, below);
                self.passed += usize::from(place < self.passed);
                self.counted += usize::from(place < self.counted);
                self.asked += usize::from(place < self.asked);
                self.bound();
            }
        }
        Some(found)
    }

    /// A packet that counted as lost has come by its own path: the next report says so.
    pub(super) fn take_back(&mut self) {
        self.lost -= 1;
    }

    /// Counts gaps older than `timeout` as lost. Gaps that are also older than `patience` are
    /// forgotten: if their packets still come, nothing is learnt from them.
    pub(super) fn expire(&mut self, now: Instant, timeout: Duration, patience: Duration) {
        while let Some(gap) = self.all.get(self.counted)
            && now.saturating_since(gap.at) >= timeout
        {
            self.lost += u64::from(gap.until.since(gap.from));
            self.counted += 1;
        }
        while self.all.front().is_some_and(|gap| now.saturating_since(gap.at) >= timeout.max(patience)) {
            self.forget_oldest();
        }
    }

    /// The bond's number before the first gap that is still waited for; `None`: no gap is. A gap is
    /// not waited for once `reordering` packets have come since, the one that showed it included,
    /// and the window is over. If it is asked for, it is waited for until `repair` is over as well.
    #[inline]
    pub(super) fn awaited(
        &mut self,
        now: Instant,
        reordering: u32,
        window: &mut ReorderingWindow,
        repair: Option<Duration>,
    ) -> Option<Option<GlobalSeq>> {
        while let Some(gap) = self.all.get(self.passed) {
            let since = self.arrivals.wrapping_sub(gap.arrivals);
            if since < reordering || now.saturating_since(gap.at) < window.length(now) {
                return Some(gap.after);
            }
            if repair.is_some_and(|patience| gap.is_awaited(now, patience)) {
                return Some(gap.after);
            }
            self.passed += 1;
        }
        None
    }
}

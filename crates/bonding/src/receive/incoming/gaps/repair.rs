//! Requests for missing packets, and their repairs.

use super::{Gap, Gaps};
use crate::id::{GlobalSeq, PathSeq};
use crate::wire::control::{Missing, MissingRange};
use ropewalk_units::{Duration, Instant};

/// What decides when a gap is to be asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::receive::incoming) struct Terms {
    pub(in crate::receive::incoming) now: Instant,
    /// A missing packet may only be late until this many packets have come since, the one that
    /// showed it included, or `reordering_time` is over (RFC 8985 §6.2).
    pub(in crate::receive::incoming) reordering: u32,
    pub(in crate::receive::incoming) reordering_time: Duration,
    /// It may also only be late until this time is over: by so much the path is known to reorder.
    pub(in crate::receive::incoming) window: Duration,
    /// The time from a request until its repair comes.
    pub(in crate::receive::incoming) repair_time: Duration,
    /// The longest time that anything waits for it.
    pub(in crate::receive::incoming) patience: Duration,
}

impl Gap {
    /// Is it still waited for?
    pub(super) fn is_awaited(&self, now: Instant, patience: Duration) -> bool {
        now.saturating_since(self.at) < patience
    }

    /// When it is to be asked for again; `None`: it was not asked for yet.
    fn again_at(&self, repair_time: Duration) -> Option<Instant> {
        self.asked_at.map(|at| at.saturating_add(repair_time))
    }

    /// Asks for it if it is due; false if `missing` has no room.
    fn ask(&mut self, terms: &Terms, missing: &mut Missing) -> bool {
        if self.again_at(terms.repair_time).is_none_or(|at| terms.now >= at) {
            let packets = self.until.since(self.from);
            if !missing.push(MissingRange { from: self.from, packets }) {
                return false;
            }
            self.asked_at = Some(terms.now);
        }
        true
    }
}

impl Gaps {
    /// A repair has come. The path had lost the packet, which counts once.
    pub(in crate::receive::incoming) fn repair(&mut self, now: Instant, seq: PathSeq, global: GlobalSeq) {
        let found = self.fill(now, seq, global);
        self.lost += u64::from(found.is_some_and(|found| !found.is_lost));
    }

    /// Is any of the gaps to be asked for, perhaps?
    #[inline]
    pub(in crate::receive::incoming) fn may_be_asked_for(&self, now: Instant) -> bool {
        self.asked < self.all.len() || now >= self.ask_again_at
    }

    /// Is any gap still waited for because of its repair? The last one was found last.
    pub(in crate::receive::incoming) fn are_under_repair(&self, now: Instant, patience: Duration) -> bool {
        self.passed < self.all.len() && self.all.back().is_some_and(|gap| gap.is_awaited(now, patience))
    }

    /// Puts the gaps that are to be asked for into `missing`. These are not merely late, were not
    /// asked for recently, and are still waited for. Gaps that were asked for before are looked at
    /// only when one of them is due.
    pub(in crate::receive::incoming) fn ask(&mut self, terms: &Terms, missing: &mut Missing) {
        let asks_again = terms.now >= self.ask_again_at;
        if asks_again {
            self.ask_again_at = Instant::MAX;
        }
        let first = if asks_again { self.passed } else { self.asked.max(self.passed) };
        for place in first..self.all.len() {
            let arrivals = self.arrivals;
            let gap = &mut self.all[place];
            let age = terms.now.saturating_since(gap.at);
            if age >= terms.patience {
                continue;
            }
            let is_overtaken =
                arrivals.wrapping_sub(gap.arrivals) >= terms.reordering || age >= terms.reordering_time;
            if gap.asked_at.is_none() && (!is_overtaken || age < terms.window) {
                return;
            }
            if !gap.ask(terms, missing) {
                self.ask_again_at = terms.now;
                return;
            }
            let again_at = gap.again_at(terms.repair_time).unwrap_or(terms.now);
            self.ask_again_at = self.ask_again_at.min(again_at);
            self.asked = self.asked.max(place + 1);
        }
    }
}

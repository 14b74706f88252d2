//! Weighted round robin with loss feedback: Bednarek et al. 2016, §3, generalised to any number of
//! paths in the order of their costs.
//!
//! The cheapest path's weight is fixed. Loss on a path says that it is full, and raises the weight
//! of the next costlier one; without loss, the costliest path's weight falls first. Of two paths,
//! this is the paper's rule. A *rank* is a path's place in the order of costs.

mod round;

#[cfg(test)]
mod tests;

use super::{Ask, Decision, Progress, Reason, Scheduler, View};
use crate::config::{Config, DecrementPace, LossUnit, WeightArithmetic, WrrConfig};
use crate::id::{MAX_PATHS, PathId, PathSet};
use ropewalk_units::Instant;
use round::Round;

/// The paper's scheduler, and its generalisation.
pub(crate) struct WeightedRoundRobin {
    config: WrrConfig,
    ranks: Ranks,
    round: Round,
}

/// The paths, cheapest first.
struct Ranks(Vec<Rank>);

struct Rank {
    id: PathId,
    /// The weight; w_fixed for the first rank.
    weight: f64,
    most: f64,
    lossless_since: Instant,
}

impl Ranks {
    /// The usable ranks, cheapest first, with the weights they are used by.
    #[inline]
    fn shares(&self, usable: PathSet) -> impl Iterator<Item = (usize, f64)> + Clone {
        let ranks = (0..self.0.len()).filter(move |&rank| usable.contains(self.0[rank].id));
        ranks.enumerate().map(|(place, rank)| (rank, self.share(rank, place == 0)))
    }

    /// The weight that a rank is used by. The cheapest usable path has w_fixed at least, since it
    /// stands in for the cheapest of all.
    #[inline]
    fn share(&self, rank: usize, is_first: bool) -> f64 {
        let own = self.0[rank].weight;
        if is_first { own.max(self.0[0].weight) } else { own }
    }
}

/// What a report says of one rank.
#[derive(Clone, Copy, Default)]
struct Reported {
    /// Lost packets.
    lost: u32,
    /// Lost over sent, in the configured unit.
    ratio: f64,
    is_up: bool,
}

impl Reported {
    fn new(view: &View, progress: &Progress, unit: LossUnit) -> Self {
        let (lost, sent) = match unit {
            LossUnit::Packets => (progress.lost_packets, progress.sent_packets),
            LossUnit::Bytes => (progress.lost_bytes, progress.sent_bytes),
        };
        // Losses of an earlier interval may be reported when less was sent since: the ratio is then
        // 1.
        let ratio = f64::from(lost) / f64::from(sent.max(lost).max(1));
        Self { lost: progress.lost_packets, ratio, is_up: view.is_up }
    }
}

impl WeightedRoundRobin {
    /// The configuration must be valid.
    pub(crate) fn new(config: &Config, own: WrrConfig, now: Instant) -> Self {
        let rank = |id: PathId| {
            let path = config.explicit_path(id);
            let [weight, most] = [path.weight, path.max_weight].map(|weight| f64::from(weight.unwrap_or(0)));
            Rank { id, weight, most, lossless_since: now }
        };
        let ranks: Vec<Rank> = config.by_cost().into_iter().map(rank).collect();
        Self { config: own, round: Round::new(own.turns, ranks.len()), ranks: Ranks(ranks) }
    }

    /// The rank that takes what `rank` cannot carry: the next costlier path below its greatest
    /// weight. A path that is up and loses nothing itself comes first.
    fn next_after(&self, rank: usize, reported: &[Reported]) -> Option<usize> {
        let is_below = |&next: &usize| self.ranks.0[next].weight < self.ranks.0[next].most;
        let mut below = (rank + 1..reported.len()).filter(is_below);
        below.clone().find(|&next| reported[next].is_up && reported[next].lost == 0).or_else(|| below.next())
    }

    fn increment(&mut self, next: usize, cause: Reported, share: f64) {
        let weight = &mut self.ranks.0[next].weight;
        *weight += if *weight > 0.0 {
            // §3.1, adaptive weight increment, equation 1.
            self.config.gain * cause.ratio * share
        } else {
            // §3.2, initial weight increment.
            f64::from(cause.lost)
        };
    }

    /// §3.3, delayed weight decrement: by one each T_report (or T_dwd). It is the weight of the
    /// costliest path that has one and before which no path lost anything for T_dwd.
    fn delayed_decrement(&mut self, now: Instant, reported: &[Reported]) {
        let is_quiet = |rank: usize| {
            let quiet_for = now.saturating_since(self.ranks.0[rank].lossless_since);
            reported[rank].lost == 0 && quiet_for >= self.config.decrement_delay
        };
        let behind_quiet = (1..reported.len()).take_while(|&rank| is_quiet(rank - 1));
        let Some(rank) = behind_quiet.filter(|&rank| self.ranks.0[rank].weight > 0.0).last() else { return };
        self.ranks.0[rank].weight -= 1.0;
        if self.config.decrement_pace == DecrementPace::EachDelay {
            self.ranks.0.iter_mut().for_each(|rank| rank.lossless_since = now);
        }
    }

    fn clamp(&mut self) {
        for rank in &mut self.ranks.0[1..] {
            let weight = match self.config.arithmetic {
                WeightArithmetic::Whole => libm::floor(rank.weight),
                WeightArithmetic::Rounded => libm::round(rank.weight),
                WeightArithmetic::Fractional => rank.weight,
            };
            rank.weight = weight.clamp(0.0, rank.most);
        }
    }
}

impl Scheduler for WeightedRoundRobin {
    #[inline]
    fn pick(&mut self, ask: &Ask, _views: &[View]) -> Decision {
        let due = self.round.next(self.ranks.shares(ask.usable));
        due.map_or(Decision::WAIT, |rank| Decision::one(self.ranks.0[rank].id, Reason::Turn))
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress], views: &[View]) {
        let mut reported = [Reported::default(); MAX_PATHS];
        let reported = &mut reported[..self.ranks.0.len()];
        for (reported, rank) in reported.iter_mut().zip(&self.ranks.0) {
            let index = rank.id.index();
            *reported = Reported::new(&views[index], &progress[index], self.config.loss_unit);
        }
        let first = reported.iter().position(|reported| reported.is_up);
        for (rank, &cause) in reported.iter().enumerate().filter(|(_, reported)| reported.lost > 0) {
            self.ranks.0[rank].lossless_since = now;
            if let Some(next) = self.next_after(rank, reported) {
                self.increment(next, cause, self.ranks.share(rank, first == Some(rank)));
            }
        }
        self.delayed_decrement(now, reported);
        self.clamp();
    }

    fn weight(&self, view: &View) -> u32 {
        let rank = self.ranks.0.iter().find(|rank| rank.id == view.id);
        rank.map_or(0, |rank| rank.weight as u32)
    }
}

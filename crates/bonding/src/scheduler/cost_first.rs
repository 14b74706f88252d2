//! Fill the paths in the order of their costs, each up to what it is measured to deliver.
//!
//! A path is full when the queue that our packets make on it (modelled at its measured rate, corrected by every report)
//! is as long as the target; then the next costlier one takes the packet. So the excess moves on after milliseconds, before
//! anything is lost, and returns as soon. Losses are only needed to learn that a buffer is shorter than the target.

use super::rate_aware::RateAware;
use super::{Ask, Scheduler};
use crate::config::{Config, CostFirstConfig, RateAwareConfig};
use crate::id::{MAX_PATHS, PathId, PathSet};
use crate::outgoing::{Outgoing, Progress, WHOLE_SHARE};
use ropewalk_units::Instant;

/// Of a queue at which packets were lost, this share is filled before the next path is used.
const OF_LIMIT: f64 = 0.6;

/// A path slower than this share of the cheapest one takes no overflow while it would deliver much later: it would hold
/// back more than it carries.
const WORTHWHILE: f64 = 0.125;

/// The paths by cost, and how much each may carry.
pub(crate) struct CostFirst {
    order: [PathId; MAX_PATHS],
    count: usize,
    most: [u32; MAX_PATHS],
    target: i64,
    any: RateAware,
}

impl CostFirst {
    pub(crate) fn new(config: &Config, own: CostFirstConfig) -> Self {
        let by_cost = config.by_cost();
        let mut order = [PathId(0); MAX_PATHS];
        order[..by_cost.len()].copy_from_slice(&by_cost);
        let mut most = [100; MAX_PATHS];
        for (most, path) in most.iter_mut().zip(&config.paths) {
            *most = path.max_weight.unwrap_or(100);
        }
        Self {
            order,
            count: by_cost.len(),
            most,
            target: own.queue_target.as_nanos() as i64,
            any: RateAware::new(RateAwareConfig::default()),
        }
    }

    /// Is its share of the packets below its greatest weight?
    #[inline]
    fn is_allowed(&self, path: &Outgoing) -> bool {
        let most = self.most[path.id.index()];
        most >= 100 || i64::from(path.share) * 100 < i64::from(most) * i64::from(WHOLE_SHARE)
    }

    /// The first path by cost with room. The last one has room until its own buffer is full: beyond it there is nothing to move on to, and
    /// only a rate that was measured can tell that a cheaper one is full indeed.
    #[inline]
    fn first_with_room(&self, ask: &Ask, paths: &[Outgoing]) -> Option<PathId> {
        let mut left = ask.usable;
        let mut cheapest = None;
        for &id in &self.order[..self.count] {
            if !left.contains(id) {
                continue;
            }
            left.remove(id);
            let path = &paths[id.index()];
            let cheapest = *cheapest.get_or_insert(path);
            let limit = path.queue_limit();
            let is_last = left.is_empty() && path.is_measured();
            let room = if is_last { i64::MAX } else { self.target.min((limit as f64 * OF_LIMIT) as i64) };
            // Of paths that nothing is known of, as much is used as an initial window holds.
            let is_worth_it = path.id == cheapest.id
                || !path.is_tried()
                || (cheapest.is_tried() && path.rate() >= cheapest.rate() * WORTHWHILE);
            if is_worth_it && path.has_room(ask.now, room) && self.is_allowed(path) {
                return Some(id);
            }
        }
        None
    }

    /// All are full, or too slow to help: the earliest of those that may carry more.
    fn least_bad(&mut self, ask: &Ask, paths: &[Outgoing]) -> Option<PathId> {
        let allowed = ask.usable.filter(|id| self.is_allowed(&paths[id.index()]));
        let among = if allowed.is_empty() { ask.usable } else { allowed };
        let cheapest = self.order[..self.count].iter().copied().find(|&id| among.contains(id))?;
        self.any.choose(ask, paths, among, cheapest)
    }
}

impl Scheduler for CostFirst {
    #[inline]
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet {
        let chosen = self.first_with_room(ask, paths).or_else(|| self.least_bad(ask, paths));
        chosen.map_or(PathSet::EMPTY, PathSet::one)
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress], paths: &[Outgoing]) {
        self.any.on_report(now, progress, paths);
    }

    fn weight(&self, path: &Outgoing) -> u32 {
        path.share_percent().min(self.most[path.id.index()])
    }
}

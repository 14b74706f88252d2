//! Fills the paths in the order of their costs. A costlier path takes a packet only if the cheaper
//! ones will not send it within `patience`.

use super::earliest::delivery;
use super::{Ask, Decision, Reason, Scheduler, View};
use crate::config::{Config, CostFirstConfig};
use crate::id::{MAX_PATHS, PathId, PathSet};

/// The paths by cost, and how much each may carry.
pub(crate) struct CostFirst {
    order: Vec<PathId>,
    most: [u32; MAX_PATHS],
    /// The configured `queue_target`, in nanoseconds.
    patience: i64,
}

impl CostFirst {
    pub(crate) fn new(config: &Config, own: CostFirstConfig) -> Self {
        let mut most = [100; MAX_PATHS];
        for (most, path) in most.iter_mut().zip(&config.paths) {
            *most = path.max_weight.unwrap_or(100);
        }
        Self { order: config.by_cost(), most, patience: own.queue_target.as_nanos() as i64 }
    }
}

impl CostFirst {
    /// All of `usable` but the cheapest.
    pub(crate) fn dearer(&self, usable: PathSet) -> PathSet {
        let cheapest = self.order.iter().find(|&&id| usable.contains(id));
        usable.filter(|id| Some(&id) != cheapest)
    }
}

impl Scheduler for CostFirst {
    #[inline]
    fn pick(&mut self, ask: &Ask, views: &[View]) -> Decision {
        let usable = ask.usable;
        let is_last = usable.is_single();
        // The packet itself keeps no path busy before it leaves (as CoDel drops nothing while a queue holds less than a packet).
        let before = ask.waiting.saturating_sub(u64::from(ask.size));
        let mut rate = 0.0;
        let mut shortest = i64::MAX;
        for &id in self.order.iter().filter(|&&id| usable.contains(id)) {
            let view = &views[id.index()];
            let arrival = delivery(view);
            // A path is not used while the packet arrives earlier by waiting. The deviation of the
            // path's delay counts as delay too.
            let patience = self.patience.max(arrival.saturating_add(view.deviation).saturating_sub(shortest));
            let wait = if rate > 0.0 { before as f64 / rate * 1e9 } else { f64::INFINITY };
            // While the path is in use, a part of that wait is enough.
            if wait < patience as f64 * view.enough {
                return Decision::WAIT;
            }
            let is_allowed =
                is_last || self.most[id.index()] >= 100 || view.share_percent < self.most[id.index()];
            if view.may_send && is_allowed {
                let reason = if rate > 0.0 { Reason::Overflow } else { Reason::Cheapest };
                return Decision::one(id, reason);
            }
            rate += view.rate;
            shortest = shortest.min(arrival);
        }
        Decision::WAIT
    }

    fn weight(&self, view: &View) -> u32 {
        view.share_percent.min(self.most[view.id.index()])
    }
}

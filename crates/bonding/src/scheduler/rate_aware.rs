//! Each packet takes the path that is expected to deliver it first.
//!
//! Expected delivery = least one-way delay + queue + transmission + what losses cost. A path is not filled beyond the
//! queue at which it was seen to lose packets while another would deliver not much later.

use super::{Ask, Scheduler, emptiest};
use crate::config::RateAwareConfig;
use crate::id::{PathId, PathSet};
use crate::outgoing::Outgoing;

/// Has no state of its own: all of it is the paths'.
pub(crate) struct RateAware {
    loss_cost: f64,
}

/// The best path and when it would deliver.
#[derive(Clone, Copy)]
struct Best {
    path: PathId,
    delivery: i64,
}

fn better(best: Option<Best>, path: PathId, delivery: i64) -> Option<Best> {
    match best {
        Some(best) if best.delivery <= delivery => Some(best),
        _ => Some(Best { path, delivery }),
    }
}

impl RateAware {
    pub(crate) fn new(config: RateAwareConfig) -> Self {
        Self { loss_cost: config.loss_cost.as_nanos() as f64 }
    }

    /// The earliest of `among`.
    #[inline]
    pub(super) fn earliest(&self, ask: &Ask, paths: &[Outgoing], among: PathSet) -> Option<PathId> {
        let (mut best, mut best_with_room) = (None, None);
        for id in among.iter() {
            let path = &paths[id.index()];
            let loss = (path.random_loss() * self.loss_cost) as i64;
            let delivery = path.expected_delivery(ask.now, ask.wire_len) + loss;
            best = better(best, id, delivery);
            if path.has_room(ask.now, i64::MAX) {
                best_with_room = better(best_with_room, id, delivery);
            }
        }
        let best = best?;
        let Some(roomy) = best_with_room else { return emptiest(ask, paths, among) };
        // Rather wait as long as the best path's full queue than lose a packet there; not longer.
        let patience = paths[best.path.index()].queue_limit();
        let is_worth_it = roomy.delivery - best.delivery <= patience;
        Some(if is_worth_it { roomy.path } else { best.path })
    }
}

impl Scheduler for RateAware {
    #[inline]
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet {
        self.earliest(ask, paths, ask.usable).map_or(ask.usable, PathSet::one)
    }
}

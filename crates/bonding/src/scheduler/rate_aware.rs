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

    /// How much later another path may deliver what the full one would lose: by the queue that it bears (a round trip at most), and by its round
    /// trip as far as the other adds to its rate. A loss costs a TCP flow round trips; a slow path's rate is no gain.
    fn patience(full: &Outgoing, other: &Outgoing) -> i64 {
        let round_trip = full.liveness.srtt.map_or(0.0, |srtt| srtt.as_nanos() as f64);
        let gain = (other.rate() / full.rate()).min(1.0);
        full.queue_limit().min(round_trip as i64) + (round_trip * gain) as i64
    }

    /// The earliest of `among`.
    #[inline]
    pub(super) fn earliest(&self, ask: &Ask, paths: &[Outgoing], among: PathSet) -> Option<PathId> {
        let (mut best, mut best_with_room) = (None, None);
        for id in among.iter() {
            let path = &paths[id.index()];
            let delivery = self.delivery(ask, paths, path);
            best = better(best, id, delivery);
            if path.has_room(ask.now, i64::MAX) {
                best_with_room = better(best_with_room, id, delivery);
            }
        }
        let best = best?;
        let Some(roomy) = best_with_room else { return emptiest(ask, paths, among) };
        let patience = Self::patience(&paths[best.path.index()], &paths[roomy.path.index()]);
        let is_worth_it = roomy.delivery - best.delivery <= patience;
        Some(if is_worth_it { roomy.path } else { best.path })
    }

    /// When the packet would be delivered, plus what the path's losses cost.
    #[inline]
    pub(super) fn delivery(&self, ask: &Ask, paths: &[Outgoing], path: &Outgoing) -> i64 {
        path.expected_delivery(ask.now, ask.wire_len) + self.cost_of_loss(ask, paths, path)
    }

    /// Losses count as far as other paths could carry the traffic instead.
    #[inline]
    fn cost_of_loss(&self, ask: &Ask, paths: &[Outgoing], path: &Outgoing) -> i64 {
        if path.random_loss() <= 0.0 {
            return 0;
        }
        let others = ask.usable.iter().filter(|&id| id != path.id).map(|id| paths[id.index()].rate());
        let replaceable = (others.sum::<f64>() / path.rate()).min(1.0);
        (path.random_loss() * replaceable * self.loss_cost) as i64
    }
}

impl Scheduler for RateAware {
    #[inline]
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet {
        self.earliest(ask, paths, ask.usable).map_or(ask.usable, PathSet::one)
    }
}

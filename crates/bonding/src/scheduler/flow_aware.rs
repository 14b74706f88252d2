//! A flow stays on the first path as long as it fits.
//!
//! A new flow is placed on the first path (by cost, else by place) that is not known to be full. It
//! goes back to an earlier path that has become free. A flow that fills its path overflows packet
//! by packet, by the rule of earliest arrival.

use super::earliest::earliest;
use super::{Ask, Decision, Reason, Scheduler, View};
use crate::config::{Config, FlowAwareConfig};
use crate::id::PathId;
use ropewalk_units::{Duration, Instant};

/// One bucket of flows.
#[derive(Clone, Copy)]
struct Flow {
    home: Option<PathId>,
    last_at: Instant,
}

/// The flows, and the order in which paths are filled.
pub(crate) struct FlowAware {
    order: Vec<PathId>,
    flows: Vec<Flow>,
    /// How long a flow's packets may wait for its path, in nanoseconds.
    patience: i64,
    idle_after: Duration,
}

impl FlowAware {
    pub(crate) fn new(config: &Config, own: FlowAwareConfig) -> Self {
        let flow = Flow { home: None, last_at: Instant::ZERO };
        Self {
            order: config.by_cost(),
            flows: vec![flow; config.resequencer.flow_buckets as usize],
            patience: own.queue_target.as_nanos() as i64,
            idle_after: own.idle_after,
        }
    }

    /// The first path before a flow's own that may send and on which nothing of ours is on its way.
    fn before(&self, home: PathId, ask: &Ask, views: &[View]) -> Option<PathId> {
        let mut earlier = self.order.iter().copied().take_while(|&id| id != home);
        earlier
            .find(|&id| ask.usable.contains(id) && views[id.index()].may_send && !views[id.index()].is_in_use)
    }

    /// The first that is not known to be full; if all are, the first.
    fn place(&self, ask: &Ask, views: &[View]) -> Option<PathId> {
        let mut usable = self.order.iter().copied().filter(|&id| ask.usable.contains(id));
        let first = usable.clone().next();
        usable.find(|id| views[id.index()].has_room || !views[id.index()].is_rate_known).or(first)
    }
}

impl Scheduler for FlowAware {
    fn pick(&mut self, ask: &Ask, views: &[View]) -> Decision {
        let flow = self.flows[usize::from(ask.bucket)];
        let is_idle = ask.now.saturating_since(flow.last_at) >= self.idle_after;
        let home = flow.home.filter(|&home| !is_idle && ask.usable.contains(home));
        let back = home.and_then(|home| self.before(home, ask, views));
        let Some(home) = back.or(home).or_else(|| self.place(ask, views)) else { return Decision::WAIT };
        self.flows[usize::from(ask.bucket)] = Flow { home: Some(home), last_at: ask.now };
        let view = &views[home.index()];
        if view.may_send {
            return Decision::one(home, Reason::Home);
        }
        let wait = ask.waiting as f64 / view.rate.max(1.0) * 1e9;
        if wait < self.patience as f64 { Decision::WAIT } else { earliest(ask, views, ask.usable) }
    }
}

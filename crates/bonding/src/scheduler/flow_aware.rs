//! A flow stays on the first path as long as it fits.
//!
//! Flows are placed on the first path (by cost, else by place) that has room. A flow that is too large for one path
//! overflows packet by packet; smaller ones move as a whole, and go back when the first path could carry them again.

use super::rate_aware::RateAware;
use super::{Ask, Scheduler};
use crate::config::{Config, FlowAwareConfig, RateAwareConfig};
use crate::id::{PathId, PathSet};
use crate::outgoing::{Outgoing, Progress};
use ropewalk_units::{Duration, Instant};

/// Over how long a flow's rate is measured.
const RATE_WINDOW: Duration = Duration::from_millis(100);
/// A flow is large if it takes more than this share of its path.
const LARGE: f64 = 0.5;
/// So much of a path's rate may be used when a flow moves back to it.
const FILL: f64 = 0.9;

/// One bucket of flows.
#[derive(Clone, Copy)]
struct Flow {
    home: Option<PathId>,
    last_at: Instant,
    window_since: Instant,
    window_bytes: u64,
    /// Bits per second.
    rate: f64,
}

/// The flows, and how packets that leave their path choose another.
pub(crate) struct FlowAware {
    order: Vec<PathId>,
    flows: Vec<Flow>,
    target: i64,
    idle_after: Duration,
    any: RateAware,
}

impl FlowAware {
    pub(crate) fn new(config: &Config, own: FlowAwareConfig) -> Self {
        let flow = Flow {
            home: None,
            last_at: Instant::ZERO,
            window_since: Instant::ZERO,
            window_bytes: 0,
            rate: 0.0,
        };
        Self {
            order: config.by_cost(),
            flows: vec![flow; config.resequencer.flow_buckets as usize],
            target: own.queue_target.as_nanos() as i64,
            idle_after: own.idle_after,
            any: RateAware::new(RateAwareConfig::default()),
        }
    }

    /// The first usable path whose queue is below the target. As long as nothing is known of it, it has room for an initial window.
    fn first_with_room(&self, ask: &Ask, paths: &[Outgoing]) -> Option<PathId> {
        let has_room = |id: &&PathId| {
            let path = &paths[id.index()];
            ask.usable.contains(**id) && path.has_room(ask.now, self.target)
        };
        self.order.iter().find(has_room).copied()
    }

    /// Packet by packet.
    fn any_other(&mut self, ask: &Ask, paths: &[Outgoing]) -> Option<PathId> {
        let first = self.order.iter().copied().find(|&id| ask.usable.contains(id))?;
        self.any.choose(ask, paths, ask.usable, first)
    }

    /// Where a flow of this rate should go back to: an earlier path that could carry it too, or, if it fits none, the
    /// first.
    fn earlier(&self, ask: &Ask, paths: &[Outgoing], home: PathId, rate: f64) -> Option<PathId> {
        let before = self.order.iter().take_while(|&&id| id != home);
        let fits = |id: &&PathId| {
            let path = &paths[id.index()];
            ask.usable.contains(**id) && path.sending_rate + rate < path.rate() * FILL
        };
        let is_too_large = |id: &PathId| rate > paths[id.index()].rate() * FILL;
        let mut usable = self.order.iter().copied().filter(|&id| ask.usable.contains(id));
        let first_of_too_slow =
            || if usable.clone().all(|id| is_too_large(&id)) { usable.next() } else { None };
        before.copied().find(|id| fits(&id)).or_else(first_of_too_slow)
    }
}

impl Flow {
    /// Counts a packet; whether a measurement of the rate has just ended.
    fn count(&mut self, now: Instant, wire_len: u32, idle_after: Duration) -> bool {
        if now.saturating_since(self.last_at) > idle_after {
            *self = Self { home: None, last_at: now, window_since: now, window_bytes: 0, rate: 0.0 };
        }
        self.last_at = now;
        self.window_bytes += u64::from(wire_len);
        let elapsed = now.saturating_since(self.window_since);
        if elapsed < RATE_WINDOW {
            return false;
        }
        let rate = self.window_bytes as f64 * 8.0 / elapsed.as_secs_f64();
        self.rate = if self.rate > 0.0 { (self.rate + rate) / 2.0 } else { rate };
        self.window_since = now;
        self.window_bytes = 0;
        true
    }
}

impl Scheduler for FlowAware {
    #[inline]
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet {
        let place = usize::from(ask.bucket);
        let is_measured = self.flows[place].count(ask.now, ask.wire_len, self.idle_after);
        let flow = self.flows[place];
        let mut home = flow.home.filter(|&home| ask.usable.contains(home));
        if let (true, Some(at)) = (is_measured, home) {
            home = self.earlier(ask, paths, at, flow.rate).or(home);
        }
        let chosen = match home {
            None => {
                let chosen = self.first_with_room(ask, paths);
                home = chosen;
                chosen
            }
            Some(at) => {
                let path = &paths[at.index()];
                let is_large = flow.rate > path.rate() * LARGE;
                let room = if is_large { self.target } else { 2 * self.target };
                if path.has_room(ask.now, room) {
                    Some(at)
                } else {
                    let chosen = self.any_other(ask, paths);
                    home = if is_large { home } else { chosen.or(home) };
                    chosen
                }
            }
        };
        self.flows[place].home = home;
        let chosen = if chosen.is_none() { self.any_other(ask, paths) } else { chosen };
        chosen.map_or(PathSet::EMPTY, PathSet::one)
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress], paths: &[Outgoing]) {
        self.any.on_report(now, progress, paths);
    }
}

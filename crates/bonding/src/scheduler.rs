//! Schedulers: which path (or paths) a packet takes.
//!
//! Pure decisions on the paths' state as the ingress knows it. A scheduler is asked once for every packet and told about
//! every report; only usable paths may be chosen.

mod cost_first;
mod flow_aware;
mod rate_aware;
mod redundant;
mod wrr;

#[cfg(test)]
mod tests;

use crate::config::{Config, SchedulerConfig};
use crate::id::{PathId, PathSet};
use crate::outgoing::{Outgoing, Progress};
use cost_first::CostFirst;
use flow_aware::FlowAware;
use rate_aware::RateAware;
use redundant::Redundant;
use ropewalk_units::Instant;
use wrr::WeightedRoundRobin;

/// A packet that wants a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) now: Instant,
    /// Octets on the wire.
    pub(crate) wire_len: u32,
    pub(crate) bucket: u16,
    /// The paths to choose from; never empty.
    pub(crate) usable: PathSet,
}

/// What every scheduler can do.
pub(crate) trait Scheduler {
    /// The paths that get a copy: one, or more. Not empty, and of those in `ask.usable` only.
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet;

    /// The peer has reported; one [`Progress`] for each path.
    fn on_report(&mut self, _now: Instant, _progress: &[Progress]) {}

    /// A path's weight; by default its share of the packets in percent.
    fn weight(&self, path: &Outgoing) -> u32 {
        path.share_percent()
    }
}

/// The configured scheduler.
pub(crate) enum AnyScheduler {
    WeightedRoundRobin(WeightedRoundRobin),
    CostFirst(CostFirst),
    RateAware(RateAware),
    Redundant(Redundant),
    FlowAware(FlowAware),
}

impl AnyScheduler {
    /// The configuration must be valid.
    pub(crate) fn new(config: &Config, now: Instant) -> Self {
        match config.scheduler {
            SchedulerConfig::WeightedRoundRobin(wrr) => {
                Self::WeightedRoundRobin(WeightedRoundRobin::new(config, wrr, now))
            }
            SchedulerConfig::CostFirst(own) => Self::CostFirst(CostFirst::new(config, own)),
            SchedulerConfig::RateAware(own) => Self::RateAware(RateAware::new(own)),
            SchedulerConfig::Redundant => Self::Redundant(Redundant),
            SchedulerConfig::FlowAware(own) => Self::FlowAware(FlowAware::new(config, own)),
        }
    }
}

impl Scheduler for AnyScheduler {
    #[inline]
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet {
        match self {
            Self::WeightedRoundRobin(own) => own.pick(ask, paths),
            Self::CostFirst(own) => own.pick(ask, paths),
            Self::RateAware(own) => own.pick(ask, paths),
            Self::Redundant(own) => own.pick(ask, paths),
            Self::FlowAware(own) => own.pick(ask, paths),
        }
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress]) {
        match self {
            Self::WeightedRoundRobin(own) => own.on_report(now, progress),
            Self::CostFirst(own) => own.on_report(now, progress),
            Self::RateAware(own) => own.on_report(now, progress),
            Self::Redundant(own) => own.on_report(now, progress),
            Self::FlowAware(own) => own.on_report(now, progress),
        }
    }

    fn weight(&self, path: &Outgoing) -> u32 {
        match self {
            Self::WeightedRoundRobin(own) => own.weight(path),
            Self::CostFirst(own) => own.weight(path),
            Self::RateAware(own) => own.weight(path),
            Self::Redundant(own) => own.weight(path),
            Self::FlowAware(own) => own.weight(path),
        }
    }
}

/// The path with the most of its queue limit left. For when all are full.
fn emptiest(ask: &Ask, paths: &[Outgoing], among: PathSet) -> Option<PathId> {
    let headroom = |path: &PathId| {
        let path = &paths[path.index()];
        path.queue_limit().saturating_sub(path.backlog(ask.now))
    };
    // The first of equals, as everywhere.
    among.iter().reduce(|best, other| if headroom(&other) > headroom(&best) { other } else { best })
}

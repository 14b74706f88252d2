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
use crate::id::PathSet;
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
    /// The paths that get a copy: one, or more; none if the packet is to be dropped. Of those in `ask.usable` only.
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet;

    /// The peer has reported; one [`Progress`] for each path.
    fn on_report(&mut self, _now: Instant, _progress: &[Progress], _paths: &[Outgoing]) {}

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

impl AnyScheduler {
    /// Are packets held back until their path's buffer has room? Not by schedulers that know nothing of queues.
    pub(crate) fn paces(config: &Config) -> bool {
        use SchedulerConfig::{CostFirst, FlowAware, RateAware};
        matches!(config.scheduler, RateAware(_) | CostFirst(_) | FlowAware(_))
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

    fn on_report(&mut self, now: Instant, progress: &[Progress], paths: &[Outgoing]) {
        match self {
            Self::WeightedRoundRobin(own) => own.on_report(now, progress, paths),
            Self::CostFirst(own) => own.on_report(now, progress, paths),
            Self::RateAware(own) => own.on_report(now, progress, paths),
            Self::Redundant(own) => own.on_report(now, progress, paths),
            Self::FlowAware(own) => own.on_report(now, progress, paths),
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

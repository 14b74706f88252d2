//! Schedulers: which path a packet takes, and why.
//!
//! They are pure decisions on a snapshot of the paths. A scheduler is asked about the first packet
//! of a flow whose turn it is, when some path may send. It may let the packet wait; it is asked
//! again when anything has changed. It is told about every report.

mod cost_first;
mod earliest;
mod flow_aware;
mod redundant;
mod wrr;

use crate::config::{Config, SchedulerConfig};
use crate::demand::Followers;
use crate::id::{MAX_PATHS, PathId, PathSet};
use cost_first::CostFirst;
use earliest::EarliestArrival;
use flow_aware::FlowAware;
use redundant::Redundant;
use ropewalk_units::{Duration, Instant};
use wrr::WeightedRoundRobin;

/// A packet that needs a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) now: Instant,
    pub(crate) bucket: u16,
    /// Octets of the packet.
    pub(crate) size: u32,
    /// Octets that wait and would go before the last one of this packet's flow, itself included.
    pub(crate) waiting: u64,
    /// What is expected to follow the packet at once; `None`: nothing.
    pub(crate) followers: Option<Followers>,
    /// The paths to choose from; never empty.
    pub(crate) usable: PathSet,
}

/// By how much losses delay packets on average, in nanoseconds.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LossDelay {
    /// One packet.
    pub(crate) of_one: i64,
    /// The last of all that a host sends at once.
    pub(crate) of_all: i64,
}

/// A path as a scheduler sees it. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) id: PathId,
    pub(crate) is_up: bool,
    /// Do its controller and its pacer let a packet go now?
    pub(crate) may_send: bool,
    /// Does its controller have room for a packet, whatever its pacer says?
    pub(crate) has_room: bool,
    /// Do others hold the queue on it? Told only while acknowledgements of TCP wait.
    pub(crate) is_crowded: bool,
    /// May a copy go now?
    pub(crate) may_copy: bool,
    /// The one-way delay without queues: half of the round trip. `None`: not known.
    pub(crate) one_way: Option<i64>,
    /// How long a packet that is sent now waits in queues.
    pub(crate) queue: i64,
    /// By how much losses delay packets on average.
    pub(crate) loss_delay: LossDelay,
    /// By how much round trips deviate from their mean.
    pub(crate) deviation: i64,
    /// Octets per second.
    pub(crate) rate: f64,
    pub(crate) is_rate_known: bool,
    /// Is anything of ours on its way there?
    pub(crate) is_in_use: bool,
    /// The part of the wait for a shorter path after which this one is used: less than 1 while it
    /// is in use.
    pub(crate) enough: f64,
    pub(crate) share_percent: u32,
}

/// What a report says of a path since the report before.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Progress {
    pub(crate) lost_packets: u32,
    pub(crate) lost_bytes: u32,
    /// Sent since the report before came.
    pub(crate) sent_packets: u32,
    pub(crate) sent_bytes: u32,
}

/// Why a path was chosen, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its turn in the round.
    Turn,
    /// The packet arrives by it first.
    Earliest,
    /// What is expected to follow the packet arrives by it first.
    Followers,
    /// The shorter or cheaper paths are full for longer than this one takes.
    Overflow,
    /// It is the cheapest path that may send.
    Cheapest,
    /// It is the flow's own path.
    Home,
    /// A copy goes on every path.
    Copies,
    /// No path may send, or waiting for one is better.
    Wait,
}

/// A scheduler's decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decision {
    /// One path, or several for copies; none: the packet waits.
    pub(crate) paths: PathSet,
    pub(crate) reason: Reason,
}

impl Decision {
    pub(crate) const WAIT: Self = Self { paths: PathSet::EMPTY, reason: Reason::Wait };

    #[inline]
    pub(crate) fn one(path: PathId, reason: Reason) -> Self {
        Self { paths: PathSet::one(path), reason }
    }
}

/// What every scheduler can do.
pub(crate) trait Scheduler {
    /// Chooses the path of a packet, among those in `ask.usable`.
    fn pick(&mut self, ask: &Ask, views: &[View]) -> Decision;

    /// The peer has reported; one [`Progress`] for each path.
    fn on_report(&mut self, _now: Instant, _progress: &[Progress], _views: &[View]) {}

    /// A path's weight; by default its share of the packets in percent.
    fn weight(&self, view: &View) -> u32 {
        view.share_percent
    }
}

/// The path of a packet that must not wait: of those that may send it early, the one on which it
/// arrives first.
#[inline]
pub(crate) fn hurried(ask: &Ask, views: &[View]) -> Decision {
    let mut early = [views[0]; MAX_PATHS];
    for (early, view) in early.iter_mut().zip(views) {
        *early = View { may_send: view.may_copy, ..*view };
    }
    earliest::earliest(ask, &early[..views.len()], ask.usable)
}

/// The paths as they are for a TCP acknowledgement without data. Congestion control does not hold these back (RFC 5681, and RFC 9002 §7 for QUIC's):
/// they are as many as their data, which a controller at the other end holds back. Here they keep to the bound
/// all the same while the queue is the bond's own, since they would make it longer.
#[inline]
pub(crate) fn for_acks(views: &[View]) -> [View; MAX_PATHS] {
    let mut free = [views[0]; MAX_PATHS];
    for (free, view) in free.iter_mut().zip(views) {
        *free = View { may_send: view.may_send || view.is_crowded, ..*view };
    }
    free
}

/// All of the paths that may take a copy, once the packet need not wait for a shorter one. It waits
/// for that no longer than it is shorter: a shorter path that takes nothing may be dead.
pub(crate) fn copies(views: &[View], usable: PathSet, for_copies: PathSet, waited: Duration) -> Decision {
    let least = |among: PathSet| among.iter().map(|id| earliest::delivery(&views[id.index()])).min();
    let gain = least(for_copies).zip(least(usable)).map(|(ready, shortest)| ready - shortest);
    if gain.is_some_and(|gain| gain <= waited.as_nanos() as i64) {
        Decision { paths: for_copies, reason: Reason::Copies }
    } else {
        Decision::WAIT
    }
}

/// The configured scheduler.
pub(crate) enum AnyScheduler {
    WeightedRoundRobin(WeightedRoundRobin),
    CostFirst(CostFirst),
    RateAware(EarliestArrival),
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
            SchedulerConfig::RateAware => Self::RateAware(EarliestArrival),
            SchedulerConfig::Redundant => Self::Redundant(Redundant),
            SchedulerConfig::FlowAware(own) => Self::FlowAware(FlowAware::new(config, own)),
        }
    }

    /// Do paths have a congestion controller? They have none if the scheduler works by losses, or
    /// takes every path.
    pub(crate) fn is_controlled(config: &Config) -> bool {
        !matches!(config.scheduler, SchedulerConfig::WeightedRoundRobin(_) | SchedulerConfig::Redundant)
    }

    /// The paths that may rest while nobody uses them: under cost-first, all of `usable` but the
    /// cheapest.
    pub(crate) fn may_rest(&self, usable: PathSet) -> PathSet {
        match self {
            Self::CostFirst(own) => own.dearer(usable),
            _ => PathSet::EMPTY,
        }
    }
}

macro_rules! each {
    ($own:expr, $name:ident => $call:expr) => {
        match $own {
            Self::WeightedRoundRobin($name) => $call,
            Self::CostFirst($name) => $call,
            Self::RateAware($name) => $call,
            Self::Redundant($name) => $call,
            Self::FlowAware($name) => $call,
        }
    };
}

impl Scheduler for AnyScheduler {
    #[inline]
    fn pick(&mut self, ask: &Ask, views: &[View]) -> Decision {
        each!(self, own => own.pick(ask, views))
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress], views: &[View]) {
        each!(self, own => own.on_report(now, progress, views));
    }

    fn weight(&self, view: &View) -> u32 {
        each!(self, own => own.weight(view))
    }
}

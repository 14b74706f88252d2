//! What can be configured, its defaults and its bounds.

mod error;
mod validation;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, Conflict};

use ropewalk_units::Duration;

/// w_fixed if not given: the paper's §5.1.
const WEIGHT_FIXED: u32 = 50;
/// w_mobilemax if not given: the paper's §5.4.
const WEIGHT_MOST: u32 = 50;
/// The greatest share if not given.
const WHOLE_PERCENT: u32 = 100;

/// One gateway's configuration. Both ends list the same paths in the same order; the rest may differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The paths. 1 to [`crate::MAX_PATHS`].
    pub paths: Vec<PathConfig>,
    /// Who decides which path a packet takes.
    pub scheduler: SchedulerConfig,
    /// What order the egress restores (default per flow).
    pub order: Order,
    /// How it restores it.
    pub resequencer: ResequencerConfig,
    /// T_report: time between reports to the peer, 1 ms to 1 s (default 50 ms for the paper's scheduler, else 20 ms).
    pub report_interval: Duration,
    /// T_lto: a packet counts as lost on its path this long after a later one came, at most 10 s (default 50 ms for the
    /// paper's scheduler, else 10 ms).
    pub loss_timeout: Duration,
    /// Octets that a packet costs on a path beside its own: this header, and what the tunnel adds (default
    /// 48: 20 + UDP 8 + IPv4 20). At most 256.
    pub overhead: u32,
    /// How paths are found dead and alive.
    pub keepalive: KeepaliveConfig,
    /// Is what a path loses sent again, if the peer asks for it? Of flows that are kept in order and not duplicated (default: rate-aware only).
    pub repair: bool,
}

/// One path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathConfig {
    /// Its name, for messages. Not empty, and no other path's.
    pub name: String,
    /// Its rank of cost, cheaper lower: the order in which paths are filled. Needed by the weighted round robin and
    /// cost-first schedulers, no two alike.
    pub cost: Option<u32>,
    /// Its weight at the start, weighted round robin only: w_fixed of the cheapest path (1 to 10 000, default 50) and where
    /// a costlier one starts (default 0).
    pub weight: Option<u32>,
    /// The greatest weight, at most 10 000. Weighted round robin: w_mobilemax of a costlier path (default 50; not for
    /// the cheapest). Cost first: the greatest share of the packets in percent (default 100). No other scheduler has any.
    pub max_weight: Option<u32>,
}

impl PathConfig {
    /// A path with a name and a rank of cost.
    pub fn new(name: impl Into<String>, cost: Option<u32>) -> Self {
        Self { name: name.into(), cost, ..Self::default() }
    }
}

/// Which scheduler, and its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SchedulerConfig {
    /// Weighted round robin of two or more paths with adaptive weight increment, initial weight increment and delayed weight
    /// decrement: of two, as in the paper's §3; of more, its generalisation in the order of their costs.
    WeightedRoundRobin(WrrConfig),
    /// Fill paths in the order of their costs, each up to the rate it is measured to deliver.
    CostFirst(CostFirstConfig),
    /// Each packet takes the path that will deliver it first.
    RateAware,
    /// A copy on every usable path.
    Redundant,
    /// A flow stays on the first path as long as it fits.
    FlowAware(FlowAwareConfig),
}

/// Parameters of the paper's scheduler. Those of the paths: [`PathConfig::weight`], [`PathConfig::max_weight`]; T_report:
/// [`Config::report_interval`]; T_lto: [`Config::loss_timeout`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WrrConfig {
    /// k, the steepness of the adaptive weight increment: above 0, at most 100 (default 0.5).
    pub gain: f64,
    /// T_dwd: time without reported loss before the weight falls; at most 1 min (default 250 ms).
    pub decrement_delay: Duration,
    /// How fast it then falls (default one each report, as printed in §3.3).
    pub decrement_pace: DecrementPace,
    /// What loss is counted in (default packets).
    pub loss_unit: LossUnit,
    /// Whether weights are whole numbers, as the paper's "would not change" (§3.2) implies, and how they become so
    /// (default cut off).
    pub arithmetic: WeightArithmetic,
    /// How a round's packets are laid out (default spread).
    pub turns: Turns,
}

impl Default for WrrConfig {
    fn default() -> Self {
        Self {
            gain: 0.5,
            decrement_delay: Duration::from_millis(250),
            decrement_pace: DecrementPace::EachReport,
            loss_unit: LossUnit::Packets,
            arithmetic: WeightArithmetic::Whole,
            turns: Turns::Spread,
        }
    }
}

/// What loss is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossUnit {
    /// Packets lost over packets sent, as in the paper.
    #[default]
    Packets,
    /// Bytes lost over bytes sent. The initial increment stays in packets.
    Bytes,
}

/// How fast a weight falls while nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DecrementPace {
    /// By one at each report.
    #[default]
    EachReport,
    /// By one each T_dwd: the wait begins anew. The paper's measured hand-back is as slow as that.
    EachDelay,
}

/// Whether weights have fractions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WeightArithmetic {
    /// Fractions are cut off at every step.
    #[default]
    Whole,
    /// Every step is rounded to the nearest.
    Rounded,
    /// Fractions accumulate.
    Fractional,
}

/// How the packets of one round are laid out over the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Turns {
    /// Each path's as evenly as possible.
    #[default]
    Spread,
    /// First all of one path, then all of the next.
    Consecutive,
}

/// Parameters of the cost-first scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CostFirstConfig {
    /// How much queue a path may build before the next costlier one is used: 1 ms to 1 s (default 8 ms). Less where
    /// losses show that its buffer is shorter.
    pub queue_target: Duration,
}

impl Default for CostFirstConfig {
    fn default() -> Self {
        Self { queue_target: Duration::from_millis(8) }
    }
}

/// Parameters of the flow-aware scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowAwareConfig {
    /// How much queue a path may build before a flow too large for it overflows: 1 ms to 1 s (default 8 ms). Smaller
    /// flows stay up to twice as much.
    pub queue_target: Duration,
    /// A flow that was silent this long is placed anew: at most 1 min (default 500 ms).
    pub idle_after: Duration,
}

impl Default for FlowAwareConfig {
    fn default() -> Self {
        Self { queue_target: Duration::from_millis(8), idle_after: Duration::from_millis(500) }
    }
}

/// What order the egress restores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// That of each flow bucket, except for flows that do not want it.
    #[default]
    PerFlow,
    /// That of all packets, whatever their class: the paper's egress (§4.3).
    Global,
    /// None: packets are delivered as they come, once each.
    Off,
}

/// The resequencer's parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResequencerConfig {
    /// How long a packet may wait for a missing one, at most 10 s. `None` (default): as long as the measured
    /// one-way delays of the paths let expect, within the two bounds below.
    pub timeout: Option<Duration>,
    /// The least derived timeout (default 5 ms).
    pub min_timeout: Duration,
    /// The greatest derived timeout (default 500 ms, at most 10 s).
    pub max_timeout: Duration,
    /// The most packets held back, 16 to 65 536 (default 8192).
    pub max_packets: u32,
    /// Flow buckets of the ingress, a power of two from 1 to 4096 (default 1024). The egress takes any.
    pub flow_buckets: u32,
    /// How many later packets must have come on a path, at least, before one that is missing there is not waited for. 1 to 8
    /// (default 3). A path that reorders is given the time that it was seen to need, too. Not with a timeout set by hand.
    pub path_reordering: u8,
}

impl Default for ResequencerConfig {
    fn default() -> Self {
        Self {
            timeout: None,
            min_timeout: Duration::from_millis(5),
            max_timeout: Duration::from_millis(500),
            max_packets: 8192,
            flow_buckets: 1024,
            path_reordering: 3,
        }
    }
}

/// How paths are found dead and alive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KeepaliveConfig {
    /// Time between keepalives on each path, 5 ms to 10 s (default 50 ms).
    pub interval: Duration,
    /// Without proof for this long, less half a round trip, a path is suspected (default 130 ms; more than two intervals).
    pub suspect_after: Duration,
    /// Without proof for this long, less half a round trip, it is down (default 240 ms; not less than `suspect_after`, at most 1 min).
    pub down_after: Duration,
    /// So many keepalives in a row must be answered before a path that was down is used: 1 to 100 (default 3).
    pub answers_to_return: u32,
}

impl Default for KeepaliveConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(50),
            suspect_after: Duration::from_millis(130),
            down_after: Duration::from_millis(240),
            answers_to_return: 3,
        }
    }
}

impl Config {
    /// The defaults for a scheduler.
    pub fn new(paths: Vec<PathConfig>, scheduler: SchedulerConfig) -> Self {
        let is_papers = matches!(scheduler, SchedulerConfig::WeightedRoundRobin(_));
        let (report, loss) = if is_papers { (50, 50) } else { (20, 10) };
        Self {
            paths,
            scheduler,
            order: Order::default(),
            resequencer: ResequencerConfig::default(),
            report_interval: Duration::from_millis(report),
            loss_timeout: Duration::from_millis(loss),
            overhead: 48,
            keepalive: KeepaliveConfig::default(),
            repair: matches!(scheduler, SchedulerConfig::RateAware),
        }
    }

    /// A path with the weights in force where it has none: those of its scheduler, if it uses weights.
    ///
    /// # Panics
    /// If there is no such path.
    #[must_use]
    pub fn explicit_path(&self, id: crate::PathId) -> PathConfig {
        let mut path = self.paths[id.index()].clone();
        match self.scheduler {
            SchedulerConfig::WeightedRoundRobin(_) if self.by_cost().first() == Some(&id) => {
                path.weight.get_or_insert(WEIGHT_FIXED);
            }
            SchedulerConfig::WeightedRoundRobin(_) => {
                path.weight.get_or_insert(0);
                path.max_weight.get_or_insert(WEIGHT_MOST);
            }
            SchedulerConfig::CostFirst(_) => {
                path.max_weight.get_or_insert(WHOLE_PERCENT);
            }
            SchedulerConfig::RateAware | SchedulerConfig::Redundant | SchedulerConfig::FlowAware(_) => {}
        }
        path
    }

    /// The paths from the cheapest to the costliest; those without a rank keep their place after the ranked.
    pub(crate) fn by_cost(&self) -> Vec<crate::PathId> {
        let mut order: Vec<usize> = (0..self.paths.len()).collect();
        order.sort_by_key(|&place| (self.paths[place].cost.is_none(), self.paths[place].cost, place));
        order.into_iter().map(|place| crate::PathId(place as u8)).collect()
    }
}

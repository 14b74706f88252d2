//! What can be configured, its defaults and its bounds.

mod error;
mod keys;
mod validation;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, Conflict};

use crate::tuning::Tuning;
use crate::{
    config_keys, cost_first_keys, flow_aware_keys, keepalive_keys, path_keys, resequencer_keys,
    weighted_round_robin_keys,
};
use ropewalk_congestion::UNKNOWN;
use ropewalk_units::Duration;

/// w_fixed if not given: the paper's §5.1.
const WEIGHT_FIXED: u32 = 50;
/// w_mobilemax if not given: the paper's §5.4.
const WEIGHT_MOST: u32 = 50;

/// Defines [`Config`]: the keys of `config_keys!`, and the fields that are not keys.
macro_rules! config {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*) => {
        /// One gateway's configuration. Both ends list the same paths in the same order; the rest
        /// may differ.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Config {
            /// The paths. 1 to [`crate::MAX_PATHS`].
            pub paths: Vec<PathConfig>,
            /// Which scheduler chooses the path of a packet.
            pub scheduler: SchedulerConfig,
            /// How the egress restores the order.
            pub resequencer: ResequencerConfig,
            /// Octets that each packet costs on a path in addition to its own: this crate's header
            /// and those of the tunnel. At most 256; default 48 (header 20, UDP 8, IPv4 20).
            pub overhead: u32,
            /// How paths are found dead and alive.
            pub keepalive: KeepaliveConfig,
            /// Constants of the model that no scenario file can set.
            pub tuning: Tuning,
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Config {
            /// A configuration with the defaults for its scheduler.
            pub fn new(paths: Vec<PathConfig>, scheduler: SchedulerConfig) -> Self {
                Self {
                    $($key: ($default)(&scheduler),)*
                    paths,
                    scheduler,
                    resequencer: ResequencerConfig::default(),
                    overhead: 48,
                    keepalive: KeepaliveConfig::default(),
                    tuning: Tuning::default(),
                }
            }
        }
    };
}

config_keys!(config);

/// Defines [`PathConfig`]: the keys of `path_keys!`, and a name.
macro_rules! path_config {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*) => {
        /// One path.
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub struct PathConfig {
            /// Its name, for messages. Not empty, and different from the names of the other paths.
            pub name: String,
            $($(#[$doc])* pub $key: $type,)*
        }
    };
}

path_keys!(path_config);

impl PathConfig {
    /// A path with a name and a rank of cost.
    pub fn new(name: impl Into<String>, cost: Option<u32>) -> Self {
        Self { name: name.into(), cost, ..Self::default() }
    }
}

/// Which scheduler, and its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SchedulerConfig {
    /// Weighted round robin with adaptive weight increment, initial weight increment and delayed
    /// weight decrement. For two paths it is the paper's (§3). For more it is a generalisation in
    /// the order of their costs.
    WeightedRoundRobin(WrrConfig),
    /// Fills paths in the order of their costs, each up to its measured rate.
    CostFirst(CostFirstConfig),
    /// Each packet takes the path that will deliver it first.
    RateAware,
    /// A copy on every usable path.
    Redundant,
    /// A flow stays on the first path as long as it fits.
    FlowAware(FlowAwareConfig),
}

impl SchedulerConfig {
    /// Is it weighted round robin, the paper's scheduler?
    pub const fn is_weighted_round_robin(&self) -> bool {
        matches!(self, Self::WeightedRoundRobin(_))
    }
}

macro_rules! wrr_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// Parameters of the paper's scheduler. Those of the paths: [`PathConfig::weight`],
            /// [`PathConfig::max_weight`]; T_report: [`Config::report_interval`]; T_lto:
            /// [`Config::loss_timeout`].
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct WrrConfig { $($keys)* }
        }
    };
}

weighted_round_robin_keys!(wrr_config);

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
    /// By one each T_dwd: after each step the wait begins again. The hand-back that the paper
    /// measured is this slow.
    EachDelay,
}

/// Whether weights have fractions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WeightArithmetic {
    /// Fractions are cut off at every step.
    #[default]
    Whole,
    /// Every step is rounded to the nearest whole number.
    Rounded,
    /// Weights keep their fractions.
    Fractional,
}

/// How the packets of one round are laid out over the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Turns {
    /// The packets of each path are spread as evenly as possible.
    #[default]
    Spread,
    /// First all of one path, then all of the next.
    Consecutive,
}

macro_rules! cost_first_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// Parameters of the cost-first scheduler.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct CostFirstConfig { $($keys)* }
        }
    };
}

cost_first_keys!(cost_first_config);

macro_rules! flow_aware_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// Parameters of the flow-aware scheduler.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct FlowAwareConfig { $($keys)* }
        }
    };
}

flow_aware_keys!(flow_aware_config);

/// What order the egress restores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// The order of each flow bucket, except for flows that do not want it.
    #[default]
    PerFlow,
    /// The order of all packets, whatever their class: the paper's egress (§4.3).
    Global,
    /// None: packets are delivered as they come, once each.
    Off,
}

macro_rules! resequencer_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// The resequencer's parameters.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct ResequencerConfig { $($keys)* }
        }
    };
}

resequencer_keys!(resequencer_config);

impl ResequencerConfig {
    /// How long a packet waits for one that may not exist: half the time for which nothing is known of a path.
    pub(crate) fn blind_timeout(&self) -> Duration {
        self.max_timeout.min(UNKNOWN / 2)
    }

    /// How long a missing packet is asked for, where a repair takes `repair_time`. What comes later, its sender has
    /// sent again itself.
    pub(crate) fn repair_timeout(&self, repair_time: Duration) -> Duration {
        self.max_timeout.min(UNKNOWN / 2 + repair_time)
    }
}

macro_rules! keepalive_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// How paths are found dead and alive.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct KeepaliveConfig { $($keys)* }
        }
    };
}

keepalive_keys!(keepalive_config);

impl Config {
    /// The configuration of a path, with its scheduler's default weights where it has none.
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
                path.max_weight.get_or_insert(100);
            }
            SchedulerConfig::RateAware | SchedulerConfig::Redundant | SchedulerConfig::FlowAware(_) => {}
        }
        path
    }

    /// The paths from the cheapest to the costliest. Paths without a rank come last, in their
    /// order.
    pub(crate) fn by_cost(&self) -> Vec<crate::PathId> {
        let mut order: Vec<usize> = (0..self.paths.len()).collect();
        order.sort_by_key(|&place| (self.paths[place].cost.is_none(), self.paths[place].cost, place));
        order.into_iter().map(|place| crate::PathId(place as u8)).collect()
    }
}

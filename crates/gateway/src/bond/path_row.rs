//! The paths of a site, as they can be changed while it runs.

use ropewalk_bonding::PathConfig;
use ropewalk_units::Duration;

/// A site's path, as it can be changed while it runs.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PathRow {
    /// Its name.
    pub name: String,
    /// Its keys for the scheduler and its quota.
    #[serde(flatten)]
    pub keys: PathKeys,
    /// The number of the driver's socket.
    pub socket: usize,
    /// Where it leads until the hub's packets say otherwise.
    pub remote: std::net::SocketAddr,
    /// The longest IP packet that it may carry, in octets.
    pub mtu: u16,
}

/// Keys of a path that can be changed while it runs; those that are not given stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PathKeys {
    /// Its rank of cost, the cheapest lowest.
    pub cost: Option<u32>,
    /// Its weight at the start.
    pub weight: Option<u32>,
    /// Its greatest weight.
    pub max_weight: Option<u32>,
    /// Octets that may go over it in a period.
    pub quota: Option<u64>,
    /// How long a period is, in ns.
    pub quota_period_ns: Option<u64>,
}

/// Other keys of a site's path at the hub's end.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SitePathChange {
    /// The site's name.
    pub site: String,
    /// The path's name.
    pub path: String,
    /// The keys that change.
    #[serde(flatten)]
    pub keys: PathKeys,
}

impl PathKeys {
    /// The keys of a configured path.
    pub(super) fn of(config: &PathConfig) -> Self {
        Self {
            cost: config.cost,
            weight: config.weight,
            max_weight: config.max_weight,
            quota: config.quota,
            quota_period_ns: config.quota_period.map(Duration::as_nanos),
        }
    }

    /// Those of `self` that are given, else those of `known`.
    #[must_use]
    pub fn or(self, known: Self) -> Self {
        Self {
            cost: self.cost.or(known.cost),
            weight: self.weight.or(known.weight),
            max_weight: self.max_weight.or(known.max_weight),
            quota: self.quota.or(known.quota),
            quota_period_ns: self.quota_period_ns.or(known.quota_period_ns),
        }
    }

    pub(super) fn set(&self, config: PathConfig) -> PathConfig {
        PathConfig {
            cost: self.cost,
            weight: self.weight,
            max_weight: self.max_weight,
            quota: self.quota,
            quota_period: self.quota_period_ns.map(Duration::from_nanos),
            ..config
        }
    }
}

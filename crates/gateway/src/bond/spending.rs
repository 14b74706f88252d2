//! What was spent of the quotas of paths. It outlives bonds and processes.

use super::tunnel::Tunnel;
use ropewalk_bonding::{PathConfig, Quota, Spending};
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;

/// What was spent of a path's quota, and with which peer. It outlives the process.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PathSpending {
    /// The site's name at a hub, `hub` at a site.
    pub peer: String,
    /// The path's name.
    pub path: String,
    /// Octets that were spent.
    pub octets: u64,
    /// What is left of the period that they count for, in ns.
    pub period_left_ns: u64,
}

/// What an earlier process has spent of quotas.
#[derive(Clone, Debug)]
pub struct PastSpendings {
    /// Of each path.
    pub paths: Vec<PathSpending>,
    /// How long ago that was noted.
    pub ago: Duration,
}

impl PathSpending {
    fn new(peer: &str, path: String, spending: Spending) -> Self {
        let (octets, period_left_ns) = (spending.octets, spending.period_left.as_nanos());
        Self { peer: peer.to_owned(), path, octets, period_left_ns }
    }

    /// The quota of a path that goes on from this. It was noted `ago` before `now`.
    fn quota(&self, config: &PathConfig, now: Instant, ago: Duration) -> Quota {
        let period_left = Duration::from_nanos(self.period_left_ns);
        Quota::after(config, &Spending { octets: self.octets, period_left }, now, ago)
    }
}

/// What was spent of quotas with `peer`. Values of the tunnel replace those of ended bonds. A path
/// that was removed keeps its own.
pub(super) fn noted(
    peer: &str,
    ended: &BTreeMap<String, Quota>,
    tunnel: Option<&Tunnel>,
    now: Instant,
) -> Vec<PathSpending> {
    let mut spent = ended.clone();
    spent.extend(tunnel.into_iter().flat_map(Tunnel::quotas));
    let limited = spent.into_iter().filter(|(_, quota)| quota.limit().is_some());
    limited.map(|(path, quota)| PathSpending::new(peer, path, quota.spending(now))).collect()
}

/// What was spent of the quotas of these paths with `peer`, as an earlier process noted it.
pub(super) fn resumed(
    paths: &[PathConfig],
    peer: &str,
    past: &PastSpendings,
    now: Instant,
) -> impl Iterator<Item = (String, Quota)> {
    paths.iter().filter_map(move |path| {
        let known = past.paths.iter().find(|known| known.peer == peer && known.path == path.name)?;
        Some((path.name.clone(), known.quota(path, now, past.ago)))
    })
}

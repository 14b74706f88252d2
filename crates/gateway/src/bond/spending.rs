//! What of the quotas of paths was spent: it outlives bonds, and processes too.

use ropewalk_bonding::{PathConfig, Quota, Spending};
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;

/// What of a path's quota was spent, and by whom: what outlives a process.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PathSpending {
    /// The site's name at a hub, `hub` at a site.
    pub peer: String,
    /// The path's name.
    pub path: String,
    /// Octets.
    pub octets: u64,
    /// How long the period lasts that they count for, in ns.
    pub period_left_ns: u64,
}

impl PathSpending {
    pub(super) fn new(peer: &str, path: String, spending: Spending) -> Self {
        let (octets, period_left_ns) = (spending.octets, spending.period_left.as_nanos());
        Self { peer: peer.to_owned(), path, octets, period_left_ns }
    }

    /// The quota of a path that goes on from this, noted `ago` before `now`.
    fn quota(&self, config: &PathConfig, times: (Instant, Duration)) -> Quota {
        let period_left = Duration::from_nanos(self.period_left_ns);
        Quota::after(config, &Spending { octets: self.octets, period_left }, times)
    }
}

/// Of what was spent by names, that of paths with a quota.
pub(super) fn limited(
    paths: &[PathConfig],
    spent: BTreeMap<String, Quota>,
) -> impl Iterator<Item = (String, Quota)> {
    let has_quota = |name: &String| paths.iter().any(|path| path.name == *name && path.quota.is_some());
    spent.into_iter().filter(move |(name, _)| has_quota(name))
}

/// What `peer` has spent of the quotas of these paths, as a process before noted it.
pub(super) fn resumed(
    paths: &[PathConfig],
    (peer, spendings): (&str, &[PathSpending]),
    times: (Instant, Duration),
) -> impl Iterator<Item = (String, Quota)> {
    paths.iter().filter_map(move |path| {
        let known = spendings.iter().find(|known| known.peer == peer && known.path == path.name)?;
        Some((path.name.clone(), known.quota(path, times)))
    })
}

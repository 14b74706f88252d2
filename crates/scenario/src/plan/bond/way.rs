//! The way of a bond's path: from one gateway to the other, over routers that are neither.

use crate::plan::route::Topology;
use crate::plan::{Carrier, LinkIndex, NodeIndex, NodeKind, WifiPlan};
use ropewalk_units::Duration;
use std::collections::BTreeSet;

/// How long a way is: the least delay first, then the fewest links, then the fewest that other paths have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Length {
    /// Propagation there and back.
    delay: Duration,
    links: usize,
    shared: usize,
}

/// Why a path has no way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoWay {
    /// Its first link leads to a host.
    Host(NodeIndex),
    /// From this router on, all ways lead back over the first gateway, if there are any.
    Cut(NodeIndex),
    /// Two are as short.
    Tie([Vec<LinkIndex>; 2]),
}

/// Looks for the ways of one bond's paths.
pub(super) struct Ways<'a> {
    pub(super) topology: &'a Topology,
    pub(super) wifi: Option<&'a WifiPlan>,
    /// The gateways.
    pub(super) ends: [NodeIndex; 2],
    /// Ways of the paths before this one.
    pub(super) others: &'a [Vec<LinkIndex>],
}

impl Ways<'_> {
    /// The shortest way that leaves the first gateway by `first`, comes back to no router, and is the same in both
    /// directions.
    pub(super) fn shortest(&self, first: LinkIndex) -> Result<Vec<LinkIndex>, NoWay> {
        let start = self.topology.other(first, self.ends[0]);
        if start == self.ends[1] {
            return Ok(vec![first]);
        }
        if self.topology.nodes[start].kind == NodeKind::Host {
            return Err(NoWay::Host(start));
        }
        let last = self.last_links(start);
        if last[self.ends[1]].is_empty() {
            return Err(NoWay::Cut(start));
        }
        let [way, other] = [0, 1].map(|choice| {
            let mut way = self.back(start, &last, choice);
            way.push(first);
            way.reverse();
            way
        });
        if way == other { Ok(way) } else { Err(NoWay::Tie([way, other])) }
    }

    /// By node, the links that shortest ways from `start` come to it by (Dijkstra). Every link makes a way longer, so
    /// none goes in a circle.
    fn last_links(&self, start: NodeIndex) -> Vec<Vec<LinkIndex>> {
        let nodes = &self.topology.nodes;
        let mut lengths: Vec<Option<Length>> = vec![None; nodes.len()];
        let mut last = vec![Vec::new(); nodes.len()];
        let none = Length { delay: Duration::ZERO, links: 0, shared: 0 };
        lengths[start] = Some(none);
        let mut queue = BTreeSet::from([(none, start)]);
        while let Some((length, node)) = queue.pop_first() {
            if node == self.ends[1] {
                break;
            }
            for &link in self.topology.links_at(node) {
                let next = self.topology.other(link, node);
                if next == self.ends[0] || nodes[next].kind == NodeKind::Host {
                    continue;
                }
                let longer = self.longer(length, link);
                if lengths[next].is_none_or(|known| longer < known) {
                    if let Some(known) = lengths[next].replace(longer) {
                        queue.remove(&(known, next));
                    }
                    queue.insert((longer, next));
                    last[next] = vec![link];
                } else if lengths[next] == Some(longer) {
                    last[next].push(link);
                }
            }
        }
        last
    }

    fn longer(&self, length: Length, link: LinkIndex) -> Length {
        let delay = match &self.topology.links[link].carrier {
            Carrier::Wire(wire) => wire.directions.iter().fold(Duration::ZERO, |sum, way| sum + way.delay),
            Carrier::Wireless(route) => self.wifi.map_or(Duration::ZERO, |wifi| wifi.least_delay(*route) * 2),
            Carrier::Bond(_) => unreachable!("bonds are laid over what is no bond"),
        };
        let shared = usize::from(self.others.iter().any(|way| way.contains(&link)));
        Length { delay: length.delay + delay, links: length.links + 1, shared: length.shared + shared }
    }

    /// The links from the second gateway back to `start`. Where there is a choice for the first time, the second is
    /// taken if `choice` is 1.
    fn back(&self, start: NodeIndex, last: &[Vec<LinkIndex>], mut choice: usize) -> Vec<LinkIndex> {
        let mut way = Vec::new();
        let mut node = self.ends[1];
        while node != start
            && let Some(&usual) = last[node].first()
        {
            let link = match last[node].get(choice) {
                Some(&link) if choice > 0 => {
                    choice = 0;
                    link
                }
                _ => usual,
            };
            way.push(link);
            node = self.topology.other(link, node);
        }
        way
    }
}

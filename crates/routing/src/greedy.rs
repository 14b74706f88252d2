//! The papers' greedy algorithms: the shortest route by hops, prune, again, until no route is left.

use crate::graph::Graph;
use crate::shortest::{Finder, Route, Ties};
use std::str::FromStr;

/// What two routes of a set may not share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Disjoint {
    /// No link (LD).
    Link,
    /// No node but source and destination, and no link (ND).
    Node,
    /// No node, and no node of one is a neighbour of a node of the other, source and destination excepted (ZD).
    Zone,
}

impl Disjoint {
    /// All three, the least restrictive first.
    pub const ALL: [Self; 3] = [Self::Link, Self::Node, Self::Zone];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Node => "node",
            Self::Zone => "zone",
        }
    }
}

impl FromStr for Disjoint {
    type Err = crate::RoutingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        crate::names::pick("algorithm", name, &Self::ALL, Self::name)
    }
}

/// At most `most` routes, in the order in which they are found.
pub(crate) fn routes(
    graph: &Graph,
    (source, destination): (u32, u32),
    disjoint: Disjoint,
    ties: Ties<'_>,
    most: usize,
) -> Vec<Route> {
    let mut finder = Finder::new(graph, source, destination, ties);
    let mut found = Vec::new();
    while found.len() < most
        && let Some(route) = finder.route()
    {
        finder.pruned.take(graph, disjoint, &route);
        found.push(route);
    }
    found
}

#[cfg(test)]
mod tests;

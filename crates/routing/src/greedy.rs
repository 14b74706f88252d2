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
        prune(&mut finder, graph, disjoint, &route);
        found.push(route);
    }
    found
}

/// Takes out of the graph what no later route may use: "Link disjoint", "Node disjoint", "Zone disjoint" of the papers.
fn prune(finder: &mut Finder<'_>, graph: &Graph, disjoint: Disjoint, route: &Route) {
    // A direct link has no intermediate node to prune; without this it would be found for ever.
    if disjoint == Disjoint::Link || route.hops() == 1 {
        for (a, b) in route.links() {
            finder.prune_link(a, b);
        }
    }
    if disjoint == Disjoint::Link {
        return;
    }
    for &node in route.intermediate() {
        finder.prune_node(node);
        if disjoint == Disjoint::Zone {
            for &neighbour in graph.neighbours(node) {
                finder.prune_node(neighbour);
            }
        }
    }
}

#[cfg(test)]
mod tests;

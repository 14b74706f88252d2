//! The papers' greedy algorithms: the shortest route by hops, prune, again, until no route is left.

use crate::disjoint::Disjoint;
use crate::graph::Graph;
use crate::route::Route;
use crate::shortest::{Finder, Ties};

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
        finder.pruned.prune(graph, disjoint, &route);
        found.push(route);
    }
    found
}

#[cfg(test)]
mod tests;

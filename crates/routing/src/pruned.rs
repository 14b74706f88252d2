//! What no later route of a set may use.

use crate::disjoint::Disjoint;
use crate::graph::Graph;
use crate::route::Route;

/// The nodes and links of a graph that are taken out.
#[derive(Clone, Debug)]
pub(crate) struct Pruned {
    pub(crate) nodes: Vec<bool>,
    pub(crate) links: Vec<bool>,
}

impl Pruned {
    /// Nothing is taken out.
    pub(crate) fn nothing(graph: &Graph) -> Self {
        Self { nodes: vec![false; graph.nodes()], links: vec![false; graph.links().len()] }
    }

    /// All links but those of a route.
    pub(crate) fn all_but(graph: &Graph, route: &Route) -> Self {
        let mut pruned = Self { nodes: vec![false; graph.nodes()], links: vec![true; graph.links().len()] };
        for (a, b) in route.links() {
            if let Some(link) = graph.link(a, b) {
                pruned.links[link as usize] = false;
            }
        }
        pruned
    }

    /// Takes out what a set's next route may not share with this one: "Link disjoint", "Node disjoint", "Zone disjoint"
    /// of the papers. The route's ends stay.
    pub(crate) fn prune(&mut self, graph: &Graph, disjoint: Disjoint, route: &Route) {
        // A direct link has no intermediate node to prune; without this it would be found for ever.
        if disjoint == Disjoint::Link || route.hops() == 1 {
            for (a, b) in route.links() {
                if let Some(link) = graph.link(a, b) {
                    self.links[link as usize] = true;
                }
            }
        }
        if disjoint == Disjoint::Link {
            return;
        }
        let ends = [route.nodes.first().copied(), route.nodes.last().copied()];
        let mut remove = |node: u32| self.nodes[node as usize] = !ends.contains(&Some(node));
        for &node in route.intermediate() {
            remove(node);
            if disjoint == Disjoint::Zone {
                graph.neighbours(node).iter().copied().for_each(&mut remove);
            }
        }
    }
}

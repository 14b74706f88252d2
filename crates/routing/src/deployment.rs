//! A deployment: nodes, who hears whom, and the two that want to talk.

use crate::disjoint::Disjoint;
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::greedy;
use crate::optimal::optimal_routes;
use crate::position::{Position, nearest};
use crate::quality::LinkQualities;
use crate::random::Draws;
use crate::route::Route;
use crate::shortest::{TieRule, Ties};

/// How the source or the destination is chosen.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// The node nearest to a point; of equally near ones the first.
    Nearest(Position),
    /// The node of this name. Nodes without a name are called by their number, from 0.
    Named(String),
}

/// Nodes, links, a source and a destination.
#[derive(Clone, PartialEq, Debug)]
pub struct Deployment {
    /// Which draw of its search it was; 0 when it was not drawn.
    pub draw: u64,
    /// The nodes' names; empty when they are called by number.
    pub names: Vec<String>,
    /// Where the nodes are; empty when not known.
    pub positions: Vec<Position>,
    /// The channels on which each node has a radio; empty when not known.
    pub channels: Vec<Vec<u32>>,
    /// Nodes closer than this many metres hear each other; `None` when the links came from a file.
    pub range: Option<f64>,
    /// How good links are, where somebody knows.
    pub qualities: LinkQualities,
    /// Who hears whom.
    pub graph: Graph,
    /// The node that sends.
    pub source: u32,
    /// The node that receives.
    pub destination: u32,
}

impl Deployment {
    /// Finds the ends among nodes with these links.
    ///
    /// # Errors
    /// [`RoutingError::Setting`] with the key `source` or `destination` when there is no such node, or both are one.
    pub fn new(nodes: Nodes, graph: Graph, source: &End, destination: &End) -> Result<Self, RoutingError> {
        if graph.nodes() < 2 {
            let message =
                format!("a route needs a source and a destination: at least 2 nodes, not {}", graph.nodes());
            return Err(RoutingError::setting("nodes", message));
        }
        let from = nodes.find("source", source, None)?;
        let to = nodes.find("destination", destination, Some(from))?;
        if from == to {
            let name =
                nodes.names.get(to as usize).map_or_else(|| to.to_string(), |name| format!("\"{name}\""));
            let message = format!("is the source too: node {name}");
            return Err(RoutingError::setting("destination", message));
        }
        let Nodes { names, positions, channels, range } = nodes;
        Ok(Self {
            draw: 0,
            names,
            positions,
            channels,
            range,
            qualities: LinkQualities::new(),
            graph,
            source: from,
            destination: to,
        })
    }

    /// A node's name.
    pub fn name(&self, node: u32) -> String {
        self.names.get(node as usize).map_or_else(|| node.to_string(), Clone::clone)
    }

    /// The routes that a greedy algorithm of the papers finds, in the order in which it finds them. `seed` matters to
    /// [`TieRule::Random`] alone. All algorithms find the same first route.
    ///
    /// # Errors
    /// [`RoutingError::Setting`] with the key `ties` for [`TieRule::FewestMetres`] without positions.
    pub fn greedy(&self, disjoint: Disjoint, rule: TieRule, seed: u64) -> Result<Vec<Route>, RoutingError> {
        if rule == TieRule::FewestMetres && self.positions.is_empty() {
            return Err(RoutingError::setting("ties", "fewest-metres needs the nodes' positions"));
        }
        Ok(self.greedy_routes(disjoint, rule, seed, usize::MAX))
    }

    /// As [`Self::greedy`], where positions are known to be there.
    pub(crate) fn greedy_routes(
        &self,
        disjoint: Disjoint,
        rule: TieRule,
        seed: u64,
        most: usize,
    ) -> Vec<Route> {
        let ties = match rule {
            TieRule::LowestNode => Ties::LowestNode,
            TieRule::HighestNode => Ties::HighestNode,
            TieRule::FewestMetres => Ties::FewestMetres(&self.positions),
            TieRule::Random => {
                let mut draws = Draws::new(seed, "routing/ties");
                draws.seek(self.draw);
                Ties::Random(Box::new(draws))
            }
        };
        greedy::routes(&self.graph, (self.source, self.destination), disjoint, ties, most)
    }

    /// The greatest set of link- or node-disjoint routes, with the fewest hops in total, of at most `most` routes:
    /// [`optimal_routes`].
    pub fn optimal(&self, disjoint: Disjoint, most: usize) -> Vec<Route> {
        optimal_routes(&self.graph, self.source, self.destination, disjoint, most)
    }
}

/// What is known of a deployment's nodes beside their links.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nodes {
    /// Their names; empty when they are called by number.
    pub names: Vec<String>,
    /// Where they are; empty when not known.
    pub positions: Vec<Position>,
    /// The channels on which each has a radio; empty when not known.
    pub channels: Vec<Vec<u32>>,
    /// Nodes closer than this many metres hear each other.
    pub range: Option<f64>,
}

impl Nodes {
    fn find(&self, key: &'static str, end: &End, taken: Option<u32>) -> Result<u32, RoutingError> {
        let found = match end {
            End::Nearest(reference) => nearest(&self.positions, *reference, taken),
            End::Named(name) if self.names.is_empty() => {
                let number = name.parse().ok();
                number.filter(|&number: &u32| (number as usize) < self.positions.len())
            }
            End::Named(name) => self.names.iter().position(|known| known == name).map(|node| node as u32),
        };
        found.ok_or_else(|| RoutingError::setting(key, self.not_found(end)))
    }

    fn not_found(&self, end: &End) -> String {
        match end {
            End::Nearest(_) => "a reference point needs the nodes' positions; name the node".to_owned(),
            End::Named(name) if self.names.is_empty() => {
                format!(
                    "there is no node {name}; the nodes are numbered from 0 to {}",
                    self.positions.len() - 1
                )
            }
            End::Named(name) => {
                let known: Vec<_> = self.names.iter().take(8).map(String::as_str).collect();
                let more = if self.names.len() > known.len() { ", …" } else { "" };
                format!("there is no node \"{name}\" among {}{more}", known.join(", "))
            }
        }
    }
}

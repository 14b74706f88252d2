//! The shortest route by hops that is left after pruning, and which one when several are equally short.

use crate::graph::Graph;
use crate::position::Position;
use crate::pruned::Pruned;
use crate::random::Draws;
use crate::route::Route;
use std::str::FromStr;

/// Which of several routes with equally few hops is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TieRule {
    /// The one whose list of nodes is lexicographically the lowest: from the source on, the lowest next node.
    #[default]
    LowestNode,
    /// The one whose list of nodes is lexicographically the highest.
    HighestNode,
    /// The one with the fewest metres; of equally long ones, from the source on, the lowest next node.
    FewestMetres,
    /// Any of them, each equally likely.
    Random,
}

impl TieRule {
    /// All rules, the default first.
    pub const ALL: [Self; 4] = [Self::LowestNode, Self::HighestNode, Self::FewestMetres, Self::Random];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LowestNode => "lowest-node",
            Self::HighestNode => "highest-node",
            Self::FewestMetres => "fewest-metres",
            Self::Random => "random",
        }
    }
}

impl FromStr for TieRule {
    type Err = crate::RoutingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        crate::names::pick("ties", name, &Self::ALL, Self::name)
    }
}

/// A rule with what it needs to know.
#[derive(Clone, Debug)]
pub(crate) enum Ties<'a> {
    LowestNode,
    HighestNode,
    FewestMetres(&'a [Position]),
    Random(Box<Draws>),
}

/// Not reached.
const FAR: u32 = u32::MAX;

/// Finds shortest routes between two nodes of a graph from which nodes and links are pruned.
pub(crate) struct Finder<'a> {
    graph: &'a Graph,
    source: u32,
    destination: u32,
    ties: Ties<'a>,
    pub(crate) pruned: Pruned,
    /// Hops to the destination.
    hops: Vec<u32>,
    /// The nodes reached, nearest to the destination first.
    queue: Vec<u32>,
    /// Metres to the destination, or the number of shortest routes there: what the rule weighs.
    weight: Vec<f64>,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(graph: &'a Graph, source: u32, destination: u32, ties: Ties<'a>) -> Self {
        let weighs = matches!(ties, Ties::FewestMetres(_) | Ties::Random(_));
        Self {
            graph,
            source,
            destination,
            ties,
            pruned: Pruned::nothing(graph),
            hops: vec![FAR; graph.nodes()],
            queue: Vec::with_capacity(graph.nodes()),
            weight: vec![0.0; if weighs { graph.nodes() } else { 0 }],
        }
    }

    /// A shortest route through what is left.
    pub(crate) fn route(&mut self) -> Option<Route> {
        if !self.reach() {
            return None;
        }
        match self.ties {
            Ties::FewestMetres(positions) => self.measure(positions),
            Ties::Random(_) => self.count(),
            Ties::LowestNode | Ties::HighestNode => {}
        }
        let mut node = self.source;
        let mut nodes = vec![node];
        while node != self.destination {
            node = self.step(node);
            nodes.push(node);
        }
        Some(Route { nodes })
    }

    /// Counts hops from the destination until the source is reached; false when it cannot be.
    fn reach(&mut self) -> bool {
        self.hops.fill(FAR);
        self.hops[self.destination as usize] = 0;
        self.queue.clear();
        self.queue.push(self.destination);
        let mut next = 0;
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            let further = self.hops[node as usize] + 1;
            for (neighbour, link) in self.graph.edges(node) {
                let known = self.hops[neighbour as usize] != FAR;
                if known || self.pruned.nodes[neighbour as usize] || self.pruned.links[link as usize] {
                    continue;
                }
                self.hops[neighbour as usize] = further;
                self.queue.push(neighbour);
                if neighbour == self.source {
                    // Every node nearer to the destination than the source has been reached by now.
                    return true;
                }
            }
        }
        false
    }

    /// The neighbours of a node that are one hop nearer to the destination.
    fn nearer(&self, node: u32) -> impl DoubleEndedIterator<Item = u32> {
        let wanted = self.hops[node as usize].wrapping_sub(1);
        let usable = move |&(neighbour, link): &(u32, u32)| {
            self.hops[neighbour as usize] == wanted && !self.pruned.links[link as usize]
        };
        self.graph.edges(node).filter(usable).map(|(neighbour, _)| neighbour)
    }

    /// The next node of the route after one that is not the destination.
    fn step(&mut self, node: u32) -> u32 {
        let next = match &self.ties {
            Ties::LowestNode => self.nearer(node).next(),
            Ties::HighestNode => self.nearer(node).next_back(),
            Ties::FewestMetres(positions) => self.shortest_in_metres(node, positions).map(|(next, _)| next),
            Ties::Random(_) => self.pick(node),
        };
        next.expect("a node with hops left has a nearer neighbour")
    }

    /// The nearer neighbour by which the destination is the fewest metres away, and how many.
    fn shortest_in_metres(&self, node: u32, positions: &[Position]) -> Option<(u32, f64)> {
        let at = positions[node as usize];
        let metres = |next: u32| at.distance(positions[next as usize]) + self.weight[next as usize];
        self.nearer(node)
            .map(|next| (next, metres(next)))
            .reduce(|best, other| if other.1 < best.1 { other } else { best })
    }

    /// Weighs each node by its metres to the destination.
    fn measure(&mut self, positions: &[Position]) {
        for index in 0..self.queue.len() {
            let node = self.queue[index];
            self.weight[node as usize] =
                self.shortest_in_metres(node, positions).map_or(0.0, |(_, metres)| metres);
        }
    }

    /// Weighs each node by the number of shortest routes from it.
    fn count(&mut self) {
        for index in 0..self.queue.len() {
            let node = self.queue[index];
            let routes: f64 = self.nearer(node).map(|next| self.weight[next as usize]).sum();
            self.weight[node as usize] = if node == self.destination { 1.0 } else { routes };
        }
    }

    /// A nearer neighbour, with a chance in proportion to the routes that go through it.
    fn pick(&mut self, node: u32) -> Option<u32> {
        let Ties::Random(draws) = &mut self.ties else { return None };
        let mut left = draws.uniform() * self.weight[node as usize];
        let mut chosen = None;
        for next in self.nearer(node) {
            chosen = Some(next);
            left -= self.weight[next as usize];
            if left < 0.0 {
                break;
            }
        }
        chosen
    }
}

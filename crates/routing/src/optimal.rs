//! Optimal sets of link- or node-disjoint routes: as many as there are, with the fewest hops or the least cost in total.
//!
//! A minimum-cost flow of unit capacities, found by successive shortest augmenting paths. An augmenting path may run
//! backwards over a link that an earlier one took, and so undo it. With two routes this is Bhandari's form of
//! Suurballe's algorithm (Suurballe 1974; Bhandari 1999).

use crate::disjoint::Disjoint;
use crate::graph::Graph;
use crate::route::Route;
use std::collections::VecDeque;
use std::ops::{Add, Neg};

/// At most `most` routes between two nodes that are disjoint in links or nodes; fewer only when there are no more.
/// Among all such sets of as many routes, one with the fewest hops in total. The shortest comes first.
///
/// Zone-disjoint sets are not asked for here: finding two is NP-complete (Bienstock 1991: two induced paths without an
/// edge between them), so [`Disjoint::Zone`] gives what [`Disjoint::Node`] gives.
///
/// # Panics
/// When `source` is `destination`, or one of them is no node of the graph.
pub fn optimal_routes(
    graph: &Graph,
    source: u32,
    destination: u32,
    disjoint: Disjoint,
    most: usize,
) -> Vec<Route> {
    assert!(source != destination, "source and destination are one node");
    let mut flow = Flow::new(graph, (source, destination), disjoint, |_, _| Some(1));
    while flow.value < most && flow.augment() {}
    let mut routes = flow.routes();
    routes.sort_unstable_by(|a, b| (a.hops(), &a.nodes).cmp(&(b.hops(), &b.nodes)));
    routes
}

/// As [`optimal_routes`], with the least sum of the links' costs in total, and among those the fewest hops; the cheapest
/// route comes first. `cost` is asked for links (one node, its neighbour), the same in both directions, in seconds: it
/// counts in whole picoseconds. Links whose cost is not finite carry no route.
///
/// # Panics
/// As [`optimal_routes`].
pub fn optimal_routes_by(
    graph: &Graph,
    (source, destination): (u32, u32),
    disjoint: Disjoint,
    most: usize,
    cost: impl Fn(u32, u32) -> f64,
) -> Vec<Route> {
    assert!(source != destination, "source and destination are one node");
    // Behind each cost stands a hop: of equal costs the fewer hops are less.
    let whole = |a, b| {
        let seconds: f64 = cost(a, b);
        seconds.is_finite().then(|| (libm::round(seconds.max(0.0) * PICOSECONDS) as i128) * MOST_HOPS + 1)
    };
    let mut flow = Flow::new(graph, (source, destination), disjoint, whole);
    while flow.value < most && flow.augment() {}
    let total = |route: &Route| route.links().filter_map(|(a, b)| whole(a, b)).sum::<i128>();
    let mut routes: Vec<_> = flow.routes().into_iter().map(|route| (total(&route), route)).collect();
    routes.sort_unstable_by(|(a, one), (b, other)| (a, &one.nodes).cmp(&(b, &other.nodes)));
    routes.into_iter().map(|(_, route)| route).collect()
}

/// In a second.
const PICOSECONDS: f64 = 1e12;

/// No set has more hops.
const MOST_HOPS: i128 = 1 << 40;

/// What an arc costs.
trait Cost: Copy + Ord + Add<Output = Self> + Neg<Output = Self> {
    const NOTHING: Self;
    const NEVER: Self;
}

impl Cost for i32 {
    const NOTHING: Self = 0;
    const NEVER: Self = Self::MAX;
}

impl Cost for i128 {
    const NOTHING: Self = 0;
    const NEVER: Self = Self::MAX;
}

/// An arc of the flow network. Its reverse is the arc whose number differs in the last bit.
#[derive(Clone, Copy)]
struct Arc<C> {
    to: u32,
    cost: C,
    free: bool,
}

struct Flow<C> {
    arcs: Vec<Arc<C>>,
    /// Numbers of the arcs that leave each vertex, in the order of their heads.
    leaving: Vec<Vec<u32>>,
    source: u32,
    sink: u32,
    /// Vertices per node: one, or an entrance and an exit.
    split: bool,
    value: usize,
}

impl<C: Cost> Flow<C> {
    /// With what `cost` says of a node and its neighbour; `None` when the link carries no route.
    fn new(
        graph: &Graph,
        (source, destination): (u32, u32),
        disjoint: Disjoint,
        cost: impl Fn(u32, u32) -> Option<C>,
    ) -> Self {
        let (nodes, split) = (graph.nodes(), disjoint != Disjoint::Link);
        let vertices = if split { 2 * nodes } else { nodes };
        let (from, sink) = if split { (2 * source + 1, 2 * destination) } else { (source, destination) };
        let mut flow = Self {
            arcs: Vec::new(),
            leaving: vec![Vec::new(); vertices],
            source: from,
            sink,
            split,
            value: 0,
        };
        for node in 0..nodes as u32 {
            if split {
                // A node is passed once: through the arc from its entrance to its exit.
                flow.join(2 * node, 2 * node + 1, C::NOTHING);
            }
            for &neighbour in graph.neighbours(node) {
                let (exit, entrance) = if split { (2 * node + 1, 2 * neighbour) } else { (node, neighbour) };
                if let Some(cost) = cost(node, neighbour) {
                    flow.join(exit, entrance, cost);
                }
            }
        }
        flow
    }

    /// An arc of capacity 1 and its reverse, which is free once the arc is taken.
    fn join(&mut self, from: u32, to: u32, cost: C) {
        self.leaving[from as usize].push(self.arcs.len() as u32);
        self.arcs.push(Arc { to, cost, free: true });
        self.leaving[to as usize].push(self.arcs.len() as u32);
        self.arcs.push(Arc { to: from, cost: -cost, free: false });
    }

    /// One route more, by the cheapest augmenting path; false when there is none.
    fn augment(&mut self) -> bool {
        let Some(path) = self.cheapest() else { return false };
        for arc in path {
            self.arcs[arc as usize].free = false;
            self.arcs[arc as usize ^ 1].free = true;
        }
        self.value += 1;
        true
    }

    /// The arcs of a cheapest path from source to sink, last first. Costs may be negative: Bellman–Ford with a queue.
    fn cheapest(&self) -> Option<Vec<u32>> {
        let mut cost = vec![C::NEVER; self.leaving.len()];
        let mut by = vec![u32::MAX; self.leaving.len()];
        let mut queued = vec![false; self.leaving.len()];
        let mut queue = VecDeque::from([self.source]);
        cost[self.source as usize] = C::NOTHING;
        while let Some(vertex) = queue.pop_front() {
            queued[vertex as usize] = false;
            for &number in &self.leaving[vertex as usize] {
                let arc = self.arcs[number as usize];
                let offered = cost[vertex as usize] + arc.cost;
                if !arc.free || offered >= cost[arc.to as usize] {
                    continue;
                }
                cost[arc.to as usize] = offered;
                by[arc.to as usize] = number;
                if !std::mem::replace(&mut queued[arc.to as usize], true) {
                    queue.push_back(arc.to);
                }
            }
        }
        if cost[self.sink as usize] == C::NEVER {
            return None;
        }
        let mut path = Vec::new();
        let mut vertex = self.sink;
        while vertex != self.source {
            let arc = by[vertex as usize];
            path.push(arc);
            vertex = self.arcs[arc as usize ^ 1].to;
        }
        Some(path)
    }

    /// The flow, taken apart into routes. A flow of least cost has no cycle, so no route meets a node twice.
    fn routes(mut self) -> Vec<Route> {
        (0..self.value).map(|_| self.follow()).collect()
    }

    /// Follows the flow from the source, and takes what it passes out.
    fn follow(&mut self) -> Route {
        let mut vertex = self.source;
        let mut nodes = vec![self.node(vertex)];
        while vertex != self.sink {
            let taken = |&&arc: &&u32| arc & 1 == 0 && !self.arcs[arc as usize].free;
            let arc = *self.leaving[vertex as usize].iter().find(taken).expect("what flows in flows out");
            self.arcs[arc as usize].free = true;
            vertex = self.arcs[arc as usize].to;
            if nodes.last() != Some(&self.node(vertex)) {
                nodes.push(self.node(vertex));
            }
        }
        Route { nodes }
    }

    fn node(&self, vertex: u32) -> u32 {
        if self.split { vertex / 2 } else { vertex }
    }
}

#[cfg(test)]
mod tests;

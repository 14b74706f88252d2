//! An undirected graph: which nodes hear each other.

use crate::position::Position;

mod buckets;

/// An undirected graph in compressed rows: each node's neighbours in ascending order, and the number of the link to
/// each. Links are numbered by (lower node, higher node).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// Where each node's row begins, and the end of the last.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// The link to each of `neighbours`.
    link_numbers: Vec<u32>,
    links: Vec<(u32, u32)>,
}

/// Up to so many nodes, looking at every pair is quicker than sorting into buckets.
const FEW: usize = 64;

impl Graph {
    /// The disk graph: a link joins two nodes closer than `range` metres.
    pub fn disk(positions: &[Position], range: f64) -> Self {
        let limit = range * range;
        let mut pairs = Vec::new();
        if positions.len() <= FEW {
            for (a, from) in positions.iter().enumerate() {
                for (b, to) in positions.iter().enumerate().skip(a + 1) {
                    if from.distance_squared(*to) < limit {
                        pairs.push((a as u32, b as u32));
                    }
                }
            }
        } else {
            buckets::Buckets::new(positions, range).pairs(range, &mut pairs);
        }
        Self::from_sorted(positions.len(), pairs)
    }

    /// The graph of so many nodes with these links, in any order and either direction. Links that are given twice
    /// count once; links from a node to itself, or to no node, are left out.
    pub fn from_links(nodes: usize, links: &[(u32, u32)]) -> Self {
        let valid = |&&(a, b): &&(u32, u32)| a != b && (a.max(b) as usize) < nodes;
        let mut sorted: Vec<_> = links.iter().filter(valid).map(|&(a, b)| (a.min(b), a.max(b))).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self::from_sorted(nodes, sorted)
    }

    /// From links (lower, higher) in ascending order.
    fn from_sorted(nodes: usize, links: Vec<(u32, u32)>) -> Self {
        let mut starts = vec![0u32; nodes + 1];
        for &(a, b) in &links {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0; 2 * links.len()];
        let mut link_numbers = vec![0; 2 * links.len()];
        let mut put = |from: u32, to: u32, link: usize| {
            let slot = &mut next[from as usize];
            neighbours[*slot as usize] = to;
            link_numbers[*slot as usize] = link as u32;
            *slot += 1;
        };
        // First the lower neighbours of each node, then the higher ones: both come in ascending order.
        for (number, &(a, b)) in links.iter().enumerate() {
            put(b, a, number);
        }
        for (number, &(a, b)) in links.iter().enumerate() {
            put(a, b, number);
        }
        Self { starts, neighbours, link_numbers, links }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The links, (lower node, higher node), in ascending order: a link's place here is its number.
    pub fn links(&self) -> &[(u32, u32)] {
        &self.links
    }

    /// A node's neighbours, ascending.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        &self.neighbours[self.row(node)]
    }

    /// A node's neighbours, ascending, each with the number of the link to it.
    pub fn edges(&self, node: u32) -> impl DoubleEndedIterator<Item = (u32, u32)> {
        let row = self.row(node);
        self.neighbours[row.clone()].iter().copied().zip(self.link_numbers[row].iter().copied())
    }

    /// The number of the link between two nodes.
    pub fn link(&self, a: u32, b: u32) -> Option<u32> {
        let row = self.row(a);
        let place = self.neighbours[row.clone()].binary_search(&b).ok()?;
        Some(self.link_numbers[row.start + place])
    }

    /// Whether every node can be reached from every other. A graph without nodes is not connected.
    pub fn is_connected(&self) -> bool {
        let mut reached = vec![false; self.nodes()];
        let Some(first) = reached.first_mut() else { return false };
        *first = true;
        let mut ahead = vec![0u32];
        let mut count = 1;
        while let Some(node) = ahead.pop() {
            for &neighbour in self.neighbours(node) {
                if !std::mem::replace(&mut reached[neighbour as usize], true) {
                    count += 1;
                    ahead.push(neighbour);
                }
            }
        }
        count == reached.len()
    }

    fn row(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }
}

#[cfg(test)]
mod tests;

//! What is at least still to come on the way to the destination.

use super::ChannelGraph;
use crate::pruned::Pruned;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a walk stands, as far as what is to come depends on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct State {
    pub(super) node: u32,
    /// Hops made, modulo the length of the pattern.
    pub(super) phase: usize,
    /// The channel of arrival, by its place; the number of channels at the source.
    pub(super) last: usize,
}

/// The graph whose nodes are states: those of Yang, Wang and Kravets, and the place in the pattern.
pub(super) struct States<'a> {
    pub(super) graph: &'a ChannelGraph<'a>,
    pub(super) pruned: &'a Pruned,
    pub(super) pattern: Option<Vec<usize>>,
    pub(super) destination: u32,
}

/// Nothing gets there.
pub(super) const NEVER: u64 = u64::MAX;

impl States<'_> {
    pub(super) fn channels(&self) -> usize {
        self.graph.channels.len()
    }

    fn period(&self) -> usize {
        self.pattern.as_ref().map_or(1, |pattern| pattern.len().max(1))
    }

    /// May hop number `phase` use a channel?
    pub(super) fn allows(&self, phase: usize, channel: usize) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.get(phase) == Some(&channel))
    }

    pub(super) fn next_phase(&self, phase: usize) -> usize {
        (phase + 1) % self.period()
    }

    pub(super) fn number(&self, state: State) -> usize {
        (state.node as usize * self.period() + state.phase) * (self.channels() + 1) + state.last
    }

    /// The neighbours of a node over links that are left.
    pub(super) fn edges(&self, node: u32) -> impl Iterator<Item = (u32, u32)> {
        let left = |&(neighbour, link): &(u32, u32)| {
            !self.pruned.nodes[neighbour as usize] && !self.pruned.links[link as usize]
        };
        self.graph.graph.edges(node).filter(left)
    }

    /// By state: the least cost of a walk to the destination, [`NEVER`] when there is none. A hop costs `hop(link,
    /// channel)` and what `change(channel before, channel)` says.
    pub(super) fn least(
        &self,
        hop: impl Fn(u32, usize) -> u64,
        change: impl Fn(usize, usize) -> u64,
    ) -> Vec<u64> {
        let (channels, period) = (self.channels(), self.period());
        let mut least = vec![NEVER; self.graph.graph.nodes() * period * (channels + 1)];
        let mut queue = BinaryHeap::new();
        for phase in 0..period {
            for last in 0..=channels {
                let state = State { node: self.destination, phase, last };
                least[self.number(state)] = 0;
                queue.push(Reverse((0, state)));
            }
        }
        while let Some(Reverse((cost, state))) = queue.pop() {
            let before = (state.phase + period - 1) % period;
            let is_stale = cost > least[self.number(state)];
            if is_stale || state.last == channels || !self.allows(before, state.last) {
                continue;
            }
            for (node, link) in self.edges(state.node) {
                if self.graph.hop(link, state.last).is_none() {
                    continue;
                }
                let by_hop = cost.saturating_add(hop(link, state.last));
                for last in 0..=channels {
                    let from = State { node, phase: before, last };
                    let all = by_hop.saturating_add(change(last, state.last));
                    let known = &mut least[self.number(from)];
                    if all < *known {
                        *known = all;
                        queue.push(Reverse((all, from)));
                    }
                }
            }
        }
        least
    }
}

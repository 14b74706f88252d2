//! The route of least metric: partial routes are extended in the order of what they come to at least (A*, Hart,
//! Nilsson, Raphael 1968).

use super::bounds::{NEVER, State, States};
use super::{ChannelGraph, ChannelRoute, Criterion};
use crate::error::RoutingError;
use crate::pruned::Pruned;
use crate::route::Route;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Partial routes that are extended before a search gives up.
const MOST: usize = 1_000_000;

/// Costs are whole numbers, so that equally good routes are equal in whatever order their hops come: picoseconds of ETT.
const PICOSECONDS: f64 = 1e12;

/// And shares of MIC.
const SHARES: f64 = (1u64 << 32) as f64;

pub(super) struct PathSearch<'a> {
    states: States<'a>,
    source: u32,
    criterion: Criterion,
    /// By link, then channel: the cost of a hop.
    costs: Vec<u64>,
    /// MIC's cost of keeping and of changing the channel.
    stays: u64,
    switches: u64,
    bounds: Bounds,
}

/// By state, at least: what is still to come in all, on each channel, and how many hops.
#[derive(Default)]
struct Bounds {
    cost: Vec<u64>,
    /// For WCETT alone.
    loads: Vec<Vec<u64>>,
    hops: Vec<u64>,
}

/// A route as far as it has come.
#[derive(Clone, PartialEq, Debug)]
struct Partial {
    /// What it comes to at least, and with how many hops.
    value: f64,
    least_hops: u64,
    nodes: Vec<u32>,
    /// By their places.
    channels: Vec<usize>,
    phase: usize,
    cost: u64,
    /// What each channel bears.
    loads: Vec<u64>,
}

impl Eq for Partial {}

impl PartialOrd for Partial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Partial {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.value.total_cmp(&other.value).then(self.least_hops.cmp(&other.least_hops));
        by_value.then_with(|| (&self.nodes, &self.channels).cmp(&(&other.nodes, &other.channels)))
    }
}

impl<'a> PathSearch<'a> {
    pub(super) fn new(
        graph: &'a ChannelGraph<'a>,
        (source, destination): (u32, u32),
        pruned: &'a Pruned,
        criterion: Criterion,
        pattern: Option<Vec<usize>>,
    ) -> Self {
        let whole = |number: f64| number as u64;
        let cost = |hop: &Option<super::Hop>| {
            hop.map_or(NEVER, |hop| match criterion {
                Criterion::Wcett { .. } => whole(libm::round(hop.ett * PICOSECONDS)),
                // IRU over N min ETT.
                Criterion::Mic(setting) => {
                    let usage = hop.ett * f64::from(hop.interfered);
                    whole(libm::round(usage / (f64::from(setting.nodes) * setting.least_ett) * SHARES))
                }
            })
        };
        let (stays, switches) = match criterion {
            Criterion::Wcett { .. } => (0, 0),
            Criterion::Mic(setting) => {
                (whole(libm::round(setting.stays * SHARES)), whole(libm::round(setting.switches * SHARES)))
            }
        };
        let costs = graph.hops.iter().map(cost).collect();
        let states = States { graph, pruned, pattern, destination };
        let mut search =
            Self { states, source, criterion, costs, stays, switches, bounds: Bounds::default() };
        search.bounds = search.bounds();
        search
    }

    fn bounds(&self) -> Bounds {
        let all = |link, channel| self.cost(link, channel);
        let cost = self.states.least(all, |before, channel| self.change(before, channel));
        let on = |one: usize| {
            let load = move |link, channel| if channel == one { self.cost(link, channel) } else { 0 };
            self.states.least(load, |_, _| 0)
        };
        let loads = match self.criterion {
            Criterion::Wcett { .. } => (0..self.states.channels()).map(on).collect(),
            Criterion::Mic(_) => Vec::new(),
        };
        Bounds { cost, loads, hops: self.states.least(|_, _| 1, |_, _| 0) }
    }

    fn cost(&self, link: u32, channel: usize) -> u64 {
        self.costs[link as usize * self.states.channels() + channel]
    }

    /// CSC: what a node adds that receives on one channel and sends on another, or on the same.
    fn change(&self, before: usize, channel: usize) -> u64 {
        match before {
            none if none == self.states.channels() => 0,
            same if same == channel => self.stays,
            _ => self.switches,
        }
    }

    /// The best route; `None` when there is none.
    pub(super) fn run(&self) -> Result<Option<ChannelRoute>, RoutingError> {
        let mut ahead = BinaryHeap::new();
        let start = Partial {
            value: 0.0,
            least_hops: 0,
            nodes: vec![self.source],
            channels: Vec::new(),
            phase: 0,
            cost: 0,
            loads: vec![0; self.states.channels()],
        };
        ahead.extend(self.bounded(start).map(Reverse));
        let mut settled = vec![Vec::new(); self.states.graph.graph.nodes()];
        let mut extended = 0;
        while let Some(Reverse(partial)) = ahead.pop() {
            let node = partial.nodes[partial.nodes.len() - 1];
            if node == self.states.destination {
                return Ok(Some(self.arrived(partial)));
            }
            if self.is_settled(&mut settled[node as usize], &partial) {
                continue;
            }
            extended += 1;
            if extended > MOST {
                let message = format!("{MOST} partial routes do not tell which route is the best");
                return Err(RoutingError::setting("metric", message));
            }
            self.extend(&partial, node, &mut ahead);
        }
        Ok(None)
    }

    fn extend(&self, partial: &Partial, node: u32, ahead: &mut BinaryHeap<Reverse<Partial>>) {
        let last = partial.channels.last().copied().unwrap_or(self.states.channels());
        for (next, link) in self.states.edges(node) {
            if partial.nodes.contains(&next) {
                continue;
            }
            for channel in 0..self.states.channels() {
                let cost = self.cost(link, channel);
                if cost == NEVER || !self.states.allows(partial.phase, channel) {
                    continue;
                }
                let mut longer = partial.clone();
                longer.nodes.push(next);
                longer.channels.push(channel);
                longer.phase = self.states.next_phase(partial.phase);
                longer.cost = partial.cost.saturating_add(cost).saturating_add(self.change(last, channel));
                longer.loads[channel] = longer.loads[channel].saturating_add(cost);
                ahead.extend(self.bounded(longer).map(Reverse));
            }
        }
    }

    /// With what it comes to at least; `None` when it leads nowhere.
    fn bounded(&self, mut partial: Partial) -> Option<Partial> {
        let last = partial.channels.last().copied().unwrap_or(self.states.channels());
        let node = partial.nodes[partial.nodes.len() - 1];
        let state = self.states.number(State { node, phase: partial.phase, last });
        let left = Some(self.bounds.cost[state]).filter(|&cost| cost != NEVER)?;
        let total = partial.cost.saturating_add(left);
        partial.value = match self.criterion {
            Criterion::Mic(_) => total as f64,
            Criterion::Wcett { beta } => {
                let each = partial.loads.iter().zip(&self.bounds.loads);
                let busiest = each.map(|(load, left)| load.saturating_add(left[state])).max().unwrap_or(0);
                // The busiest channel bears the mean at least.
                let busiest = busiest.max(total.div_ceil(self.states.channels().max(1) as u64));
                (1.0 - beta) * total as f64 + beta * busiest as f64
            }
        };
        partial.least_hops = partial.channels.len() as u64 + self.bounds.hops[state];
        Some(partial)
    }

    /// Whether a route that has come to the same node before is no worse on any channel, whatever follows.
    ///
    /// The channels must not depend on the number of hops. Then a way that meets the other route again can be cut
    /// short, which never adds to a channel's load. It may add a change of channel, so that MIC is left out; there
    /// the bounds are exact anyway.
    fn is_settled(&self, settled: &mut Vec<Partial>, partial: &Partial) -> bool {
        if self.states.pattern.is_some() || matches!(self.criterion, Criterion::Mic(_)) {
            return false;
        }
        let no_worse = |other: &Partial| {
            other.loads.iter().zip(&partial.loads).all(|(a, b)| a <= b)
                && (other.nodes.len(), &other.nodes, &other.channels)
                    <= (partial.nodes.len(), &partial.nodes, &partial.channels)
        };
        if settled.iter().any(no_worse) {
            return true;
        }
        settled.push(partial.clone());
        false
    }

    fn arrived(&self, partial: Partial) -> ChannelRoute {
        let number = |&place: &usize| self.states.graph.channels[place];
        let channels = partial.channels.iter().map(number).collect();
        ChannelRoute { route: Route { nodes: partial.nodes }, channels }
    }
}

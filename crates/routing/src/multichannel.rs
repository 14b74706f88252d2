//! Routes of least WCETT or MIC over a graph whose links can use several channels.

use crate::disjoint::Disjoint;
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::metrics::{Hop, MicSetting, mic, wcett};
use crate::names::pick;
use crate::pruned::Pruned;
use crate::route::Route;
use search::PathSearch;
use serde::{Serialize, Serializer};
use std::str::FromStr;

mod bounds;
mod search;

/// By what routes are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Metric {
    /// The fewest hops.
    #[default]
    Hops,
    /// The least sum of expected transmission times.
    Ett,
    /// The least weighted cumulative expected transmission time.
    Wcett,
    /// The least metric of interference and channel switching.
    Mic,
}

impl Metric {
    /// All metrics, the default first.
    pub const ALL: [Self; 4] = [Self::Hops, Self::Ett, Self::Wcett, Self::Mic];

    /// Why no set of routes is the optimal one by this metric, in words; `None` for those for which one is.
    ///
    /// A set of least cost is a flow of least cost where the cost of a route is the sum of its links', each by itself.
    pub const fn no_optimum(self) -> Option<&'static str> {
        match self {
            Self::Hops | Self::Ett => None,
            Self::Wcett => {
                Some("WCETT is no sum over links: what a hop adds depends on which channel bears most")
            }
            Self::Mic => Some("MIC is no sum over links: what a hop adds depends on the channel before it"),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hops => "hops",
            Self::Ett => "ett",
            Self::Wcett => "wcett",
            Self::Mic => "mic",
        }
    }
}

impl FromStr for Metric {
    type Err = RoutingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        pick("metric", name, &Self::ALL, Self::name)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What the best route has least of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Criterion {
    /// WCETT with this β, from 0 to 1.
    Wcett {
        /// The weight of the busiest channel.
        beta: f64,
    },
    /// MIC.
    Mic(MicSetting),
}

impl Criterion {
    /// What a route is worth: less is better.
    pub fn of(&self, hops: &[Hop]) -> f64 {
        match *self {
            Self::Wcett { beta } => wcett(hops, beta),
            Self::Mic(setting) => mic(hops, setting),
        }
    }
}

/// A route and the channel of each of its hops.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChannelRoute {
    /// The nodes.
    pub route: Route,
    /// The channels, one per hop.
    pub channels: Vec<u32>,
}

/// A graph whose links can use several channels.
#[derive(Clone, Debug)]
pub struct ChannelGraph<'a> {
    graph: &'a Graph,
    /// The channels, ascending.
    channels: Vec<u32>,
    /// By link, then channel: a transmission over the link, if it can use the channel.
    hops: Vec<Option<Hop>>,
}

impl<'a> ChannelGraph<'a> {
    /// The graph with the weights that `weigh` gives each link (lower node, higher node) on each of these channels:
    /// ETT in seconds, and the number of nodes that it interferes with. `None`: the link cannot use the channel. A
    /// link of infinite ETT cannot either.
    pub fn new(
        graph: &'a Graph,
        channels: impl IntoIterator<Item = u32>,
        mut weigh: impl FnMut(u32, u32, u32) -> Option<(f64, u32)>,
    ) -> Self {
        let mut channels: Vec<u32> = channels.into_iter().collect();
        channels.sort_unstable();
        channels.dedup();
        let mut hops = Vec::with_capacity(graph.links().len() * channels.len());
        for &(a, b) in graph.links() {
            hops.extend(channels.iter().map(|&channel| {
                let (ett, interfered) = weigh(a, b, channel).filter(|(ett, _)| ett.is_finite())?;
                Some(Hop { channel, ett, interfered })
            }));
        }
        Self { graph, channels, hops }
    }

    /// Routes found greedily: the one of least metric, prune what a set of this kind may not share, again. Of equally
    /// good routes the one with the fewest hops is taken, then the one whose nodes, then whose channels come first.
    ///
    /// `pattern` gives the channels of the hops of route k, which begin again at their end; where it gives `None`, a hop
    /// uses any channel that its link can.
    ///
    /// MIC alone is not isotonic, but it is in a graph with a node for each node and channel of arrival (Yang, Wang,
    /// Kravets 2005, §4.2). WCETT is isotonic over no such graph. Routes are extended in the order of a lower bound
    /// of their WCETT. A route is dropped when another one is at the same node with no more load on any channel. Both
    /// ways the first route that arrives is the best of all.
    ///
    /// # Errors
    /// [`RoutingError::Setting`] with the key `metric` when a million partial routes were not enough to be certain.
    pub fn routes(
        &self,
        ends: (u32, u32),
        disjoint: Disjoint,
        criterion: Criterion,
        pattern: impl Fn(usize) -> Option<Vec<u32>>,
        most: usize,
    ) -> Result<Vec<ChannelRoute>, RoutingError> {
        let mut pruned = Pruned::nothing(self.graph);
        let mut found: Vec<ChannelRoute> = Vec::new();
        while found.len() < most {
            let channels = pattern(found.len());
            let Some(route) = self.least(ends, &pruned, criterion, channels.as_deref())? else { break };
            pruned.prune(self.graph, disjoint, &route.route);
            found.push(route);
        }
        Ok(found)
    }

    /// The channels of least metric for a given route; `None` when a hop of it can use none.
    ///
    /// # Errors
    /// As [`Self::routes`].
    pub fn assign(&self, route: &Route, criterion: Criterion) -> Result<Option<ChannelRoute>, RoutingError> {
        let (Some(&source), Some(&destination)) = (route.nodes.first(), route.nodes.last()) else {
            return Ok(None);
        };
        self.least((source, destination), &Pruned::all_but(self.graph, route), criterion, None)
    }

    /// The hops of a route; `None` when a hop cannot use its channel.
    pub fn hops(&self, route: &ChannelRoute) -> Option<Vec<Hop>> {
        let each = route.route.links().zip(&route.channels);
        each.map(|((a, b), channel)| {
            let place = self.channels.binary_search(channel).ok()?;
            self.hop(self.graph.link(a, b)?, place)
        })
        .collect()
    }

    /// The least ETT of any link on any channel; `None` without a usable link.
    pub fn least_ett(&self) -> Option<f64> {
        self.hops.iter().flatten().map(|hop| hop.ett).min_by(f64::total_cmp)
    }

    /// The least ETT of a link on any channel; infinite when it can use none, or there is no such link.
    pub fn ett(&self, a: u32, b: u32) -> f64 {
        let Some(link) = self.graph.link(a, b) else { return f64::INFINITY };
        let hops = (0..self.channels.len()).filter_map(|channel| self.hop(link, channel));
        hops.map(|hop| hop.ett).fold(f64::INFINITY, f64::min)
    }

    fn hop(&self, link: u32, channel: usize) -> Option<Hop> {
        self.hops[link as usize * self.channels.len() + channel]
    }

    fn least(
        &self,
        ends: (u32, u32),
        pruned: &Pruned,
        criterion: Criterion,
        pattern: Option<&[u32]>,
    ) -> Result<Option<ChannelRoute>, RoutingError> {
        let places = pattern.map(|pattern| {
            // A channel that the graph does not have is one that no link can use.
            let place = |channel| self.channels.binary_search(channel).unwrap_or(usize::MAX);
            pattern.iter().map(place).collect::<Vec<_>>()
        });
        PathSearch::new(self, ends, pruned, criterion, places).run()
    }
}

#[cfg(test)]
mod tests;

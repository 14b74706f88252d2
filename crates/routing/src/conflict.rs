//! Which links of a set of routes cannot be used at the same time.

use crate::deployment::Deployment;
use crate::error::RoutingError;
use crate::multichannel::ChannelRoute;

/// The protocol interference model, in both directions (Gupta and Kumar 2000): both ends of a link send and receive,
/// because 802.11 acknowledges. Two links on one channel conflict when an end of one is closer to an end of the other
/// than the interference range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interference {
    /// Interference range over transmission range, at least 1.
    pub ratio: f64,
}

/// One hop of one route: a vertex of the conflict graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteLink {
    /// Which route.
    pub route: u32,
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The channel.
    pub channel: u32,
}

/// The conflict graph of a set of routes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictGraph {
    /// The hops, route by route.
    pub links: Vec<RouteLink>,
    /// Pairs (lower, higher) of places in `links` that conflict, ascending.
    pub conflicts: Vec<(u32, u32)>,
}

impl ConflictGraph {
    /// The conflict graph of routes. Links that share a node conflict on one channel whatever the ratio.
    ///
    /// # Errors
    /// [`RoutingError::Setting`]: `interference` for a ratio below 1, `channels` when a hop has none, `range` for a
    /// deployment without positions or range.
    pub fn new(
        deployment: &Deployment,
        routes: &[ChannelRoute],
        interference: Interference,
    ) -> Result<Self, RoutingError> {
        let zone = Zone::new(deployment, interference)?;
        let mut links = Vec::new();
        for (index, ChannelRoute { route, channels }) in routes.iter().enumerate() {
            if channels.len() != route.hops() as usize {
                let message = format!("{} for the {} hops of a route", channels.len(), route.hops());
                return Err(RoutingError::setting("channels", message));
            }
            let hop = |((from, to), &channel)| RouteLink { route: index as u32, from, to, channel };
            links.extend(route.links().zip(channels).map(hop));
        }
        let conflict = |a: &RouteLink, b: &RouteLink| {
            let near = |x, y| zone.holds(x, y);
            a.channel == b.channel && [a.from, a.to].iter().any(|&x| near(x, b.from) || near(x, b.to))
        };
        let mut conflicts = Vec::new();
        for (i, a) in links.iter().enumerate() {
            let later = links.iter().enumerate().skip(i + 1).filter(|(_, b)| conflict(a, b));
            conflicts.extend(later.map(|(j, _)| (i as u32, j as u32)));
        }
        Ok(Self { links, conflicts })
    }

    /// Conflicts between hops of one route.
    pub fn within_routes(&self) -> usize {
        self.conflicts.iter().filter(|&&(a, b)| self.same_route(a, b)).count()
    }

    /// Conflicts between hops of different routes.
    pub fn between_routes(&self) -> usize {
        self.conflicts.len() - self.within_routes()
    }

    fn same_route(&self, a: u32, b: u32) -> bool {
        self.links[a as usize].route == self.links[b as usize].route
    }
}

/// Who interferes with whom.
pub(crate) struct Zone<'a> {
    deployment: &'a Deployment,
    range_squared: f64,
}

impl<'a> Zone<'a> {
    pub(crate) fn new(deployment: &'a Deployment, interference: Interference) -> Result<Self, RoutingError> {
        if !(interference.ratio >= 1.0 && interference.ratio.is_finite()) {
            let message = format!("is a ratio to the range and at least 1, not {}", interference.ratio);
            return Err(RoutingError::setting("interference", message));
        }
        let Some(range) = deployment.range.filter(|_| !deployment.positions.is_empty()) else {
            return Err(RoutingError::setting("range", "interference needs positions and a range"));
        };
        let reach = range * interference.ratio;
        Ok(Self { deployment, range_squared: reach * reach })
    }

    /// Whether two nodes, which may be one, interfere.
    pub(crate) fn holds(&self, a: u32, b: u32) -> bool {
        let positions = &self.deployment.positions;
        a == b || positions[a as usize].distance_squared(positions[b as usize]) < self.range_squared
    }

    /// How many nodes a transmission over a link on a channel interferes with, its own ends not counted, nor nodes that
    /// are known to have no radio on the channel.
    pub(crate) fn interfered(&self, from: u32, to: u32, channel: u32) -> u32 {
        let nodes = 0..self.deployment.graph.nodes() as u32;
        let on = |node: u32| {
            self.deployment.channels.get(node as usize).is_none_or(|channels| channels.contains(&channel))
        };
        let others = nodes.filter(|&node| node != from && node != to && on(node));
        others.filter(|&node| self.holds(node, from) || self.holds(node, to)).count() as u32
    }
}

#[cfg(test)]
mod tests;

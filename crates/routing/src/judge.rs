//! What routes are worth over radios, and which are best.

use crate::assignment::{Assignment, drawn_radios};
use crate::conflict::{ConflictGraph, Interference, Zone};
use crate::deployment::Deployment;
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::metrics::{MicSetting, ett, etx, mic, wcett};
use crate::multichannel::{ChannelGraph, ChannelRoute, Criterion, Metric};
use crate::radio::Radio;
use crate::record::Method;
use crate::shortest::{Route, TieRule};
use serde::Serialize;

/// A set of routes, judged over radios.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judged {
    routes: Vec<JudgedRoute>,
    conflicts_within_routes: usize,
    conflicts_between_routes: usize,
    /// Pairs of links.
    conflicts: Vec<[[String; 2]; 2]>,
}

/// A route, judged over radios.
#[derive(Clone, Debug, Serialize)]
struct JudgedRoute {
    /// Of each hop.
    channels: Vec<u32>,
    etx: f64,
    ett_s: f64,
    wcett_s: f64,
    mic: f64,
}

/// Looks for routes over radios and judges them.
pub(crate) struct Judge<'a> {
    /// With the links that some channel can use.
    deployment: Deployment,
    radio: &'a Radio,
    link_etx: f64,
    link_ett: f64,
}

impl<'a> Judge<'a> {
    /// Over the deployment's nodes, which get radios if they need some and have none.
    pub(crate) fn new(
        deployment: &Deployment,
        ties: TieRule,
        seed: u64,
        radio: &'a Radio,
    ) -> Result<Self, RoutingError> {
        radio.validate()?;
        // Interference needs positions and a range.
        Zone::new(deployment, Interference { ratio: radio.interference })?;
        if radio.metric != Metric::Hops && ties != TieRule::LowestNode {
            let message = "with a metric, of equally good routes that with the fewest hops, then the lowest nodes is taken";
            return Err(RoutingError::setting("ties", message));
        }
        let mut usable = deployment.clone();
        if radio.assignment == Assignment::Radios {
            if usable.channels.is_empty() {
                let nodes = usable.graph.nodes();
                usable.channels = drawn_radios(nodes, radio.radios, radio.channels, seed, usable.draw);
            }
            let common = |&(a, b): &(u32, u32)| common(&usable, a, b).next().is_some();
            let links: Vec<_> = usable.graph.links().iter().copied().filter(common).collect();
            usable.graph = Graph::from_links(usable.graph.nodes(), &links);
        } else {
            usable.channels.clear();
        }
        let link_etx = etx(radio.delivery, radio.delivery);
        let link_ett = ett(link_etx, radio.frame_octets, radio.bit_rate);
        Ok(Self { deployment: usable, radio, link_etx, link_ett })
    }

    /// The channels on which each node has a radio; empty when the radios do not matter.
    pub(crate) fn node_channels(&self) -> &[Vec<u32>] {
        &self.deployment.channels
    }

    /// The routes of a method, with the channels of their hops.
    pub(crate) fn routes(
        &self,
        method: Method,
        ties: TieRule,
        seed: u64,
    ) -> Result<Vec<ChannelRoute>, RoutingError> {
        let graph = self.graph()?;
        let pattern = |route| self.radio.assignment.pattern(route, self.radio.channels);
        match (method, self.radio.metric) {
            (_, Metric::Hops) => {
                let routes = method.routes(&self.deployment, ties, seed)?;
                let assigned = routes.into_iter().enumerate().map(|(k, route)| match pattern(k) {
                    Some(pattern) => {
                        let channels = pattern.iter().copied().cycle().take(route.hops() as usize).collect();
                        Ok(ChannelRoute { route, channels })
                    }
                    None => self.best_channels(&graph, &route),
                });
                assigned.collect()
            }
            (Method::Greedy(disjoint), _) => {
                let ends = (self.deployment.source, self.deployment.destination);
                graph.routes(ends, disjoint, self.criterion(), pattern, usize::MAX)
            }
            (Method::Optimal(_), _) => {
                let message = format!("{} has the fewest hops: no metric chooses its routes", method.name());
                Err(RoutingError::setting("metric", message))
            }
        }
    }

    fn best_channels(&self, graph: &ChannelGraph<'_>, route: &Route) -> Result<ChannelRoute, RoutingError> {
        let assigned = graph.assign(route, self.criterion())?;
        assigned.ok_or_else(|| RoutingError::setting("radios", "a link of a route has no common channel"))
    }

    /// What channels are chosen by, and routes unless they are chosen by hops.
    fn criterion(&self) -> Criterion {
        match self.radio.metric {
            Metric::Mic => Criterion::Mic(self.mic_setting()),
            Metric::Hops | Metric::Wcett => Criterion::Wcett { beta: self.radio.beta },
        }
    }

    fn mic_setting(&self) -> MicSetting {
        MicSetting {
            nodes: self.deployment.graph.nodes() as u32,
            least_ett: self.link_ett,
            switches: self.radio.switch_cost,
            stays: self.radio.stay_cost,
        }
    }

    fn graph(&self) -> Result<ChannelGraph<'_>, RoutingError> {
        let zone = Zone::new(&self.deployment, Interference { ratio: self.radio.interference })?;
        let of_nodes = self.deployment.channels.iter().flatten().copied();
        let has_radios = !self.deployment.channels.is_empty();
        let channels: Vec<u32> =
            if has_radios { of_nodes.collect() } else { (0..self.radio.channels).collect() };
        let weigh = |a, b, channel| {
            let is_usable = !has_radios || common(&self.deployment, a, b).any(|one| one == channel);
            is_usable.then(|| (self.link_ett, zone.interfered(a, b, channel)))
        };
        Ok(ChannelGraph::new(&self.deployment.graph, channels, weigh))
    }

    /// The metrics and the conflict graph of a set of routes.
    pub(crate) fn judge(&self, routes: &[ChannelRoute]) -> Result<Judged, RoutingError> {
        let interference = Interference { ratio: self.radio.interference };
        let conflicts = ConflictGraph::new(&self.deployment, routes, interference)?;
        let graph = self.graph()?;
        let judge = |route: &ChannelRoute| {
            let hops = graph.hops(route).unwrap_or_default();
            JudgedRoute {
                channels: route.channels.clone(),
                etx: self.link_etx * hops.len() as f64,
                ett_s: hops.iter().map(|hop| hop.ett).sum(),
                wcett_s: wcett(&hops, self.radio.beta),
                mic: mic(&hops, self.mic_setting()),
            }
        };
        let named = |place: u32| {
            let link = conflicts.links[place as usize];
            [self.deployment.name(link.from), self.deployment.name(link.to)]
        };
        Ok(Judged {
            routes: routes.iter().map(judge).collect(),
            conflicts_within_routes: conflicts.within_routes(),
            conflicts_between_routes: conflicts.between_routes(),
            conflicts: conflicts.conflicts.iter().map(|&(a, b)| [named(a), named(b)]).collect(),
        })
    }
}

/// The channels on which both nodes have a radio.
fn common(deployment: &Deployment, a: u32, b: u32) -> impl Iterator<Item = u32> {
    let [own, other] = [a, b].map(|node| &deployment.channels[node as usize]);
    own.iter().copied().filter(|channel| other.contains(channel))
}

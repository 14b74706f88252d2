//! What routes are worth over radios, and which are best.

use crate::assignment::{Assignment, drawn_radios};
use crate::conflict::{ConflictGraph, Interference, Zone};
use crate::deployment::Deployment;
use crate::disjoint::Disjoint;
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::metrics::{MicSetting, ett, etx, mic, wcett};
use crate::multichannel::{ChannelGraph, ChannelRoute, Criterion, Metric};
use crate::optimal::optimal_routes_by;
use crate::radio::Radio;
use crate::record::Method;
use crate::route::Route;
use crate::shortest::TieRule;
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
        Ok(Self { deployment: usable, radio })
    }

    /// The transmissions over a link: what the deployment says, or by its length.
    fn etx(&self, a: u32, b: u32) -> f64 {
        let Deployment { qualities, positions, range, .. } = &self.deployment;
        let known = qualities.get(&(a.min(b), a.max(b)));
        known.and_then(|quality| quality.etx).unwrap_or_else(|| {
            let distance = positions[a as usize].distance_squared(positions[b as usize]).sqrt();
            let delivery = self.radio.delivery_at(range.map_or(1.0, |range| distance / range));
            etx(delivery, delivery)
        })
    }

    /// The expected transmission time over a link, in seconds.
    fn ett(&self, a: u32, b: u32) -> f64 {
        let known = self.deployment.qualities.get(&(a.min(b), a.max(b)));
        let rate = known.and_then(|quality| quality.bit_rate).unwrap_or(self.radio.bit_rate);
        ett(self.etx(a, b), self.radio.frame_octets, rate)
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
        let ends = (self.deployment.source, self.deployment.destination);
        match (method, self.radio.metric) {
            (_, Metric::Hops) => self.assigned(&graph, method.routes(&self.deployment, ties, seed)?),
            (Method::Greedy(disjoint), Metric::Ett) => {
                let alike =
                    ChannelGraph::new(&self.deployment.graph, [0], |a, b, _| Some((self.ett(a, b), 0)));
                let sum = Criterion::Wcett { beta: 0.0 };
                let found = alike.routes(ends, disjoint, sum, |_| None, usize::MAX)?;
                self.assigned(&graph, found.into_iter().map(|found| found.route).collect())
            }
            (Method::Optimal(disjoint @ (Disjoint::Link | Disjoint::Node)), Metric::Ett) => {
                let ett = |a, b| self.ett(a, b);
                let routes = optimal_routes_by(&self.deployment.graph, ends, disjoint, usize::MAX, ett);
                self.assigned(&graph, routes)
            }
            (Method::Greedy(disjoint), _) => {
                let pattern = |route| self.radio.assignment.pattern(route, self.radio.channels);
                graph.routes(ends, disjoint, self.criterion(&graph), pattern, usize::MAX)
            }
            (Method::Optimal(_), metric) => {
                let why = metric.no_optimum().unwrap_or("there is no optimal zone-disjoint set");
                let message = format!("{} with \"{}\": {why}", method.name(), metric.name());
                Err(RoutingError::setting("metric", message))
            }
        }
    }

    /// Routes found without their channels, with them.
    fn assigned(
        &self,
        graph: &ChannelGraph<'_>,
        routes: Vec<Route>,
    ) -> Result<Vec<ChannelRoute>, RoutingError> {
        let assign = |(k, route): (usize, Route)| {
            let Some(pattern) = self.radio.assignment.pattern(k, self.radio.channels) else {
                return self.best_channels(graph, &route);
            };
            let channels = pattern.iter().copied().cycle().take(route.hops() as usize).collect();
            Ok(ChannelRoute { route, channels })
        };
        routes.into_iter().enumerate().map(assign).collect()
    }

    fn best_channels(&self, graph: &ChannelGraph<'_>, route: &Route) -> Result<ChannelRoute, RoutingError> {
        let assigned = graph.assign(route, self.criterion(graph))?;
        assigned.ok_or_else(|| RoutingError::setting("radios", "a link of a route has no common channel"))
    }

    /// What channels are chosen by, and routes unless they are chosen by hops or ETT.
    fn criterion(&self, graph: &ChannelGraph<'_>) -> Criterion {
        match self.radio.metric {
            Metric::Mic => Criterion::Mic(self.mic_setting(graph)),
            Metric::Hops | Metric::Ett | Metric::Wcett => Criterion::Wcett { beta: self.radio.beta },
        }
    }

    fn mic_setting(&self, graph: &ChannelGraph<'_>) -> MicSetting {
        MicSetting {
            nodes: self.deployment.graph.nodes() as u32,
            // Without a link there is no route to judge.
            least_ett: graph.least_ett().unwrap_or(1.0),
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
            is_usable.then(|| (self.ett(a, b), zone.interfered(a, b, channel)))
        };
        Ok(ChannelGraph::new(&self.deployment.graph, channels, weigh))
    }

    /// The metrics and the conflict graph of a set of routes.
    pub(crate) fn judge(&self, routes: &[ChannelRoute]) -> Result<Judged, RoutingError> {
        let interference = Interference { ratio: self.radio.interference };
        let conflicts = ConflictGraph::new(&self.deployment, routes, interference)?;
        let graph = self.graph()?;
        let mic_setting = self.mic_setting(&graph);
        let judge = |route: &ChannelRoute| {
            let hops = graph.hops(route).unwrap_or_default();
            JudgedRoute {
                channels: route.channels.clone(),
                etx: route.route.links().map(|(a, b)| self.etx(a, b)).sum(),
                ett_s: hops.iter().map(|hop| hop.ett).sum(),
                wcett_s: wcett(&hops, self.radio.beta),
                mic: mic(&hops, mic_setting),
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

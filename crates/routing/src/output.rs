//! A deployment with its routes, written.

use crate::conflict::{ConflictGraph, Interference, Zone};
use crate::deployment::Deployment;
use crate::error::RoutingError;
use crate::greedy::Disjoint;
use crate::metrics::{Hop, MicSetting, ett, etx, mic, wcett};
use crate::record::Method;
use crate::shortest::{Route, TieRule};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The radios over which routes are judged. Every route gets a channel of its own, in turn.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Radio {
    /// Number of orthogonal channels.
    pub channels: u32,
    /// Interference range over transmission range.
    #[serde(rename = "interference_ratio")]
    pub interference: f64,
    /// Bits per second.
    pub bit_rate: f64,
    /// Octets of the frame that ETT is about.
    pub frame_octets: u32,
    /// Probability that a frame arrives over one link, in each direction.
    pub delivery: f64,
    /// β of WCETT, from 0 to 1.
    pub beta: f64,
    /// w1 of MIC: the cost of changing the channel at a node.
    pub switch_cost: f64,
    /// w2 of MIC: the cost of keeping it.
    pub stay_cost: f64,
}

impl Default for Radio {
    /// One channel, interference twice as far as reception, 11 Mbit/s, frames of 1500 octets, no losses, β = 0.5,
    /// w1 = 0.5, w2 = 1.
    fn default() -> Self {
        Self {
            channels: 1,
            interference: 2.0,
            bit_rate: 11e6,
            frame_octets: 1500,
            delivery: 1.0,
            beta: 0.5,
            switch_cost: 0.5,
            stay_cost: 1.0,
        }
    }
}

impl Radio {
    fn validate(&self) -> Result<(), RoutingError> {
        let ok = [
            ("channels", self.channels >= 1, "must be at least 1"),
            ("bit-rate", self.bit_rate > 0.0 && self.bit_rate.is_finite(), "must be positive"),
            ("frame", self.frame_octets >= 1, "must be at least 1 octet"),
            ("delivery", self.delivery > 0.0 && self.delivery <= 1.0, "must be above 0 and at most 1"),
            ("beta", (0.0..=1.0).contains(&self.beta), "must be from 0 to 1"),
            (
                "switch-cost",
                self.switch_cost >= 0.0 && self.stay_cost > self.switch_cost && self.stay_cost.is_finite(),
                "must be at least 0 and below the cost of staying",
            ),
        ];
        match ok.iter().find(|(_, holds, _)| !holds) {
            Some((key, _, message)) => Err(RoutingError::setting(key, *message)),
            None => Ok(()),
        }
    }

    fn channel_list(&self) -> Vec<u32> {
        (0..self.channels).collect()
    }
}

/// A deployment with all its routes.
#[derive(Clone, Debug)]
pub struct Report {
    deployment: Deployment,
    ties: TieRule,
    sets: Vec<(Method, Vec<Route>)>,
    radio: Option<(Radio, Vec<Judged>)>,
}

/// A set of routes, judged over radios.
#[derive(Clone, Debug, Serialize)]
struct Judged {
    routes: Vec<JudgedRoute>,
    conflicts_within_routes: usize,
    conflicts_between_routes: usize,
    /// Pairs of links.
    conflicts: Vec<[[String; 2]; 2]>,
}

/// A route, judged over radios.
#[derive(Clone, Debug, Serialize)]
struct JudgedRoute {
    channel: u32,
    etx: f64,
    ett_s: f64,
    wcett_s: f64,
    mic: f64,
}

impl Report {
    /// Finds the routes of a deployment, and what they are worth over radios.
    ///
    /// # Errors
    /// As [`Deployment::greedy`], [`ConflictGraph::new`], and [`RoutingError::Setting`] for a value of the radio's.
    pub fn new(
        deployment: Deployment,
        methods: &[Method],
        ties: TieRule,
        seed: u64,
        radio: Option<Radio>,
    ) -> Result<Self, RoutingError> {
        let find = |&method: &Method| {
            let routes = match method {
                Method::Greedy(disjoint) => deployment.greedy(disjoint, ties, seed)?,
                Method::Optimal(Disjoint::Zone) => {
                    return Err(RoutingError::setting("algorithm", "there is no optimal zone-disjoint one"));
                }
                Method::Optimal(disjoint) => deployment.optimal(disjoint, usize::MAX),
            };
            Ok((method, routes))
        };
        let sets = methods.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let judge = |radio: Radio| {
            radio.validate()?;
            let judged = sets.iter().map(|(_, routes)| judge(&deployment, routes, radio));
            Ok((radio, judged.collect::<Result<Vec<_>, RoutingError>>()?))
        };
        let radio = radio.map(judge).transpose()?;
        Ok(Self { deployment, ties, sets, radio })
    }

    /// The sets of routes, in the order in which they were asked for.
    pub fn sets(&self) -> &[(Method, Vec<Route>)] {
        &self.sets
    }

    /// The deployment.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// As one JSON object: `nodes`, `links`, `range_m`, `source`, `destination`, `draw`, `ties`, `routes` by algorithm,
    /// each a list of nodes by name, and `radio`. [`crate::read`] reads it back.
    ///
    /// # Panics
    /// Never: everything in it can be written.
    pub fn json(&self) -> String {
        let deployment = &self.deployment;
        let names = |nodes: &[u32]| nodes.iter().map(|&node| deployment.name(node)).collect::<Vec<_>>();
        let written = Written {
            nodes: (0..deployment.graph.nodes() as u32)
                .map(|node| {
                    let position = deployment.positions.get(node as usize);
                    WrittenNode {
                        name: deployment.name(node),
                        x_m: position.map(|at| at.x),
                        y_m: position.map(|at| at.y),
                    }
                })
                .collect(),
            links: deployment.graph.links().iter().map(|&(a, b)| names(&[a, b])).collect(),
            range_m: deployment.range,
            source: deployment.name(deployment.source),
            destination: deployment.name(deployment.destination),
            draw: deployment.draw,
            ties: self.ties.name(),
            routes: self
                .sets
                .iter()
                .map(|(method, routes)| {
                    (method.name(), routes.iter().map(|route| names(&route.nodes)).collect())
                })
                .collect(),
            radio: self.radio.as_ref().map(|(radio, judged)| WrittenRadio {
                radio,
                sets: self.sets.iter().map(|(method, _)| method.name()).zip(judged).collect(),
            }),
        };
        serde_json::to_string(&written).expect("names and numbers can be written")
    }

    /// As GraphML: nodes with `x_m` and `y_m`, edges with the `routes` over them, and `source`, `destination` and
    /// `range_m` of the graph. [`crate::read`] and NetworkX read it back.
    pub fn graphml(&self) -> String {
        let deployment = &self.deployment;
        let mut text = String::from(HEAD);
        let mut line = |line: std::fmt::Arguments<'_>| {
            text.write_fmt(line).and_then(|()| text.write_char('\n')).expect("a String takes everything");
        };
        line(format_args!(
            "    <data key=\"source\">{}</data>",
            escaped(&deployment.name(deployment.source))
        ));
        let destination = escaped(&deployment.name(deployment.destination));
        line(format_args!("    <data key=\"destination\">{destination}</data>"));
        if let Some(range) = deployment.range {
            line(format_args!("    <data key=\"range_m\">{range}</data>"));
        }
        for node in 0..deployment.graph.nodes() as u32 {
            let name = escaped(&deployment.name(node));
            match deployment.positions.get(node as usize) {
                Some(at) => line(format_args!(
                    "    <node id=\"{name}\"><data key=\"x_m\">{}</data><data key=\"y_m\">{}</data></node>",
                    at.x, at.y
                )),
                None => line(format_args!("    <node id=\"{name}\"/>")),
            }
        }
        for &(a, b) in deployment.graph.links() {
            let ends = [a, b].map(|node| escaped(&deployment.name(node)));
            line(format_args!(
                "    <edge source=\"{}\" target=\"{}\"><data key=\"routes\">{}</data></edge>",
                ends[0],
                ends[1],
                self.routes_over(a, b)
            ));
        }
        text.push_str("  </graph>\n</graphml>\n");
        text
    }

    /// The routes over a link, as `link:0 node:0`.
    fn routes_over(&self, a: u32, b: u32) -> String {
        let mut over = Vec::new();
        for (method, routes) in &self.sets {
            for (index, route) in routes.iter().enumerate() {
                if route.links().any(|link| link == (a, b) || link == (b, a)) {
                    over.push(format!("{}:{index}", method.name()));
                }
            }
        }
        over.join(" ")
    }
}

/// The GraphML up to the graph's own data.
const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="source" for="graph" attr.name="source" attr.type="string"/>
  <key id="destination" for="graph" attr.name="destination" attr.type="string"/>
  <key id="range_m" for="graph" attr.name="range_m" attr.type="double"/>
  <key id="x_m" for="node" attr.name="x_m" attr.type="double"/>
  <key id="y_m" for="node" attr.name="y_m" attr.type="double"/>
  <key id="routes" for="edge" attr.name="routes" attr.type="string"/>
  <graph edgedefault="undirected">
"#;

/// With the characters that XML keeps for itself written as entities.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[derive(Serialize)]
struct Written<'a> {
    nodes: Vec<WrittenNode>,
    links: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_m: Option<f64>,
    source: String,
    destination: String,
    draw: u64,
    ties: &'static str,
    routes: BTreeMap<&'static str, Vec<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radio: Option<WrittenRadio<'a>>,
}

#[derive(Serialize)]
struct WrittenNode {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    x_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_m: Option<f64>,
}

#[derive(Serialize)]
struct WrittenRadio<'a> {
    #[serde(flatten)]
    radio: &'a Radio,
    sets: BTreeMap<&'static str, &'a Judged>,
}

/// The metrics and the conflict graph of a set of routes.
fn judge(deployment: &Deployment, routes: &[Route], radio: Radio) -> Result<Judged, RoutingError> {
    let interference = Interference { ratio: radio.interference };
    let channels = radio.channel_list();
    let graph = ConflictGraph::new(deployment, routes, &channels, interference)?;
    let zone = Zone::new(deployment, interference)?;
    let link_etx = etx(radio.delivery, radio.delivery);
    let link_ett = ett(link_etx, radio.frame_octets, radio.bit_rate);
    let setting = MicSetting {
        nodes: deployment.graph.nodes() as u32,
        least_ett: link_ett,
        switches: radio.switch_cost,
        stays: radio.stay_cost,
    };
    let judge_route = |(index, route): (usize, &Route)| {
        let channel = channels[index % channels.len()];
        let hop = |(from, to)| Hop { channel, ett: link_ett, interfered: zone.interfered(from, to) };
        let hops: Vec<_> = route.links().map(hop).collect();
        JudgedRoute {
            channel,
            etx: link_etx * hops.len() as f64,
            ett_s: link_ett * hops.len() as f64,
            wcett_s: wcett(&hops, radio.beta),
            mic: mic(&hops, setting),
        }
    };
    let named = |place: u32| {
        let link = graph.links[place as usize];
        [deployment.name(link.from), deployment.name(link.to)]
    };
    Ok(Judged {
        routes: routes.iter().enumerate().map(judge_route).collect(),
        conflicts_within_routes: graph.within_routes(),
        conflicts_between_routes: graph.between_routes(),
        conflicts: graph.conflicts.iter().map(|&(a, b)| [named(a), named(b)]).collect(),
    })
}

#[cfg(test)]
mod tests;

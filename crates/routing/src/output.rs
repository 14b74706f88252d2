//! A deployment with its routes, written.

use crate::deployment::Deployment;
use crate::error::RoutingError;
use crate::judge::{Judge, Judged};
use crate::quality::LinkQuality;
use crate::radio::Radio;
use crate::record::Method;
use crate::route::Route;
use crate::shortest::TieRule;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A deployment with all its routes.
#[derive(Clone, Debug)]
pub struct Report {
    deployment: Deployment,
    ties: TieRule,
    sets: Vec<(Method, Vec<Route>)>,
    radio: Option<Judgement>,
}

/// What came of a deployment's routes over radios.
#[derive(Clone, Debug)]
struct Judgement {
    radio: Radio,
    /// By set.
    judged: Vec<Judged>,
    /// The channels on which each node has a radio; empty when they do not matter.
    node_channels: Vec<Vec<u32>>,
}

impl Report {
    /// Finds the routes of a deployment, and what they are worth over radios. With [`Assignment::Radios`] no route goes
    /// over a link whose ends have no channel in common.
    ///
    /// # Errors
    /// As [`Method::routes`], [`ConflictGraph::new`] and [`ChannelGraph::routes`], and [`RoutingError::Setting`] for a value
    /// of the radio's, or for `ties` and `metric` that do not go together.
    ///
    /// [`Assignment::Radios`]: crate::Assignment::Radios
    /// [`ConflictGraph::new`]: crate::ConflictGraph::new
    /// [`ChannelGraph::routes`]: crate::ChannelGraph::routes
    pub fn new(
        deployment: Deployment,
        methods: &[Method],
        ties: TieRule,
        seed: u64,
        radio: Option<Radio>,
    ) -> Result<Self, RoutingError> {
        let Some(radio) = radio else {
            let find = |&method: &Method| Ok((method, method.routes(&deployment, ties, seed)?));
            let sets = methods.iter().map(find).collect::<Result<_, RoutingError>>()?;
            return Ok(Self { deployment, ties, sets, radio: None });
        };
        let judge = Judge::new(&deployment, ties, seed, &radio)?;
        let (mut sets, mut judged) = (Vec::new(), Vec::new());
        for &method in methods {
            let routes = judge.routes(method, ties, seed)?;
            judged.push(judge.judge(&routes)?);
            sets.push((method, routes.into_iter().map(|route| route.route).collect()));
        }
        let node_channels = judge.node_channels().to_vec();
        Ok(Self { deployment, ties, sets, radio: Some(Judgement { radio, judged, node_channels }) })
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
            nodes: (0..deployment.graph.nodes() as u32).map(|node| self.written(node)).collect(),
            links: deployment.graph.links().iter().map(|&(a, b)| self.written_link(a, b)).collect(),
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
            radio: self.radio.as_ref().map(|Judgement { radio, judged, .. }| WrittenRadio {
                radio,
                sets: self.sets.iter().map(|(method, _)| method.name()).zip(judged).collect(),
            }),
        };
        serde_json::to_string(&written).expect("names and numbers can be written")
    }

    fn written(&self, node: u32) -> WrittenNode<'_> {
        let position = self.deployment.positions.get(node as usize);
        WrittenNode {
            name: self.deployment.name(node),
            x_m: position.map(|at| at.x),
            y_m: position.map(|at| at.y),
            channels: self.node_channels().get(node as usize),
        }
    }

    fn written_link(&self, a: u32, b: u32) -> WrittenLink {
        let [source, target] = [a, b].map(|node| self.deployment.name(node));
        match self.deployment.qualities.get(&(a, b)) {
            None => WrittenLink::Ends([source, target]),
            Some(&LinkQuality { etx, bit_rate }) => {
                WrittenLink::Known { source, target, etx, rate_mbps: bit_rate.map(|rate| rate / 1e6) }
            }
        }
    }

    /// The channels on which each node has a radio; empty when not known.
    fn node_channels(&self) -> &[Vec<u32>] {
        let judged = self.radio.as_ref().map_or(&[][..], |judgement| &judgement.node_channels);
        if judged.is_empty() { &self.deployment.channels } else { judged }
    }

    /// As GraphML. Nodes have `x_m`, `y_m` and the `channels` of their radios. Edges have the `routes` over them, and
    /// `etx` and `rate_mbps` if known. The graph has `source`, `destination` and `range_m`. [`crate::read`] and
    /// NetworkX read it back.
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
            let position = deployment.positions.get(node as usize).map_or_else(String::new, |at| {
                format!("<data key=\"x_m\">{}</data><data key=\"y_m\">{}</data>", at.x, at.y)
            });
            let channels = self.node_channels().get(node as usize).map_or_else(String::new, |channels| {
                let channels: Vec<_> = channels.iter().map(u32::to_string).collect();
                format!("<data key=\"channels\">{}</data>", channels.join(" "))
            });
            line(format_args!("    <node id=\"{name}\">{position}{channels}</node>"));
        }
        for &(a, b) in deployment.graph.links() {
            let ends = [a, b].map(|node| escaped(&deployment.name(node)));
            line(format_args!(
                "    <edge source=\"{}\" target=\"{}\"><data key=\"routes\">{}</data>{}</edge>",
                ends[0],
                ends[1],
                self.routes_over(a, b),
                self.quality_data(a, b)
            ));
        }
        text.push_str("  </graph>\n</graphml>\n");
        text
    }

    /// What is known of a link, as data of GraphML.
    fn quality_data(&self, a: u32, b: u32) -> String {
        let quality = self.deployment.qualities.get(&(a, b)).copied().unwrap_or_default();
        let data = |key: &str, value: Option<f64>| {
            value.map_or_else(String::new, |value| format!("<data key=\"{key}\">{value}</data>"))
        };
        data("etx", quality.etx) + &data("rate_mbps", quality.bit_rate.map(|rate| rate / 1e6))
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
  <key id="channels" for="node" attr.name="channels" attr.type="string"/>
  <key id="routes" for="edge" attr.name="routes" attr.type="string"/>
  <key id="etx" for="edge" attr.name="etx" attr.type="double"/>
  <key id="rate_mbps" for="edge" attr.name="rate_mbps" attr.type="double"/>
  <graph edgedefault="undirected">
"#;

/// With the characters that XML keeps for itself written as entities.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[derive(Serialize)]
struct Written<'a> {
    nodes: Vec<WrittenNode<'a>>,
    links: Vec<WrittenLink>,
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

/// A pair of names, unless something is known of the link.
#[derive(Serialize)]
#[serde(untagged)]
enum WrittenLink {
    Ends([String; 2]),
    Known {
        source: String,
        target: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        etx: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rate_mbps: Option<f64>,
    },
}

#[derive(Serialize)]
struct WrittenNode<'a> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    x_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channels: Option<&'a Vec<u32>>,
}

#[derive(Serialize)]
struct WrittenRadio<'a> {
    #[serde(flatten)]
    radio: &'a Radio,
    sets: BTreeMap<&'static str, &'a Judged>,
}

#[cfg(test)]
mod tests;

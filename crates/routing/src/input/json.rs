//! Deployments from JSON: what [`crate::Report::json`] writes, and what `networkx.node_link_data` does.

use super::{Numbers, Topology, checked_range, not_empty};
use crate::error::RoutingError;
use crate::position::Position;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

#[derive(Deserialize)]
struct File {
    nodes: Vec<Node>,
    #[serde(alias = "edges")]
    links: Option<Vec<Link>>,
    #[serde(default, alias = "range")]
    range_m: Option<f64>,
    source: Option<Name>,
    destination: Option<Name>,
    #[serde(default)]
    directed: bool,
    /// Where `networkx.node_link_data` puts the graph's own data.
    #[serde(default)]
    graph: Own,
}

#[derive(Deserialize, Default)]
struct Own {
    range_m: Option<f64>,
    source: Option<Name>,
    destination: Option<Name>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(alias = "id")]
    name: Option<Name>,
    #[serde(alias = "x")]
    x_m: Option<Metres>,
    #[serde(alias = "y")]
    y_m: Option<Metres>,
}

/// A name, which may be written as a number.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node's name or number")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                Ok(Name(name.to_owned()))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Name, E> {
                Ok(Name(number.to_string()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A coordinate. JSON has no NaN; what writers put in its place is refused with the reason.
struct Metres(f64);

impl<'de> Deserialize<'de> for Metres {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Metres;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of metres")
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Metres, E> {
                Ok(Metres(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Metres, E> {
                Ok(Metres(number as f64))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Metres, E> {
                Ok(Metres(number as f64))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// A link: `["a", "b"]` or `{"source": "a", "target": "b"}`.
struct Link(String, String);

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Ends {
            source: Name,
            target: Name,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Link;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a link: [\"a\", \"b\"] or {\"source\": \"a\", \"target\": \"b\"}")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Link, A::Error> {
                let ends = (seq.next_element::<Name>()?, seq.next_element::<Name>()?);
                match (ends, seq.next_element::<serde::de::IgnoredAny>()?) {
                    ((Some(from), Some(to)), None) => Ok(Link(from.0, to.0)),
                    _ => Err(A::Error::custom("a link has two ends")),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Link, A::Error> {
                let ends = Ends::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Link(ends.source.0, ends.target.0))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

pub(super) fn read(text: &str, file: &str) -> Result<Topology, RoutingError> {
    let parsed: File = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        // The line is said in front already.
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
        RoutingError::file(file, Some(error.line()).filter(|&line| line > 0), reason)
    })?;
    let topology = topology(parsed).map_err(|reason| RoutingError::file(file, None, reason))?;
    not_empty(topology, file)
}

fn topology(file: File) -> Result<Topology, String> {
    if file.directed {
        return Err("the links must be undirected".to_owned());
    }
    let called = |(place, node): (usize, &Node)| {
        node.name.as_ref().map_or_else(|| place.to_string(), |name| name.0.clone())
    };
    let names: Vec<_> = file.nodes.iter().enumerate().map(called).collect();
    let numbers = Numbers::new(&names).map_err(|place| format!("a second node \"{}\"", names[place]))?;
    let links = file.links.map(|links| links.iter().map(|link| numbers.link(&link.0, &link.1)).collect());
    let links = links.transpose()?;
    let positions = positions(&file.nodes, &names)?;
    let range = file.range_m.or(file.graph.range_m).map(checked_range).transpose()?;
    let nodes = names.len();
    let numbered = names.iter().enumerate().all(|(place, name)| *name == place.to_string());
    Ok(Topology {
        names: if numbered && !positions.is_empty() { Vec::new() } else { names },
        positions,
        nodes,
        links,
        range,
        source: file.source.or(file.graph.source).map(|name| name.0),
        destination: file.destination.or(file.graph.destination).map(|name| name.0),
    })
}

/// Either all nodes have a position, or none.
fn positions(nodes: &[Node], names: &[String]) -> Result<Vec<Position>, String> {
    if nodes.iter().all(|node| node.x_m.is_none() && node.y_m.is_none()) {
        return Ok(Vec::new());
    }
    let position = |(node, name): (&Node, &String)| match (&node.x_m, &node.y_m) {
        (Some(x), Some(y)) => Ok(Position::new(x.0, y.0)),
        (None, _) => Err(format!("node \"{name}\" has no x_m")),
        (_, None) => Err(format!("node \"{name}\" has no y_m")),
    };
    nodes.iter().zip(names).map(position).collect()
}

//! Deployments from JSON: what [`crate::Report::json`] writes, and what `networkx.node_link_data` does.

use super::Topology;
use super::checks::{Numbers, called, checked_channels, checked_range, not_empty};
use crate::error::RoutingError;
use crate::position::Position;
use crate::quality::{Links, SaidOfLink};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

#[derive(Deserialize)]
struct File {
    nodes: Vec<Node>,
    #[serde(alias = "edges")]
    links: Option<Vec<Link>>,
    #[serde(default, alias = "range")]
    range_m: Option<Metres>,
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
    range_m: Option<Metres>,
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
    channels: Option<Vec<u32>>,
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

/// Numbers that JSON does not have, as writers put them all the same: they are refused where it can be said whose they
/// are.
const NO_NUMBERS: [(&str, f64); 3] =
    [("NaN", f64::NAN), ("-Infinity", f64::NEG_INFINITY), ("Infinity", f64::INFINITY)];

/// The text with each of [`NO_NUMBERS`] that stands outside of a string put into quotes, and where the first stands.
fn quoted(text: &str) -> (Cow<'_, str>, Option<usize>) {
    let (mut quoted, mut first) = (String::new(), None);
    let (mut is_string, mut is_escaped, mut copied, mut at) = (false, false, 0, 0);
    while let Some(letter) = text[at..].chars().next() {
        let word = NO_NUMBERS.iter().find(|(word, _)| !is_string && text[at..].starts_with(word));
        if let Some((word, _)) = word {
            first.get_or_insert(at);
            quoted.extend([&text[copied..at], "\"", word, "\""]);
            at += word.len();
            copied = at;
            continue;
        }
        is_string ^= letter == '"' && !is_escaped;
        is_escaped = is_string && letter == '\\' && !is_escaped;
        at += letter.len_utf8();
    }
    match first {
        None => (Cow::Borrowed(text), None),
        Some(_) => (Cow::Owned(quoted + &text[copied..]), first),
    }
}

/// A number of metres, which may be none: see [`NO_NUMBERS`].
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
            fn visit_str<E: Error>(self, text: &str) -> Result<Metres, E> {
                let known = NO_NUMBERS.iter().find(|(word, _)| *word == text);
                let number = known.map(|&(_, number)| Metres(number));
                number.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
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

/// A link: `["a", "b"]` or `{"source": "a", "target": "b"}`, and what is said of it.
struct Link(String, String, SaidOfLink);

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Ends {
            source: Name,
            target: Name,
            etx: Option<f64>,
            loss: Option<f64>,
            rate_mbps: Option<f64>,
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
                    ((Some(from), Some(to)), None) => Ok(Link(from.0, to.0, SaidOfLink::default())),
                    _ => Err(A::Error::custom("a link has two ends")),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Link, A::Error> {
                let ends = Ends::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let Ends { source, target, etx, loss, rate_mbps } = ends;
                Ok(Link(source.0, target.0, SaidOfLink { etx, loss, rate_mbps }))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

pub(super) fn read(text: &str, file: &str) -> Result<Topology, RoutingError> {
    let (text, first) = quoted(text);
    let parsed: File = serde_json::from_str(&text).map_err(|error| {
        let reason = error.to_string();
        // The line is said in front already.
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
        RoutingError::file(file, Some(error.line()).filter(|&line| line > 0), reason)
    })?;
    // Quotes add no line.
    let line = first.map(|first| text[..first].matches('\n').count() + 1);
    let topology = topology(parsed).map_err(|reason| RoutingError::file(file, line, reason))?;
    not_empty(topology, file)
}

fn topology(file: File) -> Result<Topology, String> {
    if file.directed {
        return Err("the links must be undirected".to_owned());
    }
    let name = |(place, node): (usize, &Node)| {
        node.name.as_ref().map_or_else(|| place.to_string(), |name| name.0.clone())
    };
    let names: Vec<_> = file.nodes.iter().enumerate().map(name).collect();
    let numbers = Numbers::new(&names).map_err(|place| format!("a second node \"{}\"", names[place]))?;
    let links = file.links.map(|links| self::links(&links, &numbers)).transpose()?;
    let (links, qualities) = links.map(|links| (links.ends, links.qualities)).unzip();
    let positions = positions(&file.nodes, &names)?;
    let channels = channels(&file.nodes, &names)?;
    let range = file.range_m.or(file.graph.range_m).map(|range| checked_range(range.0)).transpose()?;
    let nodes = names.len();
    let numbered = names.iter().enumerate().all(|(place, name)| *name == place.to_string());
    Ok(Topology {
        names: if numbered && !positions.is_empty() { Vec::new() } else { names },
        positions,
        channels,
        nodes,
        links,
        qualities: qualities.unwrap_or_default(),
        range,
        source: file.source.or(file.graph.source).map(|name| name.0),
        destination: file.destination.or(file.graph.destination).map(|name| name.0),
    })
}

fn links(given: &[Link], numbers: &Numbers<'_>) -> Result<Links, String> {
    let mut links = Links::default();
    for Link(from, to, said) in given {
        let pushed = links.push(numbers.link(from, to)?, *said);
        pushed.map_err(|reason| format!("the link from \"{from}\" to \"{to}\": {reason}"))?;
    }
    Ok(links)
}

/// Either all nodes have a position, or none.
fn positions(nodes: &[Node], names: &[String]) -> Result<Vec<Position>, String> {
    if nodes.iter().all(|node| node.x_m.is_none() && node.y_m.is_none()) {
        return Ok(Vec::new());
    }
    let metres = |place, column, given: &Option<Metres>| match given {
        Some(Metres(number)) if number.is_finite() => Ok(*number),
        Some(Metres(number)) => {
            Err(format!("{}: {column} must be finite, not {number}", called(names, place)))
        }
        None => Err(format!("{} has no {column}", called(names, place))),
    };
    let position = |(place, node): (usize, &Node)| {
        Ok(Position::new(metres(place, "x_m", &node.x_m)?, metres(place, "y_m", &node.y_m)?))
    };
    nodes.iter().enumerate().map(position).collect()
}

/// Either all nodes have channels, or none.
fn channels(nodes: &[Node], names: &[String]) -> Result<Vec<Vec<u32>>, String> {
    if nodes.iter().all(|node| node.channels.is_none()) {
        return Ok(Vec::new());
    }
    let of = |(place, node): (usize, &Node)| {
        let given =
            node.channels.clone().ok_or_else(|| format!("{} has no channels", called(names, place)))?;
        checked_channels(given).map_err(|reason| format!("{}: {reason}", called(names, place)))
    };
    nodes.iter().enumerate().map(of).collect()
}

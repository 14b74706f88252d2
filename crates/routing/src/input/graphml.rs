//! Deployments from GraphML, as [`crate::Report::graphml`] and NetworkX write it.

use super::Topology;
use super::checks::{Numbers, channels, checked_range, coordinate, not_empty};
use crate::error::RoutingError;
use crate::position::Position;
use crate::quality::{Links, SaidOfLink};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// What went wrong, and in which line.
type Mistake = (Option<usize>, String);

pub(super) fn read(text: &str, file: &str) -> Result<Topology, RoutingError> {
    let document = Document::parse(text).map_err(|error| {
        RoutingError::file(file, Some(error.pos().row as usize), format!("no XML: {error}"))
    })?;
    let topology = Reader { document: &document }.topology();
    let topology = topology.map_err(|(line, reason)| RoutingError::file(file, line, reason))?;
    not_empty(topology, file)
}

struct Reader<'a> {
    document: &'a Document<'a>,
}

impl<'a> Reader<'a> {
    fn line(&self, node: Node<'_, '_>) -> Option<usize> {
        Some(self.document.text_pos_at(node.range().start).row as usize)
    }

    fn topology(&self) -> Result<Topology, Mistake> {
        let keys = self.keys();
        let mut graphs = self.document.descendants().filter(|node| is(*node, "graph"));
        let graph = graphs.next().ok_or((None, "there is no graph in it".to_owned()))?;
        if graph.attribute("edgedefault") == Some("directed") {
            return Err((self.line(graph), "the links must be undirected".to_owned()));
        }
        let nodes: Vec<_> = graph.children().filter(|node| is(*node, "node")).collect();
        let names = nodes.iter().map(|&node| self.attribute(node, "id")).collect::<Result<Vec<_>, _>>()?;
        let numbers = Numbers::new(&names)
            .map_err(|place| (self.line(nodes[place]), format!("a second node \"{}\"", names[place])))?;
        let mut links = Links::default();
        for edge in graph.children().filter(|node| is(*node, "edge")) {
            self.link(edge, &keys, &numbers, &mut links)?;
        }
        let own = Self::data(graph, &keys);
        let range = own.get("range_m").map(|&(text, node)| {
            let number = coordinate("range_m", text).and_then(checked_range);
            number.map_err(|reason| (self.line(node), reason))
        });
        let said = |name| own.get(name).map(|&(text, _)| text.trim().to_owned());
        Ok(Topology {
            positions: self.positions(&nodes, &keys)?,
            channels: self.channels(&nodes, &keys)?,
            nodes: nodes.len(),
            // A file of positions alone has no links: then they are the disk graph's.
            links: (!links.ends.is_empty()).then_some(links.ends),
            qualities: links.qualities,
            range: range.transpose()?,
            source: said("source"),
            destination: said("destination"),
            names,
        })
    }

    /// The name behind each key's identifier.
    fn keys(&self) -> BTreeMap<&'a str, &'a str> {
        let keys = self.document.descendants().filter(|node| is(*node, "key"));
        keys.filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?))).collect()
    }

    /// The data of a node or a graph, by name.
    fn data(
        of: Node<'a, 'a>,
        keys: &BTreeMap<&'a str, &'a str>,
    ) -> BTreeMap<&'a str, (&'a str, Node<'a, 'a>)> {
        let data = of.children().filter(|node| is(*node, "data"));
        data.filter_map(|node| {
            let key = node.attribute("key")?;
            Some((*keys.get(key).unwrap_or(&key), (node.text().unwrap_or(""), node)))
        })
        .collect()
    }

    fn attribute(&self, node: Node<'_, '_>, name: &str) -> Result<String, Mistake> {
        let found = node.attribute(name).map(ToOwned::to_owned);
        found.ok_or_else(|| (self.line(node), format!("<{}> without \"{name}\"", node.tag_name().name())))
    }

    fn link(
        &self,
        edge: Node<'a, 'a>,
        keys: &BTreeMap<&'a str, &'a str>,
        numbers: &Numbers<'_>,
        links: &mut Links,
    ) -> Result<(), Mistake> {
        let (from, to) = (self.attribute(edge, "source")?, self.attribute(edge, "target")?);
        let data = Self::data(edge, keys);
        let number = |name: &str| {
            let number = |&(text, at): &(&str, Node<'_, '_>)| {
                let no_number = || (self.line(at), format!("{name} \"{text}\" is no number"));
                text.trim().parse::<f64>().map_err(|_| no_number())
            };
            data.get(name).map(number).transpose()
        };
        let said = SaidOfLink { etx: number("etx")?, loss: number("loss")?, rate_mbps: number("rate_mbps")? };
        let ends = numbers.link(&from, &to).map_err(|reason| (self.line(edge), reason))?;
        let told = |reason| (self.line(edge), format!("the link from \"{from}\" to \"{to}\": {reason}"));
        links.push(ends, said).map_err(told)
    }

    /// Either all nodes have channels, or none.
    fn channels(
        &self,
        nodes: &[Node<'a, 'a>],
        keys: &BTreeMap<&'a str, &'a str>,
    ) -> Result<Vec<Vec<u32>>, Mistake> {
        let data: Vec<_> = nodes.iter().map(|&node| Self::data(node, keys)).collect();
        if !data.iter().any(|data| data.contains_key("channels")) {
            return Ok(Vec::new());
        }
        let of = |(&node, data): (&Node<'_, '_>, &BTreeMap<_, (&str, Node<'_, '_>)>)| {
            let Some(&(text, at)) = data.get("channels") else {
                return Err((self.line(node), format!("{} has no channels", quoted(node))));
            };
            channels(text).map_err(|reason| (self.line(at), format!("{}: {reason}", quoted(node))))
        };
        nodes.iter().zip(&data).map(of).collect()
    }

    /// Either all nodes have a position, or none.
    fn positions(
        &self,
        nodes: &[Node<'a, 'a>],
        keys: &BTreeMap<&'a str, &'a str>,
    ) -> Result<Vec<Position>, Mistake> {
        let data: Vec<_> = nodes.iter().map(|&node| Self::data(node, keys)).collect();
        let has = |names: [&str; 2]| data.iter().any(|data| names.iter().any(|name| data.contains_key(name)));
        if !has(["x_m", "x"]) && !has(["y_m", "y"]) {
            return Ok(Vec::new());
        }
        let metres = |node: Node<'_, '_>, data: &BTreeMap<_, (&str, Node<'_, '_>)>, names: [&str; 2]| {
            let Some(&(text, at)) = names.iter().find_map(|name| data.get(name)) else {
                return Err((self.line(node), format!("{} has no {}", quoted(node), names[0])));
            };
            coordinate(names[0], text)
                .map_err(|reason| (self.line(at), format!("{}: {reason}", quoted(node))))
        };
        let position = |(&node, data)| {
            Ok(Position::new(metres(node, data, ["x_m", "x"])?, metres(node, data, ["y_m", "y"])?))
        };
        nodes.iter().zip(&data).map(position).collect()
    }
}

/// What a node is called in messages.
fn quoted(node: Node<'_, '_>) -> String {
    format!("node \"{}\"", node.attribute("id").unwrap_or_default())
}

/// Whether it is an element of this name, whatever its namespace.
fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

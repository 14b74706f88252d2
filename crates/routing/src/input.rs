//! Deployments from files: positions, and links if the file has them.

use crate::deployment::{Deployment, End, Nodes};
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::position::Position;
use crate::quality::LinkQualities;

mod checks;
mod csv;
mod graphml;
mod json;

/// What a file is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Columns `x_m` and `y_m` (or `x`, `y`), and perhaps `name` and `channels`; without a header line just x and y.
    Csv,
    /// An object with `nodes`, and perhaps `links`, `range_m`, `source` and `destination`. A node has `x_m`, `y_m`,
    /// `name` and `channels`, as far as they are known. A link is a pair of names, or an object with `source`,
    /// `target` and perhaps `etx` or `loss`, and `rate_mbps`.
    Json,
    /// Nodes with the data `x_m` and `y_m` (or `x`, `y`), and perhaps `channels`, and edges, perhaps with `etx` or `loss`,
    /// and `rate_mbps`.
    Graphml,
}

impl Format {
    /// The format that a file's name stands for.
    ///
    /// # Errors
    /// [`RoutingError::File`] for a name that ends otherwise than in `.csv`, `.json` or `.graphml`.
    pub fn of(file: &str) -> Result<Self, RoutingError> {
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "graphml" => Ok(Self::Graphml),
            _ => Err(RoutingError::file(file, None, "the name must end in .csv, .json or .graphml")),
        }
    }
}

/// What a file says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Topology {
    /// The nodes' names; empty when they are called by number.
    pub names: Vec<String>,
    /// Where the nodes are; empty when the file does not say.
    pub positions: Vec<Position>,
    /// The channels on which each node has a radio; empty when the file does not say.
    pub channels: Vec<Vec<u32>>,
    /// Number of nodes.
    pub nodes: usize,
    /// The links, if the file has them.
    pub links: Option<Vec<(u32, u32)>>,
    /// How good they are, as far as the file says.
    pub qualities: LinkQualities,
    /// The range in metres, if the file has it.
    pub range: Option<f64>,
    /// The source's name, if the file has it.
    pub source: Option<String>,
    /// The destination's name, if the file has it.
    pub destination: Option<String>,
}

/// Reads a file's text. `file` is its name in errors.
///
/// # Errors
/// [`RoutingError::File`], with the line where there is one.
pub fn read(text: &str, file: &str, format: Format) -> Result<Topology, RoutingError> {
    match format {
        Format::Csv => csv::read(text, file),
        Format::Json => json::read(text, file),
        Format::Graphml => graphml::read(text, file),
    }
}

impl Topology {
    /// A deployment of these nodes. The links are those of a given range, else the file's, else those of the file's
    /// range. A given end goes before the file's. What the file says of its links does not hold for others.
    ///
    /// # Errors
    /// [`RoutingError::Setting`]: `range` when there are neither links nor a range, or a range without positions;
    /// `source` and `destination` as for [`Deployment::new`], and when nobody names them.
    pub fn deployment(
        self,
        range: Option<f64>,
        source: Option<End>,
        destination: Option<End>,
    ) -> Result<Deployment, RoutingError> {
        let graph = self.graph(range)?;
        let qualities = if range.is_none() { self.qualities } else { LinkQualities::new() };
        let end = |key, given: Option<End>, own: Option<String>| {
            let end = given.or_else(|| own.map(End::Named));
            end.ok_or_else(|| RoutingError::setting(key, "the file names none: give a point or a name"))
        };
        let source = end("source", source, self.source)?;
        let destination = end("destination", destination, self.destination)?;
        let range = range.or(self.range);
        let nodes = Nodes { names: self.names, positions: self.positions, channels: self.channels, range };
        Ok(Deployment { qualities, ..Deployment::new(nodes, graph, &source, &destination)? })
    }

    fn graph(&self, range: Option<f64>) -> Result<Graph, RoutingError> {
        if let Some(range) = range.filter(|range| !(*range > 0.0 && range.is_finite())) {
            let message = format!("must be a positive number of metres, not {range}");
            return Err(RoutingError::setting("range", message));
        }
        match (range.or(self.range), &self.links) {
            (_, Some(links)) if range.is_none() => Ok(Graph::from_links(self.nodes, links)),
            (Some(_), _) if self.positions.is_empty() => {
                Err(RoutingError::setting("range", "the file has no positions"))
            }
            (Some(range), _) => Ok(Graph::disk(&self.positions, range)),
            (None, _) => {
                Err(RoutingError::setting("range", "the file has neither links nor a range: give one"))
            }
        }
    }
}

#[cfg(test)]
mod tests;

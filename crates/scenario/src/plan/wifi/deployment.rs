//! Stations that are drawn from the seed, or come from a file.

use super::error::WifiError;
use super::{EndPlan, drawn};
use crate::error::{Diagnostic, ScenarioError};
use crate::plan::NodePlan;
use crate::plan::context::Context;
use crate::schema::quantity::Rectangle;
use crate::schema::table::full;
use crate::schema::wifi::{DeploymentKeys, DeploymentTable, EndTable, GridKeys, LayoutTable, WifiTable};
use crate::watch::Watch;
use ropewalk_routing::{Deployment, End, Format, Layout, Position, RoutingError, Search, Topology, read};
use ropewalk_wifi::propagation::Propagation;
use ropewalk_wifi::{MacConfig, RateControl};

/// Draws after which a condition counts as hopeless, unless the file says otherwise: what takes about a second, a
/// million up to 64 stations.
pub(crate) fn default_draws(layout: &Layout) -> u64 {
    (layout.default_draws() / 100).max(1)
}

/// Stations that are drawn, or come from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct DeploymentPlan {
    /// How they are placed.
    pub layout: LayoutPlan,
    /// The keys, with what the defaults come to.
    pub(crate) keys: DeploymentKeys,
    /// Which stations are the source and the destination.
    pub ends: [End; 2],
    /// Stations nearer to each other hear each other, in metres.
    pub range: f64,
}

/// How stations are placed.
#[derive(Clone, PartialEq, Debug)]
pub enum LayoutPlan {
    /// By a law.
    Drawn(Layout),
    /// As a file says.
    Given(Topology),
}

impl DeploymentPlan {
    /// Could a station of it have this name? The number of stations may be random.
    pub(super) fn may_have(&self, name: &str) -> bool {
        let is_end = self.keys.source.node == name || self.keys.destination.node == name;
        is_end
            || match &self.layout {
                LayoutPlan::Given(topology) if !topology.names.is_empty() => {
                    topology.names.iter().any(|known| known == name)
                }
                LayoutPlan::Given(topology) => {
                    name.parse::<usize>().is_ok_and(|number| number < topology.nodes)
                }
                LayoutPlan::Drawn(Layout::Poisson { .. }) => name.parse::<u32>().is_ok(),
                LayoutPlan::Drawn(layout) => {
                    name.parse::<u32>().is_ok_and(|number| f64::from(number) < layout.mean_nodes())
                }
            }
    }

    /// Names and positions of all stations with a seed, and how many deployments were drawn.
    pub(super) fn place(
        &self,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<(Vec<(String, Position)>, u64), WifiError> {
        let [source, destination] = self.ends.clone();
        let (deployment, draws) = match &self.layout {
            LayoutPlan::Given(topology) => {
                let given = topology.clone().deployment(Some(self.range), Some(source), Some(destination));
                (given.map_err(|error| refused(&error))?, 0)
            }
            LayoutPlan::Drawn(layout) => {
                let search = Search {
                    layout: *layout,
                    range: self.range,
                    source,
                    destination,
                    condition: self.keys.until,
                    ties: self.keys.ties,
                    seed,
                };
                drawn::first(&search, self.keys.draws, watch).map_err(|error| refused(&error))?
            }
        };
        Ok((self.named(&deployment), draws))
    }

    fn named(&self, deployment: &Deployment) -> Vec<(String, Position)> {
        let name = |station: u32| match station {
            _ if station == deployment.source => self.keys.source.node.clone(),
            _ if station == deployment.destination => self.keys.destination.node.clone(),
            _ => deployment.name(station),
        };
        (0u32..).zip(&deployment.positions).map(|(station, &at)| (name(station), at)).collect()
    }
}

/// The key of the file that a setting of a search comes from.
fn refused(error: &RoutingError) -> WifiError {
    let (key, expected) = match error {
        RoutingError::Setting { key, .. } => match *key {
            "nodes" => ("wifi.deployment.layout.stations", "at least two stations"),
            "area" => ("wifi.deployment.layout.area", "a width and a height above zero"),
            "range" => ("wifi.propagation", "a range above zero"),
            "source" => ("wifi.deployment.source", "a station of the deployment"),
            "destination" => ("wifi.deployment.destination", "another station of the deployment"),
            "intensity" => ("wifi.deployment.layout.mean_stations", "a finite number above zero"),
            "jitter" => ("wifi.deployment.layout.jitter", "a number from 0 to 1"),
            _ => ("wifi.deployment.layout", "a layout of at least two stations"),
        },
        RoutingError::File { .. } => ("wifi.deployment.layout.file", "a file of positions"),
        RoutingError::Rare { .. } => {
            ("wifi.deployment", "more stations, a smaller area, a longer range, or more `draws`")
        }
        RoutingError::Interrupted { .. } => ("wifi.deployment", ""),
    };
    let message = match error {
        RoutingError::Setting { key: "range", message } => format!("the range of data frames {message}"),
        RoutingError::Setting { message, .. } => message.clone(),
        other => other.to_string(),
    };
    WifiError::new(key, message, expected)
}

pub(super) fn deployment(
    context: &Context<'_>,
    table: &WifiTable,
    nodes: &[NodePlan],
    propagation: &Propagation,
    mac: &MacConfig,
) -> Result<Option<DeploymentPlan>, ScenarioError> {
    let Some(given) = &table.deployment else { return Ok(None) };
    let layout = layout(context, given)?;
    let source = end(context, table, nodes, "source", &given.source)?;
    let destination = end(context, table, nodes, "destination", &given.destination)?;
    if given.source.node == given.destination.node {
        let message = format!("`{}` is the source too", given.source.node.as_str());
        return Err(context.wrong("wifi.deployment.destination.node", message, "another host or router"));
    }
    if matches!(layout, LayoutPlan::Given(_)) && given.until.is_some() {
        let message = "a deployment from a file is not drawn";
        return Err(context.misplaced("wifi.deployment.until", message, "no key `until` here"));
    }
    let rate = match mac.rate {
        RateControl::Fixed(rate) => rate,
        RateControl::Minstrel { .. } => mac.standard.lowest_rate(),
    };
    let draws = match &layout {
        LayoutPlan::Drawn(layout) => default_draws(layout),
        LayoutPlan::Given(_) => 0,
    };
    Ok(Some(DeploymentPlan {
        layout,
        keys: DeploymentKeys { layout: full_layout(&given.layout), ..given.read(draws) },
        ends: [source, destination],
        range: propagation.reception_range(rate),
    }))
}

/// A layout with its defaults written out.
fn full_layout(table: &LayoutTable) -> LayoutTable {
    match table {
        LayoutTable::Grid(grid) => LayoutTable::Grid(full::<GridKeys, _>(grid)),
        other => other.clone(),
    }
}

fn layout(context: &Context<'_>, table: &DeploymentTable) -> Result<LayoutPlan, ScenarioError> {
    let size = |Rectangle([width, height]): Rectangle| Position::new(width.0, height.0);
    Ok(LayoutPlan::Drawn(match &table.layout {
        LayoutTable::Uniform(table) => {
            Layout::Uniform { nodes: table.stations as usize, size: size(table.area) }
        }
        LayoutTable::Poisson(table) => {
            let size = size(table.area);
            Layout::Poisson { intensity: table.mean_stations / (size.x * size.y), size }
        }
        LayoutTable::Grid(table) => {
            let GridKeys { columns, rows, area, jitter } = table.read();
            let size = Position::new(area.width, area.height);
            Layout::Grid { columns: columns as usize, rows: rows as usize, size, jitter }
        }
        LayoutTable::File(table) => return given(context, &table.file).map(LayoutPlan::Given),
    }))
}

fn given(context: &Context<'_>, file: &str) -> Result<Topology, ScenarioError> {
    let key = "wifi.deployment.layout.file";
    let expected = "a file of positions: .csv, .json or .graphml";
    let format = Format::of(file).map_err(|error| context.wrong(key, error.to_string(), expected))?;
    let (text, path) = context.text(key, file, expected)?;
    let topology = read(&text, &path, format).map_err(|error| file_error(&error, &text, expected))?;
    if topology.positions.is_empty() {
        return Err(context.wrong(key, "the file has no positions", "a position for each station"));
    }
    Ok(topology)
}

fn file_error(error: &RoutingError, text: &str, expected: &str) -> ScenarioError {
    let (file, line, message) = match error {
        RoutingError::File { file, line, message } => (Some(file.clone()), *line, message.clone()),
        other => (None, None, other.to_string()),
    };
    ScenarioError::new(Diagnostic {
        file,
        line,
        column: line.map(|_| 1),
        key: "wifi.deployment.layout.file".to_owned(),
        message,
        expected: expected.to_owned(),
        source_line: line.and_then(|line| text.lines().nth(line - 1)).map(str::to_owned),
        ..Diagnostic::default()
    })
}

fn end(
    context: &Context<'_>,
    table: &WifiTable,
    nodes: &[NodePlan],
    key: &str,
    given: &EndTable,
) -> Result<End, ScenarioError> {
    let base = format!("wifi.deployment.{key}");
    let name = given.node.as_str();
    if !nodes.iter().any(|node| node.name == name) {
        let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        return Err(context.unknown(&format!("{base}.node"), "host or router", name, known));
    }
    if table.stations.contains_key(&given.node) {
        let message = format!("`{name}` has a place in `wifi.stations` already");
        return Err(context.wrong(&format!("{base}.node"), message, "a host or router without a place"));
    }
    let EndPlan { near, station, .. } = given.read();
    match (near, station) {
        (Some(at), None) => Ok(End::Nearest(Position::new(at.x, at.y))),
        (None, Some(station)) => Ok(End::Named(station)),
        _ => {
            let message = format!("which station is `{name}`?");
            Err(context.wrong(&base, message, "one of `near` and `station`"))
        }
    }
}

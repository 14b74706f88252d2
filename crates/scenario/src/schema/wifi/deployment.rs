//! Stations placed at random, or as a file says: `[wifi.deployment]`.

use super::super::quantity::{Name, Point, Rectangle};
use super::super::tagged::tagged;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Stations placed by a law, drawn from the seed until a condition holds. They are called by their numbers, from 0, but for
/// the two that are `source` and `destination`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeploymentTable {
    /// How stations are placed.
    pub(crate) layout: LayoutTable,
    /// The station that is the host or router from which the condition's routes lead.
    pub(crate) source: EndTable,
    /// The station that is the host or router to which they lead.
    pub(crate) destination: EndTable,
    /// What a deployment must be to be kept (default connected). Stations hear each other up to the range at which data
    /// is received.
    pub(crate) until: Option<ConditionName>,
    /// Which of several routes with equally few hops the condition's algorithms take (default lowest-node).
    pub(crate) ties: Option<TieName>,
    /// Give up after so many draws (default 1000000; beyond 64 stations 5000000 through their number).
    pub(crate) draws: Option<u64>,
}

/// A station of the deployment that is a node of the scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndTable {
    /// The host or router.
    pub(crate) node: Name,
    /// It is the station nearest to this point.
    pub(crate) near: Option<Point>,
    /// It is the station of this number, or of this name in the file.
    pub(crate) station: Option<String>,
}

tagged! {
    /// How stations are placed.
    enum LayoutTable by "kind",
    expected "a layout such as { kind = \"uniform\", stations = 32, area = [\"100 m\", \"100 m\"] }",
    short no_short as no_schema;
    /// So many, independent and uniform.
    "uniform" => Uniform(UniformLayoutTable),
    /// A Poisson process: their number is random too.
    "poisson" => Poisson(PoissonLayoutTable),
    /// One in each cell of a grid, row by row, each moved by chance.
    "grid" => Grid(GridLayoutTable),
    /// As a file says: CSV, JSON or GraphML.
    "file" => File(FileLayoutTable),
}

fn no_short(_: Result<&str, f64>) -> Option<LayoutTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

/// Keys of the uniform layout.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UniformLayoutTable {
    /// How many, at least 2.
    pub(crate) stations: u32,
    /// Width and height, the corner being the origin.
    pub(crate) area: Rectangle,
}

/// Keys of the Poisson layout.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PoissonLayoutTable {
    /// How many on average.
    pub(crate) mean_stations: f64,
    /// Width and height, the corner being the origin.
    pub(crate) area: Rectangle,
}

/// Keys of the grid.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridLayoutTable {
    /// Cells side by side.
    pub(crate) columns: u32,
    /// Cells above one another.
    pub(crate) rows: u32,
    /// Width and height, the corner being the origin.
    pub(crate) area: Rectangle,
    /// How far a station may be from the middle of its cell: 0 not at all, 1 to the cell's border (default 0).
    pub(crate) jitter: Option<f64>,
}

/// Keys of the layout from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileLayoutTable {
    /// The file, its path relative to the scenario's; its ending says what it is: .csv, .json, .graphml.
    pub(crate) file: String,
}

/// What a deployment must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConditionName {
    /// Anything.
    Any,
    /// Every station can reach every other.
    Connected,
    /// Connected, and two link-disjoint routes are found.
    LinkMultipath,
    /// Connected, and two node-disjoint routes are found.
    NodeMultipath,
    /// Connected, and two zone-disjoint routes are found.
    ZoneMultipath,
    /// Connected, and two of each are found.
    AllMultipath,
}

/// Which of several routes with equally few hops is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TieName {
    /// From the source on, the lowest next station.
    LowestNode,
    /// From the source on, the highest next station.
    HighestNode,
    /// The one with the fewest metres.
    FewestMetres,
    /// Any, each equally likely, drawn from the seed.
    Random,
}

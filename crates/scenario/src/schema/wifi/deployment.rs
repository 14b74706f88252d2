//! Stations placed at random, or as a file says: `[wifi.deployment]`.

use super::super::quantity::{Name, Point, Rectangle};
use super::super::table::{named_value, plain_value, table};
use super::super::tagged::tagged;
use ropewalk_routing::{Condition, TieRule};
use ropewalk_wifi::position::{Area, Position};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

table! {
    /// Stations placed by a law, drawn from the seed until a condition holds. They are called by their numbers, from 0, but for
    /// the two that are `source` and `destination`.
    DeploymentTable =>
    /// The keys of a deployment.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct DeploymentKeys {
        required {
            /// How stations are placed.
            layout: LayoutTable;
            /// The station that is the host or router from which the condition's routes lead.
            source: EndPlan as EndTable;
            /// The station that is the host or router to which they lead.
            destination: EndPlan as EndTable;
        }
        computed {
            /// Give up after so many draws (default 1000000; beyond 64 stations 5000000 through their number).
            draws: u64;
        }
        keys {
            /// What a deployment must be to be kept. Stations hear each other up to the range at which data is received.
            until: Condition as ConditionName = Condition::Connected;
            /// Which of several routes with equally few hops the condition's algorithms take.
            ties: TieRule as TieName = TieRule::LowestNode;
        }
    }
}

plain_value! {
    LayoutTable,
}

table! {
    /// A station of the deployment that is a node of the scenario.
    EndTable =>
    /// A station of a deployment that is a node of the scenario.
    #[derive(Clone, PartialEq, Debug)]
    pub struct EndPlan {
        required {
            /// The host or router.
            node: String as Name;
        }
        keys {
            /// It is the station nearest to this point.
            near: Option<Position> as Point = None;
            /// It is the station of this number, or of this name in the file.
            station: Option<String> as String = None;
        }
    }
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

table! {
    /// Keys of the grid.
    GridLayoutTable =>
    /// A grid.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct GridKeys {
        required {
            /// Cells side by side.
            columns: u32;
            /// Cells above one another.
            rows: u32;
            /// Width and height, the corner being the origin.
            area: Area as Rectangle;
        }
        keys {
            /// How far a station may be from the middle of its cell: 0 not at all, 1 to the cell's border.
            jitter: f64 = 0.0;
        }
    }
}

/// Keys of the layout from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileLayoutTable {
    /// The file, its path relative to the scenario's; its ending says what it is: .csv, .json, .graphml.
    pub(crate) file: String,
}

named_value!(Condition as ConditionName {
    Any, Connected, LinkMultipath, NodeMultipath, ZoneMultipath, AllMultipath,
});

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

named_value!(TieRule as TieName { LowestNode, HighestNode, FewestMetres, Random });

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

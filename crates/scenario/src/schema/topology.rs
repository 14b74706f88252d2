//! Topologies from templates: `[topology]`.

use super::link::DirectionTable;
use super::tagged::tagged;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

tagged! {
    /// Hosts, routers and links from a template, beside those that the file names. `ropewalk explain` shows them.
    enum TopologyTable by "kind",
    expected "a topology such as { kind = \"star\", hosts = 8, link = { rate = \"1 Gbit/s\" } }",
    short no_short as no_schema;
    /// Hosts `h-1`, `h-2`, … around the router `hub`, each at a link of its own name.
    "star" => Star(StarTable),
    /// Hosts `left-1`, … and `right-1`, … at `left-router` and `right-router`, which the link `bottleneck` joins.
    "dumbbell" => Dumbbell(DumbbellTable),
    /// Routers `router-1`, … in a row, joined by links `hop-1`, …; `source`, `sink` at its ends, `enter-I`, `leave-I` at hop I.
    "parking-lot" => ParkingLot(ParkingLotTable),
    /// Routers `leaf-1`, …, each joined to all of `spine-1`, …, with hosts `h-1`, … below the leaves; equal ways shared (ECMP).
    "leaf-spine" => LeafSpine(LeafSpineTable),
    /// The k-ary fat tree of Al-Fares et al. (SIGCOMM 2008): `edge-I`, `aggregation-I`, `core-I`, k³/4 hosts `h-I`; ECMP.
    "fat-tree" => FatTree(FatTreeTable),
}

fn no_short(_: Result<&str, f64>) -> Option<TopologyTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

/// A star.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StarTable {
    /// How many hosts.
    pub(crate) hosts: u32,
    /// Every host's link, from the host to the hub.
    pub(crate) link: DirectionTable,
}

/// A dumbbell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DumbbellTable {
    /// Hosts on each side.
    pub(crate) pairs: u32,
    /// Every host's link, from the host to its router.
    pub(crate) link: DirectionTable,
    /// The link in the middle, from left to right.
    pub(crate) bottleneck: DirectionTable,
}

/// A parking lot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParkingLotTable {
    /// Bottlenecks in a row.
    pub(crate) hops: u32,
    /// Every host's link, from the host to its router.
    pub(crate) link: DirectionTable,
    /// Every link between routers, from the first to the last.
    pub(crate) bottleneck: DirectionTable,
}

/// A leaf-spine fabric.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeafSpineTable {
    /// Routers with hosts below them.
    pub(crate) leaves: u32,
    /// Routers above the leaves.
    pub(crate) spines: u32,
    /// Hosts below each leaf.
    pub(crate) hosts: u32,
    /// Every host's link, from the host to its leaf.
    pub(crate) link: DirectionTable,
    /// Every link between routers, upwards (default: as the hosts').
    pub(crate) fabric: Option<DirectionTable>,
}

/// A fat tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FatTreeTable {
    /// Ports of every router: an even number.
    pub(crate) k: u32,
    /// Every host's link, from the host to its edge.
    pub(crate) link: DirectionTable,
    /// Every link between routers, upwards (default: as the hosts').
    pub(crate) fabric: Option<DirectionTable>,
}

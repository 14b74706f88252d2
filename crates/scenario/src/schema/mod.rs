//! The scenario file, as types. Their doc comments are the help, the JSON Schema's descriptions and the
//! documentation; a key that is not here is an error.

pub(crate) mod bond;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod constants;
pub(crate) mod endpoints;
mod json_schema;
pub(crate) mod link;
pub(crate) mod mptcp;
pub(crate) mod quantity;
mod reference;
pub(crate) mod router;
pub(crate) mod tagged;
pub(crate) mod tcp;
pub(crate) mod tcp_values;
pub(crate) mod wifi;

use bond::BondTable;
use connection::{ConnectionTable, HostTable, RouteTable};
pub use json_schema::schema;
use link::LinkTable;
use mptcp::MptcpTable;
use quantity::{Name, Time};
pub use reference::keys_reference;
use router::RouterTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tcp::TcpTable;
use wifi::WifiTable;

/// A Ropewalk scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    /// The scenario as a whole.
    pub(crate) scenario: ScenarioTable,
    /// TCP keys of every connection, and of every subflow.
    #[serde(default)]
    pub(crate) tcp: TcpTable,
    /// Multipath TCP keys of every connection.
    #[serde(default)]
    pub(crate) mptcp: MptcpTable,
    /// Hosts by name.
    #[serde(default)]
    pub(crate) hosts: BTreeMap<Name, HostTable>,
    /// Routers by name.
    #[serde(default)]
    pub(crate) routers: BTreeMap<Name, RouterTable>,
    /// Links by name.
    #[serde(default)]
    pub(crate) links: BTreeMap<Name, LinkTable>,
    /// A wireless network: stations, and routes over them, which are links too.
    pub(crate) wifi: Option<WifiTable>,
    /// Bonds of links by name.
    #[serde(default)]
    pub(crate) bonds: BTreeMap<Name, BondTable>,
    /// Static routes.
    #[serde(default)]
    pub(crate) routes: Vec<RouteTable>,
    /// Connections by name.
    #[serde(default)]
    pub(crate) connections: BTreeMap<Name, ConnectionTable>,
}

/// The scenario as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioTable {
    /// Its name: letters, digits, `-` and `_`.
    pub(crate) name: Name,
    /// What it shows, in a sentence or two.
    pub(crate) description: Option<String>,
    /// Simulated time.
    pub(crate) duration: Time,
    /// What all randomness is derived from (default 1).
    pub(crate) seed: Option<u64>,
    /// Distance of the points of the time series (default 100 ms).
    pub(crate) sample_interval: Option<Time>,
}

//! The scenario file, as types. Their doc comments are the help, the JSON Schema's descriptions and the
//! documentation; a key that is not here is an error.

pub(crate) mod address_family;
pub(crate) mod application;
pub(crate) mod bond;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod constants;
pub(crate) mod endpoints;
pub(crate) mod events;
pub(crate) mod interval;
pub(crate) mod jitter;
mod json_schema;
pub(crate) mod link;
pub(crate) mod loss;
pub(crate) mod mptcp;
pub(crate) mod quantity;
pub(crate) mod queue;
mod reference;
pub(crate) mod router;
pub(crate) mod table;
pub(crate) mod tagged;
pub(crate) mod tcp;
pub(crate) mod tcp_values;
pub(crate) mod topology;
pub(crate) mod wifi;

use address_family::AddressFamily;
use bond::BondTable;
use connection::{ConnectionTable, HostTable, RouteTable};
use events::{EventKind, EventKinds};
pub use json_schema::schema;
use link::LinkTable;
use mptcp::MptcpTable;
use quantity::{Name, Time};
pub use reference::keys_reference;
use ropewalk_units::Duration;
use router::RouterTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use table::table;
use tcp::TcpTable;
use topology::TopologyTable;
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
    /// Hosts, routers and links from a template.
    pub(crate) topology: Option<TopologyTable>,
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

table! {
    /// The scenario as a whole.
    ScenarioTable =>
    /// The scenario as a whole.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Settings {
        required {
            /// Its name: letters, digits, `-` and `_`.
            name: String as Name;
            /// Simulated time.
            duration: Duration as Time;
        }
        keys {
            /// What it shows, in a sentence or two.
            description: String = String::new();
            /// The version of IP that all hosts speak. With IPv6, packets are 20 octets longer, so segments are 20 octets
            /// shorter, and no link has an MTU below 1280 (RFC 8200 §5).
            address_family: AddressFamily = AddressFamily::Ipv4;
            /// What all randomness is derived from.
            seed: u64 = 1;
            /// Distance of the points of the time series.
            sample_interval: Duration as Time = Duration::from_millis(100);
            /// The kinds of events that are written down, with their reasons, in the table `events`; none by default. They change
            /// nothing else.
            events: EventKinds as Vec<EventKind> = EventKinds::NONE;
        }
    }
}

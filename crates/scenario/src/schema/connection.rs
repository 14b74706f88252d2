//! Connections and their applications: `[connections.NAME]`.

use super::application::ApplicationTable;
use super::clock::JitterTable;
use super::mptcp::MptcpTable;
use super::quantity::{Name, Time};
use super::tcp::TcpTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The transport of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProtocolName {
    /// TCP over one path.
    Tcp,
    /// Multipath TCP (RFC 8684).
    Mptcp,
    /// UDP over one path.
    Udp,
}

/// Which way the application's data flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DataTable {
    /// From the host that opens the connection.
    Forward,
    /// To the host that opens the connection: a download.
    Backward,
}

/// A connection, or a UDP flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConnectionTable {
    /// The transport (default tcp).
    pub(crate) protocol: Option<ProtocolName>,
    /// The host that opens the connection.
    pub(crate) from: Name,
    /// The host that accepts it.
    pub(crate) to: Name,
    /// Links at the host that opens; the first carries the initial subflow. Default: all that lead to the
    /// other host for mptcp, the first of them by name otherwise.
    pub(crate) paths: Option<Vec<Name>>,
    /// When it opens (default 0 s).
    pub(crate) start: Option<Time>,
    /// Several transfers, each a connection of its own, opened at these times; instead of `start`.
    pub(crate) starts: Option<Vec<Time>>,
    /// So many copies of the connection (default 1).
    pub(crate) count: Option<u32>,
    /// The copies open evenly over this time (default 0 s: all at once).
    pub(crate) spread: Option<Time>,
    /// What is transferred (default bulk until the end; constant-rate must be given for udp).
    pub(crate) application: Option<ApplicationTable>,
    /// Which way the data of bulk, constant-rate and on-off flows (default forward).
    pub(crate) data: Option<DataTable>,
    /// Differentiated services code point of its packets, 0 to 63 (default 0): a bond's `classes` go by it.
    pub(crate) dscp: Option<u8>,
    /// TCP keys of this connection.
    pub(crate) tcp: Option<TcpTable>,
    /// Multipath TCP keys of this connection.
    pub(crate) mptcp: Option<MptcpTable>,
}

/// Which stack a host runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// The simulated stack.
    #[default]
    Ropewalk,
    /// The Linux kernel's, in a network namespace, on links that are simulated in real time. All hosts run it, or none.
    Linux,
}

/// A host: it has connections and forwards nothing.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostTable {
    /// Which stack it runs (default ropewalk).
    pub(crate) stack: Option<Stack>,
    /// How late it is with timers and arrivals (default: never).
    pub(crate) jitter: Option<JitterTable>,
}

/// A static route of a router. All others are shortest paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteTable {
    /// The router.
    pub(crate) at: Name,
    /// The host that packets go to.
    pub(crate) to: Name,
    /// Only for the host's address on this link (default: all its addresses).
    pub(crate) interface: Option<Name>,
    /// The link by which they leave the router.
    pub(crate) via: Name,
}

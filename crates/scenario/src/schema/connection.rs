//! Connections and their applications: `[connections.NAME]`.

use super::clock::JitterTable;
use super::link::{ExponentialTable, time_schema};
use super::mptcp::MptcpTable;
use super::quantity::{BitRate, Name, Quantity, Size, Time};
use super::tagged::tagged;
use super::tcp::TcpTable;
use schemars::{JsonSchema, Schema, SchemaGenerator};
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

tagged! {
    /// What a connection transfers.
    enum ApplicationTable by "kind",
    expected "an application such as \"bulk\" or { kind = \"bulk\", bytes = \"20 MB\" }",
    short no_short_application as no_schema;
    /// As fast as the transport takes it.
    "bulk" => Bulk(BulkTable),
    /// Packets at regular times.
    "constant-rate" => ConstantRate(ConstantRateTable),
    /// Packets at regular times in bursts, with silence between them.
    "on-off" => OnOff(OnOffTable),
    /// Requests, answers, and time to think between them.
    "request-response" => RequestResponse(RequestResponseTable),
}

fn no_short_application(_: Result<&str, f64>) -> Option<ApplicationTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

/// Keys of a bulk transfer. Neither: until the end of the simulation.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BulkTable {
    /// How much.
    pub(crate) bytes: Option<Size>,
    /// How long from the start of the connection.
    pub(crate) duration: Option<Time>,
}

/// Keys of constant-rate traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConstantRateTable {
    /// Payload rate.
    pub(crate) rate: BitRate,
    /// Payload octets of one packet (default 1400 B).
    pub(crate) packet_size: Option<Size>,
    /// How long from the start of the connection (default: until the end).
    pub(crate) duration: Option<Time>,
    /// Other rates from given times on (default: none).
    #[serde(default)]
    pub(crate) changes: Vec<RateChangeTable>,
}

/// A new rate of constant-rate traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateChangeTable {
    /// When, from the start of the simulation.
    pub(crate) at: Time,
    /// The payload rate from then on.
    pub(crate) rate: BitRate,
}

/// Keys of on/off traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnOffTable {
    /// Payload rate within a burst.
    pub(crate) rate: BitRate,
    /// Payload octets of one packet (default 1400 B).
    pub(crate) packet_size: Option<Size>,
    /// Length of a burst (default exponential, mean 1 s).
    pub(crate) on: Option<IntervalTable>,
    /// Length of a silence (default exponential, mean 1 s).
    pub(crate) off: Option<IntervalTable>,
    /// How long from the start of the connection (default: until the end).
    pub(crate) duration: Option<Time>,
}

/// Keys of request/response traffic.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestResponseTable {
    /// Octets of one request (default 400 B).
    pub(crate) request: Option<Size>,
    /// Octets of one answer (default 100 kB).
    pub(crate) response: Option<Size>,
    /// From the end of an answer to the next request (default 0 s).
    pub(crate) think: Option<IntervalTable>,
    /// How many exchanges (default: until the end).
    pub(crate) count: Option<u32>,
}

tagged! {
    /// A time that is always the same, or drawn; a time alone is always the same.
    enum IntervalTable by "distribution",
    expected "a time such as \"1 s\" or { distribution = \"exponential\", mean = \"1 s\" }",
    short short_interval as time_schema;
    /// Always the same.
    "constant" => Constant(ConstantTable),
    /// Exponentially distributed.
    "exponential" => Exponential(ExponentialTable),
}

fn short_interval(text: Result<&str, f64>) -> Option<IntervalTable> {
    Some(IntervalTable::Constant(ConstantTable { time: Time::from_text(text.ok()?)? }))
}

/// Keys of a constant time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConstantTable {
    /// The time.
    pub(crate) time: Time,
}

/// Which stack a host runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stack {
    /// The simulated stack.
    Ropewalk,
    /// The Linux kernel's, in a network namespace: real-time emulation, not supported yet.
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

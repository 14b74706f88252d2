//! Connections and their applications: `[connections.NAME]`.

use super::application::ApplicationTable;
use super::clock::{JitterPlan, LatenessTable};
use super::mptcp::MptcpTable;
use super::quantity::{Name, Time};
use super::table::{named_value, plain_value, table};
use super::tcp::TcpTable;
use ropewalk_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DataDirection {
    /// From the host that opens the connection: an upload.
    #[default]
    Forward,
    /// To the host that opens the connection: a download.
    Backward,
}

named_value!(DataDirection as DataTable { Forward, Backward });

/// Which way the application's data flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DataTable {
    /// From the host that opens the connection.
    Forward,
    /// To the host that opens the connection: a download.
    Backward,
}

table! {
    /// A connection, or a UDP flow.
    ConnectionTable =>
    /// The keys of a connection beside its tables and its times.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct ConnectionKeys {
        own {
            /// Links at the host that opens; the first carries the initial subflow. Default: all that lead to the other
            /// host for mptcp, the first of them by name otherwise.
            paths: Vec<Name>;
            /// When it opens (default 0 s).
            start: Time;
            /// Between the members of one group: each opens to the one so many places behind it (default: half of all).
            stride: u32;
            /// Several transfers, each a connection of its own, opened at these times; instead of `start`.
            starts: Vec<Time>;
            /// What is transferred (default bulk until the end; constant-rate must be given for udp).
            application: ApplicationTable;
            /// TCP keys of this connection.
            tcp: TcpTable;
            /// Multipath TCP keys of this connection.
            mptcp: MptcpTable;
        }
        required {
            /// The host that opens the connection.
            from: String as Name;
            /// The host that accepts it.
            to: String as Name;
        }
        keys {
            /// The transport.
            protocol: ProtocolName = ProtocolName::Tcp;
            /// So many copies of the connection.
            count: u32 = 1;
            /// The copies open evenly over this time; by default all at once.
            spread: Duration as Time = Duration::ZERO;
            /// Which way the data of bulk, constant-rate and on-off flows.
            data: DataDirection as DataTable = DataDirection::Forward;
            /// Differentiated services code point of its packets, 0 to 63: a bond's `classes` go by it.
            dscp: u8 = 0;
        }
    }
}

plain_value! {
    ProtocolName,
    Stack,
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

table! {
    /// A program that runs at a Linux host, in its namespace.
    CommandTable =>
    /// A program that runs at a Linux host.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct CommandPlan {
        required {
            /// What a shell is given to run. `$ip_HOST` is the first address of a host, and `$ip_HOST_LINK` the one at a link;
            /// in both `_` stands for every sign that is no letter or digit.
            command: String;
        }
        keys {
            /// When it starts.
            start: Instant as Time = Instant::ZERO;
        }
        fixed {
            /// Its name.
            name: String = String::new();
        }
    }
}

table! {
    /// A host: it has connections and forwards nothing.
    #[derive(Default)]
    HostTable =>
    /// What a host is.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(crate) struct HostKeys {
        own {
            /// Programs that run there by name; of Linux hosts alone.
            commands: BTreeMap<Name, CommandTable>;
            /// So many of them, called NAME-1, NAME-2, …; NAME stands for all of them in links and connections.
            count: u32;
        }
        keys {
            /// Which stack it runs.
            stack: Stack = Stack::Ropewalk;
            /// How late it is with timers and arrivals (default: never).
            jitter: Option<JitterPlan> as LatenessTable = None;
            /// Segments of a flow cross the interfaces of a Linux host as one (TSO, GRO); links have each by itself.
            offloads: bool = false;
        }
    }
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

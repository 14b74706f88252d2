//! What a world is built from: a scenario with every name resolved and every default filled in.

mod application;
pub(crate) mod bond;
pub(crate) mod build;
mod clock;
mod connection;
pub(crate) mod context;
pub(crate) mod emulation;
pub(crate) mod files;
pub(crate) mod link;
mod node;
pub(crate) mod protocol;
mod queue;
mod recorded;
pub(crate) mod route;
pub mod router;
mod trace;
pub mod wifi;

pub use crate::schema::Settings;
pub use crate::schema::address_family::AddressFamily;
pub use crate::schema::application::{
    Bulk, ConstantRate, Frames, OnOff, RateChange, RecordedFile, RequestResponse,
};
pub use crate::schema::bond::ClassPlan;
pub use crate::schema::connection::{CommandPlan, DataDirection, Stack};
pub use crate::schema::events::{EventKind, EventKinds};
pub use crate::schema::interval::Interval;
pub use crate::schema::router::RouterStack;
pub use bond::BondPlan;
pub use clock::{ClockPlan, ClockStep, Drift, JitterPlan};
pub use recorded::{Recorded, RecordedDatagram};
use ropewalk_sim::{Change, DirectionConfig};
use ropewalk_units::Instant;
pub use router::{StripPlan, StrippedOptions};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
pub use wifi::WifiPlan;

/// A UDP header.
const UDP_HEADER: u32 = 8;

/// A code point has six bits (RFC 2474 §3).
const MOST_DSCP: u8 = 63;

/// Index into [`Plan::nodes`].
pub type NodeIndex = usize;

/// Index into [`Plan::links`].
pub type LinkIndex = usize;

/// The address of one end of one link: `2 * link + end`. Dense, so that tables can be plain vectors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct AddressIndex(pub usize);

impl AddressIndex {
    /// The address at an end (0: the first of `between`, 1: the second) of a link.
    pub const fn new(link: LinkIndex, end: usize) -> Self {
        Self(2 * link + end)
    }

    /// The link that has this address.
    pub const fn link(self) -> LinkIndex {
        self.0 / 2
    }

    /// The link's end that has this address: 0 or 1.
    pub const fn end(self) -> usize {
        self.0 % 2
    }
}

/// A whole scenario, ready to be built. Nodes and connections are sorted by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Name, times and seed.
    pub settings: Settings,
    /// Hosts and routers.
    pub nodes: Vec<NodePlan>,
    /// Links: wires sorted by name, then wireless routes sorted by name, then bonds sorted by name.
    pub links: Vec<LinkPlan>,
    /// The wireless network, if there is one.
    pub wifi: Option<Box<WifiPlan>>,
    /// Where packets go.
    pub routing: Routing,
    /// Connections, copies and repeated starts written out: each opens once.
    pub connections: Vec<ConnectionPlan>,
}

impl Plan {
    /// The IP address behind an index.
    pub fn address(&self, index: AddressIndex) -> IpAddr {
        self.links[index.link()].addresses[index.end()]
    }

    /// Are its hosts Linux's, so that it runs in real time on this machine?
    pub fn is_emulation(&self) -> bool {
        self.nodes.iter().any(|node| node.stack == Stack::Linux)
    }

    /// All bonds.
    pub(crate) fn bonds_mut(&mut self) -> impl Iterator<Item = &mut BondPlan> {
        self.links.iter_mut().filter_map(|link| match &mut link.carrier {
            Carrier::Bond(bond) => Some(bond.as_mut()),
            Carrier::Wire(_) | Carrier::Wireless(_) => None,
        })
    }

    /// A bond's table as a file would say it that leaves out nothing; `None`: the link is no bond.
    pub fn bond_table(&self, link: &LinkPlan) -> Option<serde_json::Value> {
        let between = link.ends.map(|end| self.nodes[end].name.clone());
        let table = bond::config::explicit(between, link.bond()?, &self.links)?;
        serde_json::to_value(table).ok()
    }

    /// The node that has an address.
    pub fn owner(&self, index: AddressIndex) -> NodeIndex {
        self.links[index.link()].ends[index.end()]
    }
}

/// What a node does with packets that are not its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Has connections; forwards nothing.
    Host,
    /// Forwards; has no connections.
    Router,
}

/// One host or router.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodePlan {
    /// Its name.
    pub name: String,
    /// Host or router.
    pub kind: NodeKind,
    /// Whose stack a host runs.
    pub stack: Stack,
    /// Who forwards at a router.
    pub forwarding: RouterStack,
    /// TCP options that a router takes out of what it forwards.
    pub strips: StripPlan,
    /// Does a router share flows out among equally short ways?
    pub ecmp: bool,
    /// The clock that a gateway's bonds read.
    pub clock: ClockPlan,
    /// How late it is with its work.
    pub jitter: JitterPlan,
    /// Do segments of a flow cross the interfaces of a Linux host as one?
    pub offloads: bool,
    /// Programs that run at a Linux host, sorted by name.
    pub commands: Vec<CommandPlan>,
}

impl NodePlan {
    /// Is it a namespace of this machine in which the daemon forwards?
    pub fn is_gateway(&self) -> bool {
        self.forwarding == RouterStack::Gateway
    }

    /// Does a kernel of this machine have it, as a host or as a gateway?
    pub fn is_of_kernel(&self) -> bool {
        self.stack == Stack::Linux || self.is_gateway()
    }
}

/// One link between two nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkPlan {
    /// The link's name.
    pub name: String,
    /// What it joins: `between` in this order.
    pub ends: [NodeIndex; 2],
    /// The interface addresses at the two ends.
    pub addresses: [IpAddr; 2],
    /// Greatest IP packet in octets.
    pub mtu: u32,
    /// What carries its packets.
    pub carrier: Carrier,
}

impl LinkPlan {
    /// The wire, if it is one.
    pub const fn wire(&self) -> Option<&WirePlan> {
        match &self.carrier {
            Carrier::Wire(wire) => Some(wire),
            Carrier::Bond(_) | Carrier::Wireless(_) => None,
        }
    }

    /// The index in [`WifiPlan::routes`], if it is a wireless route.
    pub const fn wireless(&self) -> Option<usize> {
        match self.carrier {
            Carrier::Wireless(index) => Some(index),
            Carrier::Wire(_) | Carrier::Bond(_) => None,
        }
    }

    /// The bond, if it is one.
    pub const fn bond(&self) -> Option<&BondPlan> {
        match &self.carrier {
            Carrier::Bond(bond) => Some(bond),
            Carrier::Wire(_) | Carrier::Wireless(_) => None,
        }
    }
}

/// What carries the packets of a link.
#[expect(clippy::large_enum_variant, reason = "most links are wires, and a plan has few")]
#[derive(Clone, PartialEq, Debug)]
pub enum Carrier {
    /// A link of its own, as `[links.NAME]` says.
    Wire(WirePlan),
    /// A way through the wireless network: `[wifi.routes.NAME]`, by its index in [`WifiPlan::routes`].
    Wireless(usize),
    /// Other links, laid into one: `[bonds.NAME]`.
    Bond(Box<BondPlan>),
}

/// A wire: two directions with a queue, a rate, a delay and a loss each.
#[derive(Clone, PartialEq, Debug)]
pub struct WirePlan {
    /// `[0]` from `ends[0]` to `ends[1]` (forward), `[1]` the other way (backward).
    pub directions: [DirectionConfig; 2],
    /// Timed changes, in order of time.
    pub changes: Vec<ChangePlan>,
}

/// One timed change of one direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangePlan {
    /// When.
    pub at: Instant,
    /// Which of [`WirePlan::directions`].
    pub direction: usize,
    /// What.
    pub change: Change,
}

/// Where packets go. A host sends by the interface that has the packet's source address; a router looks the
/// destination address up here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routing {
    /// `next[node][address]`: the link by which a packet to the address leaves the node. `None` where the
    /// address is the node's own, or cannot be reached.
    pub next: Vec<Vec<Option<LinkIndex>>>,
    /// The links of equally short ways, two or more and ascending, where a router shares flows out among them.
    pub equal: BTreeMap<(NodeIndex, AddressIndex), Vec<LinkIndex>>,
}

impl Routing {
    /// The link by which a packet to `to` leaves `node`.
    pub fn next(&self, node: NodeIndex, to: AddressIndex) -> Option<LinkIndex> {
        self.next[node][to.0]
    }
}

/// A connection's transport, with all its choices.
#[derive(Clone, PartialEq, Debug)]
pub enum Protocol {
    /// TCP over one path.
    Tcp(Arc<ropewalk_tcp::Config>),
    /// Multipath TCP.
    Mptcp(Box<ropewalk_mptcp::Config>),
    /// UDP over one path.
    Udp,
}

impl Protocol {
    /// Multipath TCP?
    pub(crate) const fn is_multipath(&self) -> bool {
        matches!(self, Self::Mptcp(_))
    }

    /// The same, telling of every decision.
    pub(crate) fn traced(&self) -> Self {
        match self {
            Self::Tcp(config) => {
                Self::Tcp(Arc::new(ropewalk_tcp::Config { trace: true, ..(**config).clone() }))
            }
            Self::Mptcp(config) => {
                let mut config = config.clone();
                (config.trace, config.tcp.trace) = (true, true);
                Self::Mptcp(config)
            }
            Self::Udp => Self::Udp,
        }
    }

    /// `tcp`, `mptcp` or `udp`, as scenario files spell it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Mptcp(_) => "mptcp",
            Self::Udp => "udp",
        }
    }
}

/// One connection (or one UDP flow).
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionPlan {
    /// Its name; copies carry a number behind a hyphen.
    pub name: String,
    /// The connection of the scenario file that it came from: the same for all copies.
    pub group: String,
    /// The transport.
    pub protocol: Protocol,
    /// Who opens it.
    pub source: NodeIndex,
    /// Who accepts it.
    pub destination: NodeIndex,
    /// At least one; the first carries the initial subflow. Exactly one for TCP and UDP.
    pub paths: Vec<PathPlan>,
    /// What is transferred.
    pub application: Application,
    /// Which way.
    pub data: DataDirection,
    /// When it opens.
    pub start: Instant,
    /// Differentiated services code point of its packets, 0 to 63.
    pub dscp: u8,
}

impl ConnectionPlan {
    /// Is a Linux host at one of its ends?
    pub fn meets_linux(&self, plan: &Plan) -> bool {
        [self.source, self.destination].into_iter().any(|node| plan.nodes[node].stack == Stack::Linux)
    }

    /// Does the server send the octets that count? Of requests and responses these are the responses.
    pub fn server_sends(&self) -> bool {
        matches!(self.application, Application::RequestResponse(_)) || self.data == DataDirection::Backward
    }

    /// Who sends the octets that count.
    pub fn sender(&self) -> NodeIndex {
        if self.server_sends() { self.destination } else { self.source }
    }
}

/// One path of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPlan {
    /// The name of the link at the source.
    pub name: String,
    /// The source's address.
    pub local: AddressIndex,
    /// The destination's address.
    pub remote: AddressIndex,
    /// The links from source to destination, each with its direction (see [`WirePlan::directions`]).
    pub forward: Vec<(LinkIndex, usize)>,
    /// The links from destination to source.
    pub backward: Vec<(LinkIndex, usize)>,
}

/// What a connection transfers.
#[derive(Clone, PartialEq, Debug)]
pub enum Application {
    /// As fast as the transport takes it.
    Bulk(Bulk),
    /// Packets at regular times.
    ConstantRate(ConstantRate),
    /// Packets at regular times in bursts, with silence between them.
    OnOff(OnOff),
    /// Requests, answers, and time to think between them.
    RequestResponse(RequestResponse),
    /// Frames of voice or video.
    Frames(Frames),
    /// Datagrams of recorded lengths at recorded times.
    Recorded(Recorded),
}

impl Application {
    /// Was it asked to come to an end of its own?
    pub const fn is_finite(&self) -> bool {
        match self {
            Self::Bulk(bulk) => bulk.bytes.is_some() || bulk.duration.is_some(),
            Self::RequestResponse(exchanges) => exchanges.count.is_some(),
            Self::ConstantRate(paced) => paced.duration.is_some(),
            Self::OnOff(paced) => paced.duration.is_some(),
            Self::Frames(frames) => frames.duration.is_some(),
            Self::Recorded(_) => true,
        }
    }
}

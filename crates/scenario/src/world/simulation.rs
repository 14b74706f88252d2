//! A world, and where to find things in it.

use super::node::ScenarioNode;
use super::packet::Packet;
use crate::plan::wifi::BroadcastPort;
use ropewalk_sim::{LinkId, Medium, NodeId, Port, Tap, World};

/// Where the two ends of a bond are: the gateway, and the bond's index there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BondEnds(pub(crate) [(NodeId, u32); 2]);

/// Where the two ends of a connection are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// The host that opens it, and its endpoint there.
    pub(crate) client: (NodeId, u32),
    /// The host that accepts it.
    pub(crate) server: (NodeId, u32),
}

/// A world and where to find things in it.
pub(crate) struct Simulation<T: Tap<Packet>, M: Medium<Packet>> {
    pub(crate) world: World<ScenarioNode, T, M>,
    /// By index in the plan.
    pub(crate) ends: Vec<Ends>,
    /// Both directions of the wires and wireless routes, by index in the plan.
    pub(crate) links: Vec<[LinkId; 2]>,
    /// In the plan's order.
    pub(crate) bonds: Vec<BondEnds>,
    /// The radios on channels with broadcasts, each with its announcer.
    pub(crate) announcers: Vec<(BroadcastPort, NodeId)>,
}

/// A medium, and the entries of the plan's wireless links in their order.
pub(crate) struct Radio<M> {
    pub(crate) medium: M,
    pub(crate) entries: Vec<[u32; 2]>,
    /// Where broadcasts are sent and heard.
    pub(crate) ports: Vec<BroadcastPort>,
}

/// Ports at both ends of each wire and wireless route; the plan has them before the bonds.
pub(super) type LinkPorts = Vec<[Port; 2]>;

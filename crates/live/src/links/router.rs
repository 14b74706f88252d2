//! A router between kernels: static routes.

use super::packet::Octets;
use ropewalk_scenario::plan::{AddressIndex, Plan};
use ropewalk_sim::{Context, PacketId, Port};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Forwards by destination address.
#[derive(Debug, Default)]
pub(crate) struct Router {
    routes: BTreeMap<IpAddr, Port>,
}

impl Router {
    /// Sets the routes: for each address of the plan, in order, the port that leads to it.
    pub(super) fn set_routes(&mut self, plan: &Plan, next: impl Iterator<Item = Option<Port>>) {
        let known =
            next.enumerate().filter_map(|(index, port)| Some((plan.address(AddressIndex(index)), port?)));
        self.routes = known.collect();
    }

    /// Forwards a packet. Without a route, or a hop left to live, it is dropped, and its sender
    /// gets no ICMP message.
    pub(super) fn forward(&self, context: &mut Context<'_, Octets>, id: PacketId) {
        let packet = context.packet_mut(id);
        let port = self.routes.get(&packet.destination()).copied().filter(|_| packet.hop());
        match port {
            Some(port) => context.forward(port, id),
            None => context.drop_packet(id),
        }
    }
}

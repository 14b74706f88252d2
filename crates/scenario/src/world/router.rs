//! A router: static routes, and nothing else.

use super::packet::Packet;
use ropewalk_sim::{Context, PacketId, Port};

/// Where a router sends the packets for an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum NextHop {
    /// There is no route.
    #[default]
    None,
    /// Out of an interface.
    Port(Port),
    /// Into a bond, by its index at this gateway.
    Bond(u32),
}

/// Forwards by destination address.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// By destination address index.
    routes: Vec<NextHop>,
    /// Packets without a route, or whose TTL ran out.
    pub(crate) discarded: u64,
}

impl Router {
    /// A router with these routes.
    pub(crate) fn set_routes(&mut self, routes: Vec<NextHop>) {
        self.routes = routes;
    }

    /// One hop less to live, and where the packet goes; nowhere when it has none left.
    #[inline]
    pub(crate) fn next_hop(&mut self, packet: &mut Packet) -> NextHop {
        packet.ttl = packet.ttl.saturating_sub(1);
        let address = packet.destination.address().0;
        let hop = self.routes.get(address).copied().unwrap_or_default();
        if packet.ttl == 0 || hop == NextHop::None {
            self.discarded += 1;
            return NextHop::None;
        }
        hop
    }

    /// Forwards a packet.
    #[inline]
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        match self.next_hop(context.packet_mut(id)) {
            NextHop::Port(port) => context.forward(port, id),
            NextHop::None => context.drop_packet(id),
            NextHop::Bond(_) => unreachable!("bonds begin and end at gateways"),
        }
    }
}

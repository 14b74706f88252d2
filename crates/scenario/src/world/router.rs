//! A router: static routes, and nothing else.

use super::packet::Packet;
use ropewalk_sim::{Context, PacketId, Port};

/// Forwards by destination address.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// Outgoing interface by destination address index; `None`: no route.
    routes: Vec<Option<Port>>,
    /// Packets without a route, or whose TTL ran out.
    pub(crate) discarded: u64,
}

impl Router {
    /// A router with these routes.
    pub(crate) fn set_routes(&mut self, routes: Vec<Option<Port>>) {
        self.routes = routes;
    }

    /// Forwards a packet.
    #[inline]
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        let packet = context.packet_mut(id);
        packet.ttl = packet.ttl.saturating_sub(1);
        let alive = packet.ttl > 0;
        let address = packet.destination.address().0;
        match self.routes.get(address).copied().flatten().filter(|_| alive) {
            Some(port) => context.forward(port, id),
            None => {
                self.discarded += 1;
                context.drop_packet(id);
            }
        }
    }
}

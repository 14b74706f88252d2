//! The two kinds of nodes, dispatched statically.

use super::host::Host;
use super::packet::Packet;
use super::router::Router;
use ropewalk_sim::{Context, Node, PacketId, Port};

/// A node of a scenario.
#[derive(Debug)]
pub(crate) enum ScenarioNode {
    /// Has endpoints.
    Host(Host),
    /// Forwards.
    Router(Router),
}

impl ScenarioNode {
    /// The host; panics for a router, which the plan rules out.
    pub(crate) fn host(&self) -> &Host {
        match self {
            Self::Host(host) => host,
            Self::Router(_) => unreachable!("connections end at hosts"),
        }
    }

    /// The same, to change it.
    pub(crate) fn host_mut(&mut self) -> &mut Host {
        match self {
            Self::Host(host) => host,
            Self::Router(_) => unreachable!("connections end at hosts"),
        }
    }
}

impl Node for ScenarioNode {
    type Packet = Packet;

    #[inline]
    fn handle_packet(&mut self, context: &mut Context<'_, Packet>, port: Port, id: PacketId) {
        match self {
            Self::Host(host) => host.handle_packet(context, port, id),
            Self::Router(router) => router.handle_packet(context, id),
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Packet>, token: u32) {
        match self {
            Self::Host(host) => host.handle_timer(context, token),
            Self::Router(_) => {}
        }
    }
}

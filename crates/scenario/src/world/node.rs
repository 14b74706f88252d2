//! The kinds of nodes, dispatched statically.

use super::announcer::Announcer;
use super::gateway::Gateway;
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
    /// Forwards, and bonds.
    Gateway(Gateway),
    /// A radio's part in broadcasts.
    Announcer(Announcer),
}

impl ScenarioNode {
    /// The host; panics for any other, which the plan rules out.
    pub(crate) fn host(&self) -> &Host {
        match self {
            Self::Host(host) => host,
            _ => unreachable!("connections end at hosts"),
        }
    }

    /// The same, to change it.
    pub(crate) fn host_mut(&mut self) -> &mut Host {
        match self {
            Self::Host(host) => host,
            _ => unreachable!("connections end at hosts"),
        }
    }
}

impl ScenarioNode {
    /// The gateway; panics for any other, which the plan rules out.
    pub(crate) fn gateway(&self) -> &Gateway {
        match self {
            Self::Gateway(gateway) => gateway,
            _ => unreachable!("bonds begin and end at gateways"),
        }
    }

    /// The same, to change it.
    pub(crate) fn gateway_mut(&mut self) -> &mut Gateway {
        match self {
            Self::Gateway(gateway) => gateway,
            _ => unreachable!("bonds begin and end at gateways"),
        }
    }

    /// The announcer; panics for any other.
    pub(crate) fn announcer(&self) -> &Announcer {
        match self {
            Self::Announcer(announcer) => announcer,
            _ => unreachable!("broadcast ports belong to announcers"),
        }
    }

    /// The routes of a router or gateway.
    pub(crate) fn router_mut(&mut self) -> Option<&mut Router> {
        match self {
            Self::Host(_) | Self::Announcer(_) => None,
            Self::Router(router) => Some(router),
            Self::Gateway(gateway) => Some(&mut gateway.router),
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
            Self::Gateway(gateway) => gateway.handle_packet(context, id),
            Self::Announcer(announcer) => announcer.handle_packet(context, id),
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Packet>, token: u32) {
        match self {
            Self::Host(host) => host.handle_timer(context, token),
            Self::Router(_) => {}
            Self::Gateway(gateway) => gateway.handle_timer(context, token),
            Self::Announcer(announcer) => announcer.handle_timer(context, token),
        }
    }
}

//! The kinds of nodes, dispatched statically.

use super::announcer::Announcer;
use super::gateway::Gateway;
use super::host::Host;
use super::late::{Late, Punctual};
use super::packet::Packet;
use super::router::Router;
use ropewalk_sim::{Context, Node, PacketId, Port};
use ropewalk_units::Instant;

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
    /// One of them that is late with its work.
    Late(Box<Late<Self>>),
}

impl ScenarioNode {
    /// The host; panics for any other, which the plan rules out.
    pub(crate) fn host(&self) -> &Host {
        match self {
            Self::Host(host) => host,
            Self::Late(late) => late.node().host(),
            _ => unreachable!("connections end at hosts"),
        }
    }

    /// The same, to change it.
    pub(crate) fn host_mut(&mut self) -> &mut Host {
        match self {
            Self::Host(host) => host,
            Self::Late(late) => late.node_mut().host_mut(),
            _ => unreachable!("connections end at hosts"),
        }
    }
}

impl ScenarioNode {
    /// The gateway; panics for any other, which the plan rules out.
    pub(crate) fn gateway(&self) -> &Gateway {
        match self {
            Self::Gateway(gateway) => gateway,
            Self::Late(late) => late.node().gateway(),
            _ => unreachable!("bonds begin and end at gateways"),
        }
    }

    /// The same, to change it.
    pub(crate) fn gateway_mut(&mut self) -> &mut Gateway {
        match self {
            Self::Gateway(gateway) => gateway,
            Self::Late(late) => late.node_mut().gateway_mut(),
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
            Self::Late(late) => late.node_mut().router_mut(),
        }
    }

    /// The host, if it is one.
    pub(crate) fn as_host_mut(&mut self) -> Option<&mut Host> {
        match self {
            Self::Host(host) => Some(host),
            Self::Late(late) => late.node_mut().as_host_mut(),
            Self::Router(_) | Self::Gateway(_) | Self::Announcer(_) => None,
        }
    }
}

impl Punctual for ScenarioNode {
    fn handle_timer_of(&mut self, context: &mut Context<'_, Packet>, token: u32, due: Instant) {
        match self {
            Self::Host(host) => host.handle_timer(context, token, due),
            Self::Router(_) => {}
            Self::Gateway(gateway) => gateway.handle_timer(context, token, due),
            Self::Announcer(announcer) => announcer.handle_timer(context, token),
            Self::Late(late) => late.handle_timer(context, token),
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
            Self::Late(late) => late.handle_packet(context, port, id),
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Packet>, token: u32) {
        self.handle_timer_of(context, token, context.now());
    }
}

//! A router: static routes, and, if it is a middlebox, TCP options that it takes out.

use super::packet::{Body, Packet};
use crate::plan::StripPlan;
use crate::plan::router::StripFrom;
use ropewalk_sim::{Context, PacketId, Port};
use ropewalk_wire::{Flags, MptcpOptions, SackBlocks};

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
    /// Out of one of several interfaces, by the index of the group: each flow by the same.
    Shared(u32),
}

/// Forwards by destination address.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// By destination address index.
    routes: Vec<NextHop>,
    /// Interfaces of equally short ways.
    shared: Vec<Box<[Port]>>,
    /// What this router mixes into the hash of a flow: the choices of one say nothing of the next one's.
    salt: u64,
    /// TCP options that it takes out.
    strips: Option<StripPlan>,
    /// Packets without a route, or whose TTL ran out.
    pub(crate) discarded: u64,
}

impl Router {
    /// A router with these routes, which takes these options out.
    pub(crate) fn set_routes(&mut self, routes: Vec<NextHop>, strips: StripPlan) {
        self.routes = routes;
        self.strips = (!strips.is_idle()).then_some(strips);
    }

    /// Shares flows out among the interfaces of these groups, by a hash with this salt.
    pub(crate) fn share(&mut self, shared: Vec<Box<[Port]>>, salt: u64) {
        self.shared = shared;
        self.salt = salt;
    }

    /// One hop less to live, and where the packet goes; nowhere when it has none left.
    #[inline]
    pub(crate) fn next_hop(&mut self, packet: &mut Packet) -> NextHop {
        packet.ttl = packet.ttl.saturating_sub(1);
        if let Some(strips) = &self.strips {
            strip(packet, strips);
        }
        let address = packet.destination.address().0;
        let hop = self.routes.get(address).copied().unwrap_or_default();
        if packet.ttl == 0 || hop == NextHop::None {
            self.discarded += 1;
            return NextHop::None;
        }
        hop
    }

    /// The interface of a flow: the hash picks evenly (RFC 2992 §2, hash-threshold).
    #[inline]
    pub(crate) fn choose(&self, group: u32, packet: &Packet) -> Port {
        let ports = &self.shared[group as usize];
        let hash = packet.way_hash(self.salt) >> 32;
        ports[((hash * ports.len() as u64) >> 32) as usize]
    }

    /// Forwards a packet.
    #[inline]
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        match self.next_hop(context.packet_mut(id)) {
            NextHop::Port(port) => context.forward(port, id),
            NextHop::Shared(group) => {
                let port = self.choose(group, context.packet_mut(id));
                context.forward(port, id);
            }
            NextHop::None => context.drop_packet(id),
            NextHop::Bond(_) => unreachable!("bonds begin and end at gateways"),
        }
    }
}

/// Takes TCP options out of a segment.
#[cold]
fn strip(packet: &mut Packet, strips: &StripPlan) {
    let Body::Tcp(segment) = &mut packet.body else { return };
    let is_syn = segment.flags.contains(Flags::SYN);
    if (strips.from == StripFrom::Syn && !is_syn) || (strips.from == StripFrom::Established && is_syn) {
        return;
    }
    let options = &mut segment.options;
    if strips.options.mptcp {
        options.mptcp = MptcpOptions::default();
    }
    if strips.options.sack {
        options.sack_permitted = false;
        options.sack = SackBlocks::default();
    }
    if strips.options.timestamps {
        options.timestamps = None;
    }
    if strips.options.window_scale {
        options.window_scale = None;
    }
    if strips.options.mss {
        options.mss = None;
    }
}

//! A gateway: a router at which bonds begin. What it routes into a bond travels the bond's member links, each packet
//! within one of the gateway's own; what the peer sent comes out of it and is routed on.

use super::clock::Clock;
use super::packet::{Body, Bonded, Datagram, Packet, Socket};
use super::router::{NextHop, Router};
use crate::plan::ClockStep;
use ropewalk_bonding::{Class, Control, DataHeader, Endpoint, FlowKey, Keep, PathId};
use ropewalk_sim::{Context, Packet as _, PacketId, Port};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Payload;
use std::collections::VecDeque;
use std::fmt;

/// One member of a bond, as this gateway sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// This gateway's address on it.
    pub(crate) local: Socket,
    /// The peer's.
    pub(crate) remote: Socket,
    /// The interface that its packets leave by.
    pub(crate) port: Port,
}

/// Packets and their octets, without the tunnel's headers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Count {
    fn add(&mut self, len: u32) {
        self.packets += 1;
        self.bytes += u64::from(len);
    }
}

/// What a path had counted before its world began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    pub(crate) sent: Count,
    pub(crate) received: Count,
    pub(crate) lost: u64,
}

/// One end of a bond.
pub(crate) struct BondEnd {
    /// Numbers, schedules, resequences. Packets wait in the world's arena.
    pub(crate) endpoint: Endpoint<PacketId>,
    /// By path.
    pub(crate) members: Vec<Member>,
    /// How packets are treated, by code point.
    pub(crate) classes: [Class; 64],
    /// What came to this gateway for the bond.
    pub(crate) offered: Count,
    /// What came out of the bond here.
    pub(crate) delivered: Count,
    /// By path: what is not of this world.
    pub(crate) before: Vec<Before>,
    clock: Clock,
    /// By path: packets that are to leave later, and when.
    held: Vec<VecDeque<(Instant, Packet)>>,
    /// Packets that may have to be sent again.
    keep: Keep<Packet>,
    /// Packets that found every path down or full.
    pub(crate) unsent: u64,
    /// The world's time of the earliest pending timer, as in `Host`.
    armed: Instant,
}

impl fmt::Debug for BondEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BondEnd").field("members", &self.members).finish_non_exhaustive()
    }
}

impl BondEnd {
    /// An end without a timer.
    pub(crate) fn new(
        endpoint: Endpoint<PacketId>,
        clock: Clock,
        members: Vec<Member>,
        classes: [Class; 64],
    ) -> Self {
        let none = Count::default();
        let held = members.iter().map(|_| VecDeque::new()).collect();
        Self {
            endpoint,
            before: vec![Before::default(); members.len()],
            clock,
            members,
            classes,
            offered: none,
            delivered: none,
            held,
            keep: Keep::default(),
            unsent: 0,
            armed: Instant::MAX,
        }
    }

    /// Moves into a world that begins `lead` after the one in which it was until now, where its clock has these steps, and has no
    /// timer there. `before`: what its paths have counted.
    pub(crate) fn move_on(&mut self, lead: Duration, steps: &[ClockStep], before: Vec<Before>) {
        debug_assert!(self.held.iter().all(VecDeque::is_empty), "packets stay in their world");
        debug_assert_eq!(self.endpoint.resequencer().depth_packets, 0, "packets stay in their world");
        self.clock.move_on(lead, steps);
        self.before = before;
        self.armed = Instant::MAX;
    }
}

/// A router with bonds.
#[derive(Debug, Default)]
pub(crate) struct Gateway {
    /// Its routes.
    pub(crate) router: Router,
    /// Its ends of bonds; their indices are timer tokens.
    pub(crate) bonds: Vec<BondEnd>,
}

impl Gateway {
    /// A packet has arrived.
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        let packet = context.packet(id);
        let named = match &packet.body {
            Body::Bonded(bonded) => Some(bonded.header.path),
            Body::BondControl(control) => control.path(),
            Body::Tcp(_) | Body::Udp(_) => return self.route(context, id),
        };
        match self.bond_at(packet.destination, named) {
            Some((bond, path)) => self.receive(context, bond, path, id),
            None => self.route(context, id),
        }
    }

    /// A timer of a bond was due at the world's time `due`; it fires now.
    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_, Packet>, bond: u32, due: Instant) {
        let end = &mut self.bonds[bond as usize];
        if end.armed != due && end.armed != Instant::MAX {
            return;
        }
        let now = end.clock.read(context.now());
        end.armed = Instant::MAX;
        if end.endpoint.poll_timeout().is_some_and(|(at, _)| at <= now) {
            end.endpoint.handle_timeout(now);
        }
        self.drive(context, bond);
    }

    /// The bond and the path with this own address; of several paths that end on one interface, the one that the
    /// packet names.
    fn bond_at(&self, local: Socket, named: Option<PathId>) -> Option<(u32, PathId)> {
        self.bonds.iter().enumerate().find_map(|(bond, end)| {
            let is_at = |member: &Member| member.local == local;
            let named = named.filter(|path| end.members.get(path.index()).is_some_and(is_at));
            let first = || end.members.iter().position(is_at).map(|path| PathId(path as u8));
            named.or_else(first).map(|path| (bond as u32, path))
        })
    }

    fn route(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        match self.router.next_hop(context.packet_mut(id)) {
            NextHop::None => context.drop_packet(id),
            NextHop::Port(port) => context.forward(port, id),
            NextHop::Bond(bond) => self.send(context, bond, id),
        }
    }

    /// Ingress: the bond says by which paths the packet goes.
    fn send(&mut self, context: &mut Context<'_, Packet>, bond: u32, id: PacketId) {
        let end = &mut self.bonds[bond as usize];
        let now = end.clock.read(context.now());
        let packet = context.packet(id);
        let flow = FlowKey { hash: packet.flow_hash(), class: end.classes[usize::from(packet.dscp & 63)] };
        let len = packet.wire_len();
        end.offered.add(len);
        let dispatch = end.endpoint.ingress(now, len, flow);
        if dispatch.is_empty() {
            end.unsent += 1;
            context.drop_packet(id);
            return self.drive(context, bond);
        }
        if let Some(number) = dispatch.kept_as() {
            end.keep.put(number, context.packet(id).duplicate());
        }
        let last = dispatch.len() - 1;
        for (copy, (path, header)) in dispatch.iter().enumerate() {
            let inner = if copy < last { context.packet(id).duplicate() } else { context.take(id) };
            let packet = encapsulate(end.members[path.index()], &header, inner);
            let departure = dispatch.departure(path);
            let is_late = departure > now || !end.held[path.index()].is_empty();
            if is_late {
                end.held[path.index()].push_back((departure, packet));
            } else {
                context.send(end.members[path.index()].port, packet);
            }
        }
        self.drive(context, bond);
    }

    /// Egress.
    fn receive(&mut self, context: &mut Context<'_, Packet>, bond: u32, path: PathId, id: PacketId) {
        let end = &mut self.bonds[bond as usize];
        let now = end.clock.read(context.now());
        let slot = context.packet_mut(id);
        match std::mem::replace(&mut slot.body, hollow()) {
            Body::Bonded(bonded) => {
                let Bonded { header, inner } = *bonded;
                let len = inner.wire_len();
                *slot = inner;
                if end.endpoint.handle_data(now, path, &header, len, id).is_err() {
                    context.drop_packet(id);
                }
            }
            Body::BondControl(control) => {
                end.endpoint.handle_control(now, path, &control);
                context.drop_packet(id);
            }
            Body::Tcp(_) | Body::Udp(_) => unreachable!("a member carries only its bond's packets"),
        }
        self.drive(context, bond);
    }

    /// Everything that follows an input.
    fn drive(&mut self, context: &mut Context<'_, Packet>, bond: u32) {
        let index = bond as usize;
        let now = self.bonds[index].clock.read(context.now());
        while let Some(id) = self.bonds[index].endpoint.poll_deliver(now) {
            self.bonds[index].delivered.add(context.packet(id).wire_len());
            self.route(context, id);
        }
        let end = &mut self.bonds[index];
        while let Some((path, control)) = end.endpoint.poll_transmit(now) {
            let member = end.members[path.index()];
            context.send(member.port, control_packet(member, control));
        }
        while end.endpoint.poll_event().is_some() {}
        while let Some((path, header)) = end.endpoint.poll_repair(now) {
            let Some(inner) = end.keep.get(header.global_seq) else { continue };
            let member = end.members[path.index()];
            context.send(member.port, encapsulate(member, &header, inner.duplicate()));
        }
        for (held, member) in end.held.iter_mut().zip(&end.members) {
            while held.front().is_some_and(|(departure, _)| *departure <= now)
                && let Some((_, packet)) = held.pop_front()
            {
                context.send(member.port, packet);
            }
        }
        let timer = end.endpoint.poll_timeout().map_or(Instant::MAX, |(at, _)| at);
        let departures = end.held.iter().filter_map(|held| held.front()).map(|(departure, _)| *departure);
        let at = departures.fold(timer, Instant::min);
        if at != Instant::MAX {
            let fires = end.clock.fires(context.now(), at);
            if fires < end.armed {
                end.armed = fires;
                context.set_timer(fires, bond);
            }
        }
    }
}

/// What stands for a body while it is unpacked.
fn hollow() -> Body {
    Body::Udp(Datagram { number: 0, sent: Instant::ZERO, payload: Payload { offset: 0, len: 0 } })
}

fn control_packet(member: Member, control: Control) -> Packet {
    Packet::new(member.local, member.remote, Body::BondControl(Box::new(control)))
}

fn encapsulate(member: Member, header: &DataHeader, inner: Packet) -> Packet {
    let dscp = inner.dscp;
    let bonded = Bonded { header: *header, inner };
    Packet::new(member.local, member.remote, Body::Bonded(Box::new(bonded))).with_dscp(dscp)
}

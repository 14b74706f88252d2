//! A gateway: a router at which bonds begin. What it routes into a bond travels the bond's member links, each packet
//! within one of the gateway's own; what the peer sent comes out of it and is routed on.

use super::clock::Clock;
use super::packet::{Body, Bonded, Packet, Socket};
use super::router::{NextHop, Router};
use super::trace::{Bound, MaybeTrace};
use crate::plan::ClockStep;
use ropewalk_bonding::{Class, Datagram, Endpoint, FlowKey, PathId, Payload as BondPayload, Transmission};
use ropewalk_sim::{self as sim, Context, Packet as _, PacketId, Port};
use ropewalk_units::{Duration, Instant};
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
pub(crate) struct Baseline {
    pub(crate) sent: Count,
    pub(crate) received: Count,
    pub(crate) lost: u64,
}

/// One end of a bond.
pub(crate) struct BondEnd {
    /// Queues, schedules, numbers, resequences.
    pub(crate) endpoint: Endpoint<Packet>,
    /// By path.
    pub(crate) members: Vec<Member>,
    /// How packets are treated, by code point.
    pub(crate) classes: [Class; 64],
    /// What came to this gateway for the bond.
    pub(crate) offered: Count,
    /// What came out of the bond here.
    pub(crate) delivered: Count,
    /// By path: what is not of this world.
    pub(crate) baseline: Vec<Baseline>,
    /// What happens, if anybody wants to know.
    pub(crate) trace: MaybeTrace,
    clock: Clock,
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
        endpoint: Endpoint<Packet>,
        clock: Clock,
        members: Vec<Member>,
        classes: [Class; 64],
    ) -> Self {
        let none = Count::default();
        Self {
            endpoint,
            baseline: vec![Baseline::default(); members.len()],
            trace: None,
            clock,
            members,
            classes,
            offered: none,
            delivered: none,
            armed: Instant::MAX,
        }
    }

    /// Notes why a packet goes by a path. Its sequence of events is emptied often enough to lose none.
    #[cold]
    fn note_sent(&mut self, now: Instant, path: PathId, datagram: &Datagram<Packet>) {
        let reason = self.endpoint.last_reason();
        if let (Some(trace), Datagram::Data(header, packet)) = (&mut self.trace, datagram) {
            let why = match header.transmission {
                Transmission::Repair => Bound::Repair,
                Transmission::First | Transmission::Only => Bound::First(reason),
            };
            trace.bound(now, path, sim::Packet::wire_len(packet), why);
        }
        self.note_events(now);
    }

    fn note_events(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.poll_event() {
            if let Some(trace) = &mut self.trace {
                trace.bond(now, event);
            }
        }
    }

    /// Moves into a world that begins `lead` after the one in which it was until now, where its clock has these steps, and has no
    /// timer there. `baseline`: what its paths have counted.
    pub(crate) fn move_on(&mut self, lead: Duration, steps: &[ClockStep], baseline: Vec<Baseline>) {
        debug_assert_eq!(self.endpoint.resequencer().depth_packets, 0, "packets stay in their world");
        self.clock.move_on(lead, steps);
        self.baseline = baseline;
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
            NextHop::Shared(group) => {
                let port = self.router.choose(group, context.packet_mut(id));
                context.forward(port, id);
            }
            NextHop::Bond(bond) => {
                let packet = context.take(id);
                self.send(context, bond, packet);
            }
        }
    }

    /// What came out of a bond goes on its way.
    fn route_delivered(&mut self, context: &mut Context<'_, Packet>, mut packet: Packet) {
        match self.router.next_hop(&mut packet) {
            NextHop::None => {}
            NextHop::Port(port) => context.send(port, packet),
            NextHop::Shared(group) => {
                let port = self.router.choose(group, &packet);
                context.send(port, packet);
            }
            NextHop::Bond(bond) => self.send(context, bond, packet),
        }
    }

    /// Ingress.
    fn send(&mut self, context: &mut Context<'_, Packet>, bond: u32, packet: Packet) {
        let end = &mut self.bonds[bond as usize];
        let now = end.clock.read(context.now());
        let flow = FlowKey {
            hash: packet.flow_hash(),
            class: end.classes[usize::from(packet.dscp & 63)],
            opens: packet.opens(),
            is_ack: packet.is_ack(),
        };
        end.offered.add(sim::Packet::wire_len(&packet));
        end.endpoint.handle_packet(now, packet, flow);
        self.drive(context, bond);
    }

    /// Egress.
    fn receive(&mut self, context: &mut Context<'_, Packet>, bond: u32, path: PathId, id: PacketId) {
        let end = &mut self.bonds[bond as usize];
        let now = end.clock.read(context.now());
        let datagram = match context.take(id).body {
            Body::Bonded(bonded) => Datagram::Data(bonded.header, bonded.inner),
            Body::BondControl(control) => Datagram::Control(*control),
            Body::Tcp(_) | Body::Udp(_) => unreachable!("a member carries only its bond's packets"),
        };
        // What is refused is a copy, or too late: it is gone.
        let _refusal = end.endpoint.handle_datagram(now, path, datagram);
        self.drive(context, bond);
    }

    /// Everything that follows an input.
    fn drive(&mut self, context: &mut Context<'_, Packet>, bond: u32) {
        let index = bond as usize;
        let now = self.bonds[index].clock.read(context.now());
        while let Some(packet) = self.bonds[index].endpoint.poll_deliver(now) {
            self.bonds[index].delivered.add(sim::Packet::wire_len(&packet));
            self.route_delivered(context, packet);
        }
        let end = &mut self.bonds[index];
        while let Some((path, datagram)) = end.endpoint.poll_transmit(now) {
            if end.trace.is_some() {
                end.note_sent(context.now(), path, &datagram);
            }
            let member = end.members[path.index()];
            context.send(member.port, member.wrap(datagram));
        }
        end.note_events(context.now());
        let Some((at, _)) = end.endpoint.poll_timeout() else { return };
        let fires = end.clock.fires(context.now(), at);
        if at != Instant::MAX && fires < end.armed {
            end.armed = fires;
            context.set_timer(fires, bond);
        }
    }
}

impl Member {
    /// A datagram in the tunnel's headers. Its code point is that of the packet inside (RFC 2983 §4.1, the uniform model).
    fn wrap(self, datagram: Datagram<Packet>) -> Packet {
        let (body, dscp) = match datagram {
            Datagram::Data(header, inner) => {
                let dscp = inner.dscp;
                (Body::Bonded(Box::new(Bonded { header, inner })), dscp)
            }
            Datagram::Control(control) => (Body::BondControl(Box::new(control)), 0),
        };
        Packet::new(self.local, self.remote, body).with_dscp(dscp)
    }
}

impl BondPayload for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        sim::Packet::wire_len(self)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn mark_ce(&mut self) -> bool {
        let is_capable = sim::Packet::ecn_capable(self);
        if is_capable {
            sim::Packet::mark_ce(self);
        }
        is_capable
    }

    fn supersedes(&self, earlier: &Self) -> bool {
        match (&self.body, &earlier.body) {
            (Body::Tcp(own), Body::Tcp(before)) => {
                own.supersedes(before)
                    && (self.source, self.destination) == (earlier.source, earlier.destination)
            }
            _ => false,
        }
    }
}

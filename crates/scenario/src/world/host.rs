//! A host: interfaces, endpoints, and which endpoint takes a packet.

use super::addresses::{AddressBook, EndPath};
use super::blackhole::Blackhole;
use super::datagrams::UdpSender;
use super::endpoint::{Interfaces, StreamEndpoint, Unexpected};
use super::packet::{Body, Datagram, Packet};
use super::ports::PortTable;
use super::shared_ports::{SHARED, SharedPorts};
use super::transport::Transport;
use crate::application::{Datagrams, Received};
use crate::plan::AddressIndex;
use ropewalk_host::{Identity, reset_for};
use ropewalk_sim::{Context, PacketId, Port, Stream};
use ropewalk_units::Instant;
use std::sync::Arc;

/// An endpoint of any protocol.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "endpoints live in a Vec and are never moved per packet")]
pub(crate) enum Endpoint {
    /// TCP or Multipath TCP.
    Stream(StreamEndpoint),
    /// Sends datagrams.
    UdpSender(UdpSender),
    /// Receives datagrams, on this local port.
    UdpReceiver(u16, Datagrams),
}

impl Endpoint {
    #[inline]
    fn deadline(&self) -> Instant {
        match self {
            Self::Stream(endpoint) => endpoint.deadline(),
            Self::UdpSender(sender) => sender.due.deadline().unwrap_or(Instant::MAX),
            Self::UdpReceiver(..) => Instant::MAX,
        }
    }
}

/// An endpoint and the timer that is pending for it in the event queue.
#[derive(Debug)]
struct Slot {
    endpoint: Endpoint,
    /// Time of the earliest pending timer; [`Instant::MAX`] when none is. Timers are never cancelled: one
    /// that fires at another time than this is stale.
    armed: Instant,
}

/// A host with its endpoints.
#[derive(Debug)]
pub(crate) struct Host {
    interfaces: Interfaces,
    slots: Vec<Slot>,
    by_port: PortTable,
    shared_ports: SharedPorts,
    blackhole: Blackhole,
    /// Packets for addresses that are not this host's.
    pub(crate) misrouted: u64,
}

impl Host {
    /// A host without endpoints; `secret` draws what its initial sequence numbers are made with.
    pub(crate) fn new(book: Arc<AddressBook>, mut secret: Stream) -> Self {
        let interfaces = Interfaces::new(book, Identity::new([secret.next_u64(), secret.next_u64()]));
        Self {
            interfaces,
            slots: Vec::new(),
            by_port: PortTable::default(),
            shared_ports: SharedPorts::default(),
            blackhole: Blackhole::default(),
            misrouted: 0,
        }
    }

    /// Adds an interface.
    pub(crate) fn add_interface(&mut self, address: AddressIndex, port: Port) {
        self.interfaces.add(address, port);
    }

    /// The interface with this address.
    pub(crate) fn interface(&self, address: AddressIndex) -> Option<Port> {
        self.interfaces.port(address)
    }

    /// Adds an endpoint; returns its timer token and when it wants its first timer.
    pub(crate) fn add_endpoint(&mut self, endpoint: Endpoint) -> (u32, Option<Instant>) {
        let index = self.slots.len() as u32;
        let first = endpoint.deadline();
        let port = match &endpoint {
            Endpoint::Stream(endpoint) => endpoint.first_port(),
            Endpoint::UdpSender(sender) => sender.tuple.local.port(),
            Endpoint::UdpReceiver(port, _) => *port,
        };
        if let Endpoint::Stream(endpoint) = &endpoint {
            for port in endpoint.shared_ports() {
                self.shared_ports.add(port, index);
            }
        }
        self.slots.push(Slot { endpoint, armed: first });
        self.by_port.insert(port, index);
        (index, (first != Instant::MAX).then_some(first))
    }

    /// Keeps a port for endpoints that connections share.
    pub(crate) fn reserve(&mut self, port: u16) {
        self.by_port.insert(port, SHARED);
    }

    /// The endpoint with this index.
    pub(crate) fn endpoint(&self, index: u32) -> &Endpoint {
        &self.slots[index as usize].endpoint
    }

    /// The same, to change it.
    pub(crate) fn endpoint_mut(&mut self, index: u32) -> &mut Endpoint {
        &mut self.slots[index as usize].endpoint
    }

    /// The endpoint that has a local port for itself.
    pub(crate) fn endpoint_at(&self, port: u16) -> Option<u32> {
        let index = self.by_port.get(port);
        ((index as usize) < self.slots.len()).then_some(index)
    }

    /// The first local port from `first` on that nobody has; `None` when all are taken.
    pub(crate) fn free_port(&self, first: u16) -> Option<u16> {
        self.by_port.free_from(first)
    }

    /// Notes what an endpoint has learnt of the way, opens the subflows that it wants, and sends what follows from it.
    #[cold]
    fn serve_endpoint(&mut self, context: &mut Context<'_, Packet>, index: u32) {
        if let Endpoint::Stream(endpoint) = &mut self.slots[index as usize].endpoint {
            if let Some(way) = endpoint.take_way() {
                self.blackhole.learn(context.now(), way);
            }
            let ports = &mut self.by_port;
            endpoint.open_wanted(context.now(), &self.interfaces, || ports.claim(index));
        }
        self.drive(context, index);
    }

    /// A packet has arrived. It is read where it lies, and dropped before anything is sent.
    #[inline]
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, port: Port, id: PacketId) {
        let (now, packet) = (context.now(), context.packet(id));
        let index = self.by_port.get(packet.destination.port());
        let Body::Tcp(segment) = &packet.body else { return self.handle_other(context, port, id, index) };
        if !self.interfaces.own(packet.destination.address(), port) {
            return self.misroute(context, id);
        }
        let path = EndPath { local: packet.destination, remote: packet.source };
        let Some(Slot { endpoint: Endpoint::Stream(endpoint), armed }) = self.slots.get_mut(index as usize)
        else {
            return self.handle_at_shared_port(context, port, id, path);
        };
        if let Err(unexpected) = endpoint.handle_segment(now, (path, port), segment, &mut self.interfaces) {
            return refuse(context, port, id, path, unexpected);
        }
        context.drop_packet(id);
        let wants = endpoint.drive(context, &self.interfaces).0;
        arm(armed, endpoint.deadline(), context, index);
        if wants {
            self.serve_endpoint(context, index);
        }
    }

    /// A segment for a port that is not one connection's own: connections share it, or it is not open.
    #[cold]
    fn handle_at_shared_port(
        &mut self,
        context: &mut Context<'_, Packet>,
        port: Port,
        id: PacketId,
        path: EndPath,
    ) {
        let (now, packet) = (context.now(), context.packet(id));
        let Body::Tcp(segment) = &packet.body else { return };
        let (mut taken, mut why) = (None, Unexpected(None));
        for index in
            self.shared_ports.owner(path).into_iter().chain(self.shared_ports.listeners(path.local.port()))
        {
            let Some(Slot { endpoint: Endpoint::Stream(endpoint), .. }) = self.slots.get_mut(index as usize)
            else {
                continue;
            };
            match endpoint.handle_at_shared_port(now, path, segment, &mut self.interfaces) {
                Ok(()) => {
                    taken = Some(index);
                    break;
                }
                Err(Unexpected(None)) => {}
                Err(refused) => why = refused,
            }
        }
        let Some(index) = taken else { return refuse(context, port, id, path, why) };
        self.shared_ports.bind(path, index);
        context.drop_packet(id);
        self.drive(context, index);
    }

    /// A packet that is no segment.
    #[inline(never)]
    fn handle_other(&mut self, context: &mut Context<'_, Packet>, port: Port, id: PacketId, index: u32) {
        let (now, packet) = (context.now(), context.packet(id));
        let Body::Udp(datagram) = &packet.body else {
            // A gateway's packets never go to a host.
            return self.misroute(context, id);
        };
        if !self.interfaces.own(packet.destination.address(), port) {
            return self.misroute(context, id);
        }
        if let Some(Slot { endpoint: Endpoint::UdpReceiver(_, receiver), .. }) =
            self.slots.get_mut(index as usize)
        {
            let &Datagram { number, sent, payload } = datagram;
            receiver.receive(now, Received { number, sent, payload });
        }
        context.drop_packet(id);
    }

    #[cold]
    fn misroute(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        self.misrouted += 1;
        context.drop_packet(id);
    }

    /// A timer was due at `due`; it fires now.
    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_, Packet>, index: u32, due: Instant) {
        let now = context.now();
        let slot = &mut self.slots[index as usize];
        if slot.armed != due {
            return;
        }
        slot.armed = Instant::MAX;
        if let Endpoint::Stream(endpoint) = &mut slot.endpoint {
            if let Transport::Waiting = endpoint.transport {
                endpoint.open(now, &mut self.interfaces, self.blackhole);
            } else if endpoint.transport.deadline() <= now {
                endpoint.transport.handle_timeout(now);
            }
        }
        self.drive(context, index);
    }

    #[inline(never)]
    fn drive(&mut self, context: &mut Context<'_, Packet>, index: u32) {
        let slot = &mut self.slots[index as usize];
        let wants = match &mut slot.endpoint {
            Endpoint::Stream(endpoint) => endpoint.drive(context, &self.interfaces).0,
            Endpoint::UdpSender(sender) => {
                while let Some(packet) = sender.poll_transmit(context.now()) {
                    context.send(sender.tuple.port, packet);
                }
                false
            }
            Endpoint::UdpReceiver(..) => false,
        };
        arm(&mut slot.armed, slot.endpoint.deadline(), context, index);
        if wants {
            self.serve_endpoint(context, index);
        }
    }
}

/// Sets a timer for the endpoint if none is pending that fires early enough.
#[inline]
fn arm(armed: &mut Instant, deadline: Instant, context: &mut Context<'_, Packet>, index: u32) {
    if deadline < *armed {
        // A deadline in the past would stop time; the transport gets its chance at once.
        let at = deadline.max(context.now());
        *armed = at;
        context.set_timer(at, index);
    }
}

/// Drops a segment that nobody expects, and answers it.
#[cold]
fn refuse(context: &mut Context<'_, Packet>, port: Port, id: PacketId, path: EndPath, why: Unexpected) {
    let reset = match &context.packet(id).body {
        Body::Tcp(segment) => reset_for(segment, why.0),
        _ => None,
    };
    context.drop_packet(id);
    if let Some(reset) = reset {
        context.send(port, Packet::new(path.local, path.remote, Body::Tcp(reset)));
    }
}

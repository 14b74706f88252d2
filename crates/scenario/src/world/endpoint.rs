//! One end of one connection of the scenario: its transport, its application, and its one timer.

use super::addresses::{AddressBook, EndPath};
use super::blackhole::{Blackhole, Way};
use super::packet::Packet;
use super::trace::{MaybeTrace, Trace};
use super::transport::{FourTuple, MptcpStream, Opening, TcpStream, Transport};
use crate::application::{Sink, Source, Writer};
use crate::plan::{AddressIndex, EventKinds, Protocol};
use ropewalk_host::Identity;
use ropewalk_mptcp as mptcp;
use ropewalk_sim::{Context, Port, Stream};
use ropewalk_tcp as tcp;
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Payload, Segment};
use std::sync::Arc;

/// A segment that nobody expects; a refused MP_JOIN has a reason, which the RST tells (RFC 8684 §3.2).
pub(crate) struct Unexpected(pub(crate) Option<mptcp::Refusal>);

/// One end of a TCP or Multipath TCP connection.
#[derive(Debug)]
// In this order in memory: what every packet needs, and then what only some do.
#[repr(C)]
pub(crate) struct StreamEndpoint {
    /// Code point of its packets.
    pub(crate) dscp: u8,
    pub(crate) sink: Sink,
    pub(crate) source: Source,
    pub(crate) transport: Transport,
    pub(crate) protocol: Arc<Protocol>,
    /// In the scenario's order; the first carries the initial subflow.
    pub(crate) paths: Vec<EndPath>,
    /// When a client opens the connection.
    pub(crate) start: Instant,
    /// Why the connection failed, if it did.
    pub(crate) error: Option<String>,
    /// Keys.
    pub(crate) randomness: Stream,
    /// What happens, if anybody wants to know.
    pub(crate) trace: MaybeTrace,
}

/// What the endpoint knows of the host it lives on.
#[derive(Debug)]
pub(crate) struct Interfaces {
    /// Outgoing interface by local address.
    ports: Vec<(AddressIndex, Port)>,
    book: Arc<AddressBook>,
    identity: Identity,
}

impl Interfaces {
    /// None yet.
    pub(crate) fn new(book: Arc<AddressBook>, identity: Identity) -> Self {
        Self { ports: Vec::new(), book, identity }
    }

    /// Adds one.
    pub(crate) fn add(&mut self, address: AddressIndex, port: Port) {
        self.ports.push((address, port));
    }

    /// Is this one of the host's addresses? Nearly always it is that of the interface by which the packet came.
    #[inline]
    pub(crate) fn own(&self, address: AddressIndex, by: Port) -> bool {
        let is_it = |(own, _): &(AddressIndex, Port)| *own == address;
        self.ports.get(by.0 as usize).is_some_and(is_it) || self.ports.iter().any(is_it)
    }

    /// The interface with this address.
    pub(crate) fn port(&self, address: AddressIndex) -> Option<Port> {
        self.ports.iter().find(|(own, _)| *own == address).map(|(_, port)| *port)
    }

    /// The initial sequence number of a new connection or subflow between these ends.
    fn initial_sequence(&self, now: Instant, path: EndPath) -> Seq {
        self.identity.initial_sequence(now, self.book.socket(path.local), self.book.socket(path.remote))
    }

    fn tuple(&self, path: EndPath) -> FourTuple {
        let port = self.port(path.local.address());
        let port = port.expect("a host opens subflows from its own addresses only");
        FourTuple { local: path.local, remote: path.remote, port }
    }
}

impl StreamEndpoint {
    /// Notes these kinds of events from now on. To be called before the connection is there.
    pub(crate) fn trace(&mut self, kinds: EventKinds) {
        self.protocol = Arc::new(self.protocol.traced());
        self.trace = Some(Trace::new(kinds));
    }

    /// Opens the connection from the client's side.
    #[cold]
    pub(crate) fn open(&mut self, now: Instant, host: &mut Interfaces, blackhole: Blackhole) {
        let iss = host.initial_sequence(now, self.paths[0]);
        self.transport = match &*self.protocol {
            Protocol::Tcp(config) => {
                let connection = tcp::Connection::connect(Arc::clone(config), iss, now);
                Transport::Tcp(TcpStream::new(connection, host.tuple(self.paths[0])))
            }
            Protocol::Mptcp(config) => {
                let paths = self.paths.iter().map(|path| host.book.mptcp_path(*path)).collect();
                let secret = host.identity.secret(|| secret(&mut self.randomness));
                let connecting = mptcp::Connecting { paths, iss, secret };
                let mut connection = mptcp::Connection::connect((**config).clone(), connecting, now);
                if blackhole.avoids(now, config.blackhole_timeout) {
                    connection.avoid_blackhole();
                }
                Transport::Mptcp(MptcpStream::new(connection, self.paths[0].local.port(), Opening::Active))
            }
            Protocol::Udp => unreachable!("UDP has endpoints of its own"),
        };
    }

    /// Accepts a connection on the server's side.
    #[cold]
    fn accept(&mut self, now: Instant, path: EndPath, syn: &Segment, host: &mut Interfaces) {
        let iss = host.initial_sequence(now, path);
        self.transport = match &*self.protocol {
            Protocol::Tcp(config) => {
                let connection = tcp::Connection::accept(Arc::clone(config), syn, iss, now);
                Transport::Tcp(TcpStream::new(connection, host.tuple(path)))
            }
            Protocol::Mptcp(config) => {
                let local_addresses = self.paths.iter().map(|path| host.book.socket(path.local)).collect();
                let secret = host.identity.secret(|| secret(&mut self.randomness));
                let port = path.local.port();
                let path = host.book.mptcp_path(path);
                let accepting = mptcp::Accepting { path, local_addresses, iss, secret };
                let connection = mptcp::Connection::accept((**config).clone(), accepting, syn, now);
                Transport::Mptcp(MptcpStream::new(connection, port, Opening::Passive))
            }
            Protocol::Udp => unreachable!("UDP has endpoints of its own"),
        };
    }

    /// Takes a segment that came by a port from the network, or says how it is answered with a RST.
    #[inline(always)]
    pub(crate) fn handle_segment(
        &mut self,
        now: Instant,
        (path, by): (EndPath, Port),
        segment: &Segment,
        host: &mut Interfaces,
    ) -> Result<(), Unexpected> {
        use ropewalk_wire::Flags;
        let opens = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        match &mut self.transport {
            Transport::Waiting => return Err(Unexpected(None)),
            // RFC 8684 §3.2: there is no connection yet that it could join.
            Transport::Listening if opens && mptcp::is_join(segment) && self.protocol.is_multipath() => {
                return Err(Unexpected(Some(mptcp::Refusal::UNKNOWN)));
            }
            Transport::Listening if opens => self.accept(now, path, segment, host),
            Transport::Listening => return Err(Unexpected(None)),
            Transport::Tcp(stream) if stream.tuple.remote == path.remote => {
                stream.connection.handle_segment(now, segment);
            }
            Transport::Tcp(_) => return Err(Unexpected(None)),
            Transport::Mptcp(stream) => match stream.subflow_by(by, path) {
                Some(subflow) => stream.connection.handle_segment(now, subflow, segment),
                None if opens && stream.opening == Opening::Passive && mptcp::is_join(segment) => {
                    return stream.join(now, path, segment, host);
                }
                None => return Err(Unexpected(None)),
            },
        }
        Ok(())
    }

    /// The same for a segment at a port of `ip mptcp endpoint`, which takes subflows of the connection and nothing else.
    #[cold]
    pub(crate) fn handle_at_shared_port(
        &mut self,
        now: Instant,
        path: EndPath,
        segment: &Segment,
        host: &mut Interfaces,
    ) -> Result<(), Unexpected> {
        use ropewalk_wire::Flags;
        let Transport::Mptcp(stream) = &mut self.transport else { return Err(Unexpected(None)) };
        if let Some(subflow) = stream.subflow(path.local, path.remote) {
            stream.connection.handle_segment(now, subflow, segment);
            return Ok(());
        }
        let opens = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        if opens && mptcp::is_join(segment) && stream.connection.listens_at(host.book.socket(path.local)) {
            return stream.join(now, path, segment, host);
        }
        Err(Unexpected(None))
    }

    /// The ports of `ip mptcp endpoint` at which it may be joined.
    pub(crate) fn shared_ports(&self) -> impl Iterator<Item = u16> {
        let kernel = match &*self.protocol {
            Protocol::Mptcp(config) => match &config.path_manager {
                mptcp::PathManager::Kernel { client, server } => {
                    Some(if matches!(self.transport, Transport::Waiting) { client } else { server })
                }
                _ => None,
            },
            _ => None,
        };
        kernel.into_iter().flat_map(mptcp::KernelHost::ports)
    }

    /// Opens the subflows that are wanted, each from a port of this endpoint that is free for it, or else from a new one
    /// of the host. No two subflows of a host ever share a 4-tuple: a port is one endpoint's.
    #[cold]
    pub(crate) fn open_wanted(
        &mut self,
        now: Instant,
        host: &Interfaces,
        mut claim: impl FnMut() -> Option<u16>,
    ) {
        let Transport::Mptcp(stream) = &mut self.transport else { return };
        while let Some(wanted) = stream.wanted.pop_front() {
            let EndPath { local, remote } = host.book.end_path(wanted.path);
            let port = stream.free_port(now, local, remote).or_else(|| {
                let port = claim()?;
                stream.ports.add(port);
                Some(port)
            });
            let from = port.map(|port| {
                let local = local.with_port(port);
                (port, host.initial_sequence(now, EndPath { local, remote }))
            });
            stream.connection.open_subflow(now, wanted, from);
            // Its 4-tuple is taken before the next one looks for a port.
            stream.process_events(now, &mut Notes { error: &mut self.error, trace: &mut self.trace }, host);
        }
    }

    /// What the connection's handshake says of the way, if it has not been said.
    pub(crate) fn take_way(&mut self) -> Option<Way> {
        match &mut self.transport {
            Transport::Mptcp(stream) => stream.way.take(),
            _ => None,
        }
    }

    /// Everything that follows an input: events, reading, writing, sending. Returns whether the host is wanted.
    #[inline(always)]
    pub(crate) fn drive(&mut self, context: &mut Context<'_, Packet>, host: &Interfaces) -> Wants {
        let Self { transport, source, sink, error, dscp, trace, .. } = self;
        let mut driver = Driver { source, sink, notes: Notes { error, trace }, dscp: *dscp, host };
        match transport {
            Transport::Waiting | Transport::Listening => Wants(false),
            Transport::Tcp(stream) => driver.drive(context, stream),
            Transport::Mptcp(stream) => driver.drive(context, stream),
        }
    }

    /// The earliest time at which something happens without a packet; [`Instant::MAX`] if nothing will.
    #[inline(always)]
    pub(crate) fn deadline(&self) -> Instant {
        match self.transport {
            Transport::Waiting => self.start,
            // It has nobody to write to.
            Transport::Listening => Instant::MAX,
            _ => self.transport.deadline().min(self.source.deadline().unwrap_or(Instant::MAX)),
        }
    }

    /// Its local port before any subflow is opened.
    pub(crate) fn first_port(&self) -> u16 {
        self.paths[0].local.port()
    }
}

/// Does the connection want its host: for subflows, whose ports are the host's to give, or to tell it something?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wants(pub(crate) bool);

/// Where it is noted what happens.
struct Notes<'a> {
    error: &'a mut Option<String>,
    trace: &'a mut MaybeTrace,
}

/// Drives a transport: what its endpoint reads, writes and sends.
struct Driver<'a> {
    source: &'a mut Source,
    sink: &'a mut Sink,
    notes: Notes<'a>,
    dscp: u8,
    host: &'a Interfaces,
}

impl Driver<'_> {
    #[inline(always)]
    fn drive<F: Flow>(&mut self, context: &mut Context<'_, Packet>, flow: &mut F) -> Wants {
        let now = context.now();
        let mut wants = Wants(flow.has_events() && flow.process_events(now, &mut self.notes, self.host).0);
        while let Some(payload) = flow.read() {
            self.sink.process(now, payload);
        }
        if flow.peer_finished() {
            self.sink.finish(now);
        }
        self.source.pump(now, self.sink, flow);
        while flow.wants_to_transmit() {
            let packet = context.place().get_or_insert_with(Packet::blank);
            let Some(tuple) = flow.transmit(now, packet.segment_to_write()) else { break };
            packet.address(tuple.local, tuple.remote, self.dscp);
            let port = tuple.port;
            context.send_placed(port);
        }
        wants.0 |= flow.has_events() && flow.process_events(now, &mut self.notes, self.host).0;
        wants
    }
}

/// What driving an endpoint asks of its transport.
trait Flow: Writer {
    /// Did something happen?
    fn has_events(&self) -> bool;
    /// Takes note of what happened.
    fn process_events(&mut self, now: Instant, notes: &mut Notes<'_>, host: &Interfaces) -> Wants;
    /// The next octets in order.
    fn read(&mut self) -> Option<Payload>;
    /// Has the end of the stream been read?
    fn peer_finished(&self) -> bool;
    /// May there be a segment to send?
    fn wants_to_transmit(&self) -> bool;
    /// Writes the next segment to send, and says where it goes.
    fn transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<&FourTuple>;
}

impl Flow for TcpStream {
    #[inline]
    fn has_events(&self) -> bool {
        self.connection.has_events()
    }

    #[cold]
    fn process_events(&mut self, now: Instant, notes: &mut Notes<'_>, _: &Interfaces) -> Wants {
        while let Some(event) = self.connection.poll_event() {
            if let Some(trace) = notes.trace {
                trace.tcp(now, event);
            }
            process_tcp_event(notes.error, event);
        }
        Wants(false)
    }

    #[inline]
    fn read(&mut self) -> Option<Payload> {
        self.connection.read(u64::MAX).map(|received| received.payload)
    }

    #[inline]
    fn peer_finished(&self) -> bool {
        self.connection.peer_finished()
    }

    #[inline(always)]
    fn wants_to_transmit(&self) -> bool {
        self.connection.wants_to_transmit()
    }

    #[inline]
    fn transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<&FourTuple> {
        self.connection.transmit(now, segment).then_some(&self.tuple)
    }
}

impl MptcpStream {
    /// Takes a SYN with MP_JOIN.
    #[cold]
    fn join(
        &mut self,
        now: Instant,
        path: EndPath,
        syn: &Segment,
        host: &Interfaces,
    ) -> Result<(), Unexpected> {
        let iss = host.initial_sequence(now, path);
        let path = host.book.mptcp_path(path);
        let joined = self.connection.accept_join(now, path, syn, iss);
        joined.map(drop).map_err(|refusal| Unexpected(Some(refusal)))
    }
}

impl Flow for MptcpStream {
    #[inline]
    fn has_events(&self) -> bool {
        self.connection.has_events()
    }

    #[cold]
    fn process_events(&mut self, now: Instant, notes: &mut Notes<'_>, host: &Interfaces) -> Wants {
        while let Some(event) = self.connection.poll_event() {
            if let Some(trace) = notes.trace {
                trace.mptcp(now, &event);
            }
            match event {
                mptcp::Event::SubflowWanted(wanted) => self.wanted.push_back(wanted),
                mptcp::Event::Established
                    if self.opening == Opening::Active && !self.connection.is_fallen_back() =>
                {
                    self.way = Some(Way::PassesCapable);
                }
                mptcp::Event::FellBack(mptcp::FallbackReason::Blackhole) => {
                    self.way = Some(Way::LosesCapable);
                }
                mptcp::Event::SubflowCreated { id, path } => {
                    self.subflow_created(id, host.tuple(host.book.end_path(path)));
                }
                mptcp::Event::SubflowGone(id) => self.subflow_gone(now, id),
                mptcp::Event::Failed(reason) => {
                    notes.error.get_or_insert_with(|| reason.to_string());
                }
                _ => {}
            }
        }
        Wants(!self.wanted.is_empty() || self.way.is_some())
    }

    #[inline]
    fn read(&mut self) -> Option<Payload> {
        self.connection.read(u64::MAX)
    }

    #[inline]
    fn peer_finished(&self) -> bool {
        self.connection.peer_finished()
    }

    #[inline]
    fn wants_to_transmit(&self) -> bool {
        self.connection.wants_to_transmit()
    }

    #[inline]
    fn transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<&FourTuple> {
        let subflow = self.connection.transmit(now, segment)?;
        self.tuple(subflow)
    }
}

fn process_tcp_event(error: &mut Option<String>, event: tcp::Event) {
    if let tcp::Event::Closed(reason) = event
        && reason != tcp::CloseReason::Finished
    {
        error.get_or_insert_with(|| reason.to_string());
    }
}

fn secret(randomness: &mut Stream) -> mptcp::Secret {
    let mut bytes = [0; 32];
    for word in bytes.chunks_exact_mut(8) {
        word.copy_from_slice(&randomness.next_u64().to_le_bytes());
    }
    mptcp::Secret(bytes)
}

#[cfg(test)]
mod tests;

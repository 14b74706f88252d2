//! The host: which connection gets a packet, which connections may open, and when timers are due.

use crate::cookie::{CookiePolicy, Cookies};
use crate::gro::Run;
use crate::identity::{Identity, Random};
use crate::path_mtu::{self, TooLong};
use crate::reset::Limit;
use crate::socket::{Socket, Transport};
use crate::time_wait;
use crate::tuple::FourTuple;
use ropewalk_mptcp::{self as mptcp, Secret};
use ropewalk_tcp::{self as tcp, TooBig};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::protocol::TCP;
use ropewalk_wire::read::{Icmp, IpPacket, TcpPacket};
use ropewalk_wire::{Flags, PacketHeader, Segment, Token, is_of_one_host};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

mod opening;

/// A connection of the host: counted in order of creation, never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId(pub u32);

/// Who opened a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// This host.
    Connected,
    /// A peer.
    Accepted,
}

/// What a connection speaks.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp(Arc<tcp::Config>),
    /// Multipath TCP.
    Mptcp(Arc<mptcp::Config>),
}

/// What the application should know.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A listener has a new connection, whose handshake is not over.
    Accepted(SocketId),
    /// The handshake is over.
    Established(SocketId),
    /// Nothing is left of a connection; an error tells why it failed.
    Closed(SocketId, Option<String>),
    /// Something else happened to a Multipath TCP connection.
    Mptcp(SocketId, mptcp::Event),
}

/// What the host has counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Packets taken in.
    pub received: u64,
    /// Of these, segments that were taken together with the one before.
    pub coalesced: u64,
    /// Packets that could not be read, or whose checksum did not hold.
    pub malformed: u64,
    /// Packets for another host, or from an address that no single host has; fragments; other
    /// protocols than TCP; and messages of routers that are not believed or do not matter.
    pub ignored: u64,
    /// Messages that say that a packet was too long, and that are believed, or would be after a
    /// timeout.
    pub too_big: u64,
    /// Segments that no connection and no listener takes.
    pub unexpected: u64,
    /// SYNs that came while too many handshakes were unfinished: an old one was given up for it, or
    /// nothing is kept of it.
    pub overflows: u64,
    /// SYNs that were answered with a cookie.
    pub cookies_sent: u64,
    /// Connections whose acknowledgement brought a cookie back.
    pub cookies_accepted: u64,
    /// Packets sent.
    pub sent: u64,
}

/// Local ports of connections that this host opens (RFC 6335 §6).
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;
/// Octets that the host takes from a connection before the application reads them.
const READY: usize = 256 * 1024;
/// Hops that a packet may take, as most systems set it.
const TTL: u8 = 64;

/// A host without IO.
///
/// Inside one event: [`Self::handle_packet`] or [`Self::handle_timeout`] or a call of the
/// application, then [`Self::poll_event`] and [`Self::poll_transmit`] until there is none, then
/// [`Self::poll_timeout`] once.
#[derive(Debug)]
pub struct Host {
    addresses: Vec<IpAddr>,
    identity: Identity,
    /// Draws what keys of connections are made of.
    random: Random,
    sockets: BTreeMap<SocketId, Socket>,
    created: u32,
    tuples: BTreeMap<FourTuple, (SocketId, Option<mptcp::SubflowId>)>,
    tokens: BTreeMap<Token, SocketId>,
    listeners: BTreeMap<u16, Protocol>,
    /// Accepted connections whose handshake is not over, and since when.
    opening: BTreeMap<SocketId, Instant>,
    /// Ports that were looked at so far.
    ports: u32,
    /// Answers to segments of no connection that wait: resets, and SYN/ACKs with a cookie.
    answers: VecDeque<(FourTuple, Segment)>,
    cookies: Cookies,
    limit: Limit,
    /// Connections that may have something to send.
    active: VecDeque<SocketId>,
    timers: BTreeSet<(Instant, SocketId)>,
    events: VecDeque<Event>,
    counters: Counters,
    segment: Segment,
    octets: Vec<u8>,
    /// Data of segments that are taken as one.
    coalesced: Vec<u8>,
}

impl Host {
    /// A host with these addresses; whoever knows the secret can guess its sequence numbers and
    /// keys.
    pub fn new(addresses: Vec<IpAddr>, secret: [u64; 4]) -> Self {
        Self {
            addresses,
            identity: Identity::new([secret[0], secret[1]]),
            random: Random::new([secret[2], secret[3]]),
            sockets: BTreeMap::new(),
            created: 0,
            tuples: BTreeMap::new(),
            tokens: BTreeMap::new(),
            listeners: BTreeMap::new(),
            opening: BTreeMap::new(),
            ports: 0,
            answers: VecDeque::new(),
            cookies: Cookies::default(),
            limit: Limit::new(),
            active: VecDeque::new(),
            timers: BTreeSet::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
            segment: Segment::default(),
            octets: Vec::new(),
            coalesced: Vec::new(),
        }
    }

    /// When SYNs are answered with cookies.
    pub fn set_cookies(&mut self, policy: CookiePolicy) {
        self.cookies.policy = policy;
    }

    /// Connections to this port of any of the host's addresses are accepted.
    pub fn listen(&mut self, port: u16, protocol: Protocol) {
        self.listeners.insert(port, protocol);
    }

    /// Opens a connection from this address; Multipath TCP's path manager may use the host's other
    /// addresses.
    ///
    /// Returns `None` when every port is taken, or the remote address is that of many hosts or of
    /// none (RFC 9293 §3.9.1.1, MUST-46).
    pub fn connect(
        &mut self,
        now: Instant,
        from: IpAddr,
        remote: SocketAddr,
        protocol: &Protocol,
    ) -> Option<SocketId> {
        let first = mptcp::Path { local: SocketAddr::new(from, 0), remote };
        self.connect_over(now, &self.paths(first), protocol)
    }

    /// Opens a connection over these paths, whose own ports do not matter: the first now, others as
    /// the path manager of Multipath TCP says.
    ///
    /// Returns `None` when every port is taken, there is no path, or the first one's remote address
    /// is that of many hosts or of none.
    pub fn connect_over(
        &mut self,
        now: Instant,
        paths: &[mptcp::Path],
        protocol: &Protocol,
    ) -> Option<SocketId> {
        let mptcp::Path { local, remote } = *paths.first().filter(|path| is_of_one_host(path.remote.ip()))?;
        let port = self.free_port(local.ip(), remote)?;
        let tuple = FourTuple { local: SocketAddr::new(local.ip(), port), remote };
        let iss = self.identity.initial_sequence(now, tuple.local, tuple.remote);
        let transport = match protocol {
            Protocol::Tcp(config) => {
                let connection = tcp::Connection::connect(Arc::clone(config), iss, now);
                Transport::Tcp(Box::new(connection), tuple)
            }
            Protocol::Mptcp(config) => {
                let secret = self.secret();
                let paths = [tuple.into()].into_iter().chain(paths[1..].iter().copied()).collect();
                let connecting = mptcp::Connecting { paths, iss, secret };
                let connection = mptcp::Connection::connect((**config).clone(), connecting, now);
                Transport::Mptcp(Box::new(connection), BTreeMap::new())
            }
        };
        Some(self.add(now, transport, tuple, Origin::Connected))
    }

    /// The first path, and one from each other address of the same family.
    fn paths(&self, first: mptcp::Path) -> Vec<mptcp::Path> {
        let family =
            |address: &&IpAddr| address.is_ipv4() == first.local.is_ipv4() && **address != first.local.ip();
        let others = self.addresses.iter().filter(family);
        let path =
            |address: &IpAddr| mptcp::Path { local: SocketAddr::new(*address, 0), remote: first.remote };
        [first].into_iter().chain(others.map(path)).collect()
    }

    fn secret(&mut self) -> Secret {
        let random = &mut self.random;
        self.identity.secret(|| {
            let mut bytes = [0; 32];
            bytes.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.next().to_le_bytes()));
            Secret(bytes)
        })
    }

    /// A free port. Ports are tried in order, from one on that nobody outside can tell: a blind
    /// attacker has to guess the port too (RFC 6056 §3.3.3).
    fn free_port(&mut self, from: IpAddr, remote: SocketAddr) -> Option<u16> {
        let first = self.identity.first_port(from, remote);
        for _ in EPHEMERAL {
            let place = first.wrapping_add(self.ports) as usize % EPHEMERAL.len();
            let port = EPHEMERAL.start() + place as u16;
            self.ports = self.ports.wrapping_add(1);
            let tuple = FourTuple { local: SocketAddr::new(from, port), remote };
            if !self.tuples.contains_key(&tuple) && !self.listeners.contains_key(&port) {
                return Some(port);
            }
        }
        None
    }

    fn add(&mut self, now: Instant, transport: Transport, tuple: FourTuple, origin: Origin) -> SocketId {
        let id = SocketId(self.created);
        self.created += 1;
        if let Transport::Mptcp(connection, _) = &transport {
            self.tokens.insert(connection.token(), id);
        } else {
            self.tuples.insert(tuple, (id, None));
        }
        self.sockets.insert(id, Socket::new(transport));
        if origin == Origin::Accepted {
            self.opening.insert(id, now);
            self.events.push_back(Event::Accepted(id));
        }
        self.attend(now, id);
        id
    }

    /// A packet came in.
    pub fn handle_packet(&mut self, now: Instant, octets: &[u8]) {
        if let Some((tuple, _, packet)) = self.admit(now, octets) {
            self.handle_segment(now, tuple, &packet);
        }
    }

    /// Packets came in together, in this order. Segments of a flow that follow one another are
    /// taken as one.
    pub fn handle_packets<'a>(&mut self, now: Instant, packets: impl IntoIterator<Item = &'a [u8]>) {
        let mut data = std::mem::take(&mut self.coalesced);
        let mut run: Option<Run<'a>> = None;
        for octets in packets {
            let Some((tuple, ip, packet)) = self.admit(now, octets) else { continue };
            match &mut run {
                Some(run) if run.is_continued_by(tuple, &ip, &packet) => run.add(&packet, &mut data),
                _ => {
                    self.end_run(now, run.take(), &data);
                    run = Run::begin(tuple, &ip, packet);
                    if run.is_none() {
                        self.handle_segment(now, tuple, &packet);
                    }
                }
            }
        }
        self.end_run(now, run, &data);
        self.coalesced = data;
    }

    fn end_run(&mut self, now: Instant, run: Option<Run<'_>>, data: &[u8]) {
        if let Some(run) = run {
            let (tuple, packet, packets) = run.end(data);
            self.counters.coalesced += packets - 1;
            self.handle_segment(now, tuple, &packet);
        }
    }

    /// Reads a packet, and returns it if it is a whole segment for this host. Others are counted,
    /// and ICMP messages are handled.
    fn admit<'a>(
        &mut self,
        now: Instant,
        octets: &'a [u8],
    ) -> Option<(FourTuple, IpPacket<'a>, TcpPacket<'a>)> {
        self.counters.received += 1;
        let Ok(ip) = IpPacket::read(octets) else {
            self.counters.malformed += 1;
            return None;
        };
        let is_own = self.addresses.contains(&ip.header.destination);
        // RFC 9293 §3.9.2.3 (MUST-63): TCP has no peer at an address that no single host has. An
        // answer could go to many hosts.
        let is_for_us = is_own && is_of_one_host(ip.header.source) && ip.is_whole();
        if is_for_us && path_mtu::is_icmp(&ip) {
            self.handle_icmp(now, &ip);
            return None;
        }
        if !is_for_us || ip.protocol != TCP {
            self.counters.ignored += 1;
            return None;
        }
        let packet = match TcpPacket::read(&ip) {
            Ok(packet) if packet.checksum_holds(&ip) == Some(true) && ip.checksum_holds() => packet,
            _ => {
                self.counters.malformed += 1;
                return None;
            }
        };
        let tuple = FourTuple {
            local: SocketAddr::new(ip.header.destination, packet.header.destination_port),
            remote: SocketAddr::new(ip.header.source, packet.header.source_port),
        };
        Some((tuple, ip, packet))
    }

    /// A message of a router. Only one about the path's MTU matters.
    fn handle_icmp(&mut self, now: Instant, ip: &IpPacket<'_>) {
        if !ip.checksum_holds() || Icmp::checksum_holds(ip) != Some(true) {
            self.counters.malformed += 1;
            return;
        }
        let obeyed = TooLong::read(ip).and_then(|too_long| {
            let &(id, subflow) = self.tuples.get(&too_long.tuple)?;
            let socket = self.sockets.get_mut(&id)?;
            let result = socket.packet_too_big(now, subflow, too_long.seq, too_long.mss);
            (result != TooBig::Ignored).then_some(id)
        });
        match obeyed {
            Some(id) => {
                self.counters.too_big += 1;
                self.attend(now, id);
            }
            None => self.counters.ignored += 1,
        }
    }

    fn handle_segment(&mut self, now: Instant, tuple: FourTuple, packet: &TcpPacket<'_>) {
        let Some(&(id, subflow)) = self.tuples.get(&tuple) else {
            return self.open(now, tuple, packet, None);
        };
        if packet.header.flags.contains(Flags::SYN)
            && let Some(end) = self.end_of_time_wait(id, tuple, &packet.segment(ropewalk_units::Dsn::new(0)))
        {
            self.remove(id);
            return self.open(now, tuple, packet, Some(end));
        }
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let mut segment = packet.segment(socket.near());
        socket.keep(&mut segment, packet.payload);
        socket.handle_segment(now, subflow, &segment);
        self.attend(now, id);
    }

    /// Does everything that follows an input to a connection, except sending.
    fn attend(&mut self, now: Instant, id: SocketId) {
        self.process_events(now, id);
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.collect(READY);
        if socket.abandons() {
            socket.abort();
            // The application gets the events of the abort too.
            self.process_events(now, id);
        }
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.release();
        if !std::mem::replace(&mut socket.is_active, true) {
            self.active.push_back(id);
        }
        self.arm(id);
    }

    fn process_events(&mut self, now: Instant, id: SocketId) {
        while let Some(socket) = self.sockets.get_mut(&id) {
            match &mut socket.transport {
                Transport::Tcp(connection, tuple) => {
                    let (over, tuple) = (connection.state() == tcp::State::Closed, *tuple);
                    let Some(event) = connection.poll_event() else {
                        if over {
                            self.release(id, tuple);
                        }
                        return;
                    };
                    self.process_tcp_event(id, event);
                }
                Transport::Mptcp(connection, _) => {
                    let Some(event) = connection.poll_event() else { return };
                    self.process_mptcp_event(now, id, event);
                }
            }
        }
    }

    /// Frees the 4-tuple of a connection that is over, TIME-WAIT included, for another one
    /// (RFC 9293 §3.6.1, MUST-13).
    fn release(&mut self, id: SocketId, tuple: FourTuple) {
        if self.tuples.get(&tuple).is_some_and(|(holder, _)| *holder == id) {
            self.tuples.remove(&tuple);
        }
    }

    fn process_tcp_event(&mut self, id: SocketId, event: tcp::Event) {
        match event {
            tcp::Event::Established => self.established(id),
            tcp::Event::Closed(reason) => {
                let error = (reason != tcp::CloseReason::Finished).then(|| reason.to_string());
                self.closed(id, error);
            }
            _ => {}
        }
    }

    fn process_mptcp_event(&mut self, now: Instant, id: SocketId, event: mptcp::Event) {
        match event {
            mptcp::Event::SubflowWanted(wanted) => self.open_subflow(now, id, wanted),
            mptcp::Event::SubflowCreated { id: subflow, path } => {
                self.tuples.insert(path.into(), (id, Some(subflow)));
                if let Some(Socket { transport: Transport::Mptcp(_, tuples), .. }) = self.sockets.get_mut(&id)
                {
                    tuples.insert(subflow, path.into());
                }
            }
            mptcp::Event::SubflowGone(subflow) => {
                if let Some(Socket { transport: Transport::Mptcp(_, tuples), .. }) = self.sockets.get_mut(&id)
                    && let Some(tuple) = tuples.remove(&subflow)
                {
                    self.tuples.remove(&tuple);
                }
            }
            mptcp::Event::Established => self.established(id),
            mptcp::Event::Closed => self.closed(id, None),
            mptcp::Event::Failed(reason) => self.closed(id, Some(reason.to_string())),
            event => self.events.push_back(Event::Mptcp(id, event)),
        }
    }

    fn established(&mut self, id: SocketId) {
        self.opening.remove(&id);
        self.events.push_back(Event::Established(id));
    }

    fn closed(&mut self, id: SocketId, error: Option<String>) {
        self.opening.remove(&id);
        self.events.push_back(Event::Closed(id, error));
    }

    /// The path manager wants a subflow: it gets a port.
    fn open_subflow(&mut self, now: Instant, id: SocketId, wanted: mptcp::Wanted) {
        let (local, remote) = (wanted.path.local.ip(), wanted.path.remote);
        let from = self.free_port(local, remote).map(|port| {
            let iss: Seq = self.identity.initial_sequence(now, SocketAddr::new(local, port), remote);
            (port, iss)
        });
        if let Some(Socket { transport: Transport::Mptcp(connection, _), .. }) = self.sockets.get_mut(&id) {
            connection.open_subflow(now, wanted, from);
        }
    }

    fn arm(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let due = socket.deadline();
        if due == socket.armed {
            return;
        }
        if let Some(at) = std::mem::replace(&mut socket.armed, due) {
            self.timers.remove(&(at, id));
        }
        if let Some(at) = due {
            self.timers.insert((at, id));
        }
    }

    /// The next time at which [`Self::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.timers.first()
            && at <= now
        {
            self.timers.remove(&(at, id));
            if let Some(socket) = self.sockets.get_mut(&id) {
                socket.armed = None;
                socket.handle_timeout(now);
            }
            self.attend(now, id);
        }
    }

    /// The next packet to send: appended to `out`. Returns the address from which it goes.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<IpAddr> {
        if let Some((tuple, answer)) = self.answers.pop_front() {
            return self.emit(tuple, &answer, out);
        }
        while let Some(&id) = self.active.front() {
            let mut segment = std::mem::take(&mut self.segment);
            let tuple = self.sockets.get_mut(&id).and_then(|socket| socket.transmit(now, &mut segment));
            let sent = tuple.and_then(|tuple| {
                self.octets.clear();
                self.sockets.get(&id)?.octets(&segment, &mut self.octets);
                self.emit(tuple, &segment, out)
            });
            self.segment = segment;
            if sent.is_some() {
                return sent;
            }
            if tuple.is_some() {
                // The segment cannot be written, and counts as lost. Others wait behind it.
                continue;
            }
            self.active.pop_front();
            if let Some(socket) = self.sockets.get_mut(&id) {
                socket.is_active = false;
            }
            self.process_events(now, id);
            self.arm(id);
            self.forget(id);
        }
        None
    }

    fn emit(&mut self, tuple: FourTuple, segment: &Segment, out: &mut Vec<u8>) -> Option<IpAddr> {
        let header = PacketHeader {
            source: tuple.local.ip(),
            destination: tuple.remote.ip(),
            source_port: tuple.local.port(),
            destination_port: tuple.remote.port(),
            identification: self.counters.sent as u16,
            ttl: TTL,
            dscp: 0,
        };
        let octets = if segment.payload.len > 0 { &self.octets[..] } else { &[] };
        header.emit_segment_with(segment, octets, out).ok()?;
        self.counters.sent += 1;
        Some(header.source)
    }

    /// Drops a connection of which nothing is left and nothing is to be read.
    fn forget(&mut self, id: SocketId) {
        let over = self.sockets.get(&id).is_some_and(|socket| {
            socket.readable() == 0
                && match &socket.transport {
                    Transport::Tcp(connection, _) => {
                        connection.state() == tcp::State::Closed && connection.readable() == 0
                    }
                    Transport::Mptcp(connection, tuples) => {
                        connection.is_closed() && tuples.is_empty() && connection.readable() == 0
                    }
                }
        });
        if over {
            self.remove(id);
        }
    }

    /// Removes a connection, and everything that leads to it.
    fn remove(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.remove(&id) else { return };
        self.opening.remove(&id);
        match &socket.transport {
            Transport::Tcp(_, tuple) => self.release(id, *tuple),
            Transport::Mptcp(connection, tuples) => {
                tuples.values().for_each(|tuple| self.release(id, *tuple));
                self.tokens.remove(&connection.token());
                self.identity.release(connection.token());
            }
        }
        if let Some(at) = socket.armed {
            self.timers.remove(&(at, id));
        }
    }

    /// May this SYN end TIME-WAIT, since nothing of the old connection can be taken for the new one
    /// (RFC 9293 §3.10.7.4, RFC 6191)? Returns the number behind the last one that the old
    /// connection sent.
    fn end_of_time_wait(&self, id: SocketId, tuple: FourTuple, segment: &Segment) -> Option<Seq> {
        let is_syn = segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST);
        let connection =
            self.tcp(id).filter(|connection| is_syn && connection.state() == tcp::State::TimeWait)?;
        let stamps = match self.listeners.get(&tuple.local.port())? {
            Protocol::Tcp(config) => config.timestamps,
            Protocol::Mptcp(config) => config.tcp.timestamps,
        };
        let stamp = segment.options.timestamps.filter(|_| stamps).map(|stamps| stamps.value);
        time_wait::may_end(connection, segment.seq, stamp).then(|| connection.snd_nxt())
    }

    /// The initial sequence number (RFC 6528). It is above all numbers of a connection that was in
    /// TIME-WAIT (RFC 9293 §3.10.7.4).
    fn initial_sequence(&self, now: Instant, tuple: FourTuple, after: Option<Seq>) -> Seq {
        let iss = self.identity.initial_sequence(now, tuple.local, tuple.remote);
        match after {
            Some(last) if !iss.after(last) => last + time_wait::APART,
            _ => iss,
        }
    }

    /// What happened, in order; call until `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Octets that can be read from a connection.
    pub fn readable(&self, id: SocketId) -> usize {
        self.sockets.get(&id).map_or(0, Socket::readable)
    }

    /// Appends up to `most` octets of a connection's stream to `out`; returns how many.
    pub fn read(&mut self, now: Instant, id: SocketId, most: usize, out: &mut Vec<u8>) -> usize {
        let Some(socket) = self.sockets.get_mut(&id) else { return 0 };
        let read = socket.read(most, out);
        if read > 0 {
            self.attend(now, id);
        }
        read
    }

    /// Writes octets, as many as the send buffer has room for; returns how many.
    pub fn write(&mut self, now: Instant, id: SocketId, octets: &[u8]) -> usize {
        let Some(socket) = self.sockets.get_mut(&id) else { return 0 };
        let written = socket.write(octets);
        if written > 0 {
            self.attend(now, id);
        }
        written
    }

    /// No more will be written.
    pub fn finish(&mut self, now: Instant, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.finish();
            self.attend(now, id);
        }
    }

    /// Nothing more will be written or read. If data is unread or more of it comes, the connection
    /// is reset, so that the peer knows that data is lost (RFC 9293 §3.6.1).
    pub fn close(&mut self, now: Instant, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.close();
            self.attend(now, id);
        }
    }

    /// Ends a connection at once.
    pub fn abort(&mut self, now: Instant, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.abort();
            self.attend(now, id);
        }
    }

    /// Has the peer finished, and has everything before been read? True for a connection that is
    /// gone.
    pub fn peer_finished(&self, id: SocketId) -> bool {
        self.sockets.get(&id).is_none_or(Socket::peer_finished)
    }

    /// A Multipath TCP connection, to look at.
    pub fn mptcp(&self, id: SocketId) -> Option<&mptcp::Connection> {
        match &self.sockets.get(&id)?.transport {
            Transport::Mptcp(connection, _) => Some(connection),
            Transport::Tcp(..) => None,
        }
    }

    /// A TCP connection, to look at.
    pub fn tcp(&self, id: SocketId) -> Option<&tcp::Connection> {
        match &self.sockets.get(&id)?.transport {
            Transport::Tcp(connection, _) => Some(connection),
            Transport::Mptcp(..) => None,
        }
    }

    /// The own and the other end of a connection, or of its first subflow.
    pub fn ends(&self, id: SocketId) -> Option<(SocketAddr, SocketAddr)> {
        match &self.sockets.get(&id)?.transport {
            Transport::Tcp(_, tuple) => Some((tuple.local, tuple.remote)),
            Transport::Mptcp(connection, _) => {
                let path = connection.subflows().next()?.path();
                Some((path.local, path.remote))
            }
        }
    }

    /// Number of connections that the host still knows.
    pub fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// What it has counted.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests;

//! A host with one Multipath TCP connection, its sockets and its application.

use crate::application::{Application, Transport};
use crate::datagram::{address, reversed};
use crate::line::Line;
use crate::network::Network;
use crate::prediction::Prediction;
use crate::stack::{Phase, Stack, opening, opens, refuse};
use ropewalk_adversary::{Knowledge, Opening, Victim, Windows};
use ropewalk_mptcp::{
    Accepting, Config, Connecting, Connection, Event, FailureReason, Path, Secret, Subflow,
    SubflowCloseReason, SubflowId, is_join,
};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Key, Payload, ResetReason, Segment};
use std::net::SocketAddr;

/// The largest window that a connection here can have: Linux's receive buffer.
const LARGEST_WINDOW: u32 = 6 << 20;

impl Transport for Connection {
    fn send_space(&self) -> u64 {
        self.send_space()
    }

    fn write(&mut self, payload: Payload) {
        self.push(u64::from(payload.len));
    }

    fn read(&mut self, max: u64) -> Option<Payload> {
        self.read(max)
    }

    fn readable(&self) -> u64 {
        self.readable()
    }

    fn finish(&mut self) {
        self.finish();
    }

    fn peer_finished(&self) -> bool {
        self.peer_finished()
    }
}

/// What a host knows of one 4-tuple.
#[derive(Clone, Debug)]
pub struct Socket {
    /// From this host's side.
    pub path: Path,
    /// None once the subflow is gone.
    pub subflow: Option<SubflowId>,
    windows: Windows,
    /// What an attacker may have seen on the way to this end.
    pub knowledge: Knowledge,
}

/// A host with one connection.
#[derive(Debug)]
pub struct MptcpHost {
    /// None before the first SYN.
    pub connection: Option<Connection>,
    config: Config,
    host: u8,
    secret: Secret,
    addresses: Vec<SocketAddr>,
    /// Every 4-tuple there ever was.
    pub sockets: Vec<Socket>,
    next_port: u16,
    application: Application,
    /// The connection has ended in an orderly way.
    pub closed: bool,
    /// Why the connection failed, if it did.
    pub failed: Option<FailureReason>,
    /// All events so far.
    pub events: Vec<Event>,
    /// One direction is over.
    closing: bool,
    /// Subflows that were established.
    established: Vec<SubflowId>,
    /// Subflows that ended as none should while data flowed. Those that end while the connection
    /// closes are not listed: joins under way are then given up.
    pub harmed: Vec<(SubflowId, SubflowCloseReason)>,
    sent: u64,
    /// If set, each segment is taken with header prediction and without, and the results are
    /// compared.
    pub prediction: Option<Prediction>,
}

/// How a subflow may end between honest hosts: by FIN, or by the limits that the peer's path
/// manager sets to joins.
fn is_honest(reason: SubflowCloseReason) -> bool {
    use ResetReason::Prohibited;
    use SubflowCloseReason::{Aborted, Finished, Refused, Reset};
    matches!(reason, Finished | Refused | Aborted(Prohibited) | Reset(Some(Prohibited)))
}

/// The initial sequence number of a subflow at this host; the port is the opener's.
fn iss(host: u8, port: u16) -> Seq {
    Seq::new((u32::from(port) << 2 | u32::from(host)).wrapping_mul(0x9e37_79b9))
}

/// A path on each of so many lines.
pub fn paths(count: usize) -> Vec<Path> {
    let port = |line: usize| if line == 0 { 40_000 } else { 0 };
    (0..count)
        .map(|line| Path { local: address(line, 1, port(line)), remote: address(line, 2, 5001) })
        .collect()
}

impl MptcpHost {
    fn new(config: Config, lines: usize, host: u8, octets: u64) -> Self {
        Self {
            connection: None,
            config,
            host,
            secret: Secret([host; 32]),
            addresses: (0..lines).map(|line| address(line, host, 5001)).collect(),
            sockets: Vec::new(),
            next_port: 50_000,
            application: Application::new(octets, 0),
            closed: false,
            failed: None,
            events: Vec::new(),
            closing: false,
            established: Vec::new(),
            harmed: Vec::new(),
            sent: 0,
            prediction: None,
        }
    }

    /// Sets the secret from which its keys are drawn. Call it before the network is made.
    pub fn with_secret(self, secret: Secret) -> Self {
        Self { secret, ..self }
    }

    /// A client on so many lines.
    pub fn client(config: Config, lines: usize, octets: u64) -> Self {
        Self::new(config, lines, 1, octets)
    }

    /// A server, which listens.
    pub fn server(config: Config, lines: usize, octets: u64) -> Self {
        Self::new(config, lines, 2, octets)
    }

    /// Opens the connection over these paths.
    pub fn connect(&mut self, paths: Vec<Path>, now: Instant) {
        let iss = iss(self.host, paths[0].local.port());
        let connecting = Connecting { paths, iss, secret: self.secret };
        self.connection = Some(Connection::connect(self.config.clone(), connecting, now));
    }

    /// The connection.
    ///
    /// # Panics
    /// Before it was opened.
    pub fn mptcp(&self) -> &Connection {
        self.connection.as_ref().expect("opened")
    }

    /// The connection has ended, in an orderly way or not.
    pub fn is_over(&self) -> bool {
        self.closed || self.failed.is_some()
    }

    /// The socket of a subflow that lives.
    fn socket(&self, path: Path) -> Option<SubflowId> {
        self.sockets.iter().rev().find(|socket| socket.path == path).and_then(|socket| socket.subflow)
    }

    fn process_events(&mut self, now: Instant) {
        while let Some(event) = self.connection.as_mut().and_then(Connection::poll_event) {
            self.on_event(now, event);
            self.events.push(event);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::SubflowWanted(wanted) => {
                let from = (self.next_port, iss(self.host, self.next_port));
                let connection = self.connection.as_mut().expect("it has told an event");
                connection.open_subflow(now, wanted, Some(from));
                self.next_port += 1;
            }
            Event::SubflowCreated { id, path } => {
                let (windows, knowledge) = Default::default();
                self.sockets.push(Socket { path, subflow: Some(id), windows, knowledge });
            }
            Event::SubflowGone(id) => {
                let gone = self.sockets.iter_mut().filter(|socket| socket.subflow == Some(id));
                gone.for_each(|socket| socket.subflow = None);
            }
            Event::SubflowEstablished(id) => self.established.push(id),
            Event::SubflowClosed { id, reason } => self.subflow_closed(id, reason),
            Event::PeerFinished | Event::FinishAcknowledged => self.closing = true,
            Event::Closed => self.closed = true,
            Event::Failed(reason) => self.failed = Some(reason),
            _ => {}
        }
    }

    fn subflow_closed(&mut self, id: SubflowId, reason: SubflowCloseReason) {
        // If the RST that refused a join was lost, the next RST comes for a subflow that is gone.
        // It has no reason.
        let late = reason == SubflowCloseReason::Reset(None) && !self.established.contains(&id);
        if !is_honest(reason) && !late && !self.closing {
            self.harmed.push((id, reason));
        }
    }

    fn opening(subflow: Option<&Subflow>) -> Opening {
        subflow.map_or(Opening::Closed, |subflow| opening(subflow.tcp().state()))
    }
}

impl Stack for MptcpHost {
    fn application(&self) -> &Application {
        &self.application
    }

    fn application_mut(&mut self) -> &mut Application {
        &mut self.application
    }

    fn handle_segment(&mut self, now: Instant, path: Path, segment: &Segment) -> Option<Segment> {
        // The last poll for segments may have ended a subflow. Its socket goes first.
        self.process_events(now);
        if let (Some(id), Some(connection)) = (self.socket(path), &mut self.connection) {
            let handle = |connection: &mut Connection| connection.handle_segment(now, id, segment);
            let stages = |connection: &mut Connection| connection.handle_by_stages(now, id, segment);
            match &mut self.prediction {
                Some(prediction) => {
                    prediction.compare(
                        connection,
                        |connection| connection.expects(id, segment),
                        handle,
                        stages,
                    );
                }
                None => handle(connection),
            }
            return None;
        }
        let opens = opens(segment);
        let is_ours = self.addresses.contains(&path.local);
        let joins = is_join(segment);
        let iss = iss(self.host, path.remote.port());
        let taken = match &mut self.connection {
            None if opens && is_ours && !joins => {
                let local_addresses = self.addresses.clone();
                let accepting = Accepting { path, local_addresses, iss, secret: self.secret };
                self.connection = Some(Connection::accept(self.config.clone(), accepting, segment, now));
                true
            }
            Some(connection) if opens && is_ours && joins => {
                connection.accept_join(now, path, segment, iss).is_ok()
            }
            _ => false,
        };
        if taken { None } else { refuse(segment) }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(connection) = self.connection.as_mut().filter(|connection| connection.deadline() <= now) {
            connection.handle_timeout(now);
        }
    }

    fn deadline(&self) -> Instant {
        let deadline =
            |connection: &Connection| connection.deadline().min(self.application.deadline(connection));
        self.connection.as_ref().map_or(Instant::MAX, deadline)
    }

    fn settle(&mut self, now: Instant) {
        self.process_events(now);
        if let Some(connection) = &mut self.connection {
            self.application.serve(connection, now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(Path, Segment)> {
        let (id, segment) = self.connection.as_mut()?.poll_transmit(now)?;
        self.sent += 1;
        let subflow = self.connection.as_ref().and_then(|connection| connection.subflow(id));
        let shift = subflow.map_or(0, |subflow| subflow.tcp().own_window_scale());
        if !self.sockets.iter().any(|socket| socket.subflow == Some(id)) {
            self.settle(now);
        }
        let socket = self.sockets.iter_mut().find(|socket| socket.subflow == Some(id));
        let socket = socket.expect("a subflow that sends has a socket");
        socket.windows.observe(&segment, shift);
        let path = socket.path;
        self.settle(now);
        Some((path, segment))
    }

    fn observe(&mut self, path: Path, segment: &Segment) {
        if let Some(socket) = self.sockets.iter_mut().rev().find(|socket| socket.path == path) {
            socket.knowledge.observe(segment);
        }
    }

    fn keys(&self) -> (Option<Key>, Option<Key>) {
        let known = self.sockets.iter().map(|socket| socket.knowledge.keys);
        known.fold((None, None), |keys, (peer, own)| (peer.or(keys.0), own.or(keys.1)))
    }

    fn learn(&mut self, (peer, own): (Option<Key>, Option<Key>)) {
        for Socket { knowledge, .. } in &mut self.sockets {
            knowledge.keys = (peer.or(knowledge.keys.0), own.or(knowledge.keys.1));
        }
    }

    fn is_done(&self) -> bool {
        self.closed && self.connection.as_ref().is_some_and(Connection::peer_finished)
    }

    /// After fallback there are no checksums, and nobody can notice altered data.
    fn is_checked(&self) -> bool {
        !self.connection.as_ref().is_some_and(Connection::is_fallen_back)
    }

    fn sockets(&self) -> Vec<Path> {
        self.sockets.iter().map(|socket| socket.path).collect()
    }

    fn knowledge(&self, socket: usize) -> Knowledge {
        self.sockets[socket].knowledge
    }

    fn victim(&self, socket: usize, peer: &Self) -> Victim {
        let socket = &self.sockets[socket];
        let connection = socket.subflow.zip(self.connection.as_ref());
        let subflow = connection.and_then(|(id, connection)| connection.subflow(id));
        let tcp = subflow.map(Subflow::tcp);
        let (snd_una, snd_nxt, rcv_nxt) =
            tcp.map(|tcp| (tcp.snd_una(), tcp.snd_nxt(), tcp.rcv_nxt())).unwrap_or_default();
        let theirs = peer.sockets.iter().rev().find(|theirs| theirs.path == reversed(socket.path));
        let largest = theirs.map_or(0, |theirs| theirs.windows.largest());
        // A subflow takes data up to the largest window of the connection, whatever it offered
        // itself.
        let edge: Seq = socket.windows.edge(rcv_nxt).max(rcv_nxt + LARGEST_WINDOW);
        let max_window = largest.max(LARGEST_WINDOW);
        Victim { opening: Self::opening(subflow), snd_una, snd_nxt, rcv_nxt, edge, max_window }
    }

    fn phase(&self) -> Phase {
        let connection = self.connection.as_ref();
        let first = connection.and_then(|connection| connection.subflows().next());
        if !first.is_some_and(|subflow| subflow.tcp().state().is_synchronized()) {
            return Phase::Opening;
        }
        if connection.is_some_and(Connection::peer_finished) { Phase::Closing } else { Phase::Open }
    }

    fn sent(&self) -> u64 {
        self.sent
    }
}

/// A client that writes `octets[0]` and a server that writes `octets[1]`; each line from the
/// client, and from the server. The client's first SYN is about to leave.
pub fn mptcp_network(
    configs: [Config; 2],
    octets: [u64; 2],
    lines: Vec<[Line; 2]>,
    seed: u64,
) -> Network<MptcpHost> {
    let [client, server] = configs;
    let count = lines.len();
    let mut client = MptcpHost::client(client, count, octets[0]);
    client.connect(paths(count), Instant::ZERO);
    Network::new([client, MptcpHost::server(server, count, octets[1])], lines, seed)
}

//! One host: its connection, its sockets, and its application.

use crate::settings::Line;
use ropewalk_adversary::{FOREIGN, Knowledge, Opening, Victim, Windows};
use ropewalk_mptcp::{
    Config, Connection, Event, FailureReason, Path, Secret, Subflow, SubflowCloseReason, SubflowId,
};
use ropewalk_tcp::State;
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Flags, Join, MptcpOption, Payload, ResetReason, Segment};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The largest window that a connection here can have: Linux's receive buffer.
const LARGEST_WINDOW: u32 = 6 << 20;

/// What a host knows of one 4-tuple.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    /// From this host's side.
    pub(crate) path: Path,
    /// None once the subflow is gone.
    pub(crate) subflow: Option<SubflowId>,
    pub(crate) windows: Windows,
    /// What an attacker may have seen on the way to this end.
    pub(crate) knowledge: Knowledge,
}

/// One end of the connection.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) connection: Option<Connection>,
    config: Config,
    secret: Secret,
    pub(crate) addresses: Vec<SocketAddr>,
    /// Every 4-tuple there ever was.
    pub(crate) sockets: Vec<Socket>,
    next_port: u16,
    octets: u64,
    written: u64,
    /// Octets read, whoever's they are.
    pub(crate) read: u64,
    /// … of the attacker.
    pub(crate) foreign: u64,
    pub(crate) lenient: bool,
    /// Where the stream was not whole, once and in order: the position, and what was read there instead.
    pub(crate) broken: Option<(u64, u64)>,
    pub(crate) closed: bool,
    pub(crate) failed: Option<FailureReason>,
    /// One direction is over.
    closing: bool,
    /// Subflows that were established.
    established: Vec<SubflowId>,
    /// Subflows that ended as none should, while data flowed. When the connection closes, joins under way
    /// are given up.
    pub(crate) harmed: Vec<(SubflowId, SubflowCloseReason)>,
    pub(crate) sent: u64,
}

/// The address of a host on a path.
pub(crate) fn address(path: usize, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1, path as u8 + 1, host)), port)
}

/// The path that a segment between these ends takes.
pub(crate) fn path_of(path: Path, lines: &[Line]) -> usize {
    let index = |end: SocketAddr| match end.ip() {
        IpAddr::V4(ip) => usize::from(ip.octets()[2]).wrapping_sub(1),
        IpAddr::V6(_) => usize::MAX,
    };
    // Between addresses of two paths, the client's counts.
    [index(path.local), index(path.remote)].into_iter().find(|index| *index < lines.len()).unwrap_or(0)
}

/// How a subflow may end between honest hosts: by FIN, or by the limits that the peer's path manager sets to joins.
fn is_honest(reason: SubflowCloseReason) -> bool {
    use ResetReason::Prohibited;
    use SubflowCloseReason::{Aborted, Finished, Refused, Reset};
    matches!(reason, Finished | Refused | Aborted(Prohibited) | Reset(Some(Prohibited)))
}

/// What a host draws its key from; `wraps`: such that its data sequence numbers soon pass 2³².
fn secret(host: u8, wraps: bool) -> Secret {
    let found = if host == 1 { 28_302u32 } else { 71_844 };
    let mut secret = [host; 32];
    secret[28..].copy_from_slice(&if wraps { found } else { 0 }.to_be_bytes());
    Secret(secret)
}

/// The initial sequence number of a subflow at this host; the port is the opener's.
fn iss(host: u32, port: u16) -> Seq {
    Seq::new((u32::from(port) << 2 | host).wrapping_mul(0x9e37_79b9))
}

fn reversed(path: Path) -> Path {
    Path { local: path.remote, remote: path.local }
}

impl Host {
    fn new(config: Config, paths: usize, host: u8, octets: u64, wraps: bool) -> Self {
        Self {
            connection: None,
            config,
            secret: secret(host, wraps),
            addresses: (0..paths).map(|path| address(path, host, 5001)).collect(),
            sockets: Vec::new(),
            next_port: 50_000,
            octets,
            written: 0,
            read: 0,
            foreign: 0,
            lenient: false,
            broken: None,
            closed: false,
            failed: None,
            closing: false,
            established: Vec::new(),
            harmed: Vec::new(),
            sent: 0,
        }
    }

    /// Opens a connection over these paths.
    pub(crate) fn client(config: Config, paths: usize, octets: u64, wraps: bool) -> Self {
        let mut host = Self::new(config, paths, 1, octets, wraps);
        let port = |path: usize| if path == 0 { 40_000 } else { 0 };
        let path = |index| Path { local: address(index, 1, port(index)), remote: address(index, 2, 5001) };
        let all = (0..paths).map(path).collect();
        let (config, iss) = (host.config.clone(), iss(1, 40_000));
        host.connection = Some(Connection::connect(config, all, iss, host.secret, Instant::ZERO));
        host
    }

    /// Listens.
    pub(crate) fn server(config: Config, paths: usize, octets: u64, wraps: bool) -> Self {
        Self::new(config, paths, 2, octets, wraps)
    }

    /// Everything was read, and the connection is closed in an orderly way.
    pub(crate) fn is_done(&self) -> bool {
        self.closed && self.connection.as_ref().is_some_and(Connection::peer_finished)
    }

    /// Events, reading and writing.
    pub(crate) fn settle(&mut self, now: Instant) {
        let Some(connection) = &mut self.connection else { return };
        while let Some(event) = connection.poll_event() {
            match event {
                Event::SubflowWanted(wanted) => {
                    let from = (self.next_port, iss(1, self.next_port));
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
                Event::SubflowClosed { reason, .. } if is_honest(reason) => {}
                // The RST that refused a join was lost; the next one to a subflow that is gone has no reason.
                Event::SubflowClosed { id, reason: SubflowCloseReason::Reset(None) }
                    if !self.established.contains(&id) => {}
                Event::SubflowClosed { id, reason } if !self.closing => self.harmed.push((id, reason)),
                Event::PeerFinished | Event::FinishAcknowledged => self.closing = true,
                Event::Closed => self.closed = true,
                Event::Failed(reason) => self.failed = Some(reason),
                _ => {}
            }
        }
        while let Some(Payload { offset, len }) = connection.read(u64::MAX) {
            if self.lenient && offset >= FOREIGN {
                self.foreign += u64::from(len);
            } else {
                if offset != self.read {
                    self.broken.get_or_insert((self.read, offset));
                }
            }
            self.read += u64::from(len);
        }
        let space = connection.send_space().min(self.octets - self.written);
        if space > 0 {
            connection.push(space);
            self.written += space;
        }
        if self.written == self.octets {
            connection.finish();
        }
    }

    /// What leaves next, and between which ends.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<(Path, Segment)> {
        let connection = self.connection.as_mut()?;
        let (id, segment) = connection.poll_transmit(now)?;
        assert!(segment.options.wire_len() <= 40, "options fit: {segment:?}");
        self.sent += 1;
        self.settle(now);
        let connection = self.connection.as_ref()?;
        let shift = connection.subflow(id).map_or(0, |subflow| subflow.tcp().own_window_scale());
        let socket = self.sockets.iter_mut().find(|socket| socket.subflow == Some(id));
        let socket = socket.expect("a subflow that sends has a socket");
        socket.windows.observe(&segment, shift);
        Some((socket.path, segment))
    }

    /// An honest segment is on its way to this host, for an attacker to see.
    pub(crate) fn observe(&mut self, path: Path, segment: &Segment) {
        if let Some(socket) = self.sockets.iter_mut().rev().find(|socket| socket.path == path) {
            socket.knowledge.observe(segment);
        }
    }

    /// The socket of a subflow that lives.
    fn socket(&self, path: Path) -> Option<SubflowId> {
        self.sockets.iter().rev().find(|socket| socket.path == path).and_then(|socket| socket.subflow)
    }

    /// A segment came in; the answer of a host without a subflow for it is returned.
    pub(crate) fn take(&mut self, now: Instant, path: Path, segment: &Segment) -> Option<Segment> {
        if let (Some(id), Some(connection)) = (self.socket(path), &mut self.connection) {
            connection.handle_segment(now, id, segment);
            return None;
        }
        let opens = segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST);
        let is_ours = self.addresses.contains(&path.local);
        let joins =
            segment.options.mptcp.rare().iter().any(|o| matches!(o, MptcpOption::Join(Join::Syn { .. })));
        let iss = iss(2, path.remote.port());
        let taken = match &mut self.connection {
            None if opens && is_ours && !joins => {
                let (config, local) = (self.config.clone(), self.addresses.clone());
                self.connection =
                    Some(Connection::accept(config, local, path, segment, iss, self.secret, now));
                true
            }
            Some(connection) if opens && is_ours && joins => {
                connection.accept_join(now, path, segment, iss).is_ok()
            }
            _ => false,
        };
        if taken { None } else { refuse(segment) }
    }

    /// What the oracle looks at.
    pub(crate) fn victim(&self, socket: usize, peer: &Self) -> Victim {
        let socket = &self.sockets[socket];
        let subflow =
            socket.subflow.zip(self.connection.as_ref()).and_then(|(id, connection)| connection.subflow(id));
        let tcp = subflow.map(Subflow::tcp);
        let opening = match tcp.map(ropewalk_tcp::Connection::state) {
            None | Some(State::Closed) => Opening::Closed,
            Some(State::SynSent) => Opening::SynSent,
            Some(State::SynReceived) => Opening::SynReceived,
            Some(_) => Opening::Synchronized,
        };
        let (snd_una, snd_nxt, rcv_nxt) =
            tcp.map(|tcp| (tcp.snd_una(), tcp.snd_nxt(), tcp.rcv_nxt())).unwrap_or_default();
        let theirs = peer.sockets.iter().rev().find(|theirs| theirs.path == reversed(socket.path));
        let largest = theirs.map_or(0, |theirs| theirs.windows.largest());
        // A subflow takes data up to the largest window of the connection, whatever it offered itself.
        let edge: Seq = socket.windows.edge(rcv_nxt).max(rcv_nxt + LARGEST_WINDOW);
        Victim { opening, snd_una, snd_nxt, rcv_nxt, edge, max_window: largest.max(LARGEST_WINDOW) }
    }
}

/// RFC 9293 §3.10.7.1: the answer to a segment that nobody takes.
fn refuse(segment: &Segment) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    Some(if segment.flags.contains(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        Segment { ack: segment.end(), flags: Flags::RST | Flags::ACK, ..Segment::default() }
    })
}

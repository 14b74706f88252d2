//! A host with one TCP connection.

use crate::application::{Application, Transport};
use crate::datagram::address;
use crate::line::Line;
use crate::network::Network;
use crate::prediction::Prediction;
use crate::stack::{Phase, Stack, opening, opens};
use ropewalk_adversary::{Knowledge, Opening, Victim, Windows};
use ropewalk_mptcp::Path;
use ropewalk_tcp::{CloseReason, Config, Connection, Event};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Payload, Segment};
use std::sync::Arc;

/// The server's stream begins here, so that octets of one direction are not taken for the other's.
const SERVER_STREAM: u64 = 1 << 36;

impl Transport for Connection {
    fn send_space(&self) -> u64 {
        self.send_space()
    }

    fn write(&mut self, payload: Payload) {
        self.push(payload);
    }

    fn read(&mut self, max: u64) -> Option<Payload> {
        self.read(max).map(|received| received.payload)
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

/// A host with one connection.
#[derive(Debug)]
pub struct TcpHost {
    /// None before the first SYN.
    pub tcp: Option<Connection>,
    config: Arc<Config>,
    iss: Seq,
    path: Path,
    application: Application,
    /// Why the connection ended.
    pub closed: Option<CloseReason>,
    events: Vec<Event>,
    windows: Windows,
    knowledge: Knowledge,
    sent: u64,
    /// If set, each segment is taken with header prediction and without, and the results are
    /// compared.
    pub prediction: Option<Prediction>,
}

impl TcpHost {
    /// A host on one side of a network (0: the client, 1: the server), which listens and writes so
    /// many octets.
    pub fn new(side: usize, config: Config, iss: u32, octets: u64) -> Self {
        let [client, server] = [address(0, 1, 40_000), address(0, 2, 5001)];
        let path = if side == 0 {
            Path { local: client, remote: server }
        } else {
            Path { local: server, remote: client }
        };
        Self {
            tcp: None,
            config: Arc::new(config),
            iss: Seq::new(iss),
            path,
            application: Application::new(octets, side as u64 * SERVER_STREAM),
            closed: None,
            events: Vec::new(),
            windows: Windows::default(),
            knowledge: Knowledge::default(),
            sent: 0,
            prediction: None,
        }
    }

    /// Opens the connection.
    pub fn connect(&mut self, now: Instant) {
        self.tcp = Some(Connection::connect(self.config.clone(), self.iss, now));
    }

    /// The connection.
    ///
    /// # Panics
    /// Before it was opened.
    pub fn connection(&self) -> &Connection {
        self.tcp.as_ref().expect("opened")
    }

    /// All events so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    fn process_events(&mut self) {
        let Some(tcp) = &mut self.tcp else { return };
        while let Some(event) = tcp.poll_event() {
            if let Event::Closed(reason) = event {
                self.closed.get_or_insert(reason);
            }
            self.events.push(event);
        }
    }

    /// How far the opening has come.
    pub fn opening(&self) -> Opening {
        self.tcp.as_ref().map_or(Opening::Listen, |tcp| opening(tcp.state()))
    }
}

impl Stack for TcpHost {
    fn application(&self) -> &Application {
        &self.application
    }

    fn application_mut(&mut self) -> &mut Application {
        &mut self.application
    }

    fn handle_segment(&mut self, now: Instant, _path: Path, segment: &Segment) -> Option<Segment> {
        match &mut self.tcp {
            Some(tcp) => {
                let handle = |tcp: &mut Connection| tcp.handle_segment(now, segment);
                let stages = |tcp: &mut Connection| {
                    let acceptance = tcp.judge(now, segment);
                    tcp.process(segment, acceptance);
                };
                match &mut self.prediction {
                    Some(prediction) => prediction.compare(tcp, |tcp| tcp.expects(segment), handle, stages),
                    None => handle(tcp),
                }
            }
            None if opens(segment) => {
                self.tcp = Some(Connection::accept(self.config.clone(), segment, self.iss, now));
            }
            None => {}
        }
        None
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(tcp) = self.tcp.as_mut().filter(|tcp| tcp.deadline() <= now) {
            tcp.handle_timeout(now);
        }
    }

    fn deadline(&self) -> Instant {
        let deadline = |tcp: &Connection| tcp.deadline().min(self.application.deadline(tcp));
        self.tcp.as_ref().map_or(Instant::MAX, deadline)
    }

    fn settle(&mut self, now: Instant) {
        self.process_events();
        if let Some(tcp) = &mut self.tcp {
            self.application.serve(tcp, now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(Path, Segment)> {
        let tcp = self.tcp.as_mut()?;
        let segment = tcp.poll_transmit(now)?;
        self.sent += 1;
        self.windows.observe(&segment, tcp.own_window_scale());
        Some((self.path, segment))
    }

    fn observe(&mut self, _path: Path, segment: &Segment) {
        self.knowledge.observe(segment);
    }

    fn is_done(&self) -> bool {
        self.closed == Some(CloseReason::Finished) && self.tcp.as_ref().is_some_and(Connection::peer_finished)
    }

    fn sockets(&self) -> Vec<Path> {
        vec![self.path]
    }

    fn knowledge(&self, _socket: usize) -> Knowledge {
        self.knowledge
    }

    fn victim(&self, _socket: usize, peer: &Self) -> Victim {
        let numbers = |tcp: &Connection| (tcp.snd_una(), tcp.snd_nxt(), tcp.rcv_nxt());
        let (snd_una, snd_nxt, rcv_nxt) = self.tcp.as_ref().map(numbers).unwrap_or_default();
        let edge = self.windows.edge(rcv_nxt);
        let max_window = peer.windows.largest();
        Victim { opening: self.opening(), snd_una, snd_nxt, rcv_nxt, edge, max_window }
    }

    fn phase(&self) -> Phase {
        match self.opening() {
            Opening::Listen | Opening::SynSent | Opening::SynReceived => Phase::Opening,
            _ if self.tcp.as_ref().is_some_and(Connection::peer_finished) => Phase::Closing,
            _ => Phase::Open,
        }
    }

    fn sent(&self) -> u64 {
        self.sent
    }
}

/// A client that writes `octets[0]` and a server that writes `octets[1]`, over one line; `lines`:
/// from the client, and from the server. The client's SYN is about to leave.
pub fn tcp_network(configs: [Config; 2], octets: [u64; 2], lines: [Line; 2], seed: u64) -> Network<TcpHost> {
    let [client, server] = configs;
    let mut client = TcpHost::new(0, client, 0xffff_f000, octets[0]);
    client.connect(Instant::ZERO);
    Network::new([client, TcpHost::new(1, server, 0x7fff_0000, octets[1])], vec![lines], seed)
}

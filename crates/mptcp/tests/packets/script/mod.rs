//! Scripts that say what a connection must send, and on which subflow, for what it receives.
//!
//! The connection under test is real, its peer is the script. A script is a list of lines. `+N` lets N milliseconds
//! pass first (timers fire at their times). Then one of:
//!
//! ```text
//! push N [finish] | read | finish | abort   what the application does
//! N < FLAGS FROM:TO [ack N] [win N] …       a segment arrives on subflow N; a SYN with `join` opens it
//! N > FLAGS FROM:TO [ack N] …               a segment must have left on subflow N, with these fields
//! > nothing                                 nothing may leave
//! ```
//!
//! FLAGS are of `S F R P .` ("`-`" is none; P is not compared); sequence numbers count from the initial ones of the
//! subflow, so that data begins at 1. `FROM:TO` may be left out when an outgoing segment is described. Data positions
//! count from the first octet of the stream. Options:
//!
//! ```text
//! ts VALUE ECHO           timestamps
//! dack N | dack32 N       DATA_ACK of 64 or 32 bits
//! map DATA SSN LEN        a mapping; LEN 0 is an infinite one
//! fin                     F of the DSS
//! sum | badsum            the mapping's checksum, right or wrong
//! capable [LEN]           MP_CAPABLE as the flags want it; with the data's length
//! c                       … with C
//! join | badjoin          MP_JOIN as the flags want it, with the right HMAC or a wrong one
//! add ID ADDRESS[:PORT] | badadd … | echo ID ADDRESS[:PORT]
//! remove ID | prio 0 | prio 1 | fail N | fastclose | badfastclose | tcprst CODE | transient CODE
//! ```
//!
//! Fields that a line does not name are not compared, but for `nodss`, `nomptcp` and `nofin`.

mod options;
mod parse;

use ropewalk_mptcp::{
    Accepting, Config, Connecting, Connection, Event, Path, PathManager, Secret, SubflowId, keys,
};
use ropewalk_testnet::words::number;
use ropewalk_units::{Dsn, Duration, Instant, Seq};
use ropewalk_wire::{Flags, Join, Key, MptcpOption, Segment};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};

/// The peer's key.
pub(crate) const PEER_KEY: Key = 0x0123_4567_89ab_cdef;
/// The first millisecond of a script.
const START: u64 = 99;
/// Near the wrap, so that most scripts cross it; another one for each subflow.
const IRS: u32 = u32::MAX - 500;
/// The peer's random numbers.
const PEER_NONCE: u32 = 0x0a0b_0c0d;

/// One subflow as the peer sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    pub(crate) id: Option<SubflowId>,
    /// The connection's initial sequence number, and the peer's.
    pub(crate) iss: Seq,
    pub(crate) irs: Seq,
    /// The connection's random number of MP_JOIN.
    pub(crate) nonce: u32,
}

/// A connection, and the peer that the lines play.
pub(crate) struct Script {
    pub(crate) connection: Connection,
    pub(crate) now: Instant,
    pub(crate) ends: Vec<End>,
    own_key: Option<Key>,
    /// Addresses and ports: the connection's first one.
    path: Path,
    /// Where the peer's joins go, if not to the connection's first address and port.
    pub(crate) join_at: Option<SocketAddr>,
    out: VecDeque<(Instant, SubflowId, Segment)>,
    events: Vec<Event>,
    refused: bool,
}

/// An address of the connection's host or of the peer's.
pub(crate) fn address(subnet: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, subnet, 0, host).into(), port)
}

/// The connection's initial sequence number on its subflow `at`.
fn iss(at: usize) -> Seq {
    Seq::new(0xffff_f000) + 200_000 * at as u32
}

/// Easy to read: no timestamps, segments of 1000 octets, no subflow of its own accord, windows that count payload.
pub(crate) fn config() -> Config {
    let path_manager = PathManager::Scripted { steps: Vec::new() };
    let mut config = Config { path_manager, memory_overhead: 0, ..Config::linux() };
    config.tcp.timestamps = false;
    config.tcp.mss = 1024;
    config
}

/// The same with a receive window of 10 000 octets.
pub(crate) fn small_window() -> Config {
    let mut config = Config { receive_buffer: 10_000, ..config() };
    config.tcp.receive_autotuning = false;
    config
}

impl Script {
    /// An active opener over `paths`; its SYN waits to be expected.
    pub(crate) fn connect_over(config: Config, paths: Vec<Path>) -> Self {
        let now = Instant::ZERO + Duration::from_millis(START);
        let path = paths[0];
        let connecting = Connecting { paths, iss: iss(0), secret: Secret([7; 32]) };
        let connection = Connection::connect(config, connecting, now);
        Self::new(connection, path, now)
    }

    /// An active opener over one path.
    pub(crate) fn connect(config: Config) -> Self {
        Self::connect_over(config, vec![Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) }])
    }

    /// A passive opener, from the SYN that the line describes.
    pub(crate) fn accept(config: Config, syn: &str) -> Self {
        Self::accept_with(config, Secret([7; 32]), syn)
    }

    /// A passive opener whose second address is `second`.
    pub(crate) fn accept_beside(config: Config, second: SocketAddr, syn: &str) -> Self {
        Self::accept_at(config, Secret([7; 32]), second, syn)
    }

    fn accept_with(config: Config, secret: Secret, syn: &str) -> Self {
        Self::accept_at(config, secret, address(1, 2, 5001), syn)
    }

    fn accept_at(config: Config, secret: Secret, second: SocketAddr, syn: &str) -> Self {
        let now = Instant::ZERO + Duration::from_millis(START);
        let path = Path { local: address(0, 2, 5001), remote: address(0, 1, 40_000) };
        let end = End { irs: Seq::new(IRS), ..End::default() };
        let words: Vec<&str> = syn.split_whitespace().collect();
        let syn = parse::segment(&words, &Keys { own: None, end, at: 0, remote: false });
        let local_addresses = vec![path.local, second];
        let accepting = Accepting { path, local_addresses, iss: iss(0), secret };
        let connection = Connection::accept(config, accepting, &syn, now);
        Self::new(connection, path, now)
    }

    fn new(connection: Connection, path: Path, now: Instant) -> Self {
        let first = End { id: Some(SubflowId(0)), irs: Seq::new(IRS), ..End::default() };
        let mut script = Self {
            connection,
            now,
            ends: vec![first],
            own_key: None,
            path,
            join_at: None,
            out: VecDeque::new(),
            events: Vec::new(),
            refused: false,
        };
        script.poll();
        script
    }

    /// An active opener after a handshake of 20 ms and a DSS of the peer's: it may be joined and may join.
    pub(crate) fn client(config: Config) -> Self {
        let mut script = Self::connect(config);
        script.run(
            "0 > S 0:1 capable
             +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
             0 > . 1:1 ack 1 capable
             +1 0 < . 1:1 ack 1 win 60000 dack 0",
        );
        script
    }

    /// A passive opener after a handshake of 20 ms.
    pub(crate) fn server(config: Config) -> Self {
        Self::server_with(config, Secret([7; 32]))
    }

    /// The same, with another key.
    pub(crate) fn server_with(config: Config, secret: Secret) -> Self {
        let mut script = Self::accept_with(config, secret, "S 0:1 win 60000 mss 1024 sackok capable");
        script.run(
            "0 > S. 0:1 ack 1 capable
             +20 0 < . 1:1 ack 1 win 60000 capable",
        );
        script
    }

    /// Subflow 1, opened by the peer with MP_JOIN and fully established.
    pub(crate) fn join(&mut self) {
        let at = self.ends.len();
        let lines = format!(
            "+1 {at} < S 0:1 win 60000 mss 1024 sackok join
             {at} > S. 0:1 ack 1 join
             +20 {at} < . 1:1 ack 1 win 60000 join
             {at} > . 1:1 ack 1"
        );
        self.run(&lines);
    }

    /// Runs the lines; panics at the first that does not hold.
    #[track_caller]
    pub(crate) fn run(&mut self, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.line(line);
        }
    }

    /// Events since the last call, the subflows' own left out.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        events.retain(|event| !matches!(event, Event::Subflow { .. }));
        events
    }

    /// Was the last SYN with MP_JOIN refused, so that the host answers with a RST?
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// What waits to leave, for a test that does not care for the order.
    pub(crate) fn take_out(&mut self) -> Vec<(SubflowId, Segment)> {
        self.out.drain(..).map(|(_, id, segment)| (id, segment)).collect()
    }

    /// The segment of the peer's that the words describe, for a test that hands it over by itself.
    pub(crate) fn segment(&self, at: usize, words: &str) -> Segment {
        parse::segment(&words.split_whitespace().collect::<Vec<_>>(), &self.keys(at))
    }

    /// Lets time pass until something leaves, `milliseconds` at most.
    #[track_caller]
    pub(crate) fn pass_until_output(&mut self, milliseconds: u64) {
        for _ in 0..milliseconds {
            if !self.out.is_empty() {
                return;
            }
            self.pass(Duration::from_millis(1), "until something leaves");
        }
        panic!("nothing left within {milliseconds} ms");
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if let Some(milliseconds) = words[0].strip_prefix('+') {
            self.pass(Duration::from_millis(number(milliseconds)), line);
            words.remove(0);
        }
        match words.as_slice() {
            ["push", octets, end @ ..] => {
                self.connection.push(number(octets));
                if end.first() == Some(&"finish") {
                    self.connection.finish();
                }
            }
            ["read"] => while self.connection.read(u64::MAX).is_some() {},
            ["finish"] => self.connection.finish(),
            ["abort"] => self.connection.abort(),
            [">", "nothing"] => {
                assert!(self.out.is_empty(), "{line}: but {} leaves", self.print_first());
            }
            [at, ">", wanted @ ..] => self.expect(number(at), wanted, line),
            [at, "<", segment @ ..] => {
                assert!(self.out.is_empty(), "{line}: before it leaves {}", self.print_first());
                self.arrives(number(at), segment);
            }
            [] => {}
            _ => panic!("not understood: {line}"),
        }
        self.poll();
    }

    fn arrives(&mut self, at: usize, words: &[&str]) {
        let opens = at == self.ends.len();
        if opens {
            self.ends.push(End { irs: Seq::new(IRS) + 100_000 * at as u32, ..End::default() });
        }
        let segment = parse::segment(words, &self.keys(at));
        if let Some(id) = self.ends[at].id {
            self.connection.handle_segment(self.now, id, &segment);
        } else if opens {
            self.ends[at].id = self.accept_join(at, &segment);
            self.refused = self.ends[at].id.is_none();
        }
    }

    fn accept_join(&mut self, at: usize, syn: &Segment) -> Option<SubflowId> {
        let remote = address(at as u8, 1, 41_000 + at as u16);
        let path = Path { local: self.join_at.unwrap_or(self.path.local), remote };
        self.connection.accept_join(self.now, path, syn, iss(at)).ok()
    }

    pub(crate) fn keys(&self, at: usize) -> Keys {
        Keys { own: self.own_key, end: self.ends[at], at, remote: false }
    }

    /// Takes out what leaves. A driver may ask first whether anything does.
    fn poll(&mut self) {
        loop {
            let mut wants = self.connection.wants_to_transmit();
            while let Some((id, segment)) = self.connection.poll_transmit(self.now) {
                assert!(wants, "it says that it has nothing, but {id} {segment:?} leaves");
                assert!(self.out.len() < 10_000, "an endless burst");
                self.learn(id, &segment);
                self.out.push_back((self.now, id, segment));
                wants = self.connection.wants_to_transmit();
            }
            // Once more: what the end of a subflow has asked for may lead to nothing.
            assert!(self.connection.poll_transmit(self.now).is_none(), "all that leaves has left");
            assert!(
                !self.connection.wants_to_transmit(),
                "it says that it has something, but nothing leaves"
            );
            let Some(event) = self.connection.poll_event() else { break };
            if let Event::SubflowWanted(wanted) = event {
                let port = 41_000 + self.ends.len() as u16;
                let from = (port, iss(self.ends.len()));
                self.connection.open_subflow(self.now, wanted, Some(from));
            }
            self.events.push(event);
        }
    }

    /// What the connection tells of itself: keys, numbers.
    fn learn(&mut self, id: SubflowId, segment: &Segment) {
        let at = self.ends.iter().position(|end| end.id == Some(id)).unwrap_or_else(|| {
            let irs = Seq::new(IRS) + 100_000 * self.ends.len() as u32;
            self.ends.push(End { id: Some(id), irs, ..End::default() });
            self.ends.len() - 1
        });
        if segment.flags.contains(Flags::SYN) {
            self.ends[at].iss = segment.seq;
        }
        for option in segment.options.mptcp.rare() {
            match option {
                MptcpOption::Capable { sender_key: Some(key), .. } => self.own_key = Some(*key),
                MptcpOption::Join(Join::Syn { nonce, .. } | Join::SynAck { nonce, .. }) => {
                    self.ends[at].nonce = *nonce;
                }
                _ => {}
            }
        }
    }

    /// Lets time pass, timers firing on the way.
    #[track_caller]
    fn pass(&mut self, time: Duration, line: &str) {
        let end = self.now + time;
        if time > Duration::ZERO {
            assert!(self.out.is_empty(), "{line}: before it leaves {}", self.print_first());
        }
        while let Some((at, _)) = self.connection.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.connection.handle_timeout(self.now);
            self.poll();
        }
        self.now = end;
    }

    #[track_caller]
    fn expect(&mut self, at: usize, wanted: &[&str], line: &str) {
        let Some((_, id, segment)) = self.out.pop_front() else { panic!("{line}: nothing leaves") };
        let found = format!("{id} {}", self.print(id, &segment));
        assert_eq!(self.ends[at].id, Some(id), "{line}: {found}");
        parse::compare(wanted, &self.keys(at), &segment, &format!("{line}: {found}"));
    }

    fn print_first(&self) -> String {
        self.out.front().map_or_else(String::new, |(_, id, segment)| self.print(*id, segment))
    }

    fn print(&self, id: SubflowId, segment: &Segment) -> String {
        let end = self.ends.iter().find(|end| end.id == Some(id)).copied().unwrap_or_default();
        let from = segment.seq.since(end.iss);
        format!(
            "{:?} {}:{} ack {} win {} {}",
            segment.flags,
            from,
            from.wrapping_add(segment.sequence_len()),
            segment.ack.since(end.irs),
            segment.window,
            options::print(&segment.options.mptcp),
        )
    }
}

/// What a line's numbers and HMACs are relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) own: Option<Key>,
    pub(crate) end: End,
    /// The number of the subflow.
    pub(crate) at: usize,
    /// The segment is the connection's, not the peer's.
    pub(crate) remote: bool,
}

impl Keys {
    /// The same, for a segment of the connection's.
    pub(crate) fn outgoing(self) -> Self {
        Self { remote: true, ..self }
    }

    /// Initial sequence numbers of the segment's sender and of its receiver.
    pub(crate) fn bases(&self) -> (Seq, Seq) {
        if self.remote { (self.end.iss, self.end.irs) } else { (self.end.irs, self.end.iss) }
    }

    /// Keys of the segment's sender and of its receiver; 0 if not known.
    pub(crate) fn keys(&self) -> (Key, Key) {
        let own = self.own.unwrap_or_default();
        if self.remote { (own, PEER_KEY) } else { (PEER_KEY, own) }
    }

    /// DSNs of the first octet that the segment's sender sends, and of the first that it receives.
    pub(crate) fn data(&self) -> (Dsn, Dsn) {
        let (sender, receiver) = self.keys();
        (keys::initial_dsn(sender) + 1, keys::initial_dsn(receiver) + 1)
    }

    /// The peer's Address ID of the subflow's far end: the number of the subflow.
    pub(crate) fn address_id(&self) -> u8 {
        self.at as u8
    }

    /// Random numbers of the segment's sender and of its receiver.
    pub(crate) fn nonces(&self) -> (u32, u32) {
        if self.remote { (self.end.nonce, PEER_NONCE) } else { (PEER_NONCE, self.end.nonce) }
    }
}

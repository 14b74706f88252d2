//! Two honest hosts, the paths between them, and a place where somebody else may put segments in.

use crate::host::{Host, path_of};
use crate::settings::{Line, Settings};
use ropewalk_adversary::{Random, Source, Victim};
use ropewalk_mptcp::{Connection, Path};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{MptcpOptions, Segment};
use std::collections::BTreeMap;

/// Everything.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) hosts: [Host; 2],
    lines: Vec<Line>,
    strips: bool,
    random: Random,
    on_way: BTreeMap<(Instant, u64), (usize, Path, Segment)>,
    number: u64,
    /// Both ends were told that the connection is over.
    pub(crate) over: Option<Instant>,
}

impl World {
    /// The client's SYN is about to leave.
    pub(crate) fn new(settings: &Settings) -> Self {
        let Settings { configs: [client, server], octets, lines, strips, wraps, seed } = settings.clone();
        let hosts = [
            Host::client(client, lines.len(), octets[0], wraps),
            Host::server(server, lines.len(), octets[1], wraps),
        ];
        let (random, on_way) = (Random::new(seed), BTreeMap::new());
        let mut world =
            Self { now: Instant::ZERO, hosts, lines, strips, random, on_way, number: 0, over: None };
        world.pump();
        world
    }

    /// What the oracle looks at: a socket of one side.
    pub(crate) fn victim(&self, side: usize, socket: usize) -> Victim {
        self.hosts[side].victim(socket, &self.hosts[1 - side])
    }

    /// Applications, then everything that may leave.
    fn pump(&mut self) {
        for side in 0..2 {
            self.hosts[side].settle(self.now);
            let mut burst = 0;
            while let Some((path, segment)) = self.hosts[side].poll_transmit(self.now) {
                burst += 1;
                assert!(burst < 10_000, "an endless burst");
                self.send(side, path, segment);
            }
            self.hosts[side].settle(self.now);
        }
        if self.over.is_none() && self.hosts.iter().all(Host::is_done) {
            self.over = Some(self.now);
        }
    }

    /// Keys that one end has seen, the attacker knows at both.
    fn share_keys(&mut self) {
        let mut keys = [(None, None); 2];
        for (side, host) in self.hosts.iter().enumerate() {
            for socket in &host.sockets {
                let (peer, own) = socket.knowledge.keys;
                keys[side] = (peer.or(keys[side].0), own.or(keys[side].1));
                keys[1 - side] = (own.or(keys[1 - side].0), peer.or(keys[1 - side].1));
            }
        }
        for (host, keys) in self.hosts.iter_mut().zip(keys) {
            host.sockets.iter_mut().for_each(|socket| socket.knowledge.keys = keys);
        }
    }

    fn send(&mut self, side: usize, path: Path, mut segment: Segment) {
        if self.strips {
            segment.options.mptcp = MptcpOptions::default();
        }
        let towards = Path { local: path.remote, remote: path.local };
        self.hosts[1 - side].observe(towards, &segment);
        if segment.options.mptcp.has_rare() {
            self.share_keys();
        }
        let line = self.lines[path_of(path, &self.lines)];
        if self.random.below(1000) < line.loss {
            return;
        }
        if self.random.below(1000) < line.duplicates {
            self.fly(line, 1 - side, towards, segment.clone());
        }
        self.fly(line, 1 - side, towards, segment);
    }

    fn fly(&mut self, line: Line, to: usize, path: Path, segment: Segment) {
        let jitter = Duration::from_nanos(self.random.below(line.jitter.as_nanos() + 1));
        self.on_way.insert((self.now + line.delay + jitter, self.number), (to, path, segment));
        self.number += 1;
    }

    /// When the next thing happens.
    pub(crate) fn next(&self) -> Option<Instant> {
        let timer =
            |host: &Host| host.connection.as_ref().and_then(Connection::poll_timeout).map(|(at, _)| at);
        let arrival = self.on_way.keys().next().map(|(at, _)| *at);
        self.hosts.iter().filter_map(timer).chain(arrival).min()
    }

    /// Goes on to the next event; false if there is none before `limit`.
    pub(crate) fn step(&mut self, limit: Instant) -> bool {
        let Some(next) = self.next().filter(|next| *next <= limit) else { return false };
        self.now = self.now.max(next);
        match self.on_way.first_key_value() {
            Some(((at, _), _)) if *at <= self.now => {
                let (_, (side, path, segment)) = self.on_way.pop_first().expect("just seen");
                self.deliver(side, path, &segment);
            }
            _ => {
                for connection in self.hosts.iter_mut().filter_map(|host| host.connection.as_mut()) {
                    if connection.poll_timeout().is_some_and(|(at, _)| at <= self.now) {
                        connection.handle_timeout(self.now);
                    }
                }
                self.pump();
            }
        }
        true
    }

    /// A segment reaches a host, whoever sent it; `path` is from that host's side.
    pub(crate) fn deliver(&mut self, side: usize, path: Path, segment: &Segment) {
        if let Some(answer) = self.hosts[side].take(self.now, path, segment) {
            self.send(side, path, answer);
        }
        self.pump();
    }
}

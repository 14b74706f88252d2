//! Two hosts on the simulator.

use crate::datagram::{line_of, reversed};
use crate::host::Host;
use crate::line::{Line, lay, name};
use crate::middlebox::Working;
use crate::stack::Stack;
use ropewalk_mptcp::Path;
use ropewalk_sim::{LinkId, LinkStats, NoTap, NodeId, Streams, World};
use ropewalk_units::Instant;
use ropewalk_wire::Segment;

/// A segment as it left a host.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When.
    pub at: Instant,
    /// 0: the client, 1: the server.
    pub side: usize,
    /// From the sender's side.
    pub path: Path,
    /// The line that it took.
    pub line: usize,
    /// The segment.
    pub segment: Segment,
}

impl std::fmt::Display for Seen {
    /// One line, for a person.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let s = &self.segment;
        let dss = s.options.mptcp.dss.map(|d| (d.data_ack(), d.mapping(), d.data_fin()));
        write!(f, "{} {} line {} ", self.at, if self.side == 0 { ">" } else { "<" }, self.line)?;
        write!(f, "{}-{} ", self.path.local.port(), self.path.remote.port())?;
        write!(f, "[{:?}] {}/{} ", s.flags, s.seq.get(), s.ack.get())?;
        write!(f, "+{} at {} win {} {:?} ", s.payload.len, s.payload.offset, s.window, s.options.sack)?;
        write!(f, "{dss:?} {:?}", s.options.mptcp.rare())
    }
}

/// More events than any test needs.
const MOST_STEPS: u64 = 20_000_000;

/// Two hosts and the lines between them.
pub struct Network<S: Stack> {
    world: World<Host<S>>,
    lines: Vec<[LinkId; 2]>,
    /// When both hosts were done.
    pub over: Option<Instant>,
    /// Every segment that was sent, if that was asked for.
    pub seen: Vec<Seen>,
    records: bool,
}

impl<S: Stack> Network<S> {
    /// The hosts (client, server), and each line from the client and from the server. What is
    /// random follows from `seed`.
    pub fn new(stacks: [S; 2], lines: Vec<[Line; 2]>, seed: u64) -> Self {
        let streams = Streams::new(seed);
        let mut world = World::new(NoTap);
        let boxes = |from: usize| {
            let working = |(number, line): (usize, &[Line; 2])| {
                let Line { middlebox, until, .. } = &line[from];
                Working::new(middlebox.clone(), *until, name(number, from), streams)
            };
            lines.iter().enumerate().map(working).collect::<Vec<_>>()
        };
        let [client, server] = stacks;
        let client = world.add_node(Host::new(client, boxes(1)));
        let server = world.add_node(Host::new(server, boxes(0)));
        let ids = lay(&mut world, [client, server], &lines, streams);
        let mut network = Self { world, lines: ids, over: None, seen: Vec::new(), records: false };
        (0..2).for_each(|side| network.wake(side));
        network
    }

    fn wake(&mut self, side: usize) {
        self.world.set_timer(node(side), self.world.now(), 0);
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// A host: 0 is the client, 1 the server.
    pub fn host(&self, side: usize) -> &S {
        &self.world.node(node(side)).stack
    }

    /// Both hosts.
    pub fn hosts(&self) -> [&S; 2] {
        [self.host(0), self.host(1)]
    }

    /// A host, to change it. What follows from the change comes with the next event.
    pub fn host_mut(&mut self, side: usize) -> &mut S {
        self.wake(side);
        &mut self.world.node_mut(node(side)).stack
    }

    /// Keeps every segment that is sent from now on.
    pub fn record(&mut self) {
        self.records = true;
        self.watch();
    }

    /// From this call on, each host's [`Stack::observe`] gets the segments that are sent to it.
    pub fn watch(&mut self) {
        (0..2).for_each(|side| self.world.node_mut(node(side)).watched = true);
    }

    /// The next event, if it is not after `limit`; false if there is none.
    pub fn step(&mut self, limit: Instant) -> bool {
        let stepped = self.world.step(limit);
        if stepped {
            self.look();
        }
        stepped
    }

    /// After an event: tells each application what its peer has written, and notes what was sent.
    fn look(&mut self) {
        for side in 0..2 {
            let host = self.world.node_mut(node(side));
            let written = host.stack.application_mut().take_written();
            let outgoing = std::mem::take(&mut host.outgoing);
            let peer = &mut self.world.node_mut(node(1 - side)).stack;
            peer.application_mut().expect(&written);
            let mut keys_seen = false;
            for (at, path, segment) in outgoing {
                peer.observe(reversed(path), &segment);
                keys_seen |= segment.options.mptcp.has_rare();
                if self.records {
                    let line = line_of(path, self.lines.len());
                    self.seen.push(Seen { at, side, path, line, segment });
                }
            }
            if keys_seen {
                self.share_keys();
            }
        }
        let checked = self.hosts().iter().all(|stack| stack.is_checked());
        (0..2).for_each(|side| self.world.node_mut(node(side)).checked = checked);
        if self.over.is_none() && self.hosts().iter().all(|stack| stack.is_done()) {
            self.over = Some(self.now());
        }
    }

    /// The attacker uses keys that it saw on the way to one end at both ends.
    fn share_keys(&mut self) {
        for side in 0..2 {
            let (peer, own) = self.host(side).keys();
            self.world.node_mut(node(1 - side)).stack.learn((own, peer));
            self.world.node_mut(node(side)).stack.learn((peer, own));
        }
    }

    /// Runs until nothing happens any more, or the next event is after `limit`.
    pub fn run(&mut self, limit: Instant) {
        self.run_while(limit, |_| true);
    }

    /// Like [`Self::run`], but also ends when `wanted` is false after an event.
    pub fn run_while(&mut self, limit: Instant, wanted: impl Fn(&Self) -> bool) {
        let mut steps = 0;
        while self.step(limit) && wanted(self) {
            steps += 1;
            assert!(steps < MOST_STEPS, "it does not come to rest at {}", self.now());
        }
    }

    /// Runs up to a time.
    pub fn run_until(&mut self, end: Instant) {
        self.run(end);
        self.world.run_until(end);
    }

    /// Nothing is on its way, and no host waits for anything.
    pub fn is_at_rest(&self) -> bool {
        let rests = |side: usize| self.world.node(node(side)).deadline() == Instant::MAX;
        self.world.packets() == 0 && rests(0) && rests(1)
    }

    /// Puts in a segment that comes to a host now, by a path from its side.
    pub fn inject(&mut self, side: usize, path: Path, segment: Segment) {
        self.world.node_mut(node(side)).inbox.push_back((path, segment));
        self.wake(side);
        while !self.world.node(node(side)).inbox.is_empty() {
            assert!(self.step(self.now()), "a timer is set");
        }
    }

    /// What a line has done, in the direction from a side.
    pub fn line(&mut self, line: usize, from: usize) -> LinkStats {
        self.world.link(self.lines[line][from])
    }

    /// Segments that the middlebox of a line has marked, in the direction from a side.
    pub fn marked(&self, line: usize, from: usize) -> u64 {
        self.world.node(node(1 - from)).boxes[line].marked
    }

    /// Segments that the middlebox of a line has lost, in the direction from a side.
    pub fn lost(&self, line: usize, from: usize) -> u64 {
        self.world.node(node(1 - from)).boxes[line].lost
    }
}

pub(crate) fn node(side: usize) -> NodeId {
    NodeId(side as u32)
}

//! Two honest ends, the path between them, and a place where somebody else may put segments in.

use crate::settings::{Line, Settings};
use ropewalk_adversary::{FOREIGN, Knowledge, Opening, Random, Source, Victim, Windows};
use ropewalk_tcp::{CloseReason, Config, Connection, Event, State};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, Payload, Segment};
use std::collections::BTreeMap;

/// The server's stream begins here, so that octets of one direction are not taken for the other's.
const SERVER_STREAM: u64 = 1 << 36;

/// One host's end.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) tcp: Option<Connection>,
    config: Config,
    iss: Seq,
    base: u64,
    octets: u64,
    written: u64,
    peer_base: u64,
    /// The last honest octet read, and one more.
    honest_end: u64,
    /// Octets read, whoever's they are.
    pub(crate) read: u64,
    /// … of the attacker.
    pub(crate) foreign: u64,
    pub(crate) closed: Option<CloseReason>,
    /// What it sent.
    pub(crate) windows: Windows,
    /// What an attacker may have seen on the way to it.
    pub(crate) knowledge: Knowledge,
    pub(crate) sent: u64,
}

/// A path's whole state.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) ends: [End; 2],
    lines: [Line; 2],
    random: Random,
    on_way: BTreeMap<(Instant, u64), (usize, Segment)>,
    number: u64,
    /// Both ends were told that the connection is over.
    pub(crate) over: Option<Instant>,
    /// Reading another's octets is no failure.
    pub(crate) lenient: bool,
}

impl End {
    fn new(config: Config, iss: u32, side: u64, octets: u64) -> Self {
        Self {
            tcp: None,
            config,
            iss: Seq::new(iss),
            base: side * SERVER_STREAM,
            octets,
            written: 0,
            peer_base: (1 - side) * SERVER_STREAM,
            honest_end: (1 - side) * SERVER_STREAM,
            read: 0,
            foreign: 0,
            closed: None,
            windows: Windows::default(),
            knowledge: Knowledge::default(),
            sent: 0,
        }
    }

    /// How far the opening has come; none without a connection yet.
    pub(crate) fn opening(&self) -> Opening {
        match self.tcp.as_ref().map(Connection::state) {
            None => Opening::Listen,
            Some(State::Closed) => Opening::Closed,
            Some(State::SynSent) => Opening::SynSent,
            Some(State::SynReceived) => Opening::SynReceived,
            Some(_) => Opening::Synchronized,
        }
    }

    /// Everything was read and the end is closed in an orderly way.
    fn is_done(&self) -> bool {
        self.closed == Some(CloseReason::Finished) && self.tcp.as_ref().is_some_and(Connection::peer_finished)
    }

    fn write(&mut self) {
        let Some(tcp) = &mut self.tcp else { return };
        let len = tcp.send_space().min(self.octets - self.written) as u32;
        if len > 0 {
            tcp.push(Payload { offset: self.base + self.written, len });
            self.written += u64::from(len);
        }
        if self.written == self.octets {
            tcp.finish();
        }
    }

    /// Reads all there is; each octet is the honest one of its place, or, if `lenient`, an attacker's, or a later one.
    fn read(&mut self, lenient: bool) {
        let Some(tcp) = &mut self.tcp else { return };
        while let Some(piece) = tcp.read(u64::MAX) {
            let Payload { offset, len } = piece.payload;
            if lenient && offset >= FOREIGN {
                self.foreign += u64::from(len);
            } else if lenient {
                // A forged SYN/ACK moves the stream's beginning; nothing comes twice or backwards.
                assert!(offset >= self.honest_end, "{offset} again, after {}", self.honest_end);
                self.honest_end = offset + u64::from(len);
            } else {
                assert_eq!(offset, self.peer_base + self.read, "whole, once and in order");
            }
            self.read += u64::from(len);
        }
    }

    fn take_events(&mut self) {
        let Some(tcp) = &mut self.tcp else { return };
        while let Some(event) = tcp.poll_event() {
            if let Event::Closed(reason) = event {
                self.closed.get_or_insert(reason);
            }
        }
    }
}

impl World {
    /// The client's SYN is about to leave.
    pub(crate) fn new(settings: &Settings) -> Self {
        let Settings { configs: [client, server], octets, lines, seed } = settings.clone();
        let mut random = Random::new(seed);
        // Half of the sequence numbers wrap soon.
        let mut iss = || random.next() as u32 | random.pick(&[0, 0xffff_c000]);
        let mut ends = [End::new(client, iss(), 0, octets[0]), End::new(server, iss(), 1, octets[1])];
        ends[0].tcp = Some(Connection::connect(ends[0].config.clone(), ends[0].iss, Instant::ZERO));
        let on_way = BTreeMap::new();
        let mut world =
            Self { now: Instant::ZERO, ends, lines, random, on_way, number: 0, over: None, lenient: false };
        world.pump();
        world
    }

    /// What the oracle looks at.
    pub(crate) fn victim(&self, side: usize) -> Victim {
        let end = &self.ends[side];
        let opening = end.opening();
        let numbers = |tcp: &Connection| (tcp.snd_una(), tcp.snd_nxt(), tcp.rcv_nxt());
        let (snd_una, snd_nxt, rcv_nxt) = end.tcp.as_ref().map(numbers).unwrap_or_default();
        let edge = end.windows.edge(rcv_nxt);
        let max_window = self.ends[1 - side].windows.largest();
        Victim { opening, snd_una, snd_nxt, rcv_nxt, edge, max_window }
    }

    /// Applications, then everything that may leave.
    pub(crate) fn pump(&mut self) {
        for side in 0..2 {
            let end = &mut self.ends[side];
            end.take_events();
            end.read(self.lenient);
            end.write();
            let mut burst = 0;
            while let Some(segment) = self.ends[side].tcp.as_mut().and_then(|tcp| tcp.poll_transmit(self.now))
            {
                burst += 1;
                assert!(burst < 10_000, "an endless burst");
                self.send(side, segment);
            }
            self.ends[side].take_events();
        }
        if self.over.is_none() && self.ends.iter().all(End::is_done) {
            self.over = Some(self.now);
        }
    }

    fn send(&mut self, side: usize, segment: Segment) {
        assert!(segment.options.wire_len() <= 40, "options fit: {segment:?}");
        let end = &mut self.ends[side];
        end.sent += 1;
        let shift = end.tcp.as_ref().map_or(0, Connection::own_window_scale);
        end.windows.observe(&segment, shift);
        self.ends[1 - side].knowledge.observe(&segment);
        let line = self.lines[side];
        if self.random.below(1000) < line.loss {
            return;
        }
        if self.random.below(1000) < line.duplicates {
            self.fly(line, 1 - side, segment.clone());
        }
        self.fly(line, 1 - side, segment);
    }

    fn fly(&mut self, line: Line, to: usize, segment: Segment) {
        let jitter = Duration::from_nanos(self.random.below(line.jitter.as_nanos() + 1));
        self.on_way.insert((self.now + line.delay + jitter, self.number), (to, segment));
        self.number += 1;
    }

    /// When the next thing happens.
    pub(crate) fn next(&self) -> Option<Instant> {
        let timer = |end: &End| end.tcp.as_ref()?.poll_timeout().map(|(at, _)| at);
        let arrival = self.on_way.keys().next().map(|(at, _)| *at);
        self.ends.iter().filter_map(timer).chain(arrival).min()
    }

    /// Goes on to the next event; false if there is none before `limit`.
    pub(crate) fn step(&mut self, limit: Instant) -> bool {
        let Some(next) = self.next().filter(|next| *next <= limit) else { return false };
        self.now = self.now.max(next);
        match self.on_way.first_key_value() {
            Some(((at, _), _)) if *at <= self.now => {
                let (_, (side, segment)) = self.on_way.pop_first().expect("just seen");
                self.deliver(side, &segment);
            }
            _ => {
                for tcp in self.ends.iter_mut().filter_map(|end| end.tcp.as_mut()) {
                    tcp.handle_timeout(self.now);
                }
                self.pump();
            }
        }
        true
    }

    /// A segment reaches an end, whoever sent it.
    pub(crate) fn deliver(&mut self, side: usize, segment: &Segment) {
        let end = &mut self.ends[side];
        let opens = segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST);
        match &mut end.tcp {
            Some(tcp) => tcp.handle_segment(self.now, segment),
            None if opens => {
                end.tcp = Some(Connection::accept(end.config.clone(), segment, end.iss, self.now));
            }
            None => {}
        }
        self.pump();
    }
}

//! Scripts that say what a connection must send, and when, for what it receives.
//!
//! A script is a list of lines. `+N` lets N milliseconds pass first (timers fire at their times). Then one of:
//!
//! ```text
//! push N [finish] | read [N] | finish | abort   what the application does
//! too-big MSS FROM                   a router says that the segment which begins at FROM is too long for it
//! < FLAGS FROM:TO [ack N] [win N] …  a segment arrives
//! << FLAGS FROM:TO …                 as `<`, but nothing is sent before the next line: it lies in a queue with others
//! > FLAGS FROM:TO [ack N] [win N] …  a segment must leave, at this very millisecond, with these fields
//! > nothing                          nothing may leave
//! ```
//!
//! FLAGS are of `S F R P . E W` ("`-`" is none; P is not compared); numbers count from the initial sequence numbers,
//! so that data begins at 1. Further fields: `mss N`, `wscale N`, `sackok`, `sack A-B,C-D`, `ts V/E`, `ce`, `ect`;
//! of a segment that must leave, `nots`, `nowscale`, `bare` (no option that belongs on a SYN), `push` and `nopush` (its PSH).
//! Fields that a line does not name are not compared.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod configs;

use ropewalk_tcp::{Config, Connection, Event, Room, State, TooBig};
use ropewalk_testnet::words::{flags, number, pair};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Ecn, Flags, Payload, SackBlocks, Segment, Timestamps};
use std::collections::VecDeque;

/// Near the wrap, so that every test crosses it.
const ISS: u32 = u32::MAX - 2_500;
const IRS: u32 = u32::MAX - 500;
/// The first millisecond of a script: timestamps are small, but not zero.
const START: u64 = 99;

pub(crate) struct Script {
    pub(crate) tcp: Connection,
    now: Instant,
    out: VecDeque<(Instant, Segment)>,
    offset: u64,
    /// What became of the last message of a router.
    pub(crate) told: Option<TooBig>,
}

impl Script {
    /// An active opener; its SYN waits to be expected.
    pub(crate) fn connect(config: Config) -> Self {
        let now = Instant::ZERO + Duration::from_millis(START);
        let tcp = Connection::connect(config, Seq::new(ISS), now);
        let mut script = Self { tcp, now, out: VecDeque::new(), offset: 0, told: None };
        script.poll();
        script
    }

    /// A passive opener, from the SYN that the line describes.
    pub(crate) fn accept(config: Config, syn: &str) -> Self {
        let now = Instant::ZERO + Duration::from_millis(START);
        let syn = parse(&syn.split_whitespace().collect::<Vec<_>>(), IRS, ISS);
        let tcp = Connection::accept(config, &syn, Seq::new(ISS), now);
        let mut script = Self { tcp, now, out: VecDeque::new(), offset: 0, told: None };
        script.poll();
        script
    }

    /// An active opener after a handshake of 20 ms with a peer that has an MSS of 1000, permits SACK and offers a
    /// window of 60 000.
    pub(crate) fn established(config: Config) -> Self {
        let mut script = Self::connect(config);
        script.run("> S 0:1\n +20 < S. 0:1 ack 1 win 60000 mss 1000 sackok\n > . 1:1 ack 1");
        script
    }

    /// Such an opener, with ten segments on their way.
    pub(crate) fn ten_in_flight(config: Config) -> Self {
        let mut script = Self::established(config);
        script.run("push 10000");
        script.expect_segments(10);
        script
    }

    /// The first segments of 1000 octets, so many of them.
    pub(crate) fn expect_segments(&mut self, count: u32) {
        for n in 0..count {
            self.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001));
        }
    }

    /// Runs the lines; panics at the first that does not hold.
    pub(crate) fn run(&mut self, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.line(line);
        }
    }

    /// Events since the last call.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        let any = self.tcp.has_events();
        let events: Vec<Event> = std::iter::from_fn(|| self.tcp.poll_event()).collect();
        assert_eq!((any, self.tcp.has_events()), (!events.is_empty(), false));
        events
    }

    /// What another subflow's duplicate ACKs do, so many of them.
    pub(crate) fn blame(&mut self, times: u32) {
        (0..times).for_each(|_| self.tcp.blame(self.now));
        self.poll();
    }

    #[track_caller]
    pub(crate) fn assert_state(&self, state: State) {
        assert_eq!(self.tcp.state(), state);
    }

    /// Sends so many octets, in flights of ten segments that the peer acknowledges 20 ms later.
    pub(crate) fn send_much(&mut self, octets: u64) {
        self.send_on(octets);
        self.now += Duration::from_millis(20);
        self.acknowledge(self.tcp.snd_nxt());
        assert_eq!(self.tcp.flight_size(), 0);
    }

    /// … each up to its last segment, so that something is on its way all the time.
    pub(crate) fn send_on(&mut self, octets: u64) {
        let end = self.offset + octets;
        while self.offset < end {
            let len = u32::try_from(u64::from(10 * self.tcp.smss()).min(end - self.offset)).expect("small");
            self.tcp.push(Payload { offset: self.offset, len });
            self.offset += u64::from(len);
            self.poll();
            self.now += Duration::from_millis(20);
            let last = self.out.back().map_or(self.tcp.snd_una(), |(_, segment)| segment.seq);
            self.out.clear();
            self.acknowledge(last);
        }
        assert_eq!(self.tcp.unsent(), 0);
    }

    fn acknowledge(&mut self, ack: Seq) {
        let seq = self.tcp.rcv_nxt();
        let segment = Segment { seq, ack, flags: Flags::ACK, window: 60_000, ..Segment::default() };
        self.tcp.handle_segment(self.now, &segment);
        self.poll();
    }

    /// Receives so many octets in order, which are read at once.
    pub(crate) fn receive_much(&mut self, octets: u64, segment: u32) {
        let mut left = octets;
        while left > 0 {
            let len = u32::try_from(u64::from(segment).min(left)).expect("small");
            let (seq, ack) = (self.tcp.rcv_nxt(), self.tcp.snd_nxt());
            let payload = Payload { offset: octets - left, len };
            let segment =
                Segment { seq, ack, flags: Flags::ACK, window: 60_000, payload, ..Segment::default() };
            self.tcp.handle_segment(self.now, &segment);
            while self.tcp.read(u64::MAX).is_some() {}
            self.poll();
            self.out.clear();
            left -= u64::from(len);
        }
    }

    fn line(&mut self, line: &str) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if let Some(milliseconds) = words[0].strip_prefix('+') {
            self.pass(Duration::from_millis(milliseconds.parse().expect("a number of milliseconds")), line);
            words.remove(0);
        }
        match words.as_slice() {
            ["push", octets, end @ ..] => {
                let len = number(octets);
                self.tcp.push(Payload { offset: self.offset, len });
                self.offset += u64::from(len);
                if end.first() == Some(&"finish") {
                    self.tcp.finish();
                }
            }
            ["read", octets] => drop(self.tcp.read(number(octets))),
            ["read"] => while self.tcp.read(u64::MAX).is_some() {},
            ["too-big", mss, from] => {
                self.told =
                    Some(self.tcp.packet_too_big(self.now, Seq::new(ISS) + number(from), number(mss)));
                self.tcp.audit();
            }
            ["finish"] => self.tcp.finish(),
            ["abort"] => self.tcp.abort(),
            [">", "nothing"] => {
                assert!(self.out.is_empty(), "{line}: but {} leaves", print(&self.out[0].1));
            }
            [">", wanted @ ..] => self.expect(wanted, line),
            ["<", segment @ ..] => {
                assert!(self.out.is_empty(), "{line}: before it leaves {}", print(&self.out[0].1));
                self.tcp.handle_segment(self.now, &parse(segment, IRS, ISS));
            }
            ["<<", segment @ ..] => return self.tcp.handle_segment(self.now, &parse(segment, IRS, ISS)),
            [] => {}
            _ => panic!("not understood: {line}"),
        }
        self.poll();
    }

    fn poll(&mut self) {
        loop {
            let wants = self.tcp.wants_to_transmit();
            let Some(segment) = self.tcp.poll_transmit(self.now) else { break };
            assert!(wants, "it said that nothing would leave: {}", print(&segment));
            assert!(self.out.len() < 1000, "an endless burst");
            self.out.push_back((self.now, segment));
        }
        let (pipe, cwnd_space) = (self.tcp.pipe(), self.tcp.cwnd_space());
        assert_eq!(self.tcp.room(), Room { pipe, cwnd_space, send_space: self.tcp.send_space() });
        self.tcp.audit();
    }

    /// Lets time pass, timers firing on the way.
    fn pass(&mut self, time: Duration, line: &str) {
        let end = self.now + time;
        if time > Duration::ZERO {
            assert!(self.out.is_empty(), "{line}: before it leaves {}", print(&self.out[0].1));
        }
        while let Some((at, _)) = self.tcp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.tcp.handle_timeout(self.now);
            self.poll();
        }
        self.now = end;
    }

    /// Lets time pass until `end`.
    pub(crate) fn until(&mut self, end: Instant) {
        let time = end.saturating_since(self.now);
        self.pass(time, "until");
    }

    fn expect(&mut self, wanted: &[&str], line: &str) {
        let Some((at, segment)) = self.out.pop_front() else { panic!("{line}: nothing leaves") };
        let found = print(&segment);
        assert_eq!(at.as_millis(), self.now.as_millis(), "{line}: {found} left at another time");
        let expected = parse(wanted, ISS, IRS);
        let compared = |flags: Flags| flags.bits() & !Flags::PSH.bits();
        assert_eq!(compared(segment.flags), compared(expected.flags), "{line}: {found}");
        if !segment.flags.contains(Flags::RST) || wanted.len() > 1 {
            assert_eq!((segment.seq, segment.end()), (expected.seq, expected.end()), "{line}: {found}");
        }
        for field in wanted.iter().copied() {
            match field {
                "ack" => assert_eq!(segment.ack, expected.ack, "{line}: {found}"),
                "win" => assert_eq!(segment.window, expected.window, "{line}: {found}"),
                "mss" => assert_eq!(segment.options.mss, expected.options.mss, "{line}: {found}"),
                "wscale" => {
                    assert_eq!(
                        segment.options.window_scale, expected.options.window_scale,
                        "{line}: {found}"
                    );
                }
                "sackok" => assert!(segment.options.sack_permitted, "{line}: {found}"),
                "sack" => assert_eq!(sacks(&segment, IRS), sacks(&expected, IRS), "{line}: {found}"),
                "nosack" => assert!(segment.options.sack.is_empty(), "{line}: {found}"),
                "ts" => {
                    assert_eq!(segment.options.timestamps, expected.options.timestamps, "{line}: {found}");
                }
                "nowscale" => assert_eq!(segment.options.window_scale, None, "{line}: {found}"),
                "nots" => assert_eq!(segment.options.timestamps, None, "{line}: {found}"),
                "bare" => assert!(is_bare(&segment), "{line}: {found} {:?}", segment.options),
                "push" => assert!(segment.flags.contains(Flags::PSH), "{line}: {found}"),
                "nopush" => assert!(!segment.flags.contains(Flags::PSH), "{line}: {found}"),
                "ect" => assert_eq!(segment.ecn, Ecn::Ect0, "{line}: {found}"),
                "notect" => assert_eq!(segment.ecn, Ecn::NotEct, "{line}: {found}"),
                _ => {}
            }
        }
    }
}

/// No option that belongs on a SYN?
fn is_bare(segment: &Segment) -> bool {
    let options = &segment.options;
    options.mss.is_none() && options.window_scale.is_none() && !options.sack_permitted
}

fn sacks(segment: &Segment, base: u32) -> Vec<(u32, u32)> {
    let blocks = segment.options.sack.as_slice().iter();
    blocks.map(|(l, r)| (l.since(Seq::new(base)), r.since(Seq::new(base)))).collect()
}

fn print(segment: &Segment) -> String {
    let from = segment.seq.since(Seq::new(ISS));
    format!(
        "{:?} {}:{} ack {} win {} sack {:?} ts {:?} {:?}",
        segment.flags,
        from,
        from.wrapping_add(segment.sequence_len()),
        segment.ack.since(Seq::new(IRS)),
        segment.window,
        sacks(segment, IRS),
        segment.options.timestamps,
        segment.ecn,
    )
}

/// A line's segment: its sequence numbers count from `seq`, acknowledgement and SACK blocks from `ack`.
fn parse(words: &[&str], seq: u32, ack: u32) -> Segment {
    let mut segment = Segment { window: 60_000, flags: flags(words[0]), ..Segment::default() };
    if let Some(range) = words.get(1) {
        let (from, to) = pair(range, ':');
        let controls =
            u32::from(segment.flags.contains(Flags::SYN)) + u32::from(segment.flags.contains(Flags::FIN));
        segment.seq = Seq::new(seq) + from;
        // The stream's first octet is sequence number 1.
        let payload = Payload { offset: u64::from(from.max(1) - 1), len: to.wrapping_sub(from) - controls };
        segment.payload = payload;
    }
    let mut fields = words.iter().skip(2).copied();
    while let Some(field) = fields.next() {
        let mut value = || fields.next().unwrap_or_else(|| panic!("{field} without a value"));
        match field {
            "ack" => segment.ack = Seq::new(ack) + number::<u32>(value()),
            "win" => segment.window = number(value()),
            "mss" => segment.options.mss = Some(number(value())),
            "wscale" => segment.options.window_scale = Some(number(value())),
            "sackok" => segment.options.sack_permitted = true,
            "sack" => {
                let mut blocks = SackBlocks::EMPTY;
                for block in value().split(',') {
                    let (left, right) = pair(block, '-');
                    blocks.push(Seq::new(ack) + left, Seq::new(ack) + right);
                }
                segment.options.sack = blocks;
            }
            "ts" => {
                let (value, echo) = pair(value(), '/');
                segment.options.timestamps = Some(Timestamps { value, echo });
            }
            "ce" => segment.ecn = Ecn::Ce,
            "ect" | "notect" | "nosack" | "nots" | "nowscale" | "bare" | "push" | "nopush" => {}
            _ => panic!("unknown field {field}"),
        }
    }
    segment
}

//! Segments to a TCP endpoint: it does not panic, answers with measure, and invents no octet.

use super::source::Octets;
use ropewalk_adversary::{Knowledge, Numbers, Source, Target, segment};
use ropewalk_tcp::{Config, Connection};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, Payload, Segment, Timestamps};

/// Answers to one segment or timeout, at most: the window of the largest send buffer in small segments, and probes.
const BURST: u32 = 5_000;

struct Endpoint {
    tcp: Connection,
    now: Instant,
    knowledge: Knowledge,
    received: u64,
    read: u64,
    written: u64,
}

/// Opens a connection actively or passively, and does with it what the octets say.
pub fn run(octets: &[u8]) {
    let mut source = Octets::new(octets);
    let mut endpoint = Endpoint::open(&mut source);
    while !source.is_empty() {
        endpoint.act(&mut source);
        endpoint.pump(&mut source);
        assert!(endpoint.read <= endpoint.received, "more was read than came");
    }
}

fn config(source: &mut Octets<'_>) -> Config {
    let preset = if source.one_in(4) { Config::classic() } else { Config::linux() };
    let mut flip = |value: bool| value ^ source.one_in(4);
    Config {
        timestamps: flip(preset.timestamps),
        sack: flip(preset.sack),
        ecn: flip(preset.ecn),
        prr: flip(preset.prr),
        receive_buffer: if flip(false) { 3_000 } else { 200_000 },
        send_buffer: 200_000,
        ..preset
    }
}

impl Endpoint {
    fn open(source: &mut Octets<'_>) -> Self {
        let (config, iss) = (config(source), Seq::new(source.next() as u32));
        let target = Target { knowledge: Knowledge::default(), numbers: Numbers::Blind, multipath: false };
        let tcp = if source.one_in(2) {
            Connection::connect(config, iss, Instant::ZERO)
        } else {
            let mut syn = segment(source, &target);
            (syn.flags, syn.payload.len) = (Flags::SYN, 0);
            Connection::accept(config, &syn, iss, Instant::ZERO)
        };
        let knowledge = Knowledge::default();
        let mut endpoint = Self { tcp, now: Instant::ZERO, knowledge, received: 0, read: 0, written: 0 };
        endpoint.pump(source);
        if !source.one_in(8) {
            endpoint.shake_hands();
        }
        endpoint
    }

    /// What an honest peer would answer first.
    fn shake_hands(&mut self) {
        let syn = if self.tcp.irs() == Seq::new(0) { Flags::SYN } else { Flags::NONE };
        let mut answer = Segment { seq: self.tcp.rcv_nxt(), ack: self.tcp.snd_nxt(), ..Segment::default() };
        (answer.flags, answer.window) = (syn | Flags::ACK, 65_535);
        let syn = syn == Flags::SYN;
        answer.options.timestamps = Some(Timestamps { value: 1, echo: 1 });
        answer.options.mss = syn.then_some(1460);
        answer.options.sack_permitted = syn;
        answer.options.window_scale = syn.then_some(7);
        self.tcp.handle_segment(self.now, &answer);
    }

    fn act(&mut self, source: &mut Octets<'_>) {
        match source.below(16) {
            0 => {
                let len = self.tcp.send_space().min(source.below(10_000));
                self.tcp.push(Payload { offset: self.written, len: len as u32 });
                self.written += len;
            }
            1 => self.wait(Duration::from_micros(source.below(3_000_000))),
            2 if source.one_in(8) => self.tcp.finish(),
            3 if source.one_in(32) => self.tcp.abort(),
            _ => {
                let ack = if source.one_in(2) { self.tcp.snd_una() } else { self.tcp.snd_nxt() };
                let numbers = Numbers::Near { seq: self.tcp.rcv_nxt(), ack, spread: 100_000 };
                let drawn = segment(source, &Target { knowledge: self.knowledge, numbers, multipath: false });
                self.received += u64::from(drawn.payload.len);
                self.tcp.handle_segment(self.now, &drawn);
            }
        }
    }

    fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some((at, _)) = self.tcp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.tcp.handle_timeout(self.now);
            self.send();
        }
        self.now = end;
    }

    fn pump(&mut self, source: &mut Octets<'_>) {
        let most = if source.one_in(4) { source.below(1000) } else { u64::MAX };
        while let Some(piece) = self.tcp.read(most) {
            self.read += u64::from(piece.payload.len);
            if most < u64::MAX {
                break;
            }
        }
        self.send();
    }

    fn send(&mut self) {
        let mut burst = 0;
        while self.tcp.poll_event().is_some() {}
        while let Some(segment) = self.tcp.poll_transmit(self.now) {
            burst += 1;
            assert!(burst <= BURST, "an endless burst");
            assert!(segment.options.wire_len() <= 40, "options fit: {segment:?}");
            if let Some(Timestamps { value, echo }) = segment.options.timestamps {
                self.knowledge.timestamps = Some(Timestamps { value: echo.max(1), echo: value });
            }
        }
        while self.tcp.poll_event().is_some() {}
    }
}

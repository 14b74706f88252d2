//! A hostile peer speaks the handshake as it should, and then says what it likes. The connection may die; its memory
//! stays within what its buffers allow, and it answers no more than it is asked.
//!
//! Counted, not timed: octets that are allocated, allocations, and segments sent. The counter is the process's, so
//! the tests run one after the other.

use ropewalk_adversary::{FOREIGN, Knowledge, Numbers, Random, Source, Target, segment};
use ropewalk_tcp::{Config, Connection, State};
use ropewalk_testnet::bounds::{self, Allowance, Meter};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Ecn, Flags, Options, Payload, Segment, Timestamps};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The receive and the send buffer of the connection under test.
const BUFFER: u32 = 256 * 1024;

/// The connection under test, and what it has cost.
struct Subject {
    tcp: Connection,
    now: Instant,
    reads: bool,
    written: u64,
    meter: Meter,
    last: Segment,
}

impl Subject {
    /// Opened by a peer whose SYN has these options.
    fn accept(options: Options, config: Config) -> Self {
        let meter = Meter::new(COUNTING);
        let flags = Flags::SYN | Flags::ECE | Flags::CWR;
        let syn = Segment { seq: Seq::new(999), flags, window: 65_535, options, ..Segment::default() };
        let tcp = Connection::accept(config, &syn, Seq::new(0xffff_0000), Instant::ZERO);
        let last = Segment::default();
        let mut subject = Self { tcp, now: Instant::ZERO, reads: true, written: 0, meter, last };
        subject.pump();
        subject
    }

    /// … with the usual options, the handshake complete, and data to send.
    fn established() -> Self {
        Self::established_with(usual(), config())
    }

    fn established_with(options: Options, config: Config) -> Self {
        let mut subject = Self::accept(options, config);
        subject.feed(&subject.ack());
        assert_eq!(subject.tcp.state(), State::Established);
        subject.push(BUFFER);
        subject.pump();
        subject.meter.begin();
        subject
    }

    /// An honest pure ACK of all that was sent.
    fn ack(&self) -> Segment {
        let timestamps = Some(Timestamps { value: self.now.as_millis() as u32 + 1, echo: 1 });
        Segment {
            seq: self.tcp.rcv_nxt(),
            ack: self.tcp.snd_nxt(),
            flags: Flags::ACK,
            window: 65_535,
            options: Options { timestamps, ..Options::default() },
            ..Segment::default()
        }
    }

    /// … with data of its own.
    fn data(&self, seq: Seq, len: u32) -> Segment {
        Segment { seq, payload: Payload { offset: FOREIGN, len }, ..self.ack() }
    }

    /// The application writes.
    fn push(&mut self, len: u32) {
        self.tcp.push(Payload { offset: self.written, len });
        self.written += u64::from(len);
    }

    fn feed(&mut self, segment: &Segment) {
        self.meter.received += 1;
        self.tcp.handle_segment(self.now, segment);
        self.pump();
    }

    fn pump(&mut self) {
        while self.tcp.poll_event().is_some() {}
        while self.reads && self.tcp.read(u64::MAX).is_some() {}
        while let Some(segment) = self.tcp.poll_transmit(self.now) {
            self.meter.sent += 1;
            self.last = segment;
        }
        while self.tcp.poll_event().is_some() {}
        self.meter.look();
    }

    /// Time goes on; timers fire.
    fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some((at, _)) = self.tcp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.tcp.handle_timeout(self.now);
            self.pump();
        }
        self.now = end;
    }

    /// Holds the connection to its bounds: memory, answers for each segment, allocations for each segment.
    fn judge(&self, name: &str, sent: u64, allocated: u64) {
        self.meter
            .judge(name, Allowance { memory: 2 * BUFFER as usize, sent, allocations: (allocated, 1000) });
    }
}

fn usual() -> Options {
    Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        ..Options::default()
    }
}

fn config() -> Config {
    Config {
        receive_buffer: BUFFER,
        send_buffer: BUFFER,
        receive_autotuning: false,
        ecn: true,
        ..Config::linux()
    }
}

/// Every second octet: nothing can be put together.
fn one_octet_pieces() {
    let mut subject = Subject::established();
    let first = subject.tcp.rcv_nxt();
    for piece in 0..BUFFER / 2 {
        subject.feed(&subject.data(first + 1 + 2 * piece, 1));
    }
    subject.judge("one-octet pieces", u64::from(BUFFER), 2);
}

/// … from the window's end to its beginning, and over again.
fn one_octet_pieces_backwards() {
    let mut subject = Subject::established();
    let first = subject.tcp.rcv_nxt();
    for piece in (0..BUFFER / 2).rev().chain(0..1000) {
        subject.feed(&subject.data(first + 1 + 2 * piece, 1));
    }
    subject.judge("one-octet pieces backwards", u64::from(BUFFER), 2);
}

/// The application never reads, and the peer sends on, beyond the window too.
fn nobody_reads() {
    let mut subject = Subject::established();
    subject.reads = false;
    for _ in 0..20_000 {
        let next = subject.tcp.rcv_nxt();
        subject.feed(&subject.data(next, 1460));
        subject.feed(&subject.data(next + 3_000, 1460));
    }
    assert!(subject.tcp.readable() <= u64::from(BUFFER), "{} octets wait", subject.tcp.readable());
    subject.judge("nobody reads", subject.meter.received + 300, 2);
}

/// Octets in order, one each, that nobody reads.
fn octets_that_nobody_reads() {
    let mut subject = Subject::established();
    subject.reads = false;
    for offset in 0..BUFFER {
        // Ranges that are not contiguous in the generated stream cannot be joined.
        let mut data = subject.data(subject.tcp.rcv_nxt(), 1);
        data.payload.offset += 2 * u64::from(offset);
        subject.feed(&data);
    }
    subject.judge("octets that nobody reads", subject.meter.received + 100, 2);
}

/// Blocks anywhere, reversed ones among them, and reports of duplicates that never were.
fn sack_blocks_anywhere() {
    let mut subject = Subject::established();
    let mut random = Random::new(1);
    for turn in 0..50_000u32 {
        let mut ack = subject.ack();
        ack.ack = subject.tcp.snd_una();
        let flight = u64::from(subject.tcp.flight_size()) + 10;
        for _ in 0..3 {
            let left = ack.ack + random.below(flight) as u32 - 5;
            let right = left + random.pick(&[0, 1, 2, 1448, 100_000, u32::MAX]);
            ack.options.sack.push(left, right);
        }
        subject.feed(&ack);
        if turn % 64 == 0 {
            subject.wait(Duration::from_millis(1));
        }
    }
    subject.judge("SACK blocks anywhere", subject.meter.received + 5_000, 2);
}

/// Each ACK says that something came twice.
fn duplicates_reported_without_end() {
    let mut subject = Subject::established();
    for turn in 0..50_000u32 {
        let mut ack = subject.ack();
        let una = subject.tcp.snd_una();
        ack.ack = if turn % 2 == 0 { una } else { subject.tcp.snd_nxt().min(una + 1) };
        ack.options.sack.push(una - 1448 * (turn % 8), una - 1448 * (turn % 8) + 1448);
        subject.feed(&ack);
        subject.push(1);
    }
    subject.judge("DSACK storm", subject.meter.received * 2 + 5_000, 3);
}

/// Everything but the first segment is reported, so that this is lost; then an old timestamp says that it was not. To take a
/// recovery back costs a look at all that is on its way.
fn recoveries_undone_without_end() {
    let mut subject = Subject::established();
    for turn in 0..20_000u32 {
        subject.wait(Duration::from_millis(1));
        let mut ack = subject.ack();
        (ack.ack, ack.options.timestamps) = (subject.tcp.snd_una(), stamp(&subject, turn + 2));
        if turn % 2 == 0 {
            let nxt = subject.tcp.snd_nxt();
            ack.options.sack.push(nxt - subject.tcp.flight_size() / 2, nxt);
        } else {
            ack.ack += 1;
            ack.options.timestamps = stamp(&subject, 1);
        }
        subject.feed(&ack);
    }
    let undone = subject.tcp.stats().undone;
    assert!((1..=10).contains(&undone), "{undone} recoveries undone");
    subject.judge("recoveries undone", 2 * subject.meter.received, 4);
}

/// The peer's clock now, and this echo.
fn stamp(subject: &Subject, echo: u32) -> Option<Timestamps> {
    Some(Timestamps { value: subject.now.as_millis() as u32 + 1, echo })
}

/// The peer has reported everything, and takes it back by silence.
fn reneging() {
    let mut subject = Subject::established();
    for _ in 0..2_000 {
        let mut ack = subject.ack();
        ack.ack = subject.tcp.snd_una();
        if subject.tcp.flight_size() > 1 {
            ack.options.sack.push(ack.ack + 1, subject.tcp.snd_nxt());
        }
        subject.feed(&ack);
        subject.wait(Duration::from_millis(500));
    }
    subject.judge("reneging", subject.meter.received * 3 + 5_000, 3);
}

/// What was never sent is acknowledged (RFC 5961 §7: the answers are limited).
fn acknowledgements_of_what_was_never_sent() {
    let mut subject = Subject::established();
    for turn in 0..20_000u32 {
        let mut ack = subject.ack();
        ack.ack = subject.tcp.snd_nxt() + 1 + (turn << 10);
        subject.feed(&ack);
        if turn % 100 == 0 {
            subject.wait(Duration::from_millis(1));
        }
    }
    subject.judge("ACKs of unsent data", 200, 1);
}

/// The window jumps between nothing and everything, and is taken back.
fn windows_that_jump() {
    let mut subject = Subject::established();
    let mut random = Random::new(2);
    for _ in 0..50_000u32 {
        let mut ack = subject.ack();
        ack.window = random.pick(&[0, 0, 1, 2, 100, u16::MAX]);
        ack.ack = subject.tcp.snd_una() + random.below(u64::from(subject.tcp.flight_size()) + 1) as u32;
        ack.flags |= random.pick(&[Flags::NONE, Flags::ECE, Flags::CWR, Flags::PSH]);
        ack.ecn = random.pick(&[Ecn::NotEct, Ecn::Ce]);
        subject.feed(&ack);
        let len = subject.tcp.send_space().min(1000) as u32;
        subject.push(len);
        subject.wait(Duration::from_micros(100));
    }
    subject.judge("windows that jump", subject.meter.received * 8, 4);
}

/// RFC 9293 §3.7.1 knows no least MSS; a peer that asks for one octet a segment would have a segment for each.
fn tiny_segment_sizes() {
    for mss in [0, 1, 7, 47, 48] {
        let options = Options { mss: Some(mss), ..usual() };
        let mut subject = Subject::established_with(options, config());
        for _ in 0..30_000 {
            subject.feed(&subject.ack());
        }
        let name = format!("MSS {mss}");
        assert_eq!(subject.tcp.snd_una(), subject.tcp.iss() + 1 + BUFFER, "{name}: all is sent");
        // 48 octets less those of timestamps.
        subject.judge(&name, u64::from(BUFFER / 36) + 100, 3);
    }
}

/// Any segment with numbers around the window.
fn anything_near_the_window() {
    let mut random = Random::new(3);
    for round in 0..200 {
        let mut subject = Subject::established();
        subject.reads = round % 2 == 0;
        for _ in 0..1_000 {
            let ack = if random.one_in(2) { subject.tcp.snd_una() } else { subject.tcp.snd_nxt() };
            let numbers = Numbers::Near { seq: subject.tcp.rcv_nxt(), ack, spread: 100_000 };
            let timestamps = Timestamps { value: subject.now.as_millis() as u32 + 1, echo: 1 };
            let knowledge = Knowledge { timestamps: Some(timestamps), ..Knowledge::default() };
            let mut drawn = segment(&mut random, &Target { knowledge, numbers, multipath: false });
            if !random.one_in(50) {
                // It would be over too soon.
                drawn.flags = Flags::ACK | random.pick(&[Flags::NONE, Flags::ECE, Flags::CWR, Flags::PSH]);
            }
            subject.feed(&drawn);
            let len = subject.tcp.send_space().min(1000) as u32;
            subject.push(len);
            subject.wait(Duration::from_micros(random.below(2_000)));
        }
        if round == 199 {
            subject.judge("anything near the window", subject.meter.received * 8, 6);
        } else {
            assert!(subject.meter.most <= 2 * BUFFER as usize, "{} octets allocated", subject.meter.most);
            assert!(subject.meter.sent <= subject.meter.received * 8, "{} segments sent", subject.meter.sent);
        }
    }
}

fn main() {
    bounds::run(&[
        ("nobody_reads", nobody_reads),
        ("sack_blocks_anywhere", sack_blocks_anywhere),
        ("duplicates_reported_without_end", duplicates_reported_without_end),
        ("reneging", reneging),
        ("recoveries_undone_without_end", recoveries_undone_without_end),
        ("windows_that_jump", windows_that_jump),
        ("anything_near_the_window", anything_near_the_window),
        ("acknowledgements_of_what_was_never_sent", acknowledgements_of_what_was_never_sent),
        ("tiny_segment_sizes", tiny_segment_sizes),
        ("one_octet_pieces", one_octet_pieces),
        ("one_octet_pieces_backwards", one_octet_pieces_backwards),
        ("octets_that_nobody_reads", octets_that_nobody_reads),
    ]);
}

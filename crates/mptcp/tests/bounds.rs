//! A hostile peer of Multipath TCP speaks the handshake as it should, and then says what it likes. The connection may
//! die; its memory stays within what its buffers allow, and it answers no more than it is asked.
//!
//! Counted, not timed: octets that are allocated, allocations, and segments sent. The counter is the process's, so
//! the tests run one after the other.

use ropewalk_adversary::{FOREIGN, Knowledge, Numbers, Random, Source, Target, segment};
use ropewalk_mptcp::{Accepting, Config, Connection, Event, Path, Secret, Subflow, SubflowId, keys};
use ropewalk_testnet::bounds::{self, Allowance, Meter};
use ropewalk_units::{Dsn, Duration, Instant, Seq, Ssn};
use ropewalk_wire::{
    AddAddress, DataAck, Dss, Flags, Join, Key, Mapping, MptcpOption, Options, Payload, Priority,
    RemoveAddress, Segment, Timestamps, dss_checksum, stream_sum,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The receive and the send buffer of the connection under test.
const BUFFER: u32 = 256 * 1024;
/// What it may allocate: its buffers' octets twice, and a place for each subflow.
const MEMORY: usize = 4 * BUFFER as usize;
/// The hostile peer's key.
const KEY: Key = 0x0123_4567_89ab_cdef;
/// The subflow of the first SYN.
const FIRST: SubflowId = SubflowId(0);

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), port)
}

/// The connection under test, and what it has cost.
struct Subject {
    mptcp: Connection,
    own_key: Key,
    now: Instant,
    reads: bool,
    meter: Meter,
    wanted: u64,
    read: u64,
    failed: bool,
    checksums: Checksums,
    last: Option<(SubflowId, Segment)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Checksums {
    Off,
    On,
}

fn config(checksums: Checksums) -> Config {
    let checksum = checksums == Checksums::On;
    let mut config = Config { checksum, receive_buffer: BUFFER, send_buffer: BUFFER, ..Config::linux() };
    config.tcp.receive_autotuning = false;
    config
}

fn capable(receiver_key: Option<Key>, sender_key: Option<Key>) -> MptcpOption {
    let (checksum_required, no_more_subflows, data) = (false, false, None);
    MptcpOption::Capable { checksum_required, no_more_subflows, sender_key, receiver_key, data }
}

impl Subject {
    /// Opened by the peer, confirmed by its first octet.
    fn established() -> Self {
        Self::established_with(config(Checksums::Off))
    }

    fn established_with(config: Config) -> Self {
        let meter = Meter::new(COUNTING);
        let mut syn = Segment { seq: Seq::new(999), flags: Flags::SYN, window: 65_535, ..Segment::default() };
        syn.options = usual();
        syn.options.mptcp.push(capable(None, None));
        let path = Path { local: address(2, 5001), remote: address(1, 40_000) };
        let (iss, secret) = (Seq::new(0xffff_ff00), Secret([7; 32]));
        let accepting = Accepting { path, local_addresses: vec![path.local], iss, secret };
        let checksums = if config.checksum { Checksums::On } else { Checksums::Off };
        let mptcp = Connection::accept(config, accepting, &syn, Instant::ZERO);
        let mut subject = Self {
            mptcp,
            own_key: 0,
            now: Instant::ZERO,
            reads: true,
            meter,
            wanted: 0,
            read: 0,
            failed: false,
            checksums,
            last: None,
        };
        subject.pump();
        let (_, answer) = subject.last.take().expect("a SYN/ACK");
        let key = answer.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Capable { sender_key, .. } => *sender_key,
            _ => None,
        });
        subject.own_key = key.expect("MP_CAPABLE with a key");
        let mut third = subject.ack(FIRST);
        third.options.mptcp.push(capable(Some(subject.own_key), Some(KEY)));
        subject.feed(FIRST, &third);
        subject.feed(FIRST, &subject.octets(FIRST, 0, 1));
        assert_eq!(subject.mptcp.stats().bytes_delivered, 1);
        assert!(!subject.mptcp.is_fallen_back());
        subject.meter.begin();
        subject
    }

    /// An honest pure ACK of all that was sent on a subflow.
    fn ack(&self, id: SubflowId) -> Segment {
        let tcp = self.mptcp.subflow(id).expect("a subflow").tcp();
        let timestamps = Some(Timestamps { value: self.now.as_millis() as u32 + 1, echo: 1 });
        Segment {
            seq: tcp.rcv_nxt(),
            ack: tcp.snd_nxt(),
            flags: Flags::ACK,
            window: 65_535,
            options: Options { timestamps, ..Options::default() },
            ..Segment::default()
        }
    }

    /// The number of the next octet on a subflow.
    fn next_ssn(&self, id: SubflowId) -> Ssn {
        let tcp = self.mptcp.subflow(id).expect("a subflow").tcp();
        Ssn::from_seq(tcp.rcv_nxt(), tcp.irs())
    }

    fn data_ack(&self) -> Dsn {
        keys::initial_dsn(self.own_key) + 1
    }

    /// … with the octets of the peer's stream from `data` on, as the next of the subflow.
    fn octets(&self, id: SubflowId, data: u64, len: u32) -> Segment {
        self.octets_at(id, 0, data, len)
    }

    /// … so far above the next.
    fn octets_at(&self, id: SubflowId, above: u32, data: u64, len: u32) -> Segment {
        let mut segment = self.ack(id);
        segment.seq += above;
        segment.payload = Payload { offset: FOREIGN + data, len };
        let tcp = self.mptcp.subflow(id).expect("a subflow").tcp();
        let ssn = Ssn::from_seq(segment.seq, tcp.irs());
        let dsn = keys::initial_dsn(KEY) + 1 + data;
        let mapping = self.mapping(dsn, ssn, segment.payload);
        segment.options.mptcp.dss = Some(Dss::new(Some(DataAck::Long(self.data_ack())), Some(mapping)));
        segment
    }

    /// With its checksum, if both agreed on them.
    fn mapping(&self, dsn: Dsn, ssn: Ssn, payload: Payload) -> Mapping {
        let len = payload.len as u16;
        let checksum =
            (self.checksums == Checksums::On).then(|| dss_checksum(dsn, ssn, len, stream_sum(payload)));
        Mapping { dsn, ssn, len, checksum }
    }

    fn feed(&mut self, id: SubflowId, segment: &Segment) {
        self.meter.received += 1;
        self.mptcp.handle_segment(self.now, id, segment);
        self.pump();
    }

    fn pump(&mut self) {
        self.events();
        while self.reads
            && let Some(piece) = self.mptcp.read(u64::MAX)
        {
            self.read += u64::from(piece.len);
        }
        while let Some(sent) = self.mptcp.poll_transmit(self.now) {
            self.meter.sent += 1;
            self.last = Some(sent);
            self.events();
        }
        self.events();
        self.meter.look();
    }

    fn events(&mut self) {
        while let Some(event) = self.mptcp.poll_event() {
            match event {
                Event::SubflowWanted(_) => self.wanted += 1,
                Event::Failed(_) => self.failed = true,
                _ => {}
            }
        }
    }

    /// Time goes on; timers fire.
    fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some((at, _)) = self.mptcp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.mptcp.handle_timeout(self.now);
            self.pump();
        }
        self.now = end;
    }

    /// A SYN with MP_JOIN from this port; the subflow, if it was taken.
    fn join(&mut self, number: u32) -> Option<(SubflowId, u32)> {
        let token = keys::token(self.own_key);
        let mut syn =
            Segment { seq: Seq::new(number), flags: Flags::SYN, window: 65_535, ..Segment::default() };
        syn.options = usual();
        syn.options.sack_permitted = false;
        let (backup, address_id, nonce) = (false, 1, number);
        syn.options.mptcp.push(MptcpOption::Join(Join::Syn { backup, address_id, token, nonce }));
        let remote = address((number >> 16) as u8 + 3, number as u16 | 1);
        let path = Path { local: address(2, 5001), remote };
        self.meter.received += 1;
        let joined = self.mptcp.accept_join(self.now, path, &syn, Seq::new(!number)).ok();
        self.pump();
        joined.map(|id| (id, nonce))
    }

    /// The third ACK of a join whose SYN/ACK was sent last.
    fn complete(&mut self, id: SubflowId, peer_nonce: u32) {
        let (answered, answer) = self.last.clone().expect("a SYN/ACK");
        assert_eq!(answered, id);
        let own_nonce = answer.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Join(Join::SynAck { nonce, .. }) => Some(*nonce),
            _ => None,
        });
        let own_nonce = own_nonce.expect("MP_JOIN on the SYN/ACK");
        let hmac = keys::leftmost_160(&keys::join_hmac(KEY, self.own_key, peer_nonce, own_nonce));
        let mut third = self.ack(id);
        third.options.mptcp.push(MptcpOption::Join(Join::Ack { hmac }));
        self.feed(id, &third);
    }

    /// Holds the connection to its bounds: memory, answers for each segment, allocations for each segment.
    fn judge(&self, name: &str, sent: u64, allocated: u64) {
        self.meter.judge(name, Allowance { memory: MEMORY, sent, allocations: (allocated, 5000) });
    }
}

fn usual() -> Options {
    Options {
        mss: Some(1460),
        window_scale: Some(7),
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        ..Options::default()
    }
}

/// Subflows that are reset as soon as they are answered.
fn joins_that_are_reset() {
    let mut subject = Subject::established();
    let mut taken = 0;
    for number in 0..20_000 {
        if let Some((id, _)) = subject.join(number) {
            taken += 1;
            let reset = Segment { flags: Flags::RST, ..subject.ack(id) };
            subject.feed(id, &reset);
        }
        if number % 100 == 0 {
            subject.wait(Duration::from_millis(10));
        }
    }
    assert!(taken > 1000, "{taken} joins were taken");
    subject.judge("joins and resets", 3 * subject.meter.received, 60);
    honest_join(&mut subject);
}

/// … or never heard of again: they make room for honest ones.
fn joins_that_never_finish() {
    let mut subject = Subject::established();
    for number in 0..20_000 {
        subject.join(number);
        if number % 100 == 0 {
            subject.wait(Duration::from_millis(10));
        }
    }
    subject.judge("joins that never finish", 8 * subject.meter.received, 60);
    subject.wait(Duration::from_secs(30));
    honest_join(&mut subject);
}

/// The subflow of an honest peer comes up, and carries data.
fn honest_join(subject: &mut Subject) {
    let (id, nonce) = subject.join(70_001).expect("an honest join is taken");
    subject.complete(id, nonce);
    let next = subject.mptcp.stats().bytes_delivered;
    subject.feed(id, &subject.octets(id, next, 1000));
    assert_eq!(subject.mptcp.stats().bytes_delivered, next + 1000, "data on the joined subflow");
}

/// Every address there is is announced, and withdrawn.
fn addresses_without_end() {
    let mut subject = Subject::established();
    let mut random = Random::new(1);
    for _ in 0..50_000 {
        let mut ack = subject.ack(FIRST);
        let address = IpAddr::V4(Ipv4Addr::from_bits(random.next() as u32));
        let (address_id, port) = (random.next() as u8, Some(random.next() as u16));
        let hmac = keys::address_hmac(KEY, subject.own_key, address_id, address, port);
        ack.options.mptcp.push(MptcpOption::AddAddress(AddAddress {
            address_id,
            address,
            port,
            hmac: Some(hmac),
        }));
        subject.feed(FIRST, &ack);
        if random.one_in(4) {
            let mut ack = subject.ack(FIRST);
            let address_ids = vec![1 + random.below(255) as u8; 3];
            ack.options.mptcp.push(MptcpOption::RemoveAddress(RemoveAddress { address_ids }));
            subject.feed(FIRST, &ack);
        }
    }
    subject.judge("addresses", 2 * subject.meter.received + 100, 12);
    assert!(subject.wanted <= 1000, "{} subflows wanted", subject.wanted);
}

/// … and the priority changes with every segment.
fn priorities_without_end() {
    let mut subject = Subject::established();
    for turn in 0..50_000 {
        let mut ack = subject.ack(FIRST);
        ack.options.mptcp.push(MptcpOption::Priority(Priority { backup: turn % 2 == 0 }));
        subject.feed(FIRST, &ack);
    }
    subject.judge("priorities", 100, 4);
}

/// Mappings for octets to come, which never come.
fn mappings_without_data() {
    let mut subject = Subject::established();
    for turn in 0..200_000u32 {
        let mut ack = subject.octets_at(FIRST, 2 + 2 * (turn % 130_000), u64::from(turn), 1);
        ack.payload.len = 0;
        ack.seq = subject.ack(FIRST).seq;
        subject.feed(FIRST, &ack);
    }
    subject.judge("mappings", subject.meter.received, 3);
}

/// Octets one by one, of which every second is missing at the level of data.
fn one_octet_pieces_of_data() {
    let mut subject = Subject::established();
    for turn in 0..200_000u64 {
        subject.feed(FIRST, &subject.octets(FIRST, 10 + 2 * turn, 1));
    }
    subject.judge("one-octet pieces of data", subject.meter.received + 100, 4);
}

/// … and at that of the subflow.
fn one_octet_pieces_of_a_subflow() {
    let mut subject = Subject::established();
    for turn in 0..100_000u32 {
        subject.feed(FIRST, &subject.octets_at(FIRST, 1 + 2 * turn, u64::from(turn), 1));
    }
    subject.judge("one-octet pieces of a subflow", subject.meter.received + 100, 4);
}

/// Eight subflows beside the first.
fn join_eight(subject: &mut Subject) -> Vec<SubflowId> {
    let mut ids = vec![FIRST];
    for number in 0..8 {
        if let Some((id, nonce)) = subject.join(number) {
            subject.complete(id, nonce);
            ids.push(id);
        }
    }
    assert!(ids.len() > 4, "{} subflows", ids.len());
    ids
}

/// On each of many subflows a long mapping in single octets, which wait for its checksum.
fn long_mappings_in_single_octets() {
    const LEN: u32 = 60_000;
    let mut subject = Subject::established_with(config(Checksums::On));
    let ids = join_eight(&mut subject);
    let starts: Vec<Ssn> = ids.iter().map(|&id| subject.next_ssn(id)).collect();
    let whole = Payload { offset: FOREIGN, len: LEN };
    for turn in 0..LEN - 1 {
        for (&id, &start) in ids.iter().zip(&starts) {
            if subject.mptcp.subflow(id).is_none_or(Subflow::is_closed) {
                continue;
            }
            let mut segment = subject.octets(id, 1 + u64::from(turn), 1);
            // Ranges that are not contiguous in the generated stream cannot be joined.
            segment.payload.offset += 2 * u64::from(turn);
            let dsn = keys::initial_dsn(KEY) + 1 + 1;
            let mapping = subject.mapping(dsn, start, whole);
            segment.options.mptcp.dss =
                Some(Dss::new(Some(DataAck::Long(subject.data_ack())), Some(mapping)));
            subject.feed(id, &segment);
        }
    }
    subject.judge("long mappings in single octets", 2 * subject.meter.received + 100, 4);
}

/// Many subflows, each with octets above a hole.
fn pieces_on_many_subflows() {
    let mut subject = Subject::established();
    let ids = join_eight(&mut subject);
    for turn in 0..20_000u32 {
        for &id in &ids {
            subject.feed(id, &subject.octets_at(id, 1 + 2 * turn, 10 + u64::from(3 * turn), 1));
        }
    }
    subject.judge("pieces on many subflows", subject.meter.received + 100, 4);
}

/// Nobody reads, and the peer sends on, the same octets under other numbers too.
fn nobody_reads() {
    let mut subject = Subject::established();
    subject.reads = false;
    for turn in 0..20_000u64 {
        let next = subject.mptcp.stats().bytes_delivered;
        subject.feed(FIRST, &subject.octets(FIRST, next + turn % 3 * 1000, 1000));
    }
    assert!(subject.mptcp.readable() <= u64::from(BUFFER), "{} octets wait", subject.mptcp.readable());
    subject.judge("nobody reads", subject.meter.received + 300, 4);
}

/// Signals of any content on acceptable segments.
fn any_signal() {
    let mut random = Random::new(2);
    for round in 0..300 {
        let mut subject = Subject::established();
        subject.reads = round % 3 != 0;
        subject.mptcp.push(10_000);
        let mut ids = vec![FIRST];
        for number in 0..3 {
            if let Some((id, nonce)) = subject.join(number) {
                subject.complete(id, nonce);
                ids.push(id);
            }
        }
        for _ in 0..500 {
            any_segment(&mut subject, &ids, &mut random, round % 2 == 0);
            subject.wait(Duration::from_micros(random.below(3_000)));
        }
        assert!(subject.meter.most <= MEMORY, "{} octets allocated", subject.meter.most);
        assert!(
            subject.meter.sent <= 10 * subject.meter.received + 100,
            "{} segments sent",
            subject.meter.sent
        );
    }
}

/// One segment around the window of a subflow; in order, if `polite`.
fn any_segment(subject: &mut Subject, ids: &[SubflowId], random: &mut Random, polite: bool) {
    let id = random.pick(ids);
    let Some(flow) = subject.mptcp.subflow(id) else { return };
    let (tcp, honest) = (flow.tcp(), subject.ack(id));
    let next = subject.mptcp.stats().bytes_delivered;
    let knowledge = Knowledge {
        timestamps: honest.options.timestamps,
        dsn: keys::initial_dsn(KEY) + 1 + next,
        ssn: Ssn::from_seq(tcp.rcv_nxt(), tcp.irs()),
        data_ack: subject.data_ack() + subject.mptcp.stats().bytes_acked,
        keys: (Some(KEY), Some(subject.own_key)),
        token: Some(keys::token(subject.own_key)),
    };
    let numbers = Numbers::Near { seq: honest.seq, ack: honest.ack, spread: 100_000 };
    let mut drawn = segment(random, &Target { knowledge, numbers, multipath: true });
    if polite {
        (drawn.seq, drawn.ack, drawn.options.timestamps) =
            (honest.seq, honest.ack, honest.options.timestamps);
        drawn.flags = Flags::ACK;
    } else if !random.one_in(50) {
        drawn.flags = Flags::ACK | random.pick(&[Flags::NONE, Flags::PSH, Flags::CWR, Flags::ECE]);
    }
    subject.feed(id, &drawn);
}

fn main() {
    bounds::run(&[
        ("addresses_without_end", addresses_without_end),
        ("priorities_without_end", priorities_without_end),
        ("nobody_reads", nobody_reads),
        ("any_signal", any_signal),
        ("joins_that_are_reset", joins_that_are_reset),
        ("joins_that_never_finish", joins_that_never_finish),
        ("mappings_without_data", mappings_without_data),
        ("one_octet_pieces_of_data", one_octet_pieces_of_data),
        ("one_octet_pieces_of_a_subflow", one_octet_pieces_of_a_subflow),
        ("pieces_on_many_subflows", pieces_on_many_subflows),
        ("long_mappings_in_single_octets", long_mappings_in_single_octets),
    ]);
}

//! Two connections, a channel each way, and applications that read and write at their own pace.

use crate::{Config, Connection, State};
use ropewalk_units::{Duration, Instant, Rate, Seq};
use ropewalk_wire::{Ecn, Payload, Segment};
use std::collections::{BTreeMap, VecDeque};

/// xorshift64*: enough for a channel.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, range: u64) -> u64 {
        self.next() % range.max(1)
    }

    fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) / ((1u64 << 53) as f64) < probability
    }
}

/// One direction. The impairments end at `until`.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) loss: f64,
    pub(crate) duplicate: f64,
    pub(crate) reorder: f64,
    pub(crate) mark: f64,
    pub(crate) until: Instant,
    pub(crate) rate: Option<Rate>,
    /// Packets that may wait.
    pub(crate) queue: usize,
    /// Loss hits segments with data only.
    pub(crate) data_only: bool,
    pub(crate) waiting: VecDeque<Instant>,
    pub(crate) busy_until: Instant,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
}

impl Channel {
    pub(crate) fn ideal(delay: Duration) -> Self {
        Self {
            delay,
            jitter: Duration::ZERO,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            mark: 0.0,
            until: Instant::MAX,
            rate: None,
            queue: usize::MAX,
            data_only: false,
            waiting: VecDeque::new(),
            busy_until: Instant::ZERO,
            dropped: 0,
            marked: 0,
        }
    }

    /// When copies of the segment arrive.
    fn carry(&mut self, now: Instant, segment: &mut Segment, random: &mut Random) -> Vec<Instant> {
        let impaired = now < self.until;
        let Some(sent) = self.serialise(now, segment) else { return Vec::new() };
        if impaired && (segment.payload.len > 0 || !self.data_only) && random.happens(self.loss) {
            self.dropped += 1;
            return Vec::new();
        }
        if impaired && segment.ecn != Ecn::NotEct && random.happens(self.mark) {
            segment.ecn = Ecn::Ce;
            self.marked += 1;
        }
        let copies = if impaired && random.happens(self.duplicate) { 2 } else { 1 };
        (0..copies)
            .map(|_| {
                let mut at = sent + self.delay;
                if impaired {
                    at += Duration::from_nanos(random.below(self.jitter.as_nanos()));
                    if random.happens(self.reorder) {
                        at += Duration::from_nanos(random.below(4 * self.delay.as_nanos()));
                    }
                }
                at
            })
            .collect()
    }

    fn serialise(&mut self, now: Instant, segment: &Segment) -> Option<Instant> {
        let Some(rate) = self.rate else { return Some(now) };
        while self.waiting.front().is_some_and(|at| *at <= now) {
            self.waiting.pop_front();
        }
        // The packet in service does not wait.
        if self.waiting.len() > self.queue {
            self.dropped += 1;
            return None;
        }
        self.busy_until = self.busy_until.max(now) + rate.transmission_time(segment.wire_len() + 20);
        self.waiting.push_back(self.busy_until);
        Some(self.busy_until)
    }
}

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) connection: Option<Connection>,
    config: Config,
    iss: Seq,
    /// Octets that the application has still to write.
    pub(crate) to_write: u64,
    /// Octets of each write, and the jump in the stream after it.
    pub(crate) chunk: u32,
    pub(crate) jump: u64,
    offset: u64,
    /// Written by this end, not read by the other.
    pub(crate) expected: VecDeque<Payload>,
    pub(crate) received: u64,
    /// Reads at most so much in one interval.
    pub(crate) read_chunk: u64,
    pub(crate) read_interval: Duration,
    next_read: Instant,
    /// Finishes only after the peer did.
    pub(crate) finish_last: bool,
    pub(crate) last_octet_at: Instant,
    /// cwnd, or what was in the network if that was more, when it was last not in recovery.
    window_before: u32,
}

impl End {
    /// RFC 9937: a recovery takes the window down to ssthresh, and never beyond what it was, but for what limited transmit, a loss
    /// probe and the fast retransmit add. A recovery that was undone leaves originals and copies in the network, more than cwnd: the
    /// next one begins with all of them (§7: cwnd is the inflight plus what may be sent).
    fn audit_recovery(&mut self) {
        let Some(connection) = &self.connection else { return };
        if !connection.in_recovery() {
            self.window_before = connection.cwnd().max(connection.flight_size()).max(connection.pipe());
        } else if self.config.prr && !self.config.congestion_control.models_path() {
            let limit = self.window_before.max(connection.ssthresh()) + 4 * connection.smss();
            let cwnd = connection.cwnd();
            assert!(cwnd <= limit, "{cwnd} octets in recovery, {} before", self.window_before);
        }
    }

    pub(crate) fn new(config: Config, iss: u32, to_write: u64) -> Self {
        Self {
            connection: None,
            config,
            iss: Seq::new(iss),
            to_write,
            chunk: 1 << 20,
            jump: 0,
            offset: 0,
            expected: VecDeque::new(),
            received: 0,
            read_chunk: u64::MAX,
            read_interval: Duration::ZERO,
            next_read: Instant::ZERO,
            finish_last: false,
            last_octet_at: Instant::ZERO,
            window_before: 0,
        }
    }

    pub(crate) fn tcp(&self) -> &Connection {
        self.connection.as_ref().expect("opened")
    }

    fn write(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        while self.to_write > 0 {
            let len = connection.send_space().min(self.to_write).min(u64::from(self.chunk)) as u32;
            if len == 0 {
                return;
            }
            let payload = Payload { offset: self.offset, len };
            connection.push(payload);
            self.expected.push_back(payload);
            self.offset += u64::from(len) + self.jump;
            self.to_write -= u64::from(len);
        }
        if !self.finish_last || connection.peer_finished() {
            connection.finish();
        }
    }

    /// Reads and verifies against what `peer` wrote.
    fn read(&mut self, now: Instant, peer: &mut VecDeque<Payload>) {
        let Some(connection) = &mut self.connection else { return };
        if now < self.next_read {
            return;
        }
        let mut left = self.read_chunk;
        while let Some(piece) = connection.read(left) {
            assert_eq!(u64::from(piece.ssn.get()), self.received + 1, "numbers run on");
            let (mut offset, mut len) = (piece.payload.offset, piece.payload.len);
            left -= u64::from(len);
            self.received += u64::from(len);
            self.last_octet_at = now;
            while len > 0 {
                let wanted = peer.front_mut().expect("more arrived than was written");
                assert_eq!(offset, wanted.offset, "octets out of order, lost or twice");
                let part = len.min(wanted.len);
                wanted.offset += u64::from(part);
                wanted.len -= part;
                if wanted.len == 0 {
                    peer.pop_front();
                }
                offset += u64::from(part);
                len -= part;
            }
            if left == 0 {
                break;
            }
        }
        if self.read_interval > Duration::ZERO {
            self.next_read = now + self.read_interval;
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let connection = self.connection.as_ref()?;
        let timer = connection.poll_timeout().map(|(at, _)| at);
        let reader = (connection.readable() > 0 && self.next_read < Instant::MAX).then_some(self.next_read);
        [timer, reader].into_iter().flatten().min()
    }
}

/// Both ends and what is on its way.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) ends: [End; 2],
    pub(crate) channels: [Channel; 2],
    pub(crate) random: Random,
    on_way: BTreeMap<(Instant, u64), (usize, Segment)>,
    number: u64,
    pub(crate) audit: bool,
    pub(crate) log: bool,
}

impl Pair {
    pub(crate) fn new(ends: [End; 2], channels: [Channel; 2], seed: u64) -> Self {
        let random = Random::new(seed);
        Self {
            now: Instant::ZERO,
            ends,
            channels,
            random,
            on_way: BTreeMap::new(),
            number: 0,
            audit: false,
            log: false,
        }
    }

    /// Opens the end actively.
    pub(crate) fn connect(&mut self, end: usize) {
        let end = &mut self.ends[end];
        end.connection = Some(Connection::connect(end.config.clone(), end.iss, self.now));
    }

    /// Applications, then everything that may leave.
    pub(crate) fn pump(&mut self) {
        for side in 0..2 {
            if self.ends[side].connection.is_none() {
                continue;
            }
            let [first, second] = &mut self.ends;
            let (end, peer) = if side == 0 { (first, second) } else { (second, first) };
            end.read(self.now, &mut peer.expected);
            end.write();
            let Some(connection) = &mut end.connection else { continue };
            while connection.poll_event().is_some() {}
            let mut burst = 0;
            while let Some(mut segment) = connection.poll_transmit(self.now) {
                burst += 1;
                assert!(burst < 100_000, "an endless burst");
                assert!(segment.options.wire_len() <= 40, "options fit: {segment:?}");
                if self.log {
                    println!("{} {side}: {segment:?}", self.now);
                }
                for at in self.channels[side].carry(self.now, &mut segment, &mut self.random) {
                    self.on_way.insert((at, self.number), (1 - side, segment.clone()));
                    self.number += 1;
                }
            }
            if self.audit {
                connection.audit();
                end.audit_recovery();
            }
        }
    }

    /// Goes on to the next event. False when nothing is left to happen, or not before `limit`.
    pub(crate) fn step(&mut self, limit: Instant) -> bool {
        let arrival = self.on_way.first_key_value().map(|((at, _), _)| *at);
        let deadlines = self.ends.iter().filter_map(End::deadline);
        let Some(next) = deadlines.chain(arrival).min() else { return false };
        if next > limit {
            return false;
        }
        self.now = self.now.max(next);
        if arrival.is_some_and(|at| at <= self.now) {
            if let Some((_, (side, segment))) = self.on_way.pop_first() {
                self.deliver(side, &segment);
            }
        } else {
            for end in &mut self.ends {
                if let Some(connection) = &mut end.connection {
                    connection.handle_timeout(self.now);
                }
            }
        }
        self.pump();
        true
    }

    fn deliver(&mut self, side: usize, segment: &Segment) {
        use ropewalk_wire::Flags;
        let end = &mut self.ends[side];
        match &mut end.connection {
            Some(connection) => connection.handle_segment(self.now, segment),
            None if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK) => {
                end.connection = Some(Connection::accept(end.config.clone(), segment, end.iss, self.now));
            }
            None => {}
        }
    }

    /// Runs until nothing happens any more.
    pub(crate) fn run(&mut self, limit: Instant) {
        self.pump();
        let mut steps = 0u64;
        while self.step(limit) {
            steps += 1;
            assert!(steps < 20_000_000, "it does not come to rest");
        }
    }

    /// Everything written was read, and both ends are closed.
    pub(crate) fn assert_complete(&self) {
        for end in &self.ends {
            let context = || format!("at {}: {:?}", self.now, self.states());
            assert_eq!(end.to_write, 0, "unwritten {}", context());
            assert!(end.expected.is_empty(), "unread {:?} {}", end.expected, context());
            assert_eq!(end.tcp().state(), State::Closed, "{}", context());
            assert!(end.tcp().peer_finished(), "{}", context());
        }
    }

    fn states(&self) -> Vec<String> {
        let describe = |end: &End| {
            let tcp = end.connection.as_ref()?;
            let (flight, pipe, unsent) = (tcp.flight_size(), tcp.pipe(), tcp.unsent());
            Some(format!(
                "{:?} flight {flight} pipe {pipe} unsent {unsent} cwnd {} window {} timer {:?} {:?}",
                tcp.state(),
                tcp.cwnd(),
                tcp.peer_window(),
                tcp.poll_timeout(),
                tcp.stats(),
            ))
        };
        self.ends.iter().map(|end| describe(end).unwrap_or_default()).collect()
    }
}

//! Two connections over one path: just enough of a network to measure a transport by itself.

#![expect(dead_code, reason = "each test binary uses a part of it")]

use ropewalk_tcp::{Config, Connection};
use ropewalk_units::{Duration, Instant, Rate, Seq};
use ropewalk_wire::{Payload, Segment};
use std::collections::BTreeMap;

/// IP header.
const IP: u32 = 20;

/// A 64-bit linear congruential generator (Knuth's constants), its upper bits.
#[derive(Clone, Debug)]
pub(crate) struct Lcg(u64);

impl Lcg {
    /// Seeded.
    pub(crate) fn new(seed: u64) -> Self {
        let mut lcg = Self(seed);
        for _ in 0..4 {
            lcg.next();
        }
        lcg
    }

    /// 32 bits.
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// True with `probability`.
    pub(crate) fn bernoulli(&mut self, probability: f64) -> bool {
        f64::from(self.next()) < probability * 4_294_967_296.0
    }
}

/// One direction: a transmitter with a queue, a delay, independent losses.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    /// Loss of segments with data.
    pub(crate) loss: f64,
    /// Loss of segments without data.
    pub(crate) ack_loss: f64,
    /// Octets waiting at most; more is dropped.
    pub(crate) queue: u64,
    /// Each segment is delayed further by up to this, so that segments overtake each other.
    pub(crate) jitter: Duration,
    /// Share of segments that arrive twice.
    pub(crate) duplicates: f64,
    /// Now and then the path stands still, and order is kept.
    pub(crate) spikes: Option<Spikes>,
}

/// For `lasting` at the end of each `every`, nothing moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spikes {
    pub(crate) every: Duration,
    pub(crate) lasting: Duration,
}

impl Spikes {
    /// When something that would arrive at `at` does.
    fn delay(&self, at: Instant) -> Instant {
        let phase = Duration::from_nanos(at.as_nanos() % self.every.as_nanos());
        if phase + self.lasting > self.every { at + (self.every - phase) } else { at }
    }
}

/// What a path does to its segments.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) forward: Direction,
    pub(crate) backward: Direction,
}

impl Path {
    /// The same rate and delay both ways, losses forward, a queue that never overflows.
    pub(crate) fn new(rate: Rate, delay: Duration, loss: f64) -> Self {
        let forward = Direction {
            rate,
            delay,
            loss,
            ack_loss: 0.0,
            queue: u64::MAX,
            jitter: Duration::ZERO,
            duplicates: 0.0,
            spikes: None,
        };
        Self { backward: Direction { loss: 0.0, ..forward.clone() }, forward }
    }
}

struct Wire {
    direction: Direction,
    free: Instant,
    flying: BTreeMap<(Instant, u64), Segment>,
    sent: u64,
    random: Lcg,
    offered: u64,
    lost: u64,
}

impl Wire {
    fn new(direction: Direction, seed: u64) -> Self {
        let random = Lcg::new(seed);
        Self { direction, free: Instant::ZERO, flying: BTreeMap::new(), sent: 0, random, offered: 0, lost: 0 }
    }

    fn send(&mut self, now: Instant, segment: Segment) {
        let backlog = self.direction.rate.bytes_in(self.free.saturating_since(now));
        let len = segment.wire_len() + IP;
        let data = segment.payload.len > 0;
        self.offered += u64::from(data);
        if backlog + u64::from(len) > self.direction.queue {
            self.lost += u64::from(data);
            return;
        }
        self.free = self.free.max(now) + self.direction.rate.transmission_time(len);
        let loss = if data { self.direction.loss } else { self.direction.ack_loss };
        if self.random.bernoulli(loss) {
            self.lost += u64::from(data);
            return;
        }
        if self.random.bernoulli(self.direction.duplicates) {
            self.fly(segment.clone());
        }
        self.fly(segment);
    }

    fn fly(&mut self, segment: Segment) {
        let mut at = self.free + self.direction.delay;
        if !self.direction.jitter.is_zero() {
            let share = f64::from(self.random.next()) / 4_294_967_296.0;
            at += self.direction.jitter.mul_f64(share);
        }
        if let Some(spikes) = &self.direction.spikes {
            at = spikes.delay(at);
        }
        self.sent += 1;
        self.flying.insert((at, self.sent), segment);
    }

    fn next(&self) -> Option<Instant> {
        self.flying.first_key_value().map(|(&(at, _), _)| at)
    }

    fn arrive(&mut self, now: Instant) -> Option<Segment> {
        let due = self.next().is_some_and(|at| at <= now);
        due.then(|| self.flying.pop_first()).flatten().map(|(_, segment)| segment)
    }
}

/// A sender that always has data (up to `bytes`), a receiver that reads at once, and the path.
pub(crate) struct Transfer {
    pub(crate) now: Instant,
    pub(crate) sender: Connection,
    receiver: Option<Connection>,
    server: Config,
    forward: Wire,
    backward: Wire,
    bytes: u64,
    pushed: u64,
    pub(crate) delivered: u64,
}

impl Transfer {
    /// A connection from the sender, who pushes as soon as it may.
    pub(crate) fn new(client: Config, server: Config, path: &Path, bytes: u64, seed: u64) -> Self {
        let sender = Connection::connect(client, Seq::new(0xffff_f000), Instant::ZERO);
        Self {
            now: Instant::ZERO,
            sender,
            receiver: None,
            server,
            forward: Wire::new(path.forward.clone(), seed),
            backward: Wire::new(path.backward.clone(), seed ^ 0x5555),
            bytes,
            pushed: 0,
            delivered: 0,
        }
    }

    /// The receiver, once a SYN has reached it.
    pub(crate) fn receiver(&self) -> &Connection {
        self.receiver.as_ref().expect("a SYN has arrived")
    }

    /// Data segments that entered the path, and how many of them were lost.
    pub(crate) fn offered_and_lost(&self) -> (u64, u64) {
        (self.forward.offered, self.forward.lost)
    }

    /// Runs until `until`, or until all is delivered, or nothing can happen any more.
    pub(crate) fn run(&mut self, until: Instant) {
        self.pump();
        while self.delivered < self.bytes {
            let Some(next) = self.next_time().filter(|&next| next <= until) else { break };
            self.now = self.now.max(next);
            self.step();
            self.pump();
        }
    }

    fn next_time(&self) -> Option<Instant> {
        let timer = |connection: &Connection| connection.poll_timeout().map(|(at, _)| at);
        [
            self.forward.next(),
            self.backward.next(),
            timer(&self.sender),
            self.receiver.as_ref().and_then(timer),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn step(&mut self) {
        let now = self.now;
        if let Some(segment) = self.forward.arrive(now) {
            match &mut self.receiver {
                Some(receiver) => receiver.handle_segment(now, &segment),
                None => {
                    let iss = Seq::new(0x7fff_0000);
                    self.receiver = Some(Connection::accept(self.server.clone(), &segment, iss, now));
                }
            }
        } else if let Some(segment) = self.backward.arrive(now) {
            self.sender.handle_segment(now, &segment);
        } else {
            self.sender.handle_timeout(now);
            if let Some(receiver) = &mut self.receiver {
                receiver.handle_timeout(now);
            }
        }
    }

    fn pump(&mut self) {
        while self.sender.poll_event().is_some() {}
        let room = self.sender.send_space().min(self.bytes - self.pushed);
        if room > 0 {
            let len = u32::try_from(room.min(1 << 30)).expect("bounded");
            self.sender.push(Payload { offset: self.pushed, len });
            self.pushed += u64::from(len);
        }
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.forward.send(self.now, segment);
        }
        let Some(receiver) = &mut self.receiver else { return };
        while receiver.poll_event().is_some() {}
        while let Some(received) = receiver.read(u64::MAX) {
            assert_eq!(received.payload.offset, self.delivered, "whole, once and in order");
            self.delivered += u64::from(received.payload.len);
        }
        while let Some(segment) = receiver.poll_transmit(self.now) {
            self.backward.send(self.now, segment);
        }
    }
}

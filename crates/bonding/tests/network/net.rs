//! Two gateways as ends of the test network. Headers and control packets on its lines are encoded
//! and decoded.

use crate::apps::ConstantRate;
use ropewalk_bonding::{
    Config, Control, DataHeader, Datagram, Endpoint, Event, FlowKey, PathId, Payload, Transmission,
};
use ropewalk_testnet::{End, Line, Outgoing, Pair, QueueLimit};
use ropewalk_units::{Duration, Instant, Rate};

pub(crate) fn ms(millis: f64) -> Duration {
    Duration::from_secs_f64(millis / 1e3)
}

pub(crate) fn at(secs: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(secs)
}

/// A line of this rate and delay. 100 packets wait at most, beside the one that is being sent.
pub(crate) fn line(mbps: f64, delay_ms: f64) -> Line {
    let rate = Rate::from_bits_per_sec((mbps * 1e6) as u64);
    Line { queue: QueueLimit::Packets(101), ..Line::of_rate(rate, ms(delay_ms)) }
}

/// A packet of an application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Packet {
    pub(crate) flow: u32,
    pub(crate) number: u64,
    pub(crate) len: u32,
    pub(crate) sent_at: Instant,
}

impl Payload for Packet {
    fn wire_len(&self) -> u32 {
        self.len
    }

    fn duplicate(&self) -> Self {
        *self
    }

    fn mark_ce(&mut self) -> bool {
        false
    }

    fn supersedes(&self, earlier: &Self) -> bool {
        self.flow == earlier.flow && self.number > earlier.number
    }
}

/// One gateway, and what is counted of it.
struct Gateway {
    endpoint: Endpoint<Packet>,
    /// The bond's `overhead`, in octets.
    overhead: u32,
    events: Vec<(Instant, Event)>,
    /// Packets that came out and that the application has not taken yet.
    delivered: Vec<Packet>,
    /// Datagrams that were refused.
    refused: u64,
    /// Packets that were sent again.
    repairs: u64,
    /// Octets of data on each path, headers included, without repairs.
    data_bytes: Vec<u64>,
    /// Its process stands still: from when until when.
    sleep: (Instant, Instant),
    /// What came meanwhile, and by which line.
    came_asleep: Vec<(usize, Datagram<Packet>)>,
    /// Its clock is set forward: when, and by how much.
    step: (Instant, Duration),
    /// Its clock shows so many millionths more time than passes, or fewer.
    drift_ppm: i64,
}

const MILLION: i128 = 1_000_000;

fn scaled(time: Instant, by: i128, of: i128) -> Instant {
    Instant::from_nanos((i128::from(time.as_nanos()) * by / of) as u64)
}

impl Gateway {
    fn new(config: &Config) -> Self {
        Self {
            endpoint: Endpoint::new(config.clone(), Instant::ZERO).expect("a valid configuration"),
            overhead: config.overhead,
            events: Vec::new(),
            delivered: Vec::new(),
            refused: 0,
            repairs: 0,
            data_bytes: vec![0; config.paths.len()],
            sleep: (Instant::MAX, Instant::MAX),
            came_asleep: Vec::new(),
            step: (Instant::MAX, Duration::ZERO),
            drift_ppm: 0,
        }
    }

    /// What its clock shows.
    fn clock(&self, now: Instant) -> Instant {
        let (at, by) = self.step;
        let shown = scaled(now, MILLION + i128::from(self.drift_ppm), MILLION);
        if now >= at { shown.saturating_add(by) } else { shown }
    }

    /// When its clock shows this at the latest.
    fn when(&self, shown: Instant) -> Instant {
        let (at, by) = self.step;
        let later = |shown: Instant| match self.drift_ppm {
            0 => shown,
            // It is rounded down, twice.
            ppm => scaled(shown, MILLION, MILLION + i128::from(ppm)) + Duration::from_nanos(2),
        };
        if shown < at {
            later(shown)
        } else {
            at.max(later(Instant::ZERO + shown.saturating_since(Instant::ZERO + by)))
        }
    }

    fn is_asleep(&self, now: Instant) -> bool {
        (self.sleep.0..self.sleep.1).contains(&now)
    }

    fn take(&mut self, now: Instant, line: usize, datagram: Datagram<Packet>) {
        let taken = self.endpoint.handle_datagram(self.clock(now), PathId(line as u8), datagram);
        self.refused += u64::from(taken.is_err());
    }

    /// Takes what came while it slept.
    fn wake_up(&mut self, now: Instant) {
        let came = std::mem::take(&mut self.came_asleep);
        came.into_iter().for_each(|(line, datagram)| self.take(now, line, datagram));
    }

    fn count(&mut self, path: PathId, transmission: Transmission, bytes: u32) {
        match transmission {
            Transmission::Repair => self.repairs += 1,
            _ => self.data_bytes[path.index()] += u64::from(bytes),
        }
    }
}

impl End for Gateway {
    type Datagram = Datagram<Packet>;

    fn handle_datagram(&mut self, now: Instant, line: usize, datagram: Datagram<Packet>) {
        if self.is_asleep(now) {
            self.came_asleep.push((line, datagram));
            return;
        }
        self.wake_up(now);
        self.take(now, line, datagram);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing<Datagram<Packet>>> {
        if self.is_asleep(now) {
            return None;
        }
        let (path, datagram) = self.endpoint.poll_transmit(self.clock(now))?;
        let (len, datagram) = match datagram {
            Datagram::Control(control) => {
                let mut octets = Vec::new();
                control.encode(&mut octets);
                assert_eq!(octets.len() as u32, control.wire_len());
                let control = Control::decode(&octets).expect("our own packet");
                (control.wire_len() + 28, Datagram::Control(control))
            }
            Datagram::Data(header, packet) => {
                let header = DataHeader::decode(&header.encode()).expect("our own header");
                let bytes = packet.len + self.overhead;
                self.count(path, header.transmission, bytes);
                (bytes, Datagram::Data(header, packet))
            }
        };
        Some(Outgoing { line: path.index(), len, datagram })
    }

    fn settle(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.poll_event() {
            self.events.push((now, event));
        }
        while let Some(packet) = self.endpoint.poll_deliver(self.clock(now)) {
            self.delivered.push(packet);
        }
    }

    fn deadline(&self) -> Instant {
        let due = self.endpoint.poll_timeout().map_or(Instant::MAX, |timer| self.when(timer.0));
        if self.is_asleep(due) { self.sleep.1 } else { due }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if !self.is_asleep(now) {
            self.wake_up(now);
            self.endpoint.handle_timeout(self.clock(now));
        }
    }
}

/// The two gateways and the lines between them. Applications send from side 0 to side 1.
pub(crate) struct Bond {
    pair: Pair<Gateway>,
}

impl Bond {
    pub(crate) fn new(config: &Config, lines: Vec<[Line; 2]>, seed: u64) -> Self {
        Self { pair: Pair::new([Gateway::new(config), Gateway::new(config)], lines, seed) }
    }

    /// The end at this side.
    pub(crate) fn end(&self, side: usize) -> &Endpoint<Packet> {
        &self.pair.end(side).endpoint
    }

    /// A side's process stands still from `from` until `until`. No application may send meanwhile.
    pub(crate) fn sleep(&mut self, side: usize, from: Instant, until: Instant) {
        self.pair.end_mut(side).sleep = (from, until);
    }

    /// A side's clock is set forward by `by`.
    pub(crate) fn set_forward(&mut self, side: usize, at: Instant, by: Duration) {
        self.pair.end_mut(side).step = (at, by);
    }

    /// A side's clock runs ahead by so many millionths, or falls behind.
    pub(crate) fn let_drift(&mut self, side: usize, ppm: i64) {
        self.pair.end_mut(side).drift_ppm = ppm;
    }

    /// What happened at this side, and when.
    pub(crate) fn events(&self, side: usize) -> &[(Instant, Event)] {
        &self.pair.end(side).events
    }

    /// Octets of data from side 0 on each path, headers included, without repairs.
    pub(crate) fn data_bytes(&self) -> &[u64] {
        &self.pair.end(0).data_bytes
    }

    /// How often each side sent something again.
    pub(crate) fn repairs(&self) -> [u64; 2] {
        [0, 1].map(|side| self.pair.end(side).repairs)
    }

    /// Datagrams that an end refused.
    pub(crate) fn refused(&self) -> u64 {
        self.pair.end(0).refused + self.pair.end(1).refused
    }

    /// Packets that no path took in time.
    pub(crate) fn unsent(&self) -> u64 {
        self.end(0).dropped() + self.end(1).dropped()
    }

    /// What a line has lost of what side 0 sent.
    pub(crate) fn dropped(&mut self, line: usize) -> u64 {
        let stats = self.pair.line(line, 0);
        stats.drops_queue + stats.drops_loss
    }

    /// Lets all happen that is due by `limit`, and hands out what arrives.
    fn advance(&mut self, limit: Instant, app: &mut ConstantRate) {
        while self.pair.step(limit) {
            let now = self.pair.now();
            for side in 0..2 {
                let delivered = std::mem::take(&mut self.pair.end_mut(side).delivered);
                delivered.into_iter().for_each(|packet| app.receive(now, side, packet));
            }
        }
        self.pair.run_until(limit);
    }

    /// Runs until `until`.
    pub(crate) fn run(&mut self, until: Instant, app: &mut ConstantRate) {
        while app.next() <= until {
            let now = app.next().max(self.pair.now());
            self.advance(now, app);
            let packets: Vec<(Packet, FlowKey)> = app.act(now);
            for (packet, flow) in packets {
                let end = self.pair.end_mut(0);
                end.endpoint.handle_packet(end.clock(now), packet, flow);
                self.pair.wake(0);
                self.advance(now, app);
            }
        }
        self.advance(until, app);
    }
}

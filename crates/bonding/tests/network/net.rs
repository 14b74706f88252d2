//! A small deterministic network of two gateways and links with a rate, a delay and a drop-tail queue, to try bonds on.

use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{
    Config, Control, DataHeader, Datagram, Endpoint, Event, FlowKey, PathId, Payload, Transmission,
};
use ropewalk_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// From 0 up to 1.
fn uniform(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}

pub(crate) fn ms(millis: f64) -> Duration {
    Duration::from_secs_f64(millis / 1e3)
}

pub(crate) fn at(secs: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(secs)
}

/// One direction of a path.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) mbps: f64,
    pub(crate) delay: Duration,
    /// The delay swings up to this much higher, as a triangle of this period.
    pub(crate) swing: Option<(Duration, Duration)>,
    /// Packets that wait or are being sent.
    pub(crate) queue: usize,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// A packet may be delayed up to this much more, alone.
    pub(crate) reordering: Duration,
    /// Nothing passes from … to ….
    pub(crate) dead: Vec<(Instant, Instant)>,
    departures: VecDeque<Instant>,
    last_arrival: Instant,
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
}

impl Link {
    pub(crate) fn new(mbps: f64, delay_ms: f64) -> Self {
        Self {
            mbps,
            delay: ms(delay_ms),
            swing: None,
            queue: 100,
            loss: 0.0,
            duplication: 0.0,
            reordering: Duration::ZERO,
            dead: Vec::new(),
            departures: VecDeque::new(),
            last_arrival: Instant::ZERO,
            bytes: 0,
            dropped: 0,
        }
    }

    fn extra(&self, now: Instant) -> Duration {
        let Some((height, period)) = self.swing else { return Duration::ZERO };
        let phase = (now.as_nanos() % period.as_nanos()) as f64 / period.as_nanos() as f64;
        height.mul_f64(1.0 - (2.0 * phase - 1.0).abs())
    }

    /// When the copies of a packet arrive: none, one or two.
    fn send(&mut self, now: Instant, bytes: u32, random: &mut Random) -> Vec<Instant> {
        while self.departures.front().is_some_and(|&at| at <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() > self.queue {
            self.dropped += 1;
            return Vec::new();
        }
        let start = self.departures.back().copied().unwrap_or(now).max(now);
        let departure = start + Duration::from_secs_f64(f64::from(bytes) * 8.0 / (self.mbps * 1e6));
        self.departures.push_back(departure);
        self.bytes += u64::from(bytes);
        let is_dead = self.dead.iter().any(|&(from, until)| (from..until).contains(&now));
        if is_dead || uniform(random) < self.loss {
            self.dropped += 1;
            return Vec::new();
        }
        let arrival = (departure + self.delay + self.extra(departure)).max(self.last_arrival);
        self.last_arrival = arrival;
        let copies = 1 + usize::from(uniform(random) < self.duplication);
        (0..copies).map(|_| arrival + self.reordering.mul_f64(uniform(random))).collect()
    }
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
}

/// Something that sends and receives through the bond. Side 0 is where it starts.
pub(crate) trait App {
    /// When it wants to act.
    fn next(&self) -> Instant;
    /// Acts; packets to send, and from which side.
    fn act(&mut self, now: Instant, out: &mut Vec<(usize, Packet, FlowKey)>);
    /// A packet came out at `side`.
    fn receive(&mut self, now: Instant, side: usize, packet: Packet, out: &mut Vec<(usize, Packet, FlowKey)>);
}

struct Arrival {
    side: usize,
    path: PathId,
    datagram: Datagram<Packet>,
}

/// The two gateways and what is between them. `links[path][side]` leads from that side.
pub(crate) struct Bond {
    pub(crate) ends: [Endpoint<Packet>; 2],
    pub(crate) links: Vec<[Link; 2]>,
    pub(crate) now: Instant,
    pub(crate) overhead: u32,
    pub(crate) events: Vec<(Instant, usize, Event)>,
    pub(crate) refused: u64,
    /// How often each side sent something again.
    pub(crate) repairs: [u64; 2],
    /// Data bytes on each path, headers included, from side 0.
    pub(crate) data_bytes: Vec<u64>,
    /// Time and each path's view of side 0, sampled.
    random: Random,
    arrivals: BinaryHeap<Reverse<(Instant, u64)>>,
    under_way: Vec<Option<Arrival>>,
    free: Vec<usize>,
    serial: u64,
    places: std::collections::BTreeMap<u64, usize>,
}

impl Bond {
    pub(crate) fn new(config: &Config, links: Vec<[Link; 2]>, seed: u64) -> Self {
        let end = || Endpoint::new(config.clone(), Instant::ZERO).expect("a valid configuration");
        Self {
            ends: [end(), end()],
            data_bytes: vec![0; links.len()],
            links,
            now: Instant::ZERO,
            overhead: config.overhead,
            events: Vec::new(),
            refused: 0,
            repairs: [0; 2],
            random: Random::new(seed),
            arrivals: BinaryHeap::new(),
            under_way: Vec::new(),
            free: Vec::new(),
            serial: 0,
            places: std::collections::BTreeMap::new(),
        }
    }

    fn send(&mut self, side: usize, path: PathId, bytes: u32, datagram: &Datagram<Packet>) {
        let link = &mut self.links[path.index()][side];
        for at in link.send(self.now, bytes, &mut self.random) {
            self.schedule(at, Arrival { side: 1 - side, path, datagram: datagram.clone() });
        }
    }

    fn schedule(&mut self, at: Instant, arrival: Arrival) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.under_way.push(None);
            self.under_way.len() - 1
        });
        self.under_way[place] = Some(arrival);
        self.serial += 1;
        self.places.insert(self.serial, place);
        self.arrivals.push(Reverse((at, self.serial)));
    }

    /// Over the wire and back, as octets.
    fn transmit(&mut self, side: usize, path: PathId, datagram: Datagram<Packet>) {
        match datagram {
            Datagram::Control(control) => {
                let mut octets = Vec::new();
                control.encode(&mut octets);
                assert_eq!(octets.len() as u32, control.wire_len());
                let control = Control::decode(&octets).expect("our own packet");
                self.send(side, path, control.wire_len() + 28, &Datagram::Control(control));
            }
            Datagram::Data(header, packet) => {
                let header = DataHeader::decode(&header.encode()).expect("our own header");
                let bytes = packet.len + self.overhead;
                let is_repair = header.transmission == Transmission::Repair;
                self.repairs[side] += u64::from(is_repair);
                if side == 0 && !is_repair {
                    self.data_bytes[path.index()] += u64::from(bytes);
                }
                self.send(side, path, bytes, &Datagram::Data(header, packet));
            }
        }
    }

    /// Packets that no path took in time.
    pub(crate) fn unsent(&self) -> u64 {
        self.ends[0].dropped() + self.ends[1].dropped()
    }

    /// Everything that an end has to hand out; what comes out of it goes to the application.
    fn drain(&mut self, side: usize, app: &mut dyn App) {
        let mut out = Vec::new();
        loop {
            while let Some((path, datagram)) = self.ends[side].poll_transmit(self.now) {
                self.transmit(side, path, datagram);
            }
            while let Some(event) = self.ends[side].poll_event() {
                self.events.push((self.now, side, event));
            }
            while let Some(packet) = self.ends[side].poll_deliver(self.now) {
                app.receive(self.now, side, packet, &mut out);
            }
            if out.is_empty() {
                return;
            }
            for (side, packet, flow) in out.drain(..) {
                self.ends[side].handle_packet(self.now, packet, flow);
            }
        }
    }

    fn arrive(&mut self, serial: u64, app: &mut dyn App) {
        let place = self.places.remove(&serial).expect("under way");
        let arrival = self.under_way[place].take().expect("under way");
        self.free.push(place);
        let taken = self.ends[arrival.side].handle_datagram(self.now, arrival.path, arrival.datagram);
        self.refused += u64::from(taken.is_err());
        self.drain(arrival.side, app);
    }

    /// Runs until `until`.
    pub(crate) fn run(&mut self, until: Instant, app: &mut dyn App) {
        loop {
            let timers =
                [0, 1].map(|side| self.ends[side].poll_timeout().map_or(Instant::MAX, |timer| timer.0));
            let arrival = self.arrivals.peek().map_or(Instant::MAX, |first| first.0.0);
            let next = timers[0].min(timers[1]).min(arrival).min(app.next());
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            if arrival == next {
                let Reverse((_, serial)) = self.arrivals.pop().expect("peeked");
                self.arrive(serial, app);
            } else if let Some(side) = [0, 1].into_iter().find(|&side| timers[side] == next) {
                self.ends[side].handle_timeout(self.now);
                self.drain(side, app);
            } else {
                let mut out = Vec::new();
                app.act(self.now, &mut out);
                for (side, packet, flow) in out {
                    self.ends[side].handle_packet(self.now, packet, flow);
                    self.drain(side, app);
                }
            }
        }
    }
}

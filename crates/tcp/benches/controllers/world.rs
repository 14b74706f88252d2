//! A tunnel's path, CUBIC flows and datagrams over one line.

use crate::bottleneck::{Codel, Fifo};
use ropewalk_congestion::{ControlledPath, PathController};
use ropewalk_tcp::{Config, Connection};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Payload, Segment};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// IP header of a segment, and what the tunnel adds.
const IP: u32 = 20;
const TUNNEL: u32 = 40;
/// A full packet in the tunnel.
pub(crate) const FULL: u32 = 1500;

/// What else is sent, and what wants to be sent through the path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Demand {
    /// Always a packet.
    Backlog,
    /// One CUBIC flow, whose packets wait in a CoDel queue.
    Inner,
    /// Constant, as a share of the line's rate.
    Constant(f64),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Udp {
    None,
    /// A share of the line's rate.
    Constant(f64),
    /// The share, on and off for so many seconds each.
    OnOff(f64, f64),
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) mbps: f64,
    pub(crate) rtt_ms: f64,
    pub(crate) buffer: usize,
    pub(crate) codel: bool,
    pub(crate) cubics: usize,
    /// Seconds.
    pub(crate) cubics_from: f64,
    pub(crate) cubics_until: f64,
    pub(crate) udp: Udp,
    pub(crate) loss: f64,
    /// Second, factor.
    pub(crate) rate_step: Option<(f64, f64)>,
    /// Second, further milliseconds one way.
    pub(crate) delay_step: Option<(f64, f64)>,
    pub(crate) demand: Demand,
    pub(crate) seconds: f64,
    /// Measured from this second on.
    pub(crate) from: f64,
    pub(crate) seed: u64,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            mbps: 64.0,
            rtt_ms: 26.0,
            buffer: 250,
            codel: false,
            cubics: 0,
            cubics_from: 0.0,
            cubics_until: 1e9,
            udp: Udp::None,
            loss: 0.0,
            rate_step: None,
            delay_step: None,
            demand: Demand::Inner,
            seconds: 60.0,
            from: 20.0,
            seed: 1,
        }
    }
}

/// What was seen. Shares of the line's capacity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) path: f64,
    /// Of one CUBIC flow on average.
    pub(crate) cubic: f64,
    pub(crate) all: f64,
    /// Milliseconds in the line's queue, of the path's packets.
    pub(crate) queue_mean: f64,
    pub(crate) queue_p99: f64,
    /// Packets dropped by the line's queue.
    pub(crate) drops: f64,
    /// Share of time in the competitive mode.
    pub(crate) competing: f64,
    /// Seconds at which the mode changed.
    pub(crate) switches: Vec<f64>,
    /// Share of the line for each second.
    pub(crate) trace: Vec<f64>,
}

enum Parcel {
    Segment(usize, Segment),
    Datagram { number: u64, size: u32, inner: Option<Segment> },
    Udp(u32),
}

impl Parcel {
    fn size(&self) -> u32 {
        match self {
            Self::Segment(_, segment) => segment.wire_len() + IP,
            Self::Datagram { size, .. } | Self::Udp(size) => *size,
        }
    }
}

enum Event {
    /// The transmitter is free.
    Free,
    Arrive(Parcel),
    Ack(usize, Segment),
    InnerAck(Segment),
    ReportDue,
    Report {
        sent: Instant,
        arrived: Vec<(u64, Instant)>,
    },
    Timer(usize),
    Wake,
    UdpNext,
    Second,
}

struct Entry(Instant, u64, Event);
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

struct Flow {
    sender: Connection,
    receiver: Option<Connection>,
    pushed: u64,
    delivered: u64,
    timer: Option<Instant>,
}

impl Flow {
    fn new(now: Instant) -> Self {
        let sender = Connection::connect(Config::linux(), Seq::new(1), now);
        Self { sender, receiver: None, pushed: 0, delivered: 0, timer: None }
    }

    fn take(&mut self, now: Instant, segment: &Segment) -> u64 {
        let before = self.delivered;
        match &mut self.receiver {
            Some(receiver) => receiver.handle_segment(now, segment),
            None => self.receiver = Some(Connection::accept(Config::linux(), segment, Seq::new(2), now)),
        }
        if let Some(receiver) = &mut self.receiver {
            while receiver.poll_event().is_some() {}
            while let Some(received) = receiver.read(u64::MAX) {
                self.delivered += u64::from(received.payload.len);
            }
        }
        self.delivered - before
    }

    fn fill(&mut self) {
        while self.sender.poll_event().is_some() {}
        let len = u32::try_from(self.sender.send_space().min(1 << 30)).expect("bounded");
        if len > 0 {
            self.sender.push(Payload { offset: self.pushed, len });
            self.pushed += u64::from(len);
        }
    }
}

/// The inner flow's number among the timers.
const INNER: usize = usize::MAX;

pub(crate) struct World {
    case: Case,
    now: Instant,
    events: BinaryHeap<Reverse<Entry>>,
    count: u64,
    line: Fifo<Parcel>,
    busy: bool,
    rate: f64,
    one_way: Duration,
    random: u64,
    flows: Vec<Flow>,
    started: bool,
    inner: Flow,
    queue: Fifo<Segment>,
    path: ControlledPath<Box<dyn PathController>>,
    log: VecDeque<Option<(u32, ropewalk_congestion::PacketState)>>,
    first: u64,
    credit: f64,
    credit_at: Instant,
    wake: Option<Instant>,
    /// The peer's.
    arrived: Vec<(u64, Instant)>,
    report_each: Duration,
    heard: Instant,
    // Measured.
    path_octets: u64,
    cubic_octets: u64,
    all_octets: u64,
    waits: Vec<f32>,
    drops_before: (u64, u64),
    competing: bool,
    competed: Duration,
    competing_at: Instant,
    outcome: Outcome,
    trace_octets: u64,
}

impl World {
    pub(crate) fn new(case: Case, controller: Box<dyn PathController>) -> Self {
        let rate = case.mbps * 1e6 / 8.0;
        let one_way = Duration::from_secs_f64(case.rtt_ms / 2000.0);
        let codel = case.codel.then(|| Codel::new(Duration::from_millis(5)));
        let report_each = Duration::from_millis(5);
        let mut world = Self {
            now: Instant::ZERO,
            events: BinaryHeap::new(),
            count: 0,
            line: Fifo::new(case.buffer, codel),
            busy: false,
            rate,
            one_way,
            random: case.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            flows: Vec::new(),
            started: false,
            inner: Flow::new(Instant::ZERO),
            queue: Fifo::new(1000, Some(Codel::new(Duration::from_millis(15)))),
            path: ControlledPath::new(controller, Instant::ZERO),
            log: VecDeque::new(),
            first: 0,
            credit: 0.0,
            credit_at: Instant::ZERO,
            wake: None,
            arrived: Vec::new(),
            report_each,
            heard: Instant::ZERO,
            path_octets: 0,
            cubic_octets: 0,
            all_octets: 0,
            waits: Vec::new(),
            drops_before: (0, 0),
            competing: false,
            competed: Duration::ZERO,
            competing_at: Instant::ZERO,
            outcome: Outcome::default(),
            trace_octets: 0,
            case,
        };
        world.at(Duration::ZERO, Event::ReportDue);
        world.at(Duration::ZERO, Event::UdpNext);
        world.at(Duration::from_secs(1), Event::Second);
        world
    }

    fn uniform(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    fn at(&mut self, after: Duration, event: Event) {
        self.count += 1;
        self.events.push(Reverse(Entry(self.now + after, self.count, event)));
    }

    fn measured(&self) -> bool {
        self.now.as_secs_f64() >= self.case.from
    }

    pub(crate) fn run(mut self) -> Outcome {
        let end = Instant::ZERO + Duration::from_secs_f64(self.case.seconds);
        self.settle();
        while let Some(Reverse(Entry(at, _, event))) = self.events.pop() {
            if at > end {
                break;
            }
            self.now = at;
            self.handle(event);
            self.settle();
        }
        self.finish()
    }

    fn finish(mut self) -> Outcome {
        let seconds = self.case.seconds - self.case.from;
        let factor =
            self.case.rate_step.map_or(1.0, |(at, factor)| if at <= self.case.from { factor } else { 1.0 });
        let capacity = self.case.mbps * factor * 1e6 / 8.0 * seconds;
        self.waits.sort_unstable_by(f32::total_cmp);
        let mut outcome = self.outcome;
        outcome.path = self.path_octets as f64 / capacity;
        outcome.cubic = self.cubic_octets as f64 / capacity / self.case.cubics.max(1) as f64;
        outcome.all = self.all_octets as f64 / capacity;
        if !self.waits.is_empty() {
            outcome.queue_mean =
                self.waits.iter().map(|wait| f64::from(*wait)).sum::<f64>() / self.waits.len() as f64;
            outcome.queue_p99 = f64::from(self.waits[self.waits.len() * 99 / 100]);
        }
        let (dropped, offered) = self.drops_before;
        outcome.drops = (self.line.dropped - dropped) as f64 / (self.line.offered - offered).max(1) as f64;
        outcome.competing = self.competed.as_secs_f64() / seconds;
        outcome
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Free => self.busy = false,
            Event::Arrive(parcel) => self.arrive(parcel),
            Event::Ack(flow, segment) => {
                if let Some(flow) = self.flows.get_mut(flow) {
                    flow.sender.handle_segment(self.now, &segment);
                }
            }
            Event::InnerAck(segment) => self.inner.sender.handle_segment(self.now, &segment),
            Event::ReportDue => self.write_report(),
            Event::Report { sent, arrived } => self.read_report(sent, &arrived),
            Event::Timer(flow) => self.timer(flow),
            // A later one that was moved forward is stale.
            Event::Wake => self.wake = self.wake.filter(|at| *at > self.now),
            Event::UdpNext => self.udp(),
            Event::Second => self.second(),
        }
    }

    fn second(&mut self) {
        let now = self.now.as_secs_f64();
        self.at(Duration::from_secs(1), Event::Second);
        self.outcome.trace.push(self.trace_octets as f64 / self.rate);
        self.trace_octets = 0;
        if now <= self.case.from {
            self.drops_before = (self.line.dropped, self.line.offered);
        }
        if !self.started && now > self.case.cubics_from && self.case.cubics > 0 {
            self.started = true;
            self.flows = (0..self.case.cubics).map(|_| Flow::new(self.now)).collect();
        }
        if let Some((at, factor)) = self.case.rate_step.filter(|(at, _)| (now - at).abs() < 0.5) {
            let _ = at;
            self.rate = self.case.mbps * factor * 1e6 / 8.0;
        }
        if let Some((_, more)) = self.case.delay_step.filter(|(at, _)| (now - at).abs() < 0.5) {
            self.one_way = Duration::from_secs_f64(self.case.rtt_ms / 2000.0 + more / 1000.0);
        }
        if now > self.case.cubics_until {
            self.flows.clear();
            self.case.cubics_until = 1e9;
        }
    }

    fn arrive(&mut self, parcel: Parcel) {
        let measured = self.measured();
        let size = u64::from(parcel.size());
        self.all_octets += if measured { size } else { 0 };
        match parcel {
            Parcel::Udp(_) => {}
            Parcel::Segment(flow, segment) => {
                if flow < self.flows.len() {
                    self.cubic_octets += if measured { size } else { 0 };
                    self.flows[flow].take(self.now, &segment);
                }
            }
            Parcel::Datagram { number, inner, .. } => {
                self.path_octets += if measured { size } else { 0 };
                self.trace_octets += size;
                self.arrived.push((number, self.now));
                if let Some(segment) = inner {
                    self.inner.take(self.now, &segment);
                }
            }
        }
    }

    fn write_report(&mut self) {
        let arrived = std::mem::take(&mut self.arrived);
        if !arrived.is_empty() {
            self.at(self.one_way, Event::Report { sent: self.now, arrived });
        }
        self.at(self.report_each, Event::ReportDue);
        if self.path.inflight() > 0 && self.now.saturating_since(self.heard) > Duration::from_secs(2) {
            self.heard = self.now;
            self.first += self.log.len() as u64;
            self.log.clear();
            self.path.on_timeout(self.now);
        }
    }

    fn read_report(&mut self, sent: Instant, arrived: &[(u64, Instant)]) {
        self.heard = self.now;
        for (number, arrival) in arrived {
            while self.first <= *number {
                let Some(entry) = self.log.pop_front() else { break };
                let (size, state) = entry.expect("told once");
                self.first += 1;
                if self.first - 1 < *number {
                    self.path.on_lost(self.now, size, &state);
                } else {
                    let rtt = self.now.saturating_since(state.send_time);
                    self.path.on_delivered(size, &state, rtt - sent.saturating_since(*arrival));
                }
            }
        }
        self.path.end_report(self.now);
        let competing = self.path.controller().is_competing();
        if competing != self.competing {
            self.outcome.switches.push(self.now.as_secs_f64());
        }
        if self.competing && self.measured() {
            self.competed += self.now.saturating_since(self.competing_at);
        }
        self.competing = competing;
        self.competing_at = self.now;
    }

    fn timer(&mut self, flow: usize) {
        let now = self.now;
        let flow = if flow == INNER { Some(&mut self.inner) } else { self.flows.get_mut(flow) };
        let Some(flow) = flow else { return };
        if flow.timer.is_none_or(|at| at > now) {
            return;
        }
        flow.timer = None;
        if flow.sender.deadline() <= now {
            flow.sender.handle_timeout(now);
        }
        if let Some(receiver) = &mut flow.receiver
            && receiver.deadline() <= now
        {
            receiver.handle_timeout(now);
        }
    }

    fn udp(&mut self) {
        let now = self.now.as_secs_f64();
        let (share, on) = match self.case.udp {
            Udp::None => return,
            Udp::Constant(share) => (share, true),
            Udp::OnOff(share, each) => (share, (now / each) as u64 % 2 == 1),
        };
        if on {
            self.line.push(self.now, Parcel::Udp(1250));
        }
        let gap = 1250.0 / (share * self.case.mbps * 1e6 / 8.0);
        self.at(Duration::from_secs_f64(gap), Event::UdpNext);
    }

    /// Everything that can be sent now is sent.
    fn settle(&mut self) {
        self.pump_flows();
        self.pump_inner();
        self.pump_path();
        self.transmit();
    }

    fn pump_flows(&mut self) {
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            flow.fill();
            while let Some(segment) = flow.sender.poll_transmit(self.now) {
                self.line.push(self.now, Parcel::Segment(index, segment));
            }
            self.answer(index);
        }
    }

    /// The receiver's ACKs, and the timers.
    fn answer(&mut self, index: usize) {
        let one_way = self.one_way;
        loop {
            let flow = if index == INNER { &mut self.inner } else { &mut self.flows[index] };
            let Some(ack) = flow.receiver.as_mut().and_then(|receiver| receiver.poll_transmit(self.now))
            else {
                break;
            };
            let event = if index == INNER { Event::InnerAck(ack) } else { Event::Ack(index, ack) };
            self.at(one_way, event);
        }
        let flow = if index == INNER { &mut self.inner } else { &mut self.flows[index] };
        let deadline =
            flow.receiver.as_ref().map_or(Instant::MAX, Connection::deadline).min(flow.sender.deadline());
        if deadline < Instant::MAX && flow.timer.is_none_or(|at| deadline < at) {
            flow.timer = Some(deadline);
            self.at(deadline.saturating_since(self.now), Event::Timer(index));
        }
    }

    fn pump_inner(&mut self) {
        if self.case.demand != Demand::Inner {
            return;
        }
        self.inner.fill();
        while let Some(segment) = self.inner.sender.poll_transmit(self.now) {
            self.queue.push(self.now, segment);
        }
        self.answer(INNER);
    }

    fn pump_path(&mut self) {
        let share = if let Demand::Constant(share) = self.case.demand { share } else { 0.0 };
        let passed = self.now.saturating_since(self.credit_at).as_secs_f64();
        self.credit = (self.credit + passed * share * self.rate).min(60_000.0);
        self.credit_at = self.now;
        while self.path.may_send(self.now, FULL) {
            let (size, inner) = match self.case.demand {
                Demand::Backlog => (FULL, None),
                Demand::Constant(_) if self.credit >= f64::from(FULL) => {
                    self.credit -= f64::from(FULL);
                    (FULL, None)
                }
                Demand::Constant(_) => {
                    self.path.on_nothing_to_send();
                    break;
                }
                Demand::Inner => match self.queue.pop(self.now) {
                    Some((_, segment)) => (segment.wire_len() + IP + TUNNEL, Some(segment)),
                    None => {
                        self.path.on_nothing_to_send();
                        break;
                    }
                },
            };
            let state = self.path.on_sent(self.now, size);
            self.log.push_back(Some((size, state)));
            let number = self.first + self.log.len() as u64 - 1;
            self.line.push(self.now, Parcel::Datagram { number, size, inner });
        }
        let next = self.path.next_send_time();
        let held = next > self.now && self.path.has_room(FULL);
        if held && self.wake.is_none_or(|at| next < at) {
            self.wake = Some(next);
            self.at(next.saturating_since(self.now), Event::Wake);
        }
        if share > 0.0 && self.wake.is_none() {
            self.wake = Some(self.now + Duration::from_millis(1));
            self.at(Duration::from_millis(1), Event::Wake);
        }
    }

    fn transmit(&mut self) {
        if self.busy || self.line.front().is_none() {
            return;
        }
        let Some((wait, parcel)) = self.line.pop(self.now) else { return };
        self.busy = true;
        let time = Duration::from_secs_f64(f64::from(parcel.size()) / self.rate);
        self.at(time, Event::Free);
        if matches!(parcel, Parcel::Datagram { .. }) && self.measured() {
            self.waits.push((wait.as_secs_f64() * 1e3) as f32);
        }
        if self.case.loss > 0.0 && self.uniform() < self.case.loss {
            return;
        }
        self.at(time + self.one_way, Event::Arrive(parcel));
    }
}

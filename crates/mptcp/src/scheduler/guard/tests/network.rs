//! A small packet-level model of a bulk transfer over several paths, to see what a scheduler does to goodput:
//! FIFO links with random loss, AIMD windows with selective acknowledgement and timeouts, one shared
//! window with in-order delivery. It stands in for the stack, so that the decisions can be tested alone.

use crate::config::{Config, Coupling, Scheduler as Kind};
use crate::coupling::CoupledControl;
use crate::id::SubflowId;
use crate::scheduler::{Decision, Scheduler};
use crate::view::{QueueView, SubflowView};
use ropewalk_units::{Duration, Instant, Rate};
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

const SMSS: u64 = 1400;
const HEADERS: u64 = 60;
const LEAST_RTO: u64 = 200_000_000;

/// One path: a link with a DropTail queue of 50 packets; ACKs come back without queueing or loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) megabits: f64,
    pub(super) delay_ms: u64,
    pub(super) loss: f64,
    /// From then on there is no loss.
    pub(super) heals_at: Option<u64>,
}

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    dsn: u64,
    at: u64,
    lost: bool,
    acked: bool,
}

#[derive(Debug)]
struct Flow {
    link: Link,
    free_at: u64,
    cwnd: f64,
    ssthresh: f64,
    next_number: u64,
    sent: VecDeque<Sent>,
    repairs: VecDeque<u64>,
    recovery_until: Option<u64>,
    timer: u64,
    backoff: u32,
    srtt: u64,
    rttvar: u64,
    min_rtt: u64,
    acked_bytes: u64,
    segments: u64,
    retransmissions: u64,
    events: u64,
    /// Segments that count against cwnd.
    pipe: u64,
    /// Delivery: start of the measurement, segments in it, average in octets per second.
    delivery: (u64, u64, u64),
}

pub(super) struct Outcome {
    pub(super) megabits: f64,
    /// Per path, segments carried.
    pub(super) segments: Vec<u64>,
    pub(super) scheduler: Scheduler,
}

struct Network {
    flows: Vec<Flow>,
    control: CoupledControl,
    scheduler: Scheduler,
    window: u64,
    data_una: u64,
    data_next: u64,
    received: BTreeMap<u64, ()>,
    acks: BinaryHeap<std::cmp::Reverse<(u64, usize, u64)>>,
    random: u64,
}

/// Goodput of a transfer without end over `links` with a connection-level window of `window` octets.
pub(super) fn run(
    links: &[Link],
    kind: Kind,
    coupling: Coupling,
    window: u64,
    seconds: u64,
    seed: u64,
) -> Outcome {
    let mut config = Config { scheduler: kind, coupling, ..Config::classic() };
    config.tcp.delayed_ack.segments = 1;
    let mut network = Network {
        flows: links.iter().map(|&link| Flow::new(link)).collect(),
        control: CoupledControl::new(coupling, true),
        scheduler: Scheduler::new(&config),
        window,
        data_una: 0,
        data_next: 0,
        received: BTreeMap::new(),
        acks: BinaryHeap::new(),
        random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
    };
    network.go(seconds * 1_000_000_000);
    Outcome {
        megabits: network.data_una as f64 * 8e-6 / seconds as f64,
        segments: network.flows.iter().map(|f| f.segments).collect(),
        scheduler: network.scheduler,
    }
}

impl Flow {
    fn new(link: Link) -> Self {
        let rtt = link.delay_ms * 2_000_000;
        Self {
            link,
            free_at: 0,
            cwnd: 2.0,
            ssthresh: 46.0,
            next_number: 0,
            sent: VecDeque::new(),
            repairs: VecDeque::new(),
            recovery_until: None,
            timer: u64::MAX,
            backoff: 0,
            srtt: rtt,
            rttvar: rtt / 2,
            min_rtt: rtt,
            acked_bytes: 0,
            segments: 0,
            retransmissions: 0,
            events: 0,
            pipe: 0,
            delivery: (0, 0, 0),
        }
    }

    fn measure_delivery(&mut self, now: u64) {
        let (start, segments, rate) = self.delivery;
        self.delivery.1 += 1;
        if now - start >= self.srtt {
            let measured = (segments + 1) * SMSS * 1_000_000_000 / (now - start);
            self.delivery = (now, 0, if rate == 0 { measured } else { (3 * rate + measured) / 4 });
        }
    }

    fn rto(&self) -> u64 {
        (self.srtt + 4 * self.rttvar).max(LEAST_RTO) << self.backoff.min(6)
    }

    fn view(&self, id: u32, coupled: bool) -> SubflowView {
        let cwnd = (self.cwnd.max(1.0) * SMSS as f64) as u32;
        let pipe = (self.pipe * SMSS) as u32;
        SubflowView {
            id: SubflowId(id),
            path_index: id,
            backup: false,
            usable: true,
            coupled,
            cwnd,
            ssthresh: (self.ssthresh * SMSS as f64) as u32,
            flight: (self.sent.len() as u64 * SMSS) as u32,
            pipe,
            cwnd_space: cwnd.saturating_sub(pipe + (self.repairs.len() as u64 * SMSS) as u32),
            unsent: 0,
            send_space: 1_000_000,
            own_backlog: 0,
            smss: SMSS as u32,
            srtt: Some(Duration::from_nanos(self.srtt)),
            rttvar: Duration::from_nanos(self.rttvar),
            min_rtt: Some(Duration::from_nanos(self.min_rtt)),
            latest_rtt: Some(Duration::from_nanos(self.srtt)),
            in_slow_start: self.cwnd < self.ssthresh,
            in_recovery: self.recovery_until.is_some(),
            in_timeout_recovery: self.backoff > 0,
            pacing_rate: Rate::from_bits_per_sec((self.cwnd * 13_440.0 * 1e9 / self.srtt as f64) as u64),
            delivery_rate: Some(Rate::from_bits_per_sec(self.delivery.2 * 8)),
            bytes_acked: self.acked_bytes,
            segments_sent: self.segments,
            retransmissions: self.retransmissions,
            loss_events: self.events,
        }
    }
}

impl Network {
    fn go(&mut self, end: u64) {
        let mut now = 0;
        while now < end {
            self.transmit(now);
            let ack = self.acks.peek().map_or(u64::MAX, |a| a.0.0);
            let timer = self.flows.iter().map(|f| f.timer).min().unwrap_or(u64::MAX);
            now = ack.min(timer);
            if ack <= timer {
                if let Some(std::cmp::Reverse((_, flow, number))) = self.acks.pop() {
                    self.on_ack(now, flow, number);
                }
            } else if let Some(flow) = self.flows.iter().position(|f| f.timer == now) {
                self.on_timeout(now, flow);
            }
        }
    }

    fn views(&self) -> Vec<SubflowView> {
        let view = |(id, flow): (usize, &Flow)| {
            flow.view(id as u32, self.scheduler.participates(SubflowId(id as u32)))
        };
        self.flows.iter().enumerate().map(view).collect()
    }

    fn queue(&self) -> QueueView {
        let in_flight = self.data_next - self.data_una;
        QueueView {
            unsent: 1 << 20,
            window_left: self.window - in_flight,
            in_flight,
            data_acked: self.data_una,
            opportunistic_retransmissions: 0,
        }
    }

    fn transmit(&mut self, now: u64) {
        for flow in 0..self.flows.len() {
            while (self.flows[flow].pipe as f64) < self.flows[flow].cwnd
                && let Some(dsn) = self.flows[flow].repairs.pop_front()
            {
                self.flows[flow].retransmissions += 1;
                self.send(now, flow, dsn);
            }
        }
        loop {
            let (views, queue) = (self.views(), self.queue());
            match self.scheduler.pick(Instant::from_nanos(now), &views, &queue) {
                Decision::Send { subflow, octets, .. } => {
                    for _ in 0..octets.div_ceil(SMSS) {
                        let dsn = self.data_next;
                        self.data_next += SMSS;
                        self.send(now, subflow.0 as usize, dsn);
                    }
                }
                Decision::Copy { subflow, .. } => self.send(now, subflow.0 as usize, self.data_next - SMSS),
                Decision::Wait { .. } => return,
            }
        }
    }

    fn send(&mut self, now: u64, index: usize, dsn: u64) {
        let survives = self.draw() >= self.loss(now, index);
        let flow = &mut self.flows[index];
        let number = flow.next_number;
        flow.next_number += 1;
        flow.segments += 1;
        flow.pipe += 1;
        flow.sent.push_back(Sent { number, dsn, at: now, lost: false, acked: false });
        if flow.timer == u64::MAX {
            flow.timer = now + flow.rto();
        }
        let transmission = ((SMSS + HEADERS) as f64 * 8000.0 / flow.link.megabits) as u64;
        if flow.free_at.saturating_sub(now) / transmission > 50 {
            return;
        }
        flow.free_at = flow.free_at.max(now) + transmission;
        if survives {
            let back = flow.free_at + flow.link.delay_ms * 2_000_000;
            self.acks.push(std::cmp::Reverse((back, index, number)));
        }
    }

    fn loss(&self, now: u64, index: usize) -> f64 {
        let link = self.flows[index].link;
        if link.heals_at.is_some_and(|at| now >= at) { 0.0 } else { link.loss }
    }

    fn draw(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    fn on_ack(&mut self, now: u64, index: usize, number: u64) {
        let views = self.views();
        let coupling = self.control.coupling(&views, index);
        let flow = &mut self.flows[index];
        let Some(first) = flow.sent.front().map(|s| s.number) else { return };
        let Some(segment) = number.checked_sub(first).and_then(|at| flow.sent.get_mut(at as usize)) else {
            return;
        };
        let counted = !segment.lost && !segment.acked;
        segment.acked = true;
        let (dsn, rtt) = (segment.dsn, now - segment.at);
        flow.pipe -= u64::from(counted);
        flow.rttvar = (3 * flow.rttvar + flow.srtt.abs_diff(rtt)) / 4;
        flow.srtt = (7 * flow.srtt + rtt) / 8;
        flow.min_rtt = flow.min_rtt.min(rtt);
        flow.acked_bytes += SMSS;
        flow.backoff = 0;
        flow.timer = now + flow.rto();
        flow.measure_delivery(now);
        if flow.recovery_until.is_some_and(|until| number >= until) {
            flow.recovery_until = None;
        }
        if flow.recovery_until.is_none() {
            let limited = flow.pipe as f64 + 4.0 >= flow.cwnd;
            if limited {
                flow.cwnd += if flow.cwnd < flow.ssthresh { 1.0 } else { coupling.increase };
            }
        }
        self.find_losses(index, coupling.ssthresh_after_loss);
        self.control.on_acked(&views, index, SMSS as u32);
        self.deliver(dsn);
        let flow = &mut self.flows[index];
        while flow.sent.front().is_some_and(|s| s.acked || s.lost) {
            flow.sent.pop_front();
        }
        if flow.sent.is_empty() && flow.repairs.is_empty() {
            flow.timer = u64::MAX;
        }
    }

    /// Three later ones have arrived (the links keep the order): lost.
    fn find_losses(&mut self, index: usize, ssthresh: f64) {
        let flow = &mut self.flows[index];
        let mut later = flow.sent.iter().rev().filter(|s| s.acked).count();
        let mut found = false;
        for segment in &mut flow.sent {
            if segment.acked {
                later -= 1;
            } else if !segment.lost && later >= 3 {
                segment.lost = true;
                flow.pipe -= 1;
                flow.repairs.push_back(segment.dsn);
                found |= flow.recovery_until.is_none_or(|until| segment.number >= until);
            }
        }
        if found && flow.recovery_until.is_none() {
            flow.events += 1;
            flow.ssthresh = ssthresh.max(1.0);
            flow.cwnd = flow.ssthresh;
            flow.recovery_until = Some(flow.next_number);
            let views = self.views();
            self.control.on_loss(&views, index);
        }
    }

    fn on_timeout(&mut self, now: u64, index: usize) {
        let views = self.views();
        let ssthresh = self.control.coupling(&views, index).ssthresh_after_loss;
        let flow = &mut self.flows[index];
        flow.events += 1;
        if flow.backoff == 0 {
            flow.ssthresh = ssthresh.max(2.0);
        }
        flow.cwnd = 1.0;
        flow.backoff += 1;
        flow.recovery_until = None;
        let missing: Vec<u64> = flow.sent.iter().filter(|s| !s.acked && !s.lost).map(|s| s.dsn).collect();
        flow.repairs.extend(missing);
        flow.sent.clear();
        flow.pipe = 0;
        flow.timer = now + flow.rto();
        self.control.on_loss(&views, index);
    }

    fn deliver(&mut self, dsn: u64) {
        if dsn >= self.data_una {
            self.received.insert(dsn, ());
        }
        while self.received.remove(&self.data_una).is_some() {
            self.data_una += SMSS;
        }
    }
}

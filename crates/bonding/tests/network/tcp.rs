//! A model of one greedy TCP flow: windows of packets, selective acknowledgements, three later ones make a loss.

use crate::net::{App, Packet};
use ropewalk_bonding::FlowKey;
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;

/// How the window grows and shrinks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Law {
    Reno,
    /// RFC 9438: C = 0.4, β = 0.7, and never slower than Reno.
    Cubic,
}

const DATA: u32 = 1452;
/// Payload of a data packet: 52 octets of IP and TCP headers.
const PAYLOAD: u32 = 1400;
const ACK: u32 = 52;
const REORDERING: u64 = 3;

#[derive(Clone, Copy)]
struct Outstanding {
    /// Counts transmissions: loss is judged in the order of sending.
    order: u64,
    sent_at: Instant,
}

/// Sender on side 0, receiver on side 1.
pub(crate) struct Tcp {
    law: Law,
    cwnd: f64,
    ssthresh: f64,
    next: u64,
    order: u64,
    highest_order: u64,
    outstanding: BTreeMap<u64, Outstanding>,
    lost: Vec<u64>,
    recover: u64,
    epoch: Option<(Instant, f64)>,
    reno: f64,
    srtt: f64,
    progress_at: Instant,
    started: bool,
    /// Receiver: what came above `expected`.
    expected: u64,
    above: std::collections::BTreeSet<u64>,
    /// Octets of payload in order at the receiver.
    pub(crate) received: u64,
    pub(crate) losses: u64,
    pub(crate) reductions: u64,
    pub(crate) trace: Vec<(f64, f64, f64)>,
}

impl Tcp {
    pub(crate) fn new(law: Law) -> Self {
        Self {
            law,
            cwnd: 10.0,
            ssthresh: f64::MAX,
            next: 0,
            order: 0,
            highest_order: 0,
            outstanding: BTreeMap::new(),
            lost: Vec::new(),
            recover: 0,
            epoch: None,
            reno: 0.0,
            srtt: 0.05,
            progress_at: Instant::ZERO,
            started: false,
            expected: 0,
            above: std::collections::BTreeSet::new(),
            received: 0,
            losses: 0,
            reductions: 0,
            trace: Vec::new(),
        }
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs_f64((4.0 * self.srtt).max(0.2))
    }

    fn transmit(&mut self, now: Instant, out: &mut Vec<(usize, Packet, FlowKey)>) {
        while (self.outstanding.len() as f64) < self.cwnd {
            let number = self.lost.pop().unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            self.order += 1;
            self.outstanding.insert(number, Outstanding { order: self.order, sent_at: now });
            let packet = Packet { flow: 0, number, len: DATA, sent_at: now, tag: self.order };
            out.push((0, packet, FlowKey { hash: 7, ..FlowKey::default() }));
        }
    }

    fn grow(&mut self, now: Instant) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
            return;
        }
        self.reno += 1.0 / self.cwnd;
        if self.law == Law::Reno {
            self.cwnd += 1.0 / self.cwnd;
            return;
        }
        let (since, w_max) = *self.epoch.get_or_insert((now, self.cwnd));
        let k = ((w_max - self.ssthresh).max(0.0) / 0.4).cbrt();
        let t = (now - since).as_secs_f64() + self.srtt;
        let target = (0.4 * (t - k).powi(3) + w_max).clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd += ((target - self.cwnd) / self.cwnd).max(0.0);
        self.cwnd = self.cwnd.max(self.reno);
    }

    fn reduce(&mut self, now: Instant) {
        let beta = if self.law == Law::Reno { 0.5 } else { 0.7 };
        self.reductions += 1;
        let w_max = self.cwnd;
        self.ssthresh = (self.cwnd * beta).max(2.0);
        self.cwnd = self.ssthresh;
        self.reno = self.cwnd;
        self.epoch = Some((now, w_max));
        self.recover = self.next;
    }

    fn detect(&mut self, now: Instant) {
        let limit = self.highest_order.saturating_sub(REORDERING);
        let lost: Vec<u64> = self
            .outstanding
            .iter()
            .filter(|(_, sent)| sent.order <= limit)
            .map(|(&number, _)| number)
            .collect();
        for number in lost.into_iter().rev() {
            self.outstanding.remove(&number);
            self.losses += 1;
            if number >= self.recover {
                self.reduce(now);
            }
            self.lost.push(number);
        }
    }

    fn acknowledge(&mut self, now: Instant, packet: &Packet) {
        self.progress_at = now;
        // The number that was received rides in `number`, its order in `tag`.
        if let Some(sent) = self.outstanding.remove(&packet.number) {
            let rtt = (now - sent.sent_at).as_secs_f64();
            self.srtt += (rtt - self.srtt) / 8.0;
            self.highest_order = self.highest_order.max(packet.tag);
            self.grow(now);
        }
        self.lost.retain(|&number| number != packet.number);
        self.detect(now);
        self.trace.push((now.as_secs_f64(), self.cwnd, self.srtt));
    }
}

impl App for Tcp {
    fn next(&self) -> Instant {
        if self.started { self.progress_at + self.timeout() } else { Instant::ZERO }
    }

    fn act(&mut self, now: Instant, out: &mut Vec<(usize, Packet, FlowKey)>) {
        if self.started {
            // Retransmission timeout: everything outstanding is taken for lost.
            let mut all: Vec<u64> = self.outstanding.keys().copied().collect();
            self.outstanding.clear();
            all.reverse();
            self.lost.extend(all);
            self.lost.sort_unstable_by(|a, b| b.cmp(a));
            self.reduce(now);
            self.cwnd = 2.0;
        }
        self.started = true;
        self.progress_at = now;
        self.transmit(now, out);
    }

    fn receive(
        &mut self,
        now: Instant,
        side: usize,
        packet: Packet,
        out: &mut Vec<(usize, Packet, FlowKey)>,
    ) {
        if side == 0 {
            self.acknowledge(now, &packet);
            self.transmit(now, out);
            return;
        }
        if packet.number >= self.expected {
            self.above.insert(packet.number);
            while self.above.remove(&self.expected) {
                self.expected += 1;
                self.received += u64::from(PAYLOAD);
            }
        }
        let ack = Packet { len: ACK, sent_at: now, ..packet };
        out.push((1, ack, FlowKey { hash: 9, ..FlowKey::default() }));
    }
}

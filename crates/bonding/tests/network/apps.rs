//! Constant-rate flows, and what is measured of them.

use crate::net::Packet;
use ropewalk_bonding::FlowKey;
use ropewalk_units::{Duration, Instant};

/// One flow at a constant rate from side 0 to side 1.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) key: FlowKey,
    pub(crate) len: u32,
    pub(crate) interval: Duration,
    pub(crate) start: Instant,
    pub(crate) stop: Instant,
}

impl Flow {
    /// A flow of `mbps` Mbit/s, in IP packets of `len` octets.
    pub(crate) fn new(hash: u32, mbps: f64, len: u32) -> Self {
        let interval = Duration::from_secs_f64(f64::from(len) * 8.0 / (mbps * 1e6));
        let key = FlowKey { hash, ..FlowKey::default() };
        Self { key, len, interval, start: Instant::ZERO, stop: Instant::MAX }
    }
}

/// What is measured of one flow.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) bytes: u64,
    pub(crate) out_of_order: u64,
    pub(crate) duplicates: u64,
    pub(crate) delays: Vec<Duration>,
    /// When each number was delivered.
    pub(crate) seen: Vec<Option<Instant>>,
    next: u64,
}

impl Tally {
    pub(crate) fn median_ms(&self) -> f64 {
        let mut delays = self.delays.clone();
        delays.sort_unstable();
        delays[delays.len() / 2].as_secs_f64() * 1e3
    }

    pub(crate) fn percentile_ms(&self, share: f64) -> f64 {
        let mut delays = self.delays.clone();
        delays.sort_unstable();
        delays[((delays.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3
    }

    /// Share of the packets sent from number `first` on that were not delivered.
    pub(crate) fn loss_from(&self, first: usize) -> f64 {
        let considered = &self.seen[first..];
        considered.iter().filter(|seen| seen.is_none()).count() as f64 / considered.len() as f64
    }
}

/// Several constant-rate flows.
pub(crate) struct ConstantRate {
    flows: Vec<(Flow, Instant)>,
    pub(crate) tallies: Vec<Tally>,
}

impl ConstantRate {
    pub(crate) fn new(flows: Vec<Flow>) -> Self {
        let tallies = vec![Tally::default(); flows.len()];
        Self { flows: flows.into_iter().map(|flow| (flow.clone(), flow.start)).collect(), tallies }
    }

    /// When the next packet is due.
    pub(crate) fn next(&self) -> Instant {
        let next = |(flow, next): &(Flow, Instant)| if *next < flow.stop { *next } else { Instant::MAX };
        self.flows.iter().map(next).min().unwrap_or(Instant::MAX)
    }

    /// The packets that are due now.
    pub(crate) fn act(&mut self, now: Instant) -> Vec<(Packet, FlowKey)> {
        let mut out = Vec::new();
        for (place, (flow, next)) in self.flows.iter_mut().enumerate() {
            if *next > now || *next >= flow.stop {
                continue;
            }
            *next += flow.interval;
            let tally = &mut self.tallies[place];
            let packet = Packet { flow: place as u32, number: tally.sent, len: flow.len, sent_at: now };
            tally.sent += 1;
            tally.seen.push(None);
            out.push((packet, flow.key));
        }
        out
    }

    /// A packet came out at this side.
    pub(crate) fn receive(&mut self, now: Instant, side: usize, packet: Packet) {
        assert_eq!(side, 1, "it was sent from side 0");
        let tally = &mut self.tallies[packet.flow as usize];
        let seen = &mut tally.seen[packet.number as usize];
        tally.duplicates += u64::from(seen.is_some());
        *seen = Some(now);
        tally.delivered += 1;
        tally.bytes += u64::from(packet.len);
        tally.out_of_order += u64::from(packet.number < tally.next);
        tally.next = tally.next.max(packet.number + 1);
        tally.delays.push(now - packet.sent_at);
    }
}

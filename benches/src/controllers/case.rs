//! A case, and what came of it.

use crate::parcel::UDP;
use ropewalk_sim::{Change, CodelConfig, DirectionConfig, Loss, Queue, QueueLimit, Stream, Streams};
use ropewalk_units::{Duration, Instant, Probability, Rate};

/// What wants to be sent through the path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Demand {
    /// Always a packet.
    Backlog,
    /// One CUBIC flow, whose packets wait in a CoDel queue.
    Inner,
    /// Constant, as a share of the line's rate.
    Constant(f64),
}

/// Datagrams beside the path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Udp {
    None,
    /// A share of the line's rate.
    Constant(f64),
    /// The share, off and on for so many seconds each.
    OnOff(f64, f64),
}

/// A line and what shares it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) mbps: f64,
    /// Without queues.
    pub(crate) rtt_ms: f64,
    /// Packets.
    pub(crate) buffer: u32,
    pub(crate) codel: bool,
    /// How many CUBIC flows are beside the path.
    pub(crate) cubics: usize,
    /// They begin with the next whole second, and end likewise.
    pub(crate) cubics_from: f64,
    pub(crate) cubics_until: f64,
    pub(crate) udp: Udp,
    pub(crate) loss: f64,
    /// Second, factor.
    pub(crate) rate_step: Option<(f64, f64)>,
    /// Second, further milliseconds one way.
    pub(crate) delay_step: Option<(f64, f64)>,
    pub(crate) demand: Demand,
    pub(crate) seconds: u32,
    /// Measured from this second on.
    pub(crate) from: u32,
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
            cubics_until: f64::INFINITY,
            udp: Udp::None,
            loss: 0.0,
            rate_step: None,
            delay_step: None,
            demand: Demand::Inner,
            seconds: 60,
            from: 20,
            seed: 1,
        }
    }
}

/// What was seen. Shares are of the line's capacity while it was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) path: f64,
    /// Of one CUBIC flow on average.
    pub(crate) cubic: f64,
    pub(crate) all: f64,
    /// Milliseconds in the line's queue, of the path's packets.
    pub(crate) queue_mean: f64,
    pub(crate) queue_p99: f64,
    /// Share of packets that the line's queue dropped.
    pub(crate) drops: f64,
    /// Share of time in the competitive mode.
    pub(crate) competing: f64,
    /// Seconds at which the mode changed.
    pub(crate) switches: Vec<f64>,
    /// Share of the line for each second.
    pub(crate) trace: Vec<f64>,
}

impl Outcome {
    /// The path's share over that of one CUBIC flow.
    pub(crate) fn ratio(&self) -> f64 {
        if self.cubic > 0.0 { self.path / self.cubic } else { 0.0 }
    }
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

impl Case {
    /// The line's rate at a time.
    pub(crate) fn rate(&self, now: Instant) -> Rate {
        let factor =
            self.rate_step.filter(|&(second, _)| now >= at(second)).map_or(1.0, |(_, factor)| factor);
        Rate::from_bits_per_sec((self.mbps * factor * 1e6) as u64)
    }

    /// Its delay, one way.
    pub(crate) fn delay(&self, now: Instant) -> Duration {
        let more = self.delay_step.filter(|&(second, _)| now >= at(second)).map_or(0.0, |(_, more)| more);
        Duration::from_secs_f64((self.rtt_ms / 2.0 + more) / 1e3)
    }

    /// The direction in which data go.
    pub(crate) fn forward(&self) -> DirectionConfig {
        // One is in transmission.
        let limit = QueueLimit::Packets(self.buffer + 1);
        let queue = if self.codel {
            Queue::Codel { limit, codel: CodelConfig::default() }
        } else {
            Queue::DropTail { limit, mark_above: None }
        };
        let loss = Probability::new(self.loss).expect("a case's loss is a probability");
        let loss = if self.loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None };
        let delay = self.delay(Instant::ZERO);
        DirectionConfig { delay, queue, loss, ..DirectionConfig::new(self.rate(Instant::ZERO)) }
    }

    /// The way back: only a delay.
    pub(crate) fn back(&self) -> DirectionConfig {
        let queue = Queue::DropTail { limit: QueueLimit::Bytes(u64::MAX), mark_above: None };
        let rate = Rate::from_bits_per_sec(1_000_000_000_000_000);
        DirectionConfig { delay: self.delay(Instant::ZERO), queue, ..DirectionConfig::new(rate) }
    }

    /// What changes forward.
    pub(crate) fn rate_change(&self) -> Option<(Instant, Change)> {
        self.rate_step.map(|(second, _)| (at(second), Change::Rate(self.rate(at(second)))))
    }

    /// What changes in both directions.
    pub(crate) fn delay_change(&self) -> Option<(Instant, Change)> {
        self.delay_step.map(|(second, _)| (at(second), Change::Delay(self.delay(at(second)))))
    }

    /// The time between two datagrams beside the path.
    pub(crate) fn udp_gap(&self) -> Option<Duration> {
        let (Udp::Constant(share) | Udp::OnOff(share, _)) = self.udp else { return None };
        Some(Duration::from_secs_f64(f64::from(UDP) * 8.0 / (share * self.mbps * 1e6)))
    }

    /// Are they sent now?
    pub(crate) fn udp_is_on(&self, now: Instant) -> bool {
        match self.udp {
            Udp::None => false,
            Udp::Constant(_) => true,
            Udp::OnOff(_, each) => (now.as_secs_f64() / each) as u64 % 2 == 1,
        }
    }
}

/// What draws cases.
pub(crate) struct Draw(Stream);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Streams::new(seed).stream("controllers"))
    }

    /// A whole number from 1 to `most`.
    pub(crate) fn count(&mut self, most: u64) -> usize {
        1 + self.0.range(most) as usize
    }

    /// Uniform on a logarithmic scale.
    fn log(&mut self, least: f64, most: f64) -> f64 {
        least * libm::pow(most / least, self.0.uniform())
    }

    /// A case beside so many CUBIC flows.
    pub(crate) fn case(&mut self, seed: u64, cubics: usize) -> Case {
        let demand = if self.0.bernoulli(0.75) { Demand::Inner } else { Demand::Backlog };
        Case {
            mbps: self.log(4.0, 100.0),
            rtt_ms: self.log(8.0, 160.0),
            buffer: self.log(20.0, 1000.0) as u32,
            codel: self.0.bernoulli(0.2),
            cubics,
            cubics_from: 10.0 * self.0.uniform(),
            demand,
            seconds: 90,
            from: 30,
            seed,
            ..Case::default()
        }
    }
}

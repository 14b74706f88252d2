//! One direction between the two hosts.

use crate::middlebox::Middlebox;
use ropewalk_sim::{
    Change, DirectionConfig, Jitter, LinkId, LinkSetup, Loss, Node, NodeId, Queue, QueueLimit, Streams, World,
};
use ropewalk_units::{Duration, Instant, Probability, Rate};

/// What a line does to segments. Loss, duplicates and jitter end at `until`, and so do losses,
/// marks and delays of the middlebox.
#[derive(Clone, Debug)]
pub struct Line {
    /// None: a transmission takes no time.
    pub rate: Option<Rate>,
    /// Propagation, one way.
    pub delay: Duration,
    /// Later values of the delay, each with the time from which it holds.
    pub delays: Vec<(Instant, Duration)>,
    /// Each packet is delayed by up to this more, so that packets overtake each other.
    pub jitter: Duration,
    /// The queue before the transmitter; the packet in transmission counts.
    pub queue: QueueLimit,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicates: f64,
    /// Periods in which nothing passes.
    pub down: Vec<(Instant, Instant)>,
    /// At the far end.
    pub middlebox: Middlebox,
    /// The end of the impairments.
    pub until: Instant,
}

/// More than any host here sends.
const NO_LIMIT: Rate = Rate::from_bits_per_sec(1_000_000_000_000_000);

fn probability(p: f64) -> Probability {
    Probability::new(p).expect("a test's probability lies in [0, 1]")
}

impl Line {
    /// Only a delay.
    pub fn ideal(delay: Duration) -> Self {
        Self {
            rate: None,
            delay,
            delays: Vec::new(),
            jitter: Duration::ZERO,
            queue: QueueLimit::Bytes(u64::MAX),
            loss: 0.0,
            duplicates: 0.0,
            down: Vec::new(),
            middlebox: Middlebox::default(),
            until: Instant::MAX,
        }
    }

    /// A delay, and a rate with a queue without limit.
    pub fn of_rate(rate: Rate, delay: Duration) -> Self {
        Self { rate: Some(rate), ..Self::ideal(delay) }
    }

    pub(crate) fn config(&self) -> DirectionConfig {
        DirectionConfig {
            delay: self.delay,
            jitter: if self.jitter.is_zero() { Jitter::None } else { Jitter::Uniform(self.jitter) },
            reorder: !self.jitter.is_zero(),
            queue: Queue::DropTail { limit: self.queue, mark_above: None },
            loss: if self.loss > 0.0 { Loss::Bernoulli(probability(self.loss)) } else { Loss::None },
            duplicate: probability(self.duplicates),
            ..DirectionConfig::new(self.rate.unwrap_or(NO_LIMIT))
        }
    }

    /// What changes, and when.
    pub(crate) fn changes(&self) -> Vec<(Instant, Change)> {
        let mut changes = Vec::new();
        if self.until < Instant::MAX {
            changes.push((self.until, Change::Loss(Loss::None)));
            changes.push((self.until, Change::Duplicate(Probability::ZERO)));
            changes.push((self.until, Change::Jitter(Jitter::None)));
        }
        changes.extend(self.delays.iter().map(|&(at, delay)| (at, Change::Delay(delay))));
        for (from, to) in &self.down {
            changes.push((*from, Change::Down));
            if *to < Instant::MAX {
                changes.push((*to, Change::Up));
            }
        }
        changes
    }
}

/// Connects two nodes by lines: the directions of each, from the first node and from the second.
pub(crate) fn lay<N: Node>(
    world: &mut World<N>,
    nodes: [NodeId; 2],
    lines: &[[Line; 2]],
    streams: Streams,
) -> Vec<[LinkId; 2]> {
    let mut all = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let setup =
            |from: usize| LinkSetup { name: name(number, from), config: line[from].config(), streams };
        let (_, _, links) = world.connect(nodes[0], nodes[1], setup(0), setup(1));
        for (link, line) in links.into_iter().zip(line) {
            line.changes().into_iter().for_each(|(at, change)| world.schedule_change(at, link, change));
        }
        all.push(links);
    }
    all
}

/// A direction's name.
pub(crate) fn name(line: usize, from: usize) -> String {
    format!("{line}/{}", if from == 0 { "client" } else { "server" })
}

/// The same in both directions.
pub fn both_ways(line: Line) -> [Line; 2] {
    [line.clone(), line]
}

//! What pacing, and a controller that models the path, need to know of each packet.

use crate::config::Config;
use ropewalk_congestion::{Pacer, PacketState, RateSample, RateSampler};
use ropewalk_units::{Instant, Seq};
use std::collections::VecDeque;

/// What only a sender has that paces.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    pub(crate) pacer: Pacer,
    pub(crate) path: Option<Path>,
}

/// What only a sender has whose controller models the path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) sampler: RateSampler,
    /// The packets on their way by the sequence number that each ends before, in order.
    packets: VecDeque<(Seq, PacketState)>,
    /// Of the ACK at hand.
    pub(crate) sample: Option<RateSample>,
    /// Where the last lost packet ended.
    pub(crate) lost_end: Option<Seq>,
}

impl Pace {
    /// `None` if the configuration asks for no pacing.
    pub(crate) fn new(config: &Config, now: Instant) -> Option<Box<Self>> {
        let models_path = config.congestion_control.models_path();
        let path = models_path.then(|| Path {
            sampler: RateSampler::new(now),
            packets: VecDeque::new(),
            sample: None,
            lost_end: None,
        });
        (config.pacing || models_path).then(|| Box::new(Self { pacer: Pacer::new(), path }))
    }
}

impl Path {
    /// The packet that ends before `end`.
    pub(crate) fn packet(&self, end: Seq) -> Option<&PacketState> {
        let index = self.packets.partition_point(|(other, _)| other.before(end));
        self.packets.get(index).filter(|(other, _)| *other == end).map(|(_, state)| state)
    }

    /// A packet leaves, or leaves again.
    pub(crate) fn sent(&mut self, end: Seq, state: PacketState) {
        let index = self.packets.partition_point(|(other, _)| other.before(end));
        match self.packets.get_mut(index) {
            Some((other, old)) if *other == end => *old = state,
            _ => self.packets.insert(index, (end, state)),
        }
    }

    /// What is acknowledged is forgotten; returns the last of it.
    pub(crate) fn forget(&mut self, una: Seq) -> Option<PacketState> {
        let mut last = None;
        while let Some((_, state)) = self.packets.front().filter(|(end, _)| end.before_eq(una)) {
            last = Some(*state);
            self.packets.pop_front();
        }
        last
    }
}

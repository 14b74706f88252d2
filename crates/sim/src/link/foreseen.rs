//! A link on which nothing is random: drop-tail, a constant rate, a constant delay, no loss.
//!
//! When a packet comes to it, its departure and its arrival are known. So a packet is stored once, with both times, and
//! nothing has to happen at its departure. The link goes back to departures one by one before anything about it changes.

use super::discipline::Queued;
use crate::config::{DirectionConfig, Jitter, Loss, Queue};
use crate::packet::PacketId;
use ropewalk_aqm::{Load, QueueLimit};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// A packet that waits, is in transmission, or is on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) arrival: Instant,
    pub(super) departure: Instant,
    pub(super) queued: Queued,
}

/// What such a link is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) limit: QueueLimit,
    /// A packet that finds this many is marked.
    pub(super) mark_above: u32,
    delay: Duration,
}

impl Constants {
    /// `None`: the link is none of these.
    pub(super) fn of(config: &DirectionConfig) -> Option<Self> {
        let Queue::DropTail { limit, mark_above } = config.queue else { return None };
        let constant = config.trace.is_none()
            && config.rate.bits_per_sec() > 0
            && config.jitter == Jitter::None
            && config.loss == Loss::None
            && config.duplicate.get() <= 0.0;
        constant.then_some(Self { limit, mark_above: mark_above.unwrap_or(u32::MAX), delay: config.delay })
    }
}

/// All packets of such a link.
#[derive(Debug)]
pub(super) struct Foreseen {
    pub(super) constants: Constants,
    /// In order of departure and of arrival.
    slots: VecDeque<Slot>,
    /// So many of them had departed when the link was last looked at.
    departed: usize,
    /// What had not.
    load: Load,
    last: Instant,
}

impl Foreseen {
    pub(super) fn new(constants: Constants) -> Self {
        Self { constants, slots: VecDeque::new(), departed: 0, load: Load::default(), last: Instant::ZERO }
    }

    /// When the last packet departs.
    pub(super) fn last_departure(&self) -> Instant {
        self.last
    }

    /// What waits and is in transmission at `now`, the packet that leaves just then not counted.
    pub(super) fn load(&mut self, now: Instant) -> Load {
        while let Some(slot) = self.slots.get(self.departed)
            && slot.departure <= now
        {
            self.departed += 1;
            self.forget(slot.queued.bytes);
        }
        self.load
    }

    fn forget(&mut self, bytes: u32) {
        self.load.packets -= 1;
        self.load.bytes -= u64::from(bytes);
    }

    /// Takes a packet that is `time` in transmission.
    pub(super) fn accept(&mut self, now: Instant, queued: Queued, time: Duration) {
        let departure = self.last.max(now).saturating_add(time);
        self.last = departure;
        self.load.add(queued.bytes);
        self.slots.push_back(Slot {
            arrival: departure.saturating_add(self.constants.delay),
            departure,
            queued,
        });
    }

    /// When the first packet arrives; [`Instant::MAX`] without one.
    pub(super) fn first_arrival(&self) -> Instant {
        self.slots.front().map_or(Instant::MAX, |slot| slot.arrival)
    }

    /// The first packet, if it has arrived by `now`.
    pub(super) fn arrived(&mut self, now: Instant) -> Option<PacketId> {
        let first = *self.slots.front()?;
        if first.arrival > now {
            return None;
        }
        self.slots.pop_front();
        match self.departed {
            0 => self.forget(first.queued.bytes),
            _ => self.departed -= 1,
        }
        Some(first.queued.packet)
    }

    /// How many are on their way, as of the last look at the [`Self::load`].
    pub(super) fn in_flight(&self) -> usize {
        self.departed
    }

    /// What is on its way at `now`, and what has not departed, in order.
    pub(super) fn into_slots(mut self, now: Instant) -> (VecDeque<Slot>, VecDeque<Slot>) {
        self.load(now);
        let unsent = self.slots.split_off(self.departed);
        (self.slots, unsent)
    }
}

//! Flow queues served by deficit round robin, each under CoDel: RFC 8290.

use super::codel::{Codel, Fifo};
use super::{Offer, Queued, Surroundings};
use crate::config::{FqCodelConfig, QueueLimit};
use crate::tap::DropReason;
use ropewalk_units::Instant;
use std::collections::VecDeque;

#[derive(Default)]
struct Flow {
    fifo: Fifo,
    codel: Codel,
    /// Octets it may still send in its turn.
    credits: i64,
    /// Is it on one of the lists?
    active: bool,
}

pub(in crate::link) struct FqCodel {
    limit: QueueLimit,
    config: FqCodelConfig,
    flows: Vec<Flow>,
    /// Flows that have just begun to send, served first; RFC 8290 §4.2.
    new_flows: VecDeque<u32>,
    old_flows: VecDeque<u32>,
}

impl FqCodel {
    pub(super) fn new(limit: QueueLimit, config: FqCodelConfig) -> Self {
        let flows = (0..config.flows.max(1)).map(|_| Flow::default()).collect();
        Self { limit, config, flows, new_flows: VecDeque::new(), old_flows: VecDeque::new() }
    }

    pub(super) fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// RFC 8290 §4.1: the packet is queued first; while there is too much, the longest queue loses its head.
    pub(super) fn enqueue(&mut self, queued: Queued, offer: Offer, surroundings: &mut impl Surroundings) {
        self.restore(queued, surroundings);
        let mut load = offer.load;
        while !self.limit.fits(load, queued.bytes) {
            let Some(dropped) = self.fattest().fifo.pop() else { return };
            load.packets = load.packets.saturating_sub(1);
            load.bytes = load.bytes.saturating_sub(u64::from(dropped.bytes));
            surroundings.discard(offer.now, dropped, DropReason::QueueFull);
            if dropped == queued {
                return;
            }
        }
    }

    /// The queue with the most octets.
    fn fattest(&mut self) -> &mut Flow {
        // The first of equals, so that the choice is the same everywhere.
        let best = (0..self.flows.len()).rev().max_by_key(|&index| self.flows[index].fifo.bytes());
        &mut self.flows[best.unwrap_or(0)]
    }

    /// RFC 8290 §4.2.
    pub(super) fn dequeue(&mut self, at: Instant, surroundings: &mut impl Surroundings) -> Option<Queued> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let index = *list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.credits <= 0 {
                // Its turn is over: to the end of the old ones with new credit.
                flow.credits += i64::from(self.config.quantum);
                list.pop_front();
                self.old_flows.push_back(index);
                continue;
            }
            if let Some(queued) = flow.codel.dequeue(at, &self.config.codel, &mut flow.fifo, surroundings) {
                flow.credits -= i64::from(queued.bytes);
                return Some(queued);
            }
            list.pop_front();
            if is_new {
                // An emptied new flow waits one round among the old ones; else it would be new with every packet.
                self.old_flows.push_back(index);
            } else {
                flow.active = false;
            }
        }
    }

    pub(super) fn drain(&mut self) -> Vec<Queued> {
        let mut all: Vec<Queued> = self.flows.iter_mut().flat_map(|flow| flow.fifo.drain()).collect();
        all.sort_by_key(|queued| queued.enqueued);
        all
    }

    pub(super) fn restore(&mut self, queued: Queued, surroundings: &impl Surroundings) {
        let index = surroundings.flow_hash(queued.packet) % self.flows.len() as u32;
        let flow = &mut self.flows[index as usize];
        flow.fifo.push(queued);
        if !flow.active {
            flow.active = true;
            flow.credits = i64::from(self.config.quantum);
            self.new_flows.push_back(index);
        }
    }
}

#[cfg(test)]
mod tests;

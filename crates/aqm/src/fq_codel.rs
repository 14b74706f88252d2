//! Flow queues served by deficit round robin, each under CoDel: RFC 8290.

use crate::codel::{Codel, CodelConfig, Fifo};
use crate::{Callbacks, Dropped, Load, QueueLimit, Queued};
use ropewalk_units::Instant;
use std::collections::VecDeque;

/// Hands the constants that FQ-CoDel has beside CoDel's to the macro `$declare`, as `codel_keys!`
/// does.
#[macro_export]
macro_rules! fq_codel_keys {
    ($declare:path) => {
        $declare! {
            /// Number of flow queues.
            flows: u32 = 1024;
            /// Octets that a flow queue may send in its turn.
            quantum: u32 as Size = 1514;
        }
    };
}

macro_rules! fq_codel_config {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*) => {
        /// FQ-CoDel (RFC 8290).
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct FqCodelConfig {
            /// CoDel of each flow queue.
            pub codel: CodelConfig,
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Default for FqCodelConfig {
            fn default() -> Self {
                Self { codel: CodelConfig::default(), $($key: $default,)* }
            }
        }
    };
}

fq_codel_keys!(fq_codel_config);

struct Flow<P> {
    fifo: Fifo<P>,
    codel: Codel,
    /// Octets it may still send in its turn.
    credits: i64,
    /// Is it on one of the lists?
    active: bool,
}

impl<P> Flow<P> {
    fn new() -> Self {
        Self { fifo: Fifo::default(), codel: Codel::default(), credits: 0, active: false }
    }
}

/// Flow queues, each under CoDel.
pub struct FqCodel<P> {
    limit: QueueLimit,
    config: FqCodelConfig,
    flows: Vec<Flow<P>>,
    /// Flows that have just begun to send, served first; RFC 8290 §4.2.
    new_flows: VecDeque<u32>,
    old_flows: VecDeque<u32>,
}

impl<P> FqCodel<P> {
    /// Empty queues.
    pub fn new(limit: QueueLimit, config: FqCodelConfig) -> Self {
        let flows = (0..config.flows.max(1)).map(|_| Flow::new()).collect();
        Self { limit, config, flows, new_flows: VecDeque::new(), old_flows: VecDeque::new() }
    }

    /// The hard limit.
    pub fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// Flows that have packets, or had some in this round.
    pub fn active_flows(&self) -> usize {
        self.new_flows.len() + self.old_flows.len()
    }

    /// Replaces the constants of CoDel at each flow queue.
    pub fn set_codel(&mut self, codel: CodelConfig) {
        self.config.codel = codel;
    }

    /// Queues a packet. While the limit is exceeded, the queue with the most octets then loses its
    /// head (RFC 8290 §4.1). `load` is what is held without the packet.
    pub fn enqueue(
        &mut self,
        now: Instant,
        queued: Queued<P>,
        mut load: Load,
        callbacks: &mut impl Callbacks<P>,
    ) {
        let bytes = queued.bytes;
        let own = self.push(queued, callbacks);
        while !self.limit.fits(load, bytes) {
            let fattest = self.fattest();
            let fifo = &mut self.flows[fattest].fifo;
            let Some(dropped) = fifo.pop() else { return };
            let is_own = fattest == own && fifo.bytes() == 0;
            load.packets = load.packets.saturating_sub(1);
            load.bytes = load.bytes.saturating_sub(u64::from(dropped.bytes));
            callbacks.discard(now, dropped, Dropped::Full);
            if is_own {
                return;
            }
        }
    }

    /// The queue with the most octets.
    fn fattest(&self) -> usize {
        // The first of equals, so that the choice is the same everywhere.
        let best = (0..self.flows.len()).rev().max_by_key(|&index| self.flows[index].fifo.bytes());
        best.unwrap_or(0)
    }

    /// The next packet to serve at `at`: RFC 8290 §4.2.
    pub fn dequeue(&mut self, at: Instant, callbacks: &mut impl Callbacks<P>) -> Option<Queued<P>> {
        self.dequeue_if(at, callbacks, |_, _| true)
    }

    /// The next packet of a flow that may be served. `accept` gets the first packet of the flow
    /// whose turn it is, and the octets that this flow has queued. A flow that is refused keeps its
    /// turn, and the next flow is tried.
    pub fn dequeue_if(
        &mut self,
        at: Instant,
        callbacks: &mut impl Callbacks<P>,
        mut accept: impl FnMut(&Queued<P>, u64) -> bool,
    ) -> Option<Queued<P>> {
        let (mut is_new, mut place) = (true, 0);
        loop {
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let Some(&index) = list.get(place) else {
                if !is_new {
                    return None;
                }
                (is_new, place) = (false, 0);
                continue;
            };
            let flow = &mut self.flows[index as usize];
            if flow.credits <= 0 {
                // Its turn is over. It goes to the end of the old flows, with new credits.
                flow.credits += i64::from(self.config.quantum);
                list.remove(place);
                self.old_flows.push_back(index);
                continue;
            }
            if flow.fifo.first().is_some_and(|first| !accept(first, flow.fifo.bytes())) {
                place += 1;
                continue;
            }
            if let Some(queued) = flow.codel.dequeue(at, &self.config.codel, &mut flow.fifo, callbacks) {
                flow.credits -= i64::from(queued.bytes);
                return Some(queued);
            }
            list.remove(place);
            if is_new {
                // A new flow that is empty waits one round among the old ones. Otherwise it would
                // be new with each packet.
                self.old_flows.push_back(index);
            } else {
                flow.active = false;
            }
        }
    }

    /// Takes the packet that came last of those that a hash chooses the queue for, if `is` says so. The flow keeps its turn.
    pub fn take_last(&mut self, hash: u32, is: impl FnOnce(&P) -> bool) -> Option<Queued<P>> {
        let index = hash as usize % self.flows.len();
        self.flows[index].fifo.take_last(is)
    }

    /// Takes everything out, in order of arrival.
    pub fn drain(&mut self) -> Vec<Queued<P>> {
        let mut all: Vec<Queued<P>> = self.flows.iter_mut().flat_map(|flow| flow.fifo.drain()).collect();
        all.sort_by_key(|queued| queued.enqueued);
        all
    }

    /// Puts a packet of a replaced queue into this new one.
    pub fn restore(&mut self, queued: Queued<P>, callbacks: &impl Callbacks<P>) {
        self.push(queued, callbacks);
    }

    /// Queues a packet with its flow. Returns the index of that flow's queue.
    fn push(&mut self, queued: Queued<P>, callbacks: &impl Callbacks<P>) -> usize {
        let index = callbacks.flow_hash(&queued.packet) % self.flows.len() as u32;
        let flow = &mut self.flows[index as usize];
        flow.fifo.push(queued);
        if !flow.active {
            flow.active = true;
            flow.credits = i64::from(self.config.quantum);
            self.new_flows.push_back(index);
        }
        index as usize
    }
}

#[cfg(test)]
mod tests;

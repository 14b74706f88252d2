//! Controlled Delay: RFC 8289.

use super::{Offer, Queued, Surroundings};
use crate::config::{CodelConfig, QueueLimit};
use crate::tap::DropReason;
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// The control law's state: RFC 8289 §5.3.
#[derive(Clone, Default)]
pub(super) struct Codel {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    /// Packets dropped since the dropping state was entered.
    count: u32,
    /// `count` as it was then.
    last_count: u32,
    /// The largest packet seen: a queue that holds no more is never too long.
    largest: u32,
}

/// A queue of packets with its octets.
#[derive(Default)]
pub(super) struct Fifo {
    packets: VecDeque<Queued>,
    bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, queued: Queued) {
        self.bytes += u64::from(queued.bytes);
        self.packets.push_back(queued);
    }

    pub(super) fn pop(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_front()?;
        self.bytes -= u64::from(queued.bytes);
        Some(queued)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Queued> {
        self.bytes = 0;
        self.packets.drain(..)
    }
}

impl Codel {
    /// The next packet of `queue`; those CoDel gives up on the way are dropped or marked. RFC 8289 §5.5.
    pub(super) fn dequeue(
        &mut self,
        now: Instant,
        config: &CodelConfig,
        queue: &mut Fifo,
        surroundings: &mut impl Surroundings,
    ) -> Option<Queued> {
        let (mut head, above) = self.pop(now, config, queue)?;
        if !above {
            self.dropping = false;
            return Some(head);
        }
        if self.dropping {
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if config.ecn && surroundings.mark(now, head.packet) {
                    self.drop_next = control_law(self.drop_next, self.count, config.interval);
                    return Some(head);
                }
                let (next, above) = self.pop_after(now, head, config, queue, surroundings)?;
                head = next;
                if above {
                    self.drop_next = control_law(self.drop_next, self.count, config.interval);
                } else {
                    self.dropping = false;
                }
            }
            return Some(head);
        }
        self.enter_dropping(now, config);
        if config.ecn && surroundings.mark(now, head.packet) {
            return Some(head);
        }
        let next = self.pop_after(now, head, config, queue, surroundings);
        // The packet that follows is sent whatever its delay.
        next.map(|(head, _)| head)
    }

    /// Starts dropping. RFC 8289 §5.5: if it stopped only recently, start at the rate it had reached.
    fn enter_dropping(&mut self, now: Instant, config: &CodelConfig) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_since(self.drop_next) < config.interval.saturating_mul(16);
        self.count = if recent && delta > 1 { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, self.count, config.interval);
    }

    /// Drops `head` and takes the next packet.
    fn pop_after(
        &mut self,
        now: Instant,
        head: Queued,
        config: &CodelConfig,
        queue: &mut Fifo,
        surroundings: &mut impl Surroundings,
    ) -> Option<(Queued, bool)> {
        surroundings.discard(now, head, DropReason::Aqm);
        self.pop(now, config, queue)
    }

    /// Takes the head, and says whether the delay has been above the target for an interval. RFC 8289 §5.4.
    fn pop(&mut self, now: Instant, config: &CodelConfig, queue: &mut Fifo) -> Option<(Queued, bool)> {
        let Some(head) = queue.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        self.largest = self.largest.max(head.bytes);
        let sojourn = now.saturating_since(head.enqueued);
        if sojourn < config.target || queue.bytes() <= u64::from(self.largest) {
            self.first_above = None;
            return Some((head, false));
        }
        let Some(first_above) = self.first_above else {
            self.first_above = Some(now.saturating_add(config.interval));
            return Some((head, false));
        };
        Some((head, now >= first_above))
    }
}

/// RFC 8289 §5.3: the time of the next drop falls with the square root of the number of drops. IEEE square roots are exact
/// to the last bit on every machine.
fn control_law(at: Instant, count: u32, interval: Duration) -> Instant {
    at.saturating_add(interval.mul_f64(1.0 / libm::sqrt(f64::from(count))))
}

/// One CoDel queue.
pub(in crate::link) struct CodelQueue {
    limit: QueueLimit,
    config: CodelConfig,
    codel: Codel,
    fifo: Fifo,
}

impl CodelQueue {
    pub(super) fn new(limit: QueueLimit, config: CodelConfig) -> Self {
        Self { limit, config, codel: Codel::default(), fifo: Fifo::default() }
    }

    pub(super) fn limit(&self) -> QueueLimit {
        self.limit
    }

    pub(super) fn enqueue(&mut self, queued: Queued, offer: Offer, surroundings: &mut impl Surroundings) {
        if self.limit.fits(offer.load, queued.bytes) {
            self.fifo.push(queued);
        } else {
            surroundings.discard(offer.now, queued, DropReason::QueueFull);
        }
    }

    pub(super) fn dequeue(&mut self, at: Instant, surroundings: &mut impl Surroundings) -> Option<Queued> {
        self.codel.dequeue(at, &self.config, &mut self.fifo, surroundings)
    }

    pub(super) fn drain(&mut self) -> Vec<Queued> {
        self.fifo.drain().collect()
    }

    pub(super) fn restore(&mut self, queued: Queued) {
        self.fifo.push(queued);
    }
}

#[cfg(test)]
mod tests;

//! Controlled Delay: RFC 8289.

use crate::{Callbacks, Dropped, Load, QueueLimit, Queued};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// Hands the constants of CoDel to the macro `$declare`. Each has its documentation, its name, its
/// type, the type that a scenario file has for it (`as`), and its default. A new constant is one
/// line here. The tokens in `given` come before the constants.
#[macro_export]
macro_rules! codel_keys {
    ($declare:path $(, { $($given:tt)* })?) => {
        $declare! {
            $({ $($given)* })?
            /// Acceptable standing delay.
            target: Duration as Time = Duration::from_millis(5);
            /// Time over which the delay must stay above the target.
            interval: Duration as Time = Duration::from_millis(100);
            /// Mark ECN-capable packets instead of dropping them.
            ecn: bool = false;
        }
    };
}

macro_rules! codel_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// CoDel (RFC 8289).
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub struct CodelConfig { $($keys)* }
        }
    };
}

codel_keys!(codel_config);

/// The control law's state (RFC 8289 §5.2).
#[derive(Clone, Default)]
pub(crate) struct Codel {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    /// Packets dropped or marked in the dropping state. It begins at 1, or higher if the last such
    /// state ended recently.
    count: u32,
    /// `count` when the dropping state was entered.
    last_count: u32,
    /// The largest packet seen, in octets. A queue that holds no more is never too long.
    largest: u32,
}

/// A queue of packets with its octets.
pub(crate) struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<P> Fifo<P> {
    pub(crate) fn push(&mut self, queued: Queued<P>) {
        self.bytes += u64::from(queued.bytes);
        self.packets.push_back(queued);
    }

    pub(crate) fn pop(&mut self) -> Option<Queued<P>> {
        let queued = self.packets.pop_front()?;
        self.bytes -= u64::from(queued.bytes);
        Some(queued)
    }

    pub(crate) fn first(&self) -> Option<&Queued<P>> {
        self.packets.front()
    }

    /// Takes the packet that came last, if `is` says so.
    pub(crate) fn take_last(&mut self, is: impl FnOnce(&P) -> bool) -> Option<Queued<P>> {
        self.packets.back().filter(|last| is(&last.packet))?;
        let queued = self.packets.pop_back()?;
        self.bytes -= u64::from(queued.bytes);
        Some(queued)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Queued<P>> {
        self.bytes = 0;
        self.packets.drain(..)
    }
}

/// RFC 8289 §5.1: dodequeue_result.
struct Popped<P> {
    head: Queued<P>,
    /// The delay has been above the target for an interval.
    ok_to_drop: bool,
}

impl Codel {
    /// Takes the next packet of `queue`. Packets that CoDel chooses on the way are dropped or
    /// marked (RFC 8289 §5.5).
    pub(crate) fn dequeue<P>(
        &mut self,
        now: Instant,
        config: &CodelConfig,
        queue: &mut Fifo<P>,
        callbacks: &mut impl Callbacks<P>,
    ) -> Option<Queued<P>> {
        let Popped { mut head, ok_to_drop } = self.pop(now, config, queue)?;
        if !ok_to_drop {
            self.dropping = false;
            return Some(head);
        }
        if self.dropping {
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if config.ecn && callbacks.mark(now, &mut head.packet) {
                    self.drop_next = control_law(self.drop_next, self.count, config.interval);
                    return Some(head);
                }
                let next = self.pop_after(now, head, config, queue, callbacks)?;
                head = next.head;
                if next.ok_to_drop {
                    self.drop_next = control_law(self.drop_next, self.count, config.interval);
                } else {
                    self.dropping = false;
                }
            }
            return Some(head);
        }
        self.enter_dropping(now, config);
        if config.ecn && callbacks.mark(now, &mut head.packet) {
            return Some(head);
        }
        let next = self.pop_after(now, head, config, queue, callbacks);
        // The packet that follows is sent whatever its delay.
        next.map(|next| next.head)
    }

    /// Starts dropping. If dropping stopped less than 16 intervals ago, it starts at the rate that
    /// it had reached (RFC 8289 §5.5).
    fn enter_dropping(&mut self, now: Instant, config: &CodelConfig) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_since(self.drop_next) < config.interval.saturating_mul(16);
        self.count = if recent && delta > 1 { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, self.count, config.interval);
    }

    /// Drops `head` and takes the next packet.
    fn pop_after<P>(
        &mut self,
        now: Instant,
        head: Queued<P>,
        config: &CodelConfig,
        queue: &mut Fifo<P>,
        callbacks: &mut impl Callbacks<P>,
    ) -> Option<Popped<P>> {
        callbacks.discard(now, head, Dropped::Codel);
        self.pop(now, config, queue)
    }

    /// Takes the head (RFC 8289 §5.6: dodequeue).
    fn pop<P>(&mut self, now: Instant, config: &CodelConfig, queue: &mut Fifo<P>) -> Option<Popped<P>> {
        let Some(head) = queue.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        self.largest = self.largest.max(head.bytes);
        let sojourn = now.saturating_since(head.enqueued);
        if sojourn < config.target || queue.bytes() <= u64::from(self.largest) {
            self.first_above = None;
            return Some(Popped { head, ok_to_drop: false });
        }
        let Some(first_above) = self.first_above else {
            self.first_above = Some(now.saturating_add(config.interval));
            return Some(Popped { head, ok_to_drop: false });
        };
        Some(Popped { head, ok_to_drop: now >= first_above })
    }
}

/// The time of the next drop. It comes after `at` by the interval divided by the square root of the
/// number of drops (RFC 8289 §5.6: control_law). IEEE square roots are exact to the last bit on
/// every machine.
fn control_law(at: Instant, count: u32, interval: Duration) -> Instant {
    at.saturating_add(interval.mul_f64(1.0 / libm::sqrt(f64::from(count))))
}

/// One CoDel queue.
pub struct CodelQueue<P> {
    limit: QueueLimit,
    config: CodelConfig,
    codel: Codel,
    fifo: Fifo<P>,
}

impl<P> CodelQueue<P> {
    /// An empty queue.
    pub fn new(limit: QueueLimit, config: CodelConfig) -> Self {
        Self { limit, config, codel: Codel::default(), fifo: Fifo::default() }
    }

    /// The hard limit.
    pub fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// Queues a packet, or drops it if the queue is full. `load` is what is held without it.
    pub fn enqueue(
        &mut self,
        now: Instant,
        queued: Queued<P>,
        load: Load,
        callbacks: &mut impl Callbacks<P>,
    ) {
        if self.limit.fits(load, queued.bytes) {
            self.fifo.push(queued);
        } else {
            callbacks.discard(now, queued, Dropped::Full);
        }
    }

    /// The next packet to serve at `at`.
    pub fn dequeue(&mut self, at: Instant, callbacks: &mut impl Callbacks<P>) -> Option<Queued<P>> {
        self.codel.dequeue(at, &self.config, &mut self.fifo, callbacks)
    }

    /// Takes everything out, in order of arrival.
    pub fn drain(&mut self) -> Vec<Queued<P>> {
        self.fifo.drain().collect()
    }

    /// Puts a packet of a replaced queue into this new one.
    pub fn restore(&mut self, queued: Queued<P>) {
        self.fifo.push(queued);
    }
}

#[cfg(test)]
mod tests;

//! What the last overflow of the line's buffer has shown, where no standing queue showed it before.

use crate::bbr;
use ropewalk_units::{Duration, Instant};

/// The last overflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overflow {
    /// Octets that had been delivered then.
    delivered: u64,
    /// The window does not grow before.
    held_until: Instant,
    /// Seconds of queue that the buffer held; infinite if that is not known, or was long ago.
    queue: f64,
    known_until: Instant,
}

impl Overflow {
    /// There was none yet.
    pub(super) fn new(now: Instant) -> Self {
        Self { delivered: 0, held_until: now, queue: f64::INFINITY, known_until: now }
    }

    /// The buffer overflows after a queue of so many seconds. They are known for so `long`: the line may change.
    pub(super) fn note(&mut self, now: Instant, delivered: u64, queue: f64, long: Duration) {
        let (held_until, known_until) = (now + bbr::PROBE_WAIT, now + long);
        *self = Self { delivered, held_until, queue, known_until };
    }

    /// Forgets what was long ago.
    pub(super) fn update(&mut self, now: Instant) {
        if now >= self.known_until {
            self.queue = f64::INFINITY;
        }
    }

    /// Is a packet of it, that left when so much had been delivered? Its loss tells of no other overflow (RFC 5681 §4.3: a window
    /// falls once for the losses of one).
    pub(super) fn has(&self, prior_delivered: u64) -> bool {
        prior_delivered < self.delivered
    }

    /// Does the window stay as it is?
    pub(super) fn holds(&self, now: Instant) -> bool {
        now < self.held_until
    }

    /// Seconds of queue that the buffer held, as far as it is known.
    pub(super) fn queue(&self) -> f64 {
        self.queue
    }
}

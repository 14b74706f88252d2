//! What the last overflow of the line's buffer has shown, where no standing queue showed it before.

use crate::bbr;
use ropewalk_units::{Duration, Instant};

/// The last overflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overflow {
    /// Octets that had been delivered then.
    delivered: u64,
    /// Octets per second that were delivered then.
    rate: f64,
    /// Octets that the window had before; 0 once it has them again.
    cwnd: u32,
    /// The window does not grow before.
    held_until: Instant,
    /// Seconds of queue that the buffer held; infinite if that is not known, or was long ago.
    queue: f64,
    known_until: Instant,
}

impl Overflow {
    /// There was none yet.
    pub(super) fn new(now: Instant) -> Self {
        Self { delivered: 0, rate: 0.0, cwnd: 0, held_until: now, queue: f64::INFINITY, known_until: now }
    }

    /// The buffer overflows after a queue of so many seconds, at a `rate` of so many octets per second and a window of `cwnd`. It is known
    /// for so `long`: the line may change.
    pub(super) fn note(
        &mut self,
        now: Instant,
        (delivered, rate): (u64, f64),
        cwnd: u32,
        queue: f64,
        long: Duration,
    ) {
        let (held_until, known_until) = (now + bbr::PROBE_WAIT, now + long);
        *self = Self { delivered, rate, cwnd, held_until, queue, known_until };
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

    /// Again many are lost, at this rate. The window has not grown since, and no less comes: chance took these, and what was taken for an
    /// overflow. Returns the window before that one, once. It holds as long as the other, and what is lost then is chance as well. (With BBR,
    /// too, only what it sends to probe tells of a bound: BBR.bw_probe_samples.)
    pub(super) fn take_back(&mut self, now: Instant, rate: f64) -> Option<u32> {
        if !self.holds(now) || rate <= bbr::BETA * self.rate {
            return None;
        }
        if self.cwnd > 0 {
            self.held_until = now + bbr::PROBE_WAIT;
        }
        Some(std::mem::take(&mut self.cwnd))
    }

    /// Seconds of queue that the buffer held, as far as it is known.
    pub(super) fn queue(&self) -> f64 {
        self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// After 1 s a buffer overflows at 1 MB/s and a window of 50 kB.
    fn noted() -> Overflow {
        let mut overflow = Overflow::new(at(0));
        overflow.note(at(1000), (500_000, 1e6), 50_000, 0.002, Duration::from_secs(30));
        overflow
    }

    #[test]
    fn losses_that_go_on_while_the_window_holds_give_it_back_once() {
        let mut overflow = noted();
        assert_eq!(overflow.take_back(at(2900), 0.95e6), Some(50_000));
        assert!(overflow.holds(at(4800)), "as long as an overflow does");
        assert_eq!(overflow.take_back(at(4800), 0.9e6), Some(0), "it may have fallen for a queue since");
        assert!(!overflow.holds(at(4900)), "further losses do not hold it longer");
    }

    #[test]
    fn a_line_that_carries_much_less_or_is_probed_again_overflows_anew() {
        assert_eq!(noted().take_back(at(2000), 0.7e6), None, "a slower line");
        assert_eq!(noted().take_back(at(3000), 1e6), None, "the window may have grown");
    }
}

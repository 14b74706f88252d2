//! Whether a path's buffer has become larger: tried now and then, and so briefly that it costs a packet at most.

use ropewalk_units::{Duration, Instant};

/// A known limit is tried to be raised by this share.
const STEP: f64 = 0.01;
/// How often, as long as that holds; a quarter as often after a try that has not, twice as often after one that has.
const INTERVAL: Duration = Duration::from_secs(1);
/// The interval is doubled so often at most.
const RAREST: u32 = 6;
/// How long a try lasts.
const TRY: Duration = Duration::from_millis(20);
/// When a loss by it would have been reported: a long round trip, and the time after which a packet counts as lost.
const VERDICT: Duration = Duration::from_millis(400);

/// The tries of one path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    began_at: Option<Instant>,
    next_at: Instant,
    failures: u32,
}

impl Default for Growth {
    fn default() -> Self {
        Self { began_at: None, next_at: Instant::ZERO, failures: 0 }
    }
}

fn raised(limit: i64) -> i64 {
    (limit as f64 * (1.0 + STEP)) as i64
}

impl Growth {
    /// The limit was learnt anew: nothing is tried for a while.
    pub(super) fn restart(&mut self, now: Instant) {
        self.began_at = None;
        self.wait(now);
    }

    fn wait(&mut self, now: Instant) {
        self.next_at = now.saturating_add(INTERVAL * (1 << self.failures));
    }

    /// The limit in force.
    #[inline]
    pub(super) fn applied(&self, now: Instant, limit: i64) -> i64 {
        match self.began_at {
            Some(at) if now.saturating_since(at) < TRY => raised(limit),
            _ => limit,
        }
    }

    /// Nothing was lost by a queue: the limit from now on.
    pub(super) fn on_good_news(&mut self, now: Instant, limit: i64) -> i64 {
        match self.began_at {
            Some(at) if now.saturating_since(at) >= TRY + VERDICT => {
                self.began_at = None;
                self.failures = self.failures.saturating_sub(1);
                self.wait(at);
                raised(limit)
            }
            None if now >= self.next_at => {
                self.began_at = Some(now);
                limit
            }
            _ => limit,
        }
    }

    /// Packets were lost by a queue: was it a try that did it? Then the limit stays.
    pub(super) fn took_the_blame(&mut self, now: Instant) -> bool {
        if self.began_at.take().is_none() {
            return false;
        }
        self.failures = (self.failures + 2).min(RAREST);
        self.wait(now);
        true
    }
}

//! How long a queue a path bears, and which losses were not a queue's.

use ropewalk_units::{Duration, Instant};

/// A loss is put down to a full queue if the queue has been this long of late, in nanoseconds and in full packets.
const QUEUE_LEAST: i64 = 1_000_000;
const QUEUE_LEAST_PACKETS: i64 = 4;
/// And this share of the longest that it bore.
const NEARLY_FULL: f64 = 0.5;
/// The limit, as a share of the queue at which packets were lost.
const MARGIN: f64 = 0.9;
/// By how much a limit grows in a second, in case the buffer has.
const GROWTH_PER_SEC: f64 = 0.01;
/// How long a queue is remembered: losses are reported after their timeout.
const PEAK_WINDOW: Duration = Duration::from_millis(200);
/// Random loss is averaged over so many packets.
const LOSS_WINDOW: f64 = 300.0;
/// It fades to half in about this many seconds: a path that lost is tried again.
const LOSS_HALF_LIFE: f64 = 30.0;
/// No limit known: longer than any queue.
const UNLIMITED: i64 = i64::MAX / 4;

/// What new losses mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LossVerdict {
    None,
    /// A queue was full.
    Full,
    /// They came without a queue.
    Random,
}

/// Learned from the queueing delays around losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimit {
    limit: Option<i64>,
    /// Greatest queueing delay now and in the window before, and when this one began.
    peak: i64,
    peak_before: i64,
    since: Instant,
    random_loss: f64,
    updated_at: Option<Instant>,
}

impl Default for QueueLimit {
    fn default() -> Self {
        Self {
            limit: None,
            peak: 0,
            peak_before: 0,
            since: Instant::ZERO,
            random_loss: 0.0,
            updated_at: None,
        }
    }
}

impl QueueLimit {
    #[inline]
    pub(super) fn limit(&self) -> i64 {
        self.limit.unwrap_or(UNLIMITED)
    }

    /// The queue at which packets were lost, if that is known.
    #[inline]
    pub(super) fn buffer(&self) -> Option<i64> {
        self.limit.map(|limit| (limit as f64 / MARGIN) as i64)
    }

    pub(super) fn random_loss(&self) -> f64 {
        self.random_loss
    }

    /// A queueing delay, in nanoseconds.
    pub(super) fn note_queue(&mut self, now: Instant, delay: i64) {
        if now.saturating_since(self.since) >= PEAK_WINDOW {
            self.peak_before = self.peak;
            self.peak = 0;
            self.since = now;
        }
        self.peak = self.peak.max(delay);
    }

    /// New losses and arrivals; a full packet takes `transmission` nanoseconds.
    pub(super) fn on_report(
        &mut self,
        now: Instant,
        lost: u32,
        received: u32,
        transmission: i64,
    ) -> LossVerdict {
        let elapsed = self.updated_at.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
        self.updated_at = Some(now);
        let verdict = self.judge(lost, transmission);
        match verdict {
            LossVerdict::Full => {
                let seen = (self.peak.max(self.peak_before) as f64 * MARGIN) as i64;
                self.limit = Some(seen);
            }
            LossVerdict::None | LossVerdict::Random => {
                let grown =
                    |limit: i64| ((limit as f64 * (1.0 + GROWTH_PER_SEC * elapsed)) as i64).min(UNLIMITED);
                self.limit = self.limit.map(grown);
            }
        }
        let random = if verdict == LossVerdict::Random { f64::from(lost) } else { 0.0 };
        let packets = f64::from(lost) + f64::from(received);
        self.random_loss *= (1.0 - elapsed * 0.5 / LOSS_HALF_LIFE).max(0.5);
        if packets > 0.0 {
            let weight = (packets / LOSS_WINDOW).min(1.0);
            self.random_loss += (random / packets - self.random_loss) * weight;
        }
        verdict
    }

    fn judge(&self, lost: u32, transmission: i64) -> LossVerdict {
        if lost == 0 {
            return LossVerdict::None;
        }
        let peak = self.peak.max(self.peak_before);
        let known = self.limit.map_or(0.0, |limit| limit as f64 * NEARLY_FULL);
        let least = QUEUE_LEAST.max(QUEUE_LEAST_PACKETS * transmission);
        if peak >= least && peak as f64 >= known { LossVerdict::Full } else { LossVerdict::Random }
    }
}

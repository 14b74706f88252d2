//! How long a queue a path bears, and which losses were not a queue's.

use super::capacity::FULL_PACKET;
use super::growth::Growth;
use super::loss::LossRate;
use ropewalk_units::{Duration, Instant};

/// A loss is put down to a full queue if the queue has been this long of late, in nanoseconds and in full packets.
const QUEUE_LEAST: i64 = 300_000;
const QUEUE_LEAST_PACKETS: i64 = 2;
/// And this share of the longest that it bore.
const NEARLY_FULL: f64 = 0.5;
/// The limit, as a share of the queue at which packets were lost.
const MARGIN: f64 = 0.9;
/// A limit that did not hold for this long was too high: it falls to this share.
const PROOF: Duration = Duration::from_secs(3);
const FALL: f64 = 0.7;
/// Losses at a queue within this time of one another are one event.
const EVENT: Duration = Duration::from_millis(200);
/// Fewer probes lost of a long train show no full buffer.
const FEW: u32 = 3;
/// How long a queue is remembered: losses are reported after their timeout.
const PEAK_WINDOW: Duration = Duration::from_millis(200);
/// As long as no limit is known, a path's buffer is given at first what four packets take at the rate assumed then, in nanoseconds.
const TRIAL: i64 = 1_600_000;
/// What does not fit that waits this long at most: the peer does not know that it is still to come.
const TRIAL_WAIT: i64 = 10_000_000;
/// A path whose buffer is given this much, in nanoseconds, is not left idle by an error of the estimates.
const ENOUGH: i64 = 5_000_000;
/// No limit known: longer than any queue.
const UNLIMITED: i64 = i64::MAX / 4;

/// Where losses are repaired, a queue is full if it loses so many of these many packets, and so many times what is lost without one.
const CROWD: f64 = 5.0;
const CROWD_PACKETS: f64 = 512.0;
const UNLIKELY: f64 = 3.0;

/// What new losses mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LossVerdict {
    None,
    /// A queue was full.
    Full,
    /// They came without a queue.
    Random,
}

/// What small packets are of full ones, in 2⁻⁸: most buffers hold so many packets, not so many octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fullness(i64);

impl Fullness {
    /// Packets of `octets` each.
    #[inline]
    pub(super) fn new(octets: i32) -> Self {
        Self((i64::from(octets) * 256 / i64::from(FULL_PACKET)).clamp(8, 256))
    }

    /// How long such packets take that fit a buffer which full ones fill for so long.
    #[inline]
    fn of_buffer(self, nanos: i64) -> i64 {
        nanos.saturating_mul(self.0) / 256
    }

    /// How long full packets would take, as many as take so long.
    #[inline]
    fn if_full(self, nanos: i64) -> i64 {
        nanos.saturating_mul(256) / self.0
    }
}

/// What a report says beyond the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub(super) lost: u32,
    pub(super) received: u32,
    /// The path's round-trip time.
    pub(super) round_trip: Duration,
}

/// Learned from the queueing delays around losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimit {
    limit: Option<i64>,
    /// What the buffer has borne, as long as there is no limit.
    trial: i64,
    /// A queue that a train has shown it to bear.
    shown: i64,
    /// Greatest queueing delay now and in the window before, and when this one began.
    peak: i64,
    peak_before: i64,
    since: Instant,
    losses: LossRate,
    learnt_at: Instant,
    growth: Growth,
    /// Of late, while the queue was nearly full: packets lost, and all.
    crowd: (f64, f64),
    /// Is what is lost sent again?
    is_repaired: bool,
}

impl Default for QueueLimit {
    fn default() -> Self {
        Self {
            limit: None,
            trial: TRIAL,
            shown: 0,
            peak: 0,
            peak_before: 0,
            since: Instant::ZERO,
            losses: LossRate::default(),
            learnt_at: Instant::ZERO,
            growth: Growth::default(),
            crowd: (0.0, 0.0),
            is_repaired: false,
        }
    }
}

impl QueueLimit {
    /// Of a path whose losses are repaired, or not.
    pub(super) fn new(is_repaired: bool) -> Self {
        Self { is_repaired, ..Self::default() }
    }

    #[inline]
    pub(super) fn limit(&self) -> i64 {
        self.limit.unwrap_or(UNLIMITED)
    }

    /// Has a loss shown it?
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.limit.is_some()
    }

    /// A queue that the path bears.
    #[inline]
    pub(super) fn proven(&self) -> i64 {
        self.limit.unwrap_or(self.trial)
    }

    /// How much of the queue is given to the path's buffer; the rest waits before it. Of the queue, `noise` may be none: a path is not
    /// left idle for it if its buffer would bear as much. A small buffer is left room for one packet, which takes `transmission`: keepalives
    /// and reports come between, and take a place each.
    #[inline]
    pub(super) fn in_buffer(
        &self,
        now: Instant,
        queue: i64,
        packets: Fullness,
        noise: i64,
        transmission: i64,
    ) -> i64 {
        match self.limit {
            None => packets.of_buffer(self.trial).max(queue - TRIAL_WAIT),
            Some(limit) if limit > ENOUGH => packets.of_buffer((limit / 2).max(ENOUGH)) + noise.min(limit),
            Some(limit) => {
                let spared = self.growth.applied(now, limit) - transmission;
                packets.of_buffer(spared.max(limit / 2).min(ENOUGH))
            }
        }
    }

    /// The path's rate is known, and its buffer has borne a queue at which it is not left idle: what it could bear beyond that need not
    /// be known, since packets can as well wait before it. So nothing is lost to find out.
    pub(super) fn settle_for(&mut self, now: Instant) {
        if self.limit.is_none() && self.trial >= ENOUGH {
            self.limit = Some(self.trial);
            self.shown = self.trial;
            self.learnt_at = now;
        }
    }

    /// Something was lost that no queue explains: perhaps the buffer is smaller than any queue that would be noticed.
    fn halve(&mut self, transmission: i64) {
        if self.limit.is_none() {
            self.trial = (self.trial / 2).max(transmission);
        }
    }

    /// The trial was used up, and nothing was lost: twice as much is tried.
    pub(super) fn double(&mut self) {
        self.trial = (2 * self.trial).min(UNLIMITED);
    }

    /// This queue, or that at which packets were lost.
    #[inline]
    pub(super) fn bounded(&self, queue: i64) -> i64 {
        self.limit.map_or(queue, |limit| queue.min((limit as f64 / MARGIN) as i64))
    }

    /// The share of packets lost without a queue, as far as probes have shown it.
    pub(super) fn lost_at_random(&self) -> f64 {
        self.losses.lost_at_random()
    }

    pub(super) fn random_loss(&self, transmission: i64) -> f64 {
        self.losses.share(transmission)
    }

    /// A queueing delay, in nanoseconds.
    pub(super) fn note_queue(&mut self, now: Instant, delay: i64, packets: Fullness) {
        if now.saturating_since(self.since) >= PEAK_WINDOW {
            self.peak_before = self.peak;
            self.peak = 0;
            self.since = now;
        }
        self.peak = self.peak.max(packets.if_full(delay));
        self.trial = self.trial.max(delay);
    }

    /// New losses and arrivals; a full packet takes `transmission` nanoseconds.
    pub(super) fn on_report(&mut self, now: Instant, news: News, transmission: i64) -> LossVerdict {
        let verdict = self.judge_crowd(&news, self.judge(news.lost, transmission));
        // A buffer is found by filling it, now and then again.
        let is_found = now.saturating_since(self.learnt_at) >= PROOF || self.limit.is_none();
        match verdict {
            LossVerdict::Full if self.growth.took_the_blame(now) => {}
            LossVerdict::Full => self.learn(now),
            LossVerdict::None | LossVerdict::Random => {
                if verdict == LossVerdict::Random {
                    self.halve(transmission);
                }
                self.limit = self.limit.map(|limit| self.growth.on_good_news(now, limit));
            }
        }
        let is_event = match verdict {
            LossVerdict::None => false,
            LossVerdict::Full => !is_found && self.learnt_at == now,
            LossVerdict::Random => true,
        };
        self.losses.note(now, &news, is_event);
        verdict
    }

    /// A train of probes begins, perhaps one to count losses.
    pub(super) fn begin_count(&mut self) {
        self.losses.begin_count();
    }

    /// New losses of such probes, which fill no queue; `is_last`: all have been reported.
    pub(super) fn count(&mut self, now: Instant, news: News, is_last: bool) -> LossVerdict {
        self.losses.count(now, &news);
        if is_last {
            self.losses.end_count();
        }
        LossVerdict::None
    }

    /// New losses of what was sent before anything was known, more at once than anybody would: they may show how little the buffer holds,
    /// but not how often others lose packets. A few of a long train show neither.
    pub(super) fn on_blind(
        &mut self,
        now: Instant,
        lost: u32,
        is_long_train: bool,
        transmission: i64,
    ) -> LossVerdict {
        if is_long_train && lost < FEW {
            return LossVerdict::None;
        }
        let verdict = self.judge(lost, transmission);
        if verdict == LossVerdict::Full {
            self.learn(now);
        }
        verdict
    }

    /// Packets were lost at a queue.
    fn learn(&mut self, now: Instant) {
        let seen = self.peak.max(self.peak_before) as f64 * MARGIN;
        let age = now.saturating_since(self.learnt_at);
        let limit = match self.limit {
            Some(limit) if age < EVENT => seen.min(limit as f64),
            Some(limit) if age < PROOF => seen.min(limit as f64 * FALL),
            _ => seen,
        };
        if self.limit.is_none() || age >= EVENT {
            self.learnt_at = now;
        }
        self.growth.restart(now);
        self.limit = Some(limit as i64);
    }

    /// Where losses are repaired a few cost little, but a limit that falls with each that came by chance costs the path: a queue is full
    /// only if it loses many.
    fn judge_crowd(&mut self, news: &News, verdict: LossVerdict) -> LossVerdict {
        let Some(limit) = self.limit.filter(|_| self.is_repaired) else { return verdict };
        if self.peak.max(self.peak_before) as f64 >= limit as f64 * NEARLY_FULL {
            let (lost, packets) = &mut self.crowd;
            if *packets > CROWD_PACKETS {
                (*lost, *packets) = (*lost / 2.0, *packets / 2.0);
            }
            *packets += f64::from(news.received.saturating_add(news.lost));
            *lost += f64::from(news.lost);
        }
        let (lost, packets) = self.crowd;
        let expected = self.losses.lost_at_random() * packets;
        match verdict {
            LossVerdict::Full if lost < CROWD.max(UNLIKELY * expected) => LossVerdict::Random,
            LossVerdict::Full => {
                self.crowd = (0.0, 0.0);
                LossVerdict::Full
            }
            other => other,
        }
    }

    fn judge(&self, lost: u32, transmission: i64) -> LossVerdict {
        if lost == 0 {
            return LossVerdict::None;
        }
        let peak = self.peak.max(self.peak_before);
        let known = self.limit.map_or(0.0, |limit| limit as f64 * NEARLY_FULL);
        let least = QUEUE_LEAST.max(QUEUE_LEAST_PACKETS * transmission);
        let is_exhausted = self.limit.is_some_and(|limit| limit < least);
        if peak >= least.max(self.shown) && peak as f64 >= known && !is_exhausted {
            LossVerdict::Full
        } else {
            LossVerdict::Random
        }
    }
}

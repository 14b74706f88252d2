//! The least one-way delay: what a path takes without queues.

use ropewalk_units::{Duration, Instant};

/// Half the time after which an old minimum is forgotten.
const HALF_WINDOW: Duration = Duration::from_secs(5);
/// Reports in a half window that must have found the path idle, for the window to move on.
const IDLE_REPORTS: u32 = 10;

/// A path of unknown length is taken for this long, in nanoseconds; for this much less once it has answered.
const UNKNOWN: i64 = 120_000_000_000;
const ANSWERED: i64 = 60_000_000_000;

/// A minimum over a window that only moves while the path is seen idle: were it to move while we keep a queue
/// ourselves, that queue would pass for the path's length, and a second one would be built upon it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseDelay {
    current: Option<i64>,
    before: Option<i64>,
    since: Instant,
    idle_reports: u32,
    /// By how much delays exceed the least without a queue of ours, and how much that deviates: means of late, in µs.
    excess: f64,
    deviation: f64,
}

/// They are the means of about so many reports.
const REPORTS: f64 = 32.0;

impl BaseDelay {
    pub(super) fn new(now: Instant) -> Self {
        Self { current: None, before: None, since: now, idle_reports: 0, excess: 0.0, deviation: 0.0 }
    }

    /// A report's least delay in µs; `was_idle`: the path should have had no queue of ours.
    pub(super) fn note(&mut self, now: Instant, least: i64, was_idle: bool) {
        self.current = Some(self.current.map_or(least, |current| current.min(least)));
        self.idle_reports += u32::from(was_idle);
        if was_idle {
            let error = (least - self.micros()) as f64 - self.excess;
            self.excess += error / REPORTS;
            self.deviation += (error.abs() - self.deviation) / REPORTS;
        }
        let is_over = now.saturating_since(self.since) >= HALF_WINDOW;
        if is_over && self.idle_reports >= IDLE_REPORTS {
            self.before = self.current.take();
            self.since = now;
            self.idle_reports = 0;
        }
    }

    /// What delays exceed it by though no packets of ours wait, in µs: a delay that varies by itself, or others' queues.
    pub(super) fn noise(&self) -> i64 {
        (self.excess + 2.0 * self.deviation) as i64
    }

    /// In µs on the scale of the first delay; zero before there is any.
    pub(super) fn micros(&self) -> i64 {
        match (self.current, self.before) {
            (Some(a), Some(b)) => a.min(b),
            (Some(least), None) | (None, Some(least)) => least,
            (None, None) => 0,
        }
    }

    /// In nanoseconds. Before there is any, later than every path that is known; among those, the sooner an answer has come
    /// back the better.
    #[inline]
    pub(super) fn nanos(&self, srtt: Option<Duration>) -> i64 {
        if self.current.is_some() || self.before.is_some() {
            return self.micros() * 1000;
        }
        srtt.map_or(UNKNOWN, |srtt| ANSWERED + srtt.as_nanos() as i64)
    }
}

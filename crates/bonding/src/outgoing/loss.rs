//! How often a path loses packets that no queue explains, as a TCP flow feels it.

use super::limit::News;
use ropewalk_units::{Duration, Instant};

/// Losses within a round trip of one another are one event, for which a flow halves its window once; within these bounds: a
/// report's interval, and what passes for one path's fault.
const EVENT_LEAST: Duration = Duration::from_millis(20);
const EVENT_MOST: Duration = Duration::from_millis(200);
/// What the path carries in so many nanoseconds is taken for granted to come without loss, so many packets at most.
const PRIOR: f64 = 1e9;
const PRIOR_MOST: f64 = 1000.0;
/// What was seen counts half after so many seconds: a path that lost is tried again.
const HALF_LIFE: f64 = 30.0;

/// Events and packets of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRate {
    events: f64,
    packets: f64,
    updated_at: Option<Instant>,
    last_event: Option<Instant>,
}

impl LossRate {
    /// What was reported; `is_event`: packets were lost for no known reason.
    pub(super) fn note(&mut self, now: Instant, news: &News, is_event: bool) {
        let elapsed = self.updated_at.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
        self.updated_at = Some(now);
        let fading = (1.0 - elapsed * core::f64::consts::LN_2 / HALF_LIFE).max(0.5);
        self.events *= fading;
        self.packets = self.packets * fading + f64::from(news.lost.saturating_add(news.received));
        let apart = news.round_trip.clamp(EVENT_LEAST, EVENT_MOST);
        if is_event && self.last_event.is_none_or(|at| now.saturating_since(at) >= apart) {
            self.last_event = Some(now);
            self.events += 1.0;
        }
    }

    /// Events per packet, if a full packet takes `transmission` nanoseconds.
    pub(super) fn share(&self, transmission: i64) -> f64 {
        // One may be chance.
        (self.events - 1.0).max(0.0) / (self.packets + (PRIOR / transmission.max(1) as f64).min(PRIOR_MOST))
    }
}

//! How often a path loses packets that no queue explains, as a TCP flow feels it.

use ropewalk_units::{Duration, Instant};

/// Losses within this time of one another are one event: a flow halves its window once.
pub(super) const EVENT: Duration = Duration::from_millis(200);
/// What the path carries in so many nanoseconds is taken for granted to come without loss.
const PRIOR: f64 = 1e9;
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
    /// So many packets were reported on; if some were lost for no known reason, how much that counts.
    pub(super) fn note(&mut self, now: Instant, packets: u32, event: f64) {
        let elapsed = self.updated_at.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
        self.updated_at = Some(now);
        let fading = (1.0 - elapsed * core::f64::consts::LN_2 / HALF_LIFE).max(0.5);
        self.events *= fading;
        self.packets = self.packets * fading + f64::from(packets);
        if event > 0.0 && self.last_event.is_none_or(|at| now.saturating_since(at) >= EVENT) {
            self.last_event = Some(now);
            self.events += event;
        }
    }

    /// Events per packet, if a full packet takes `transmission` nanoseconds.
    pub(super) fn share(&self, transmission: i64) -> f64 {
        // One may be chance.
        (self.events - 1.0).max(0.0) / (self.packets + PRIOR / transmission.max(1) as f64)
    }
}

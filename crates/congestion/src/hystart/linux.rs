//! HyStart as Linux's CUBIC has it (Ha and Rhee 2008, with the kernel's later corrections). Slow start ends when a
//! train of ACKs is as long as half the round trip, or when the delay has risen.

use crate::ack_sample::AckSample;
use ropewalk_units::{Duration, Instant};

/// `hystart_low_window`, in segments.
const LOW_WINDOW: u32 = 16;
/// `hystart_ack_delta_us`: ACKs closer than this make a train.
const ACK_DELTA: Duration = Duration::from_micros(2_000);
/// `HYSTART_MIN_SAMPLES`.
const MIN_SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);
/// What offloads may delay ACKs by: four bursts of 64 kB at the pacing rate, and this at the most, which it is below
/// 2 Gbit/s.
const ACK_DELAY: Duration = Duration::from_millis(1);

/// The state of one round, and the least delay ever.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Linux {
    paced: bool,
    delay_min: Option<Duration>,
    /// What was sent when the round began, in octets; it ends when more than that is acknowledged.
    end: Option<u64>,
    round_start: Instant,
    last_ack: Instant,
    least_rtt: Option<Duration>,
    samples: u32,
}

impl Linux {
    pub(crate) fn new(paced: bool) -> Self {
        Self {
            paced,
            delay_min: None,
            end: None,
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            least_rtt: None,
            samples: 0,
        }
    }

    /// One ACK in slow start. True: leave it.
    pub(crate) fn on_ack(&mut self, now: Instant, sample: &AckSample, cwnd: u32) -> bool {
        let Some(rtt) = sample.latest_rtt else { return false };
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        if self.end.is_none_or(|end| sample.acked > end) {
            self.begin_round(now, sample.sent);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        self.is_long_train(now, delay_min) || self.has_risen(rtt, delay_min)
    }

    fn begin_round(&mut self, now: Instant, sent: u64) {
        self.end = Some(sent);
        self.round_start = now;
        self.last_ack = now;
        self.least_rtt = None;
        self.samples = 0;
    }

    /// The ACKs of this round came close after each other for so long that the path must be full.
    fn is_long_train(&mut self, now: Instant, delay_min: Duration) -> bool {
        if now.saturating_since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        let whole = delay_min + ACK_DELAY;
        // Pacing spreads a window over half of a round trip by itself.
        let threshold = if self.paced { whole } else { whole / 2 };
        now.saturating_since(self.round_start) > threshold
    }

    /// The least delay of this round's samples is well above the least ever.
    fn has_risen(&mut self, rtt: Duration, delay_min: Duration) -> bool {
        let least = self.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.least_rtt = Some(least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > delay_min + (delay_min / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

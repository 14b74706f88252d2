//! How fast the peer receives.

use crate::signals::LimitedBy;
use ropewalk_units::{Duration, Instant, Rate};

#[cfg(test)]
mod tests;

/// New measurements count a quarter.
const GAIN: u64 = 4;
/// Shortest measurement, so that one burst of ACKs is not taken for a rate.
const SHORTEST: Duration = Duration::from_millis(1);

/// Octets newly delivered per time: one measurement for each round-trip time, averaged exponentially (1/4). The
/// idea of draft-cheng-iccrg-delivery-rate-estimation without its record per segment: while the application
/// limits the sender a measurement counts only if it is higher.
#[derive(Clone, Copy, Default, Debug)]
pub struct DeliveryRate {
    start: Option<Instant>,
    octets: u64,
    app_limited: bool,
    /// Octets per second.
    rate: Option<u64>,
}

impl DeliveryRate {
    /// Data leaves while none was outstanding: a measurement begins.
    pub fn on_restart(&mut self, now: Instant) {
        *self = Self { start: Some(now), octets: 0, app_limited: false, rate: self.rate };
    }

    /// An ACK newly acknowledges `octets`, cumulatively or selectively; `limit` is what keeps the sender from sending more.
    #[inline(always)]
    pub fn on_delivered(&mut self, now: Instant, octets: u32, srtt: Option<Duration>, limit: LimitedBy) {
        let start = *self.start.get_or_insert(now);
        self.octets += u64::from(octets);
        self.app_limited |= limit == LimitedBy::Application;
        let elapsed = now.saturating_since(start);
        if elapsed < srtt.unwrap_or(SHORTEST).max(SHORTEST) {
            return;
        }
        let measured = u128::from(self.octets) * 1_000_000_000 / u128::from(elapsed.as_nanos());
        self.average(u64::try_from(measured).unwrap_or(u64::MAX));
        self.start = Some(now);
        self.octets = 0;
        self.app_limited = false;
    }

    fn average(&mut self, measured: u64) {
        self.rate = Some(match self.rate {
            None => measured,
            Some(rate) if self.app_limited && measured < rate => rate,
            Some(rate) => rate - rate / GAIN + measured / GAIN,
        });
    }

    /// The average; `None` before the first measurement.
    pub fn rate(&self) -> Option<Rate> {
        self.rate.map(|octets| Rate::from_bits_per_sec(octets.saturating_mul(8)))
    }
}

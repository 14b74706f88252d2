//! Round-trip times and the retransmission timeout (RFC 6298), in integer nanoseconds.

use crate::config::Config;
use ropewalk_congestion::SmoothedRtt;
use ropewalk_units::{Duration, Instant};

#[cfg(test)]
mod tests;

/// How long a minimum is remembered in [`RttEstimator::recent_min`] (Linux: tcp_min_rtt_wlen).
const MIN_WINDOW: Duration = Duration::from_secs(300);
/// RFC 6298 §5.7: the RTO once data flows, if the SYN had to be sent again.
const AFTER_SYN_TIMEOUT: Duration = Duration::from_secs(3);

/// SRTT, RTTVAR, RTO and minima. Karn's rule (RFC 6298 §3) is the caller's: give only valid samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    smoothed: SmoothedRtt,
    latest: Option<Duration>,
    min: Option<Duration>,
    recent: RecentMin,
    /// RTO without back-off.
    base: Duration,
    backoff: u32,
    /// … with it, kept because every segment asks.
    rto: Duration,
    granularity: Duration,
    rto_min: Duration,
    rto_max: Duration,
    floor_on_variance: bool,
}

impl RttEstimator {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            smoothed: SmoothedRtt::default(),
            latest: None,
            min: None,
            recent: RecentMin::default(),
            // RFC 6298 §2.1.
            base: config.rto_initial.min(config.rto_max),
            backoff: 0,
            rto: config.rto_initial.min(config.rto_max),
            granularity: config.clock_granularity,
            rto_min: config.rto_min,
            rto_max: config.rto_max,
            floor_on_variance: config.rto_floor_on_variance,
        }
    }

    /// A measurement `rtt`, taken at `now`. It ends the back-off (RFC 6298 §5.7's note): until there is one, no RTO that was too
    /// short comes back (Karn and Partridge, and Linux).
    #[inline(always)]
    pub(crate) fn on_sample(&mut self, now: Instant, rtt: Duration) {
        self.latest = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |least| least.min(rtt)));
        self.recent.update(now, rtt);
        self.smoothed.on_sample(rtt);
        self.backoff = 0;
        self.renew_base();
    }

    /// Sets both and the RTO that follows: after a measurement, and for RFC 4015 step (11).
    pub(crate) fn set(&mut self, srtt: Duration, rttvar: Duration) {
        self.smoothed = SmoothedRtt::new(srtt, rttvar);
        self.renew_base();
    }

    /// The RTO that follows from what was measured.
    fn renew_base(&mut self) {
        let Some(srtt) = self.smoothed.srtt() else { return };
        let variance = (self.smoothed.rttvar() * 4).max(self.granularity);
        // RFC 6298 §2.3 and §2.4, or the floor on the variance term alone.
        let base = if self.floor_on_variance {
            srtt + variance.max(self.rto_min)
        } else {
            (srtt + variance).max(self.rto_min)
        };
        self.base = base.min(self.rto_max);
        self.renew_rto();
    }

    /// RFC 6298 §5.5: twice the RTO, within its limit.
    pub(crate) fn back_off(&mut self) {
        if self.rto() < self.rto_max {
            self.backoff += 1;
            self.renew_rto();
        }
    }

    /// The connection is established: the SYN's back-off is over.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
        self.renew_rto();
    }

    /// RFC 6298 §5.7: the SYN was sent again; without a measurement data starts with an RTO of 3 s.
    pub(crate) fn after_syn_timeout(&mut self) {
        self.backoff = 0;
        if self.smoothed.srtt().is_none() {
            self.base = self.base.max(AFTER_SYN_TIMEOUT).min(self.rto_max);
        }
        self.renew_rto();
    }

    fn renew_rto(&mut self) {
        self.rto = match self.backoff {
            0 => self.base.min(self.rto_max),
            doublings => self.base.saturating_mul(1 << doublings.min(63)).min(self.rto_max),
        };
    }

    /// The retransmission timeout now, backed off.
    pub(crate) fn rto(&self) -> Duration {
        self.rto
    }

    /// The retransmission timeout without its back-off.
    pub(crate) fn base(&self) -> Duration {
        self.base
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.smoothed.srtt()
    }

    pub(crate) fn rttvar(&self) -> Duration {
        self.smoothed.rttvar()
    }

    pub(crate) fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// Least of the whole connection.
    pub(crate) fn min(&self) -> Option<Duration> {
        self.min
    }

    /// Least of the last 300 s, for RACK's reordering window (RFC 8985 §6.2 step 1).
    pub(crate) fn recent_min(&self) -> Option<Duration> {
        self.recent.get()
    }
}

/// A minimum over a sliding window from three candidates: the least, and the least seen a quarter and half a
/// window later.
#[derive(Clone, Copy, Default, Debug)]
struct RecentMin {
    candidates: Option<[(Instant, Duration); 3]>,
}

impl RecentMin {
    fn get(&self) -> Option<Duration> {
        self.candidates.map(|[(_, least), ..]| least)
    }

    fn update(&mut self, now: Instant, value: Duration) {
        let fresh = (now, value);
        let Some(best) = &mut self.candidates else {
            self.candidates = Some([fresh; 3]);
            return;
        };
        if value <= best[0].1 || now.saturating_since(best[2].0) > MIN_WINDOW {
            *best = [fresh; 3];
            return;
        }
        if value <= best[1].1 {
            *best = [best[0], fresh, fresh];
        } else if value <= best[2].1 {
            best[2] = fresh;
        }
        let age = now.saturating_since(best[0].0);
        if age > MIN_WINDOW {
            // The least has left the window: the next candidates move up.
            *best = [best[1], best[2], fresh];
            if now.saturating_since(best[0].0) > MIN_WINDOW {
                *best = [best[1], best[2], fresh];
            }
        } else if best[1].0 == best[0].0 && age > MIN_WINDOW / 4 {
            *best = [best[0], fresh, fresh];
        } else if best[2].0 == best[1].0 && age > MIN_WINDOW / 2 {
            best[2] = fresh;
        }
    }
}

//! What may go over a path in a month.

use crate::config::PathConfig;
use crate::wire::FULL_PACKET;
use ropewalk_units::{Duration, Instant};

/// A period that is not given: a month.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

/// Octets spent of a path's quota in the period that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    limit: u64,
    period: Duration,
    begun: Instant,
    spent: u64,
}

impl Quota {
    pub(crate) fn new(config: &PathConfig, now: Instant) -> Self {
        Self {
            limit: config.quota.unwrap_or(u64::MAX),
            period: config.quota_period.unwrap_or(MONTH),
            begun: now,
            spent: config.quota_spent.unwrap_or(0),
        }
    }

    /// So many octets went over the path, in either direction.
    #[inline]
    pub(crate) fn note(&mut self, octets: u32) {
        self.spent = self.spent.saturating_add(u64::from(octets));
    }

    /// Is there no room for another full packet?
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.spent.saturating_add(u64::from(FULL_PACKET)) > self.limit
    }

    /// A new period begins if the time has come.
    pub(crate) fn renew(&mut self, now: Instant) {
        if now.saturating_since(self.begun) >= self.period {
            let periods = now.saturating_since(self.begun).as_nanos() / self.period.as_nanos();
            self.begun = self.begun.saturating_add(Duration::from_nanos(self.period.as_nanos() * periods));
            self.spent = 0;
        }
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Octets in a period, if there is a bound.
    pub fn limit(&self) -> Option<u64> {
        (self.limit < u64::MAX).then_some(self.limit)
    }

    /// Goes on from what a bond before has spent, in the period that ran then.
    pub(crate) fn resume(&mut self, before: &Self) {
        (self.begun, self.spent) = (before.begun, before.spent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_bond_goes_on_from_what_was_spent() {
        let config = PathConfig { quota: Some(2_000_000), ..PathConfig::new("dsl", None) };
        let (mut before, mut after) = (
            Quota::new(&config, Instant::ZERO),
            Quota::new(&config, Instant::ZERO + Duration::from_secs(50)),
        );
        before.note(1_999_000);
        after.resume(&before);
        assert!(after.is_spent());
        assert_eq!(after.begun, Instant::ZERO);
    }

    #[test]
    fn it_is_kept_to_the_packet_and_begins_anew_each_period() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let config = PathConfig {
            quota: Some(10 * u64::from(FULL_PACKET)),
            quota_period: Some(Duration::from_secs(100)),
            quota_spent: Some(u64::from(FULL_PACKET)),
            ..PathConfig::new("lte", None)
        };
        let mut quota = Quota::new(&config, at(7));
        let mut sent = 0;
        while !quota.is_spent() {
            quota.note(FULL_PACKET);
            sent += 1;
        }
        assert_eq!((sent, quota.spent()), (9, 10 * u64::from(FULL_PACKET)));
        quota.renew(at(106));
        assert!(quota.is_spent());
        quota.renew(at(350));
        assert_eq!((quota.spent(), quota.begun), (0, at(307)));
    }

    #[test]
    fn without_one_there_is_no_end() {
        let mut quota = Quota::new(&PathConfig::new("dsl", None), Instant::ZERO);
        quota.note(u32::MAX);
        assert!(!quota.is_spent());
    }
}

//! How much may go over a path in a period.

use crate::config::PathConfig;
use crate::wire::FULL_PACKET;
use ropewalk_units::{Duration, Instant};

/// The period if none is given.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

/// Octets spent of a path's quota in the current period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    limit: u64,
    period: Duration,
    /// When the current period ends.
    ends: Instant,
    spent: u64,
}

/// What was spent of a quota, without its limit: what one process passes to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spending {
    /// Octets.
    pub octets: u64,
    /// How long the period in which they were spent still lasts.
    pub period_left: Duration,
}

impl Quota {
    /// The quota of a path, with a period that begins at `now`.
    pub fn new(config: &PathConfig, now: Instant) -> Self {
        let period = config.quota_period.unwrap_or(MONTH);
        Self {
            limit: config.quota.unwrap_or(u64::MAX),
            period,
            ends: now.saturating_add(period),
            spent: config.quota_spent.unwrap_or(0),
        }
    }

    /// The quota of a path that continues what an earlier process has spent. `before` was the
    /// spending `ago` before `now`.
    pub fn after(config: &PathConfig, before: &Spending, now: Instant, ago: Duration) -> Self {
        let mut quota = Self::new(config, now);
        // If a clock was set back, the time left may seem longer than the whole period.
        let left = before.period_left.min(quota.period);
        quota.ends = now.saturating_add(left.saturating_sub(ago));
        quota.spent = before.octets;
        if ago >= left {
            let over = (ago - left).as_nanos() % quota.period.as_nanos();
            quota.ends = now.saturating_add(quota.period - Duration::from_nanos(over));
            quota.spent = 0;
        }
        quota
    }

    /// What the next process continues from.
    pub fn spending(&self, now: Instant) -> Spending {
        Spending { octets: self.spent, period_left: self.ends.saturating_since(now) }
    }

    /// Counts octets that went over the path, in either direction.
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
        if now >= self.ends {
            let periods = now.saturating_since(self.ends).as_nanos() / self.period.as_nanos() + 1;
            self.ends = self.ends.saturating_add(Duration::from_nanos(self.period.as_nanos() * periods));
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

    /// Continues what an earlier bond has spent, in its period.
    pub(crate) fn resume(&mut self, before: &Self) {
        (self.ends, self.spent) = (before.ends, before.spent);
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
        assert_eq!(after.ends, Instant::ZERO + MONTH);
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
        assert_eq!((quota.spent(), quota.ends), (0, at(407)));
    }

    #[test]
    fn another_process_goes_on_in_the_period_that_ran() {
        let seconds = Duration::from_secs;
        let at = |time| Instant::ZERO + seconds(time);
        let config = PathConfig {
            quota: Some(1_000_000),
            quota_period: Some(seconds(100)),
            quota_spent: Some(7),
            ..PathConfig::new("lte", None)
        };
        let mut quota = Quota::new(&config, at(1000));
        quota.note(500);
        let before = quota.spending(at(1030));
        assert_eq!(before, Spending { octets: 507, period_left: seconds(70) });
        // The clock of another process may begin at zero.
        let after = |ago| Quota::after(&config, &before, at(3), seconds(ago));
        assert_eq!((after(20).spent(), after(20).ends), (507, at(53)));
        assert_eq!((after(70).spent(), after(70).ends), (0, at(103)));
        assert_eq!((after(275).spent(), after(275).ends), (0, at(98)), "in the fourth period");
        let long = Spending { octets: 9, period_left: seconds(1_000_000) };
        assert_eq!(Quota::after(&config, &long, at(3), Duration::ZERO).ends, at(103));
    }

    #[test]
    fn without_one_there_is_no_end() {
        let mut quota = Quota::new(&PathConfig::new("dsl", None), Instant::ZERO);
        quota.note(u32::MAX);
        assert!(!quota.is_spent());
    }
}

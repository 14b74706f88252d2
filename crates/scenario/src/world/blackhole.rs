//! Ways that lose SYNs with MP_CAPABLE, as a host learns of them from its connections (Linux `blackhole_timeout`).

use ropewalk_units::{Duration, Instant};

/// Most doublings of the timeout.
const BACKOFF_MOST: u32 = 6;

/// What a handshake tells of its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Only SYNs without MP_CAPABLE are answered.
    LosesCapable,
    /// One with it is answered.
    PassesCapable,
}

/// What a host knows. As in Linux, it holds for all ways, and any connection may change it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blackhole {
    times: u32,
    last: Instant,
}

impl Blackhole {
    /// Does a connection that opens now leave MP_CAPABLE out?
    pub(crate) fn avoids(&self, now: Instant, timeout: Duration) -> bool {
        let factor = 1 << self.times.saturating_sub(1).min(BACKOFF_MOST);
        self.times > 0 && now < self.last.saturating_add(timeout.saturating_mul(factor))
    }

    /// A connection found this out.
    pub(crate) fn learn(&mut self, now: Instant, way: Way) {
        match way {
            Way::LosesCapable => {
                self.times += 1;
                self.last = now;
            }
            Way::PassesCapable => self.times = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_doubles_up_to_sixty_four_fold_and_a_success_forgets_all() {
        let timeout = Duration::from_secs(1);
        let at = |seconds: u64| Instant::ZERO + Duration::from_secs(seconds);
        let mut host = Blackhole::default();
        assert!(!host.avoids(at(0), timeout));
        for (times, lasts) in [(1, 1), (2, 2), (3, 4), (7, 64), (9, 64)] {
            while host.times < times {
                host.learn(at(100), Way::LosesCapable);
            }
            assert!(host.avoids(at(100 + lasts - 1), timeout), "{times}");
            assert!(!host.avoids(at(100 + lasts), timeout), "{times}");
        }
        assert!(!host.avoids(at(100), Duration::ZERO));
        host.learn(at(100), Way::PassesCapable);
        assert!(!host.avoids(at(100), timeout));
    }
}

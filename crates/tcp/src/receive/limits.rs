//! How often unacceptable segments are answered (RFC 5961 §7).

use ropewalk_units::{Duration, Instant};

/// Linux `tcp_invalid_ratelimit`: ACKs that answer segments without data are at least so far apart, so that two
/// ends that disagree do not answer each other for ever.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);
/// Honest probes of a window come an RTO apart at least.
const PROBE_INTERVAL: Duration = Duration::from_millis(100);

/// When ACKs that answer unacceptable segments without data left last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    challenge: Limit,
    probe: Limit,
}

impl Limits {
    /// May a challenge ACK leave? Then it counts.
    pub(crate) fn allow_challenge(&mut self, now: Instant) -> bool {
        self.challenge.allows(now, CHALLENGE_INTERVAL)
    }

    /// May an answer to a probe of the window leave? Then it counts.
    pub(crate) fn allow_answer(&mut self, now: Instant) -> bool {
        self.probe.allows(now, PROBE_INTERVAL)
    }
}

/// One answer in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Limit {
    last: Option<Instant>,
}

impl Limit {
    fn allows(&mut self, now: Instant, interval: Duration) -> bool {
        let recent = self.last.is_some_and(|at| now.saturating_since(at) < interval);
        if !recent {
            self.last = Some(now);
        }
        !recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_do_not_use_up_the_answers_to_probes() {
        let mut limits = Limits::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert!(limits.allow_challenge(at(0)) && limits.allow_answer(at(0)));
        assert!(!limits.allow_challenge(at(499)) && !limits.allow_answer(at(99)));
        assert!(limits.allow_challenge(at(500)) && limits.allow_answer(at(100)));
    }
}

//! Whether a path is up, suspected or down.
//!
//! Proof is an answer to a keepalive, or a report that says that data sent on the path has arrived; the latter so that a
//! path whose way back is dead may still carry data.

use crate::config::KeepaliveConfig;
use crate::event::PathState;
use ropewalk_units::{Duration, Instant};

/// A path's state and what it rests on.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    pub(crate) state: PathState,
    proven_at: Instant,
    /// Answers in a row while it is down.
    answers: u32,
    last_answered: Option<u32>,
    pub(crate) srtt: Option<Duration>,
}

impl Liveness {
    /// Up until proven otherwise, so that a bond works from its first packet.
    pub(crate) fn new(now: Instant) -> Self {
        Self { state: PathState::Up, proven_at: now, answers: 0, last_answered: None, srtt: None }
    }

    /// A keepalive was answered after `rtt`. Answers that come out of order prove nothing new.
    pub(crate) fn on_answer(&mut self, now: Instant, number: u32, rtt: Duration, config: &KeepaliveConfig) {
        let is_old = self.last_answered.is_some_and(|last| (number.wrapping_sub(last) as i32) <= 0);
        if is_old {
            return;
        }
        let is_in_row = self.last_answered.is_some_and(|last| number.wrapping_sub(last) == 1);
        self.last_answered = Some(number);
        // RFC 6298 §2.3: alpha = 1/8.
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
        if self.state != PathState::Down {
            return self.prove(now);
        }
        self.answers = if is_in_row { self.answers + 1 } else { 1 };
        if self.answers >= config.answers_to_return {
            self.prove(now);
        }
    }

    /// A report says that data got through.
    pub(crate) fn on_progress(&mut self, now: Instant) {
        if self.state != PathState::Down {
            self.prove(now);
        }
    }

    fn prove(&mut self, now: Instant) {
        self.state = PathState::Up;
        self.proven_at = now;
        self.answers = 0;
    }

    /// The state as of `now`.
    pub(crate) fn check(&mut self, now: Instant, config: &KeepaliveConfig) {
        let silence = now.saturating_since(self.proven_at);
        if self.state == PathState::Up && silence >= config.suspect_after {
            self.state = PathState::Suspected;
        }
        if self.state == PathState::Suspected && silence >= config.down_after {
            self.state = PathState::Down;
            self.answers = 0;
        }
    }

    /// When the state changes if nothing comes.
    pub(crate) fn deadline(&self, config: &KeepaliveConfig) -> Option<Instant> {
        match self.state {
            PathState::Up => Some(self.proven_at.saturating_add(config.suspect_after)),
            PathState::Suspected => Some(self.proven_at.saturating_add(config.down_after)),
            PathState::Down => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(10);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn silence_makes_it_suspected_then_down_and_answers_in_a_row_bring_it_back() {
        let config = KeepaliveConfig::default();
        let mut path = Liveness::new(at(0));
        path.check(at(129), &config);
        assert_eq!(path.state, PathState::Up);
        assert_eq!(path.deadline(&config), Some(at(130)));
        path.check(at(130), &config);
        assert_eq!(path.state, PathState::Suspected);
        path.check(at(239), &config);
        assert_eq!(path.state, PathState::Suspected);
        path.check(at(240), &config);
        assert_eq!((path.state, path.deadline(&config)), (PathState::Down, None));
        for (number, expected) in [
            (7, PathState::Down),
            (8, PathState::Down),
            (10, PathState::Down),
            (9, PathState::Down),
            (11, PathState::Down),
            (12, PathState::Up),
        ] {
            path.on_answer(at(300), number, RTT, &config);
            assert_eq!(path.state, expected, "after the answer to keepalive {number}");
        }
        assert_eq!(path.srtt, Some(RTT));
    }

    #[test]
    fn progress_keeps_it_up_but_does_not_bring_it_back() {
        let config = KeepaliveConfig::default();
        let mut path = Liveness::new(at(0));
        path.check(at(200), &config);
        path.on_progress(at(210));
        assert_eq!(path.state, PathState::Up);
        path.check(at(1000), &config);
        path.on_progress(at(1000));
        assert_eq!(path.state, PathState::Down);
    }
}

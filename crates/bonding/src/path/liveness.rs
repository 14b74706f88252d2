//! Whether a path is up, suspected or down.
//!
//! Proof is an answer to a keepalive, or a report that data sent on the path has arrived. Reports
//! count so that a path whose way back is dead may still carry data.

use crate::config::KeepaliveConfig;
use crate::event::PathState;
use ropewalk_congestion::{SmoothedRtt, UNKNOWN};
use ropewalk_units::{Duration, Instant};

/// A path's state and what it rests on.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    pub(crate) state: PathState,
    proven_at: Instant,
    /// Has there been any proof?
    is_proven: bool,
    /// When the last sign of life came, whether it proves enough for a path that is down or not.
    pub(crate) heard_at: Instant,
    /// Answers in a row while it is down.
    answers: u32,
    /// When the first answer came after the path went down. Keepalives that left before have waited
    /// in a dead line.
    answers_since: Option<Instant>,
    /// When the clock was set. Keepalives that left before have no round trip.
    gap_at: Option<Instant>,
    /// The last keepalive before a train of which no keepalive behind it has been answered.
    before_train: Option<u32>,
    last_answered: Option<u32>,
    rtt: SmoothedRtt,
}

impl Liveness {
    /// Up until proven otherwise, so that a bond works from its first packet.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            state: PathState::Up,
            proven_at: now,
            is_proven: false,
            heard_at: now,
            answers: 0,
            answers_since: None,
            gap_at: None,
            before_train: None,
            last_answered: None,
            rtt: SmoothedRtt::default(),
        }
    }

    /// A keepalive was answered after `rtt`. Returns the round trip, if the answer is a measurement
    /// of it. Answers that come out of order prove nothing.
    pub(crate) fn on_answer(
        &mut self,
        now: Instant,
        number: u32,
        rtt: Duration,
        config: &KeepaliveConfig,
    ) -> Option<Duration> {
        let is_old = self.last_answered.is_some_and(|last| (number.wrapping_sub(last) as i32) <= 0);
        if is_old {
            return None;
        }
        if self.before_train.is_some_and(|last| number.wrapping_sub(last) as i32 > 0) {
            self.before_train = None;
        }
        let is_in_row = self.last_answered.is_some_and(|last| number.wrapping_sub(last) == 1);
        self.last_answered = Some(number);
        self.heard_at = now;
        let measured = (!self.has_waited(now, rtt)).then_some(rtt);
        measured.into_iter().for_each(|rtt| self.rtt.on_sample(rtt));
        if self.state == PathState::Down {
            self.answers = if is_in_row { self.answers + 1 } else { 1 };
            if self.answers < config.answers_to_return {
                return measured;
            }
        }
        self.prove(now);
        measured
    }

    /// Did the keepalive wait in a dead line? Then its round trip is no measurement.
    fn has_waited(&mut self, now: Instant, rtt: Duration) -> bool {
        if self.state == PathState::Down {
            self.answers_since.get_or_insert(now);
        }
        let since = self.answers_since.max(self.gap_at);
        since.is_some_and(|since| now.saturating_since(since) <= rtt)
    }

    /// No time from before `now` until after is a measurement.
    pub(crate) fn on_gap(&mut self, now: Instant) {
        self.gap_at = Some(now);
    }

    /// The smoothed round-trip time of its keepalives.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// A report says that data came, `held` before the report was sent. Data that came too long ago
    /// prove nothing about the path now.
    pub(crate) fn on_progress(&mut self, now: Instant, held: Duration, config: &KeepaliveConfig) {
        self.heard_at = now;
        let came_at = Instant::ZERO + now.saturating_since(Instant::ZERO + held);
        if self.state != PathState::Down && held < self.suspected_after(config) && came_at > self.proven_at {
            self.prove(came_at);
        }
    }

    /// A packet train leaves behind keepalive `last`. The keepalives after it wait until a slow line has
    /// sent the train.
    pub(crate) fn on_train(&mut self, last: u32) {
        self.before_train = Some(last);
    }

    /// The path is watched closely from now on. The silence until now does not count.
    pub(crate) fn begin_watch(&mut self, now: Instant) {
        if self.state == PathState::Up {
            self.proven_at = now;
        }
    }

    fn prove(&mut self, now: Instant) {
        self.state = PathState::Up;
        self.proven_at = now;
        self.is_proven = true;
        self.answers = 0;
    }

    /// The longest silence that is allowed, where `configured` is the time in the configuration.
    ///
    /// A proof is old by its way back when it arrives, about half a round trip. Answers come as
    /// often as keepalives are sent, however long the path is, except that round trips vary. So the
    /// silence must last for `answers` intervals at least, and for four mean deviations more
    /// (RFC 6298 §2.3).
    fn bearable(&self, configured: Duration, answers: u64, config: &KeepaliveConfig) -> Duration {
        if !self.is_proven {
            return configured.max(UNKNOWN);
        }
        let way_back = self.rtt.srtt().unwrap_or_default() / 2;
        let least = (config.interval * answers).min(configured.max(config.interval * 2));
        configured.saturating_sub(way_back).max(least + self.rtt.rttvar() * 4)
    }

    fn suspected_after(&self, config: &KeepaliveConfig) -> Duration {
        self.bearable(config.suspect_after, 2, config)
    }

    /// How long a train takes is not known before something behind it has arrived. A path that went
    /// down for its own train would send the next one when it comes back.
    fn down_after(&self, config: &KeepaliveConfig) -> Duration {
        let usual = self.bearable(config.down_after, 3, config);
        if self.before_train.is_some() { usual.max(UNKNOWN) } else { usual }
    }

    /// The state as of `now`.
    pub(crate) fn check(&mut self, now: Instant, config: &KeepaliveConfig) {
        let silence = now.saturating_since(self.proven_at);
        if self.state == PathState::Up && silence >= self.suspected_after(config) {
            self.state = PathState::Suspected;
        }
        if self.state == PathState::Suspected && silence >= self.down_after(config) {
            self.state = PathState::Down;
            self.answers = 0;
            self.answers_since = None;
        }
    }

    /// When the state changes if nothing comes.
    pub(crate) fn deadline(&self, config: &KeepaliveConfig) -> Option<Instant> {
        let bearable = match self.state {
            PathState::Up => self.suspected_after(config),
            PathState::Suspected => self.down_after(config),
            PathState::Down => return None,
        };
        Some(self.proven_at.saturating_add(bearable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(10);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A path that has just been proven to be alive.
    fn proven(config: &KeepaliveConfig) -> Liveness {
        let mut path = Liveness::new(at(0));
        path.on_answer(at(0), 1, RTT, config);
        path
    }

    #[test]
    fn silence_makes_it_suspected_then_down_and_answers_in_a_row_bring_it_back() {
        let config = KeepaliveConfig::default();
        let mut path = proven(&config);
        // Half a round trip earlier than configured: the proof was as old when it came.
        path.check(at(124), &config);
        assert_eq!(path.state, PathState::Up);
        assert_eq!(path.deadline(&config), Some(at(125)));
        path.check(at(125), &config);
        assert_eq!(path.state, PathState::Suspected);
        path.check(at(234), &config);
        assert_eq!(path.state, PathState::Suspected);
        path.check(at(235), &config);
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
        assert_eq!(path.srtt(), Some(RTT));
    }

    #[test]
    fn what_waited_in_a_dead_line_does_not_tell_how_long_it_is() {
        let config = KeepaliveConfig::default();
        let mut path = proven(&config);
        path.check(at(300), &config);
        path.check(at(500), &config);
        // Keepalives were sent each 50 ms while the line was dead. All of them come at 20 s.
        let held = |number: u64| Duration::from_millis(20_000 - 50 * number);
        for number in 2..40 {
            assert_eq!(path.on_answer(at(20_000), number as u32, held(number), &config), None);
        }
        assert_eq!((path.state, path.srtt()), (PathState::Up, Some(RTT)));
        assert_eq!(path.on_answer(at(20_020), 400, RTT, &config), Some(RTT));
        // A second death is noticed as soon as the first.
        path.check(at(20_020 + 125), &config);
        assert_eq!(path.state, PathState::Suspected);
    }

    #[test]
    fn a_path_that_has_not_answered_yet_has_a_second() {
        let config = KeepaliveConfig::default();
        let mut path = Liveness::new(at(0));
        assert_eq!(path.deadline(&config), Some(at(1000)));
        path.check(at(999), &config);
        assert_eq!(path.state, PathState::Up);
        path.check(at(1000), &config);
        assert_eq!(path.state, PathState::Down);
    }

    #[test]
    fn a_path_does_not_go_down_for_its_own_train() {
        let config = KeepaliveConfig::default();
        let mut path = proven(&config);
        path.on_train(2);
        path.on_answer(at(10), 2, RTT, &config);
        // A line of 0.5 Mbit/s takes 0.25 s to send the train. Until then no keepalive behind it arrives.
        path.check(at(250), &config);
        assert_eq!(path.state, PathState::Suspected);
        path.on_answer(at(250), 3, Duration::from_millis(210), &config);
        let silence = Duration::from_millis(100) + path.rtt.rttvar() * 4;
        assert_eq!(path.deadline(&config), Some(at(250) + silence), "as without a train");
        path.on_train(5);
        path.on_answer(at(260), 4, RTT, &config);
        path.check(at(1259), &config);
        assert_eq!(path.state, PathState::Suspected, "that one left before the train");
        path.check(at(1260), &config);
        assert_eq!(path.state, PathState::Down);
    }

    #[test]
    fn silence_is_measured_by_how_much_answers_vary() {
        let config = KeepaliveConfig::default();
        let mut path = Liveness::new(at(0));
        path.on_answer(at(600), 1, Duration::from_millis(600), &config);
        assert_eq!(path.deadline(&config), Some(at(600 + 2 * 50 + 4 * 300)), "RFC 6298: half of the first");
        let mut now = 600;
        for number in 2..40 {
            now += 50;
            path.on_answer(at(now), number, Duration::from_millis(600), &config);
        }
        let silence = path.deadline(&config).expect("up") - at(now);
        let least = Duration::from_millis(100) + path.rtt.rttvar() * 4;
        assert_eq!(silence, least, "a long path that does not vary: two keepalives");
        assert!(path.rtt.rttvar() < Duration::from_millis(10), "{}", path.rtt.rttvar());
        for number in 40..80 {
            now += 50;
            let rtt = Duration::from_millis(if number % 2 == 0 { 500 } else { 700 });
            path.on_answer(at(now), number, rtt, &config);
        }
        let rttvar = path.rtt.rttvar().as_secs_f64() * 1e3;
        assert!((95.0..110.0).contains(&rttvar), "{rttvar} ms");
        path.check(at(now + 400), &config);
        assert_eq!(path.state, PathState::Up);
        path.check(at(now + 600), &config);
        assert_eq!(path.state, PathState::Down);
    }

    #[test]
    fn a_report_proves_life_as_of_when_its_data_came() {
        let config = KeepaliveConfig::default();
        let mut path = proven(&config);
        // Data came at 20 ms, and are reported at 160 ms.
        path.check(at(160), &config);
        path.on_progress(at(160), Duration::from_millis(140), &config);
        assert_eq!(path.state, PathState::Suspected);
        // Data came at 100 ms.
        path.on_progress(at(160), Duration::from_millis(60), &config);
        assert_eq!((path.state, path.proven_at), (PathState::Up, at(100)));
    }

    #[test]
    fn progress_keeps_it_up_but_does_not_bring_it_back() {
        let config = KeepaliveConfig::default();
        let mut path = proven(&config);
        path.check(at(200), &config);
        path.on_progress(at(210), Duration::ZERO, &config);
        assert_eq!(path.state, PathState::Up);
        path.check(at(1000), &config);
        path.on_progress(at(1000), Duration::ZERO, &config);
        assert_eq!((path.state, path.heard_at), (PathState::Down, at(1000)));
    }
}

//! When names are looked up again: only while the hub does not answer, by any path or by one of them.

use ropewalk_units::{Duration, Instant};

/// The hub has to be silent for so long.
const SILENCE: Duration = Duration::from_secs(10);
/// So many questions have to be unanswered. A site that was asleep, or that yields and asks
/// seldom, has not tried the known address before.
const QUESTIONS: u32 = 3;
/// The time from the first lookup to the second. It doubles with each lookup.
const FIRST_WAIT: Duration = Duration::from_secs(10);
/// The longest time between two lookups.
const LAST_WAIT: Duration = Duration::from_secs(300);

/// Decides when to look names up again.
#[derive(Clone, Debug)]
pub(super) struct Lookups {
    /// So many questions have to be unanswered.
    needed: u32,
    heard_at: Instant,
    /// Questions since then.
    unanswered: u32,
    /// The earliest time of the next lookup.
    next_at: Instant,
    wait: Duration,
}

impl Lookups {
    /// For a hub that is silent. The site begins at `now`, when its names have just been looked up.
    pub(super) const fn of_hub(now: Instant) -> Self {
        Self::new(QUESTIONS, now)
    }

    /// For paths that are down while another works. A path is down because it was asked in vain.
    pub(super) const fn of_paths(now: Instant) -> Self {
        Self::new(0, now)
    }

    const fn new(needed: u32, now: Instant) -> Self {
        Self { needed, heard_at: now, unanswered: 0, next_at: now, wait: FIRST_WAIT }
    }

    /// Something authentic came from the hub, or by all paths, at `at`.
    pub(super) fn heard(&mut self, at: Instant) {
        if at > self.heard_at {
            *self = Self::new(self.needed, at);
        }
    }

    /// The hub was asked for a session.
    pub(super) const fn asked(&mut self) {
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// When it is time. `None`: not before another question.
    pub(super) fn due(&self) -> Option<Instant> {
        (self.unanswered >= self.needed).then(|| self.next_at.max(self.heard_at + SILENCE))
    }

    /// Is it time? Then the next time is later.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let is_due = self.due().is_some_and(|at| at <= now);
        if is_due {
            self.next_at = now + self.wait;
            self.wait = (self.wait * 2).min(LAST_WAIT);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// The seconds at which it looks up until `end`, with a question each second.
    fn times(lookups: &mut Lookups, from: u64, end: u64) -> Vec<u64> {
        let mut times = Vec::new();
        for second in from..end {
            lookups.asked();
            if lookups.take(at(second)) {
                times.push(second);
            }
        }
        times
    }

    #[test]
    fn silence_and_unanswered_questions_are_needed() {
        let mut lookups = Lookups::of_hub(at(0));
        assert_eq!(lookups.due(), None, "nothing was tried");
        assert!(!lookups.take(at(1000)), "however long it takes");
        lookups.asked();
        lookups.asked();
        assert_eq!(lookups.due(), None, "two questions are not enough");
        lookups.asked();
        assert_eq!(lookups.due(), Some(at(10)));
        assert!(!lookups.take(at(9)) && lookups.take(at(10)));
    }

    #[test]
    fn a_path_that_is_down_was_asked_already() {
        let mut lookups = Lookups::of_paths(at(0));
        assert_eq!(lookups.due(), Some(at(10)));
        assert!(!lookups.take(at(9)) && lookups.take(at(10)) && !lookups.take(at(19)));
        lookups.heard(at(20));
        assert_eq!(lookups.due(), Some(at(30)));
    }

    #[test]
    fn the_time_between_two_lookups_doubles_up_to_five_minutes() {
        let mut lookups = Lookups::of_hub(at(0));
        assert_eq!(times(&mut lookups, 0, 1300), [10, 20, 40, 80, 160, 320, 620, 920, 1220]);
    }

    #[test]
    fn a_hub_that_is_heard_ends_it_and_the_next_silence_begins_anew() {
        let mut lookups = Lookups::of_hub(at(0));
        assert_eq!(times(&mut lookups, 0, 30), [10, 20]);
        lookups.heard(at(30));
        assert_eq!(lookups.due(), None);
        assert_eq!(times(&mut lookups, 31, 61), [40, 50]);
    }

    #[test]
    fn while_the_hub_is_heard_nothing_is_looked_up() {
        let mut lookups = Lookups::of_hub(at(0));
        for second in 0..10_000 {
            lookups.asked();
            lookups.heard(at(second));
            assert!(!lookups.take(at(second)));
        }
    }
}

//! Since when a path has been busy, as the waits of its packets tell.

use ropewalk_units::Instant;

/// The time for which a path has been busy without pause. Seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    since: f64,
    told_at: f64,
}

impl Busy {
    /// The packet that came last has waited for `queue` seconds: so long the path had others to carry. Below zero it is not
    /// known to have waited.
    pub(super) fn note(&mut self, now: Instant, queue: f64) {
        let now = now.as_secs_f64();
        let begun = now - queue;
        // Else what was told before was carried without pause until then.
        if begun > self.told_at {
            self.since = begun;
        }
        self.told_at = now;
    }

    /// How long the path has been busy, when it was last told of.
    pub(super) fn lasts(&self) -> f64 {
        self.told_at - self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;

    /// How long it lasts in ms, rounded, after each wait that is told every 5 ms.
    fn lasts(waits: &[f64]) -> Vec<i64> {
        let mut busy = Busy::default();
        let told = (1_u64..).zip(waits).map(|(place, wait)| {
            busy.note(Instant::ZERO + Duration::from_millis(1000 + 5 * place), wait / 1e3);
            (busy.lasts() * 1e3).round() as i64
        });
        told.collect()
    }

    #[test]
    fn waits_that_reach_back_to_the_last_one_go_on() {
        assert_eq!(lasts(&[3.0, 6.0, 5.1, 7.0]), [3, 8, 13, 18]);
    }

    #[test]
    fn a_shorter_wait_is_a_pause_before() {
        assert_eq!(lasts(&[9.0, 4.0, 6.0, 0.0]), [9, 4, 9, 0]);
    }

    #[test]
    fn a_wait_in_doubt_is_none() {
        assert!(lasts(&[9.0, -2.0])[1] < 0);
        assert_eq!(lasts(&[9.0, -2.0, 3.0])[2], 3);
    }
}

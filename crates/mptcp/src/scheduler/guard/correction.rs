//! How far the model is off: what was carried against what was predicted.

use ropewalk_units::Instant;

/// Time constant of a correction in seconds: several losses even on a slow path.
const TIME: f64 = 10.0;
/// A correction that is not measured again moves towards the other one with this time constant in seconds. So a path
/// that was given up is tried again.
const STALE: f64 = 60.0;
/// A single comparison counts within these bounds.
const LEAST: f64 = 0.2;
const MOST: f64 = 2.0;

/// Measured over predicted goodput, averaged.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Correction {
    value: f64,
    /// Seconds of measurement in it, `TIME` at most; 0 if nothing was learnt.
    seconds: f64,
}

impl Correction {
    /// The model was off by `ratio` for so many seconds.
    pub(super) fn add(&mut self, ratio: f64, seconds: f64) {
        self.seconds = (self.seconds + seconds).min(TIME);
        self.value += (ratio.clamp(LEAST, MOST) - self.value) * (seconds / self.seconds).min(1.0);
    }

    /// Nothing new was learnt for so many seconds, while `other` was renewed.
    pub(super) fn age(&mut self, other: &Self, seconds: f64) {
        if self.seconds > 0.0 && other.seconds > 0.0 {
            self.value += (other.value - self.value) * (seconds / STALE).min(1.0);
        }
    }

    /// The correction. Before it has been measured, the other one: most of the model's errors (delayed ACKs, how
    /// losses are repaired) are common to both. Before either has, none.
    pub(super) fn or(&self, other: &Self) -> f64 {
        match (self.seconds > 0.0, other.seconds > 0.0) {
            (true, _) => self.value,
            (false, true) => other.value,
            (false, false) => 1.0,
        }
    }
}

/// Octets that the paths in use carried since the last verdict. Subflow by subflow, not in the order of the
/// stream: a hole that an earlier set of paths left does not count against the present one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Carried {
    octets: u64,
    from: Option<Instant>,
    limited: bool,
}

/// What was measured over some time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Throughput {
    /// Octets per second.
    pub(super) rate: f64,
    pub(super) seconds: f64,
}

impl Carried {
    /// `limited`: the application had nothing more to send, which says nothing about the paths.
    pub(super) fn add(&mut self, now: Instant, octets: u64, limited: bool) {
        self.from.get_or_insert(now);
        self.octets += octets;
        self.limited |= limited;
    }

    /// How fast they were carried; starts anew.
    pub(super) fn take(&mut self, now: Instant) -> Option<Throughput> {
        let taken = std::mem::replace(self, Self { from: Some(now), ..Self::default() });
        let seconds = now.saturating_since(taken.from?).as_secs_f64();
        (seconds > 0.0 && !taken.limited).then(|| Throughput { rate: taken.octets as f64 / seconds, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;

    fn learnt(ratio: f64, seconds: f64) -> Correction {
        let mut correction = Correction::default();
        correction.add(ratio, seconds);
        correction
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn a_correction_is_a_mean_over_ten_seconds_and_then_follows_slowly() {
        let mut correction = learnt(1.5, 2.0);
        near(correction.value, 1.5);
        correction.add(0.5, 2.0);
        near(correction.value, 1.0);
        correction.add(1.0, 96.0);
        // Of more than ten seconds only ten count as known: a fifth of the way in two.
        correction.add(1.5, 2.0);
        near(correction.value, 1.1);
    }

    #[test]
    fn one_comparison_counts_within_bounds() {
        near(learnt(50.0, 1.0).value, 2.0);
        near(learnt(0.01, 1.0).value, 0.2);
    }

    #[test]
    fn what_is_not_measured_again_moves_towards_what_is() {
        let mut resting = learnt(0.5, 10.0);
        resting.age(&learnt(1.5, 10.0), 6.0);
        near(resting.value, 0.6);
        resting.age(&Correction::default(), 6.0);
        near(resting.value, 0.6);
        let mut unknown = Correction::default();
        unknown.age(&learnt(1.5, 10.0), 6.0);
        near(unknown.value, 0.0);
    }

    #[test]
    fn before_it_is_measured_the_other_one_stands_for_it() {
        let (none, half, twice) = (Correction::default(), learnt(0.5, 1.0), learnt(2.0, 1.0));
        near(half.or(&twice), 0.5);
        near(none.or(&twice), 2.0);
        near(none.or(&none), 1.0);
    }

    #[test]
    fn what_was_carried_is_a_rate_unless_the_application_had_no_more() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut carried = Carried::default();
        assert_eq!(carried.take(at(0)), None, "from when on is not known");
        carried.add(at(100), 3000, false);
        carried.add(at(200), 2000, false);
        assert_eq!(carried.take(at(500)), Some(Throughput { rate: 10_000.0, seconds: 0.5 }));
        carried.add(at(600), 1000, true);
        carried.add(at(700), 1000, false);
        assert_eq!(carried.take(at(1000)), None);
        carried.add(at(1100), 1000, false);
        assert_eq!(carried.take(at(2000)), Some(Throughput { rate: 1000.0, seconds: 1.0 }));
        assert_eq!(carried.take(at(2000)), None, "no time has passed");
    }
}

//! The clock that a gateway's bonds read: all times that an endpoint takes and returns are on it.

use crate::plan::{ClockPlan, ClockStep};
use ropewalk_units::{Duration, Instant};

/// A clock as its gateway has it. It reads more than no time when its bond began before its world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    lead: Duration,
    plan: ClockPlan,
    is_true: bool,
}

impl Clock {
    /// The clock of this plan, with its steps in this world.
    pub(crate) fn new(plan: &ClockPlan) -> Self {
        Self { lead: Duration::ZERO, plan: plan.clone(), is_true: plan.is_true() }
    }

    /// The same clock in a world that begins `lead` after its own. The steps are in that world's time.
    pub(crate) fn move_on(&mut self, lead: Duration, steps: &[ClockStep]) {
        self.lead += lead;
        self.plan.steps = steps.to_vec();
        self.is_true = self.plan.is_true();
    }

    /// What it reads at a time of the world.
    #[inline]
    pub(crate) fn read(&self, world: Instant) -> Instant {
        let elapsed = world.saturating_add(self.lead);
        if self.is_true { elapsed } else { self.skewed(world, elapsed) }
    }

    fn skewed(&self, world: Instant, elapsed: Instant) -> Instant {
        let elapsed = i128::from(elapsed.as_nanos());
        let drifted = elapsed * i128::from(self.plan.drift.ppb) / 1_000_000_000;
        let offset = i128::from(self.plan.offset.as_nanos());
        let stepped: i128 = self.past_steps(world).map(i128::from).sum();
        let reading = (elapsed + drifted + offset + stepped).max(0);
        Instant::from_nanos(u64::try_from(reading).unwrap_or(u64::MAX))
    }

    fn past_steps(&self, world: Instant) -> impl Iterator<Item = i64> {
        self.plan.steps.iter().take_while(move |step| step.at <= world).map(|step| step.by)
    }

    /// When a timer for the time `own` fires that is set at `now`: it waits for the time between them, at the clock's speed. No step moves it.
    #[inline]
    pub(crate) fn fires(&self, now: Instant, own: Instant) -> Instant {
        let wait = own.saturating_since(self.read(now));
        if self.is_true { now.saturating_add(wait) } else { now.saturating_add(self.stretched(wait)) }
    }

    /// So long in the world; with a drift rounded up twice, so that the clock has come to the time when it has passed.
    fn stretched(&self, own: Duration) -> Duration {
        if self.plan.drift.ppb == 0 {
            return own;
        }
        let speed = i128::from(1_000_000_000 + self.plan.drift.ppb);
        let nanos = (i128::from(own.as_nanos()) * 1_000_000_000 + speed - 1) / speed + 1;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Drift;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn clock(offset_ms: u64, drift_ppm: i64, steps: &[ClockStep]) -> Clock {
        let offset = Duration::from_millis(offset_ms);
        Clock::new(&ClockPlan { offset, drift: Drift { ppb: drift_ppm * 1_000 }, steps: steps.to_vec() })
    }

    #[test]
    fn a_true_clock_reads_the_time_since_its_bond_began() {
        let mut clock = Clock::new(&ClockPlan::default());
        assert_eq!(clock.read(ms(7)), ms(7));
        clock.move_on(Duration::from_millis(5_000), &[]);
        assert_eq!((clock.read(ms(7)), clock.fires(ms(7), ms(5_010))), (ms(5_007), ms(10)));
    }

    #[test]
    fn offset_drift_and_steps_add_up_and_go_on_after_a_run_up() {
        let step = |at, by| ClockStep { at: ms(at), by };
        let steps = [step(1_000, -100_000_000), step(2_000, 10_000_000)];
        let mut clock = clock(50, 500, &[]);
        assert_eq!(clock.read(ms(2_000)), ms(2_051));
        clock.move_on(Duration::from_millis(2_000), &steps);
        assert_eq!(clock.read(ms(0)), ms(2_051));
        assert_eq!(clock.read(ms(999)), Instant::from_nanos(3_050_499_500));
        assert_eq!(clock.read(ms(1_000)), Instant::from_nanos(2_951_500_000));
        assert_eq!(clock.read(ms(2_000)), Instant::from_nanos(3_962_000_000));
    }

    #[test]
    fn a_timer_fires_when_the_clock_has_come_to_its_time_and_not_a_microsecond_later() {
        for drift in [-100_000, -500, -50, 50, 500, 100_000] {
            let clock = clock(3, drift, &[]);
            for (now, wait) in [(0, 1), (17, 40), (100_000, 3_000)] {
                let own = clock.read(ms(now)) + Duration::from_millis(wait);
                let fires = clock.fires(ms(now), own);
                let read = clock.read(fires);
                assert!(
                    read >= own && read <= own + Duration::from_micros(1),
                    "{drift} ppm: {read:?}, {own:?}"
                );
            }
        }
    }

    #[test]
    fn a_step_does_not_move_a_timer_that_is_set() {
        let clock = clock(0, 0, &[ClockStep { at: ms(10), by: 1_000_000_000 }]);
        assert_eq!(clock.fires(ms(5), ms(25)), ms(25));
        assert_eq!(clock.fires(ms(10), ms(1_025)), ms(25));
    }
}

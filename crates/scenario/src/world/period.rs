//! Which time a world is of: what its lines, clocks and changes are then.

use crate::plan::{ChangePlan, ClockPlan, WirePlan};
use ropewalk_sim::DirectionConfig;
use ropewalk_units::{Duration, Instant};

/// The time before a scenario ends so much later than planned at most, until no line is sending.
pub(super) const LONGEST_REST: Duration = Duration::from_millis(100);

/// Which time a world is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Period {
    /// The scenario's.
    Scenario,
    /// So long before it.
    RunUp(Duration),
}

impl Period {
    /// When a bond with this run-up begins; `None`: not in this period.
    pub(super) fn begin(self, run_up: Duration) -> Option<Instant> {
        match self {
            Self::Scenario => Some(Instant::ZERO),
            Self::RunUp(length) => (!run_up.is_zero()).then(|| Instant::ZERO + length.saturating_sub(run_up)),
        }
    }

    /// What a line is made of. A recorded rate repeats: before the scenario comes its end, so that nothing is measured of
    /// what the scenario plays.
    pub(super) fn line(self, config: &DirectionConfig) -> DirectionConfig {
        let mut config = config.clone();
        if let Self::RunUp(length) = self {
            config.trace = config.trace.map(|trace| trace.preceding(length + LONGEST_REST));
        }
        config
    }

    /// A gateway's clock: its steps are the scenario's.
    pub(super) fn clock(self, plan: &ClockPlan) -> ClockPlan {
        match self {
            Self::Scenario => plan.clone(),
            Self::RunUp(_) => ClockPlan { steps: Vec::new(), ..plan.clone() },
        }
    }

    /// Its changes: they are the scenario's.
    pub(super) fn changes(self, wire: &WirePlan) -> &[ChangePlan] {
        match self {
            Self::Scenario => &wire.changes,
            Self::RunUp(_) => &[],
        }
    }
}

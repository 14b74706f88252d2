//! The time before a scenario begins, in which its bonds come up.
//!
//! It passes in a world of its own, without traffic, so that nothing of the scenario's world moves. The bonds keep
//! what they have measured there, on their own clock. What was on its way stays on its way.

use super::RunError;
use super::bonds;
use super::build::{Radio, Simulation, build_lines};
use super::packet::Packet;
use crate::plan::{ChangePlan, ClockPlan, Plan, WirePlan};
use crate::watch::Watch;
use ropewalk_sim::{DirectionConfig, Medium, NoTap, Streams, Tap};
use ropewalk_units::{Duration, Instant};

/// Simulated time between two looks at whether somebody wants it to stop.
const STRETCH: Duration = Duration::from_secs(1);
/// The run-up ends when no line is sending, looked at so often,
const STEP: Duration = Duration::from_millis(1);
/// but not so much later than it would.
const LONGEST_REST: Duration = Duration::from_millis(100);

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

/// How long before the scenario the first bond of a plan comes up.
pub(super) fn length(plan: &Plan) -> Duration {
    let bonds = plan.links.iter().filter_map(|link| link.bond());
    bonds.map(|bond| bond.run_up).max().unwrap_or(Duration::ZERO)
}

/// A world in which the bonds of a plan have come up.
pub(super) struct RunUp<M: Medium<Packet>> {
    simulation: Simulation<NoTap, M>,
    /// For how long.
    length: Duration,
}

impl<M: Medium<Packet>> RunUp<M> {
    /// Lets them come up; `radio` is a network like the scenario's.
    ///
    /// # Errors
    /// [`RunError::Interrupted`].
    pub(super) fn new(plan: &Plan, seed: u64, radio: Radio<M>, watch: &Watch<'_>) -> Result<Self, RunError> {
        let streams = Streams::new(Streams::new(seed).stream("run-up").next_u64());
        let period = Period::RunUp(length(plan));
        let (mut simulation, _) = build_lines(plan, &streams, NoTap, (radio.medium, &radio.entries), period);
        let end = Instant::ZERO + length(plan);
        let mut now = Instant::ZERO;
        while now < end || (now < end + LONGEST_REST && is_sending(&mut simulation)) {
            if watch.is_stopped() {
                return Err(RunError::Interrupted { at: Instant::ZERO });
            }
            now = if now < end { (now + STRETCH).min(end) } else { now + STEP };
            simulation.world.run_until(now);
        }
        Ok(Self { simulation, length: now - Instant::ZERO })
    }

    /// The bonds, and what is on its way between them, go on in the scenario's world, which is at its beginning. What still
    /// waits before a line, or is on the air, is lost.
    pub(super) fn move_on<T: Tap<Packet>>(mut self, plan: &Plan, to: &mut Simulation<T, M>) {
        bonds::move_on(plan, self.length, &mut self.simulation, to);
        let lines = plan.links.iter().zip(&to.links).filter(|(link, _)| link.wire().is_some());
        for &id in lines.flat_map(|(_, ids)| ids) {
            for (arrival, packet) in self.simulation.world.take_flying(id) {
                to.world.put_flying(id, arrival - self.length, packet);
            }
        }
    }
}

/// Is a packet waiting or in transmission anywhere?
fn is_sending<M: Medium<Packet>>(simulation: &mut Simulation<NoTap, M>) -> bool {
    let Simulation { world, links, .. } = simulation;
    links.iter().flatten().any(|&id| world.link(id).queued > 0)
}

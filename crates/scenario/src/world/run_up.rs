//! The time before a scenario begins, in which its bonds come up.
//!
//! It passes in a world of its own, without traffic, so that nothing of the scenario's world moves. The bonds keep
//! what they have measured there, on their own clock. What was on its way stays on its way.

use super::RunError;
use super::bonds;
use super::build::build_lines;
use super::packet::Packet;
use super::period::{LONGEST_REST, Period};
use super::simulation::{Radio, Simulation};
use crate::plan::Plan;
use crate::watch::Watch;
use ropewalk_sim::{Medium, NoTap, Streams, Tap};
use ropewalk_units::{Duration, Instant};

/// Simulated time between two looks at whether somebody wants it to stop.
const STRETCH: Duration = Duration::from_secs(1);
/// The run-up ends when no line is sending, looked at so often.
const STEP: Duration = Duration::from_millis(1);
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
            for (arrival, packet) in self.simulation.world.take_in_flight(id) {
                to.world.put_in_flight(id, arrival - self.length, packet);
            }
        }
    }
}

/// Is a packet waiting or in transmission anywhere?
fn is_sending<M: Medium<Packet>>(simulation: &mut Simulation<NoTap, M>) -> bool {
    let Simulation { world, links, .. } = simulation;
    links.iter().flatten().any(|&id| world.link(id).queued > 0)
}

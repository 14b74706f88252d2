//! How stations move: a trajectory is asked for a position at a time.
//!
//! Positions depend on the trajectory's own stream and on the time alone, never on how often it is
//! asked; the times asked for must not decrease.

mod checks;
mod gauss_markov;
mod movement_file;
mod waypoint;

pub use gauss_markov::{GaussMarkov, GaussMarkovTrajectory};
pub use movement_file::{Movement, MovementError, MovementProblem, ScriptedTrajectory};
pub use waypoint::{RandomWaypoint, Start, WaypointTrajectory};

use crate::position::Position;
use ropewalk_units::Instant;
use std::fmt;

/// The movement of one station.
#[derive(Clone, Debug)]
pub enum Trajectory {
    /// The station does not move.
    Fixed(Position),
    /// From one random point straight to the next.
    Waypoint(WaypointTrajectory),
    /// Speed and direction that change slowly.
    GaussMarkov(GaussMarkovTrajectory),
    /// Read from a movement file.
    Scripted(ScriptedTrajectory),
}

impl Trajectory {
    /// Where the station is. Times must not decrease from call to call.
    pub fn position(&mut self, at: Instant) -> Position {
        match self {
            Self::Fixed(position) => *position,
            Self::Waypoint(trajectory) => trajectory.position(at),
            Self::GaussMarkov(trajectory) => trajectory.position(at),
            Self::Scripted(trajectory) => trajectory.position(at),
        }
    }

    /// Does it stay where it is for ever?
    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }
}

/// A parameter of a mobility model outside its range.
#[derive(Clone, PartialEq, Debug)]
pub struct MobilityError {
    /// Its name, as the configuration types have it.
    pub parameter: &'static str,
    /// What it must be.
    pub expected: &'static str,
    /// What it is.
    pub found: f64,
}

impl fmt::Display for MobilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be {}, not {}", self.parameter, self.expected, self.found)
    }
}

impl std::error::Error for MobilityError {}

/// A straight movement, or a stay.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Leg {
    from: Position,
    to: Position,
    start: Instant,
    end: Instant,
}

impl Leg {
    /// From one point to another at a speed (m/s), which must be above zero unless they are the
    /// same.
    fn travel(from: Position, to: Position, start: Instant, speed: f64) -> Self {
        let distance = from.distance(to);
        let seconds = if distance == 0.0 { 0.0 } else { distance / speed };
        Self { from, to, start, end: start.saturating_add(ropewalk_units::Duration::from_secs_f64(seconds)) }
    }

    fn stay(at: Position, start: Instant, end: Instant) -> Self {
        Self { from: at, to: at, start, end }
    }

    /// The position at this time; the destination after the end of the leg.
    fn position(&self, at: Instant) -> Position {
        if at >= self.end {
            return self.to;
        }
        let part =
            at.saturating_since(self.start).as_nanos() as f64 / (self.end - self.start).as_nanos() as f64;
        self.from.towards(self.to, part)
    }
}

#[cfg(test)]
mod tests;

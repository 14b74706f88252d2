//! Gauss–Markov (Liang and Haas 1999; Camp, Boleng, Davies 2002): speed and direction depend on
//! what they were before.

use super::MobilityError;
use super::checks::{require, require_area};
use crate::position::{Area, Position};
use ropewalk_sim::Stream;
use ropewalk_units::{Duration, Instant};
use std::f64::consts::PI;

/// The parameters of Gauss–Markov.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GaussMarkov {
    /// Where the stations move. They are reflected at its edges, and so is their mean direction.
    pub area: Area,
    /// α, from 0 (no memory) to 1 (no change).
    pub memory: f64,
    /// s̄ in m/s. A speed that becomes negative leads backwards.
    pub speed: f64,
    /// The standard deviation of the speed, in m/s.
    pub speed_deviation: f64,
    /// The standard deviation of the direction around its mean, in radians. Each station draws its
    /// mean direction.
    pub direction_deviation: f64,
    /// How often speed and direction change.
    pub interval: Duration,
    /// Where a station begins; drawn uniformly when not given.
    pub from: Option<Position>,
}

impl GaussMarkov {
    /// Are the parameters in their ranges?
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), MobilityError> {
        let is_size = |value: f64| (0.0..f64::INFINITY).contains(&value);
        require_area(self.area)?;
        require((0.0..=1.0).contains(&self.memory), "memory", "from 0 to 1", self.memory)?;
        require(is_size(self.speed), "speed", "finite and not below 0 m/s", self.speed)?;
        require(
            is_size(self.speed_deviation),
            "speed_deviation",
            "finite and not below 0 m/s",
            self.speed_deviation,
        )?;
        require(
            is_size(self.direction_deviation),
            "direction_deviation",
            "finite and not below 0 rad",
            self.direction_deviation,
        )?;
        require(!self.interval.is_zero(), "interval", "above 0 s", 0.0)?;
        if let Some(Position { x, y }) = self.from {
            require((0.0..=self.area.width).contains(&x), "from.x", "inside the area", x)?;
            require((0.0..=self.area.height).contains(&y), "from.y", "inside the area", y)?;
        }
        Ok(())
    }

    /// The next speed or direction: s_t = α s_{t-1} + (1 - α) s̄ + √(1 - α²) σ x.
    fn next(&self, value: f64, mean: f64, deviation: f64, stream: &mut Stream) -> f64 {
        let noise = (1.0 - self.memory * self.memory).sqrt() * deviation;
        self.memory * value + (1.0 - self.memory) * mean + stream.normal(0.0, noise)
    }
}

/// One station moving by Gauss–Markov.
#[derive(Clone, Debug)]
pub struct GaussMarkovTrajectory {
    model: GaussMarkov,
    stream: Stream,
    /// Start of the present interval.
    start: Instant,
    from: Position,
    speed: f64,
    direction: f64,
    mean_direction: f64,
    /// In m/s, from speed and direction.
    velocity: Position,
}

impl GaussMarkovTrajectory {
    /// A trajectory from time zero, in the distribution of the long run; the stream is the
    /// station's own.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(model: GaussMarkov, mut stream: Stream) -> Result<Self, MobilityError> {
        model.check()?;
        let drawn = Position::new(stream.uniform() * model.area.width, stream.uniform() * model.area.height);
        let mean_direction = (2.0 * stream.uniform() - 1.0) * PI;
        let speed = stream.normal(model.speed, model.speed_deviation);
        let direction = stream.normal(mean_direction, model.direction_deviation);
        let from = model.from.unwrap_or(drawn);
        let velocity = velocity(speed, direction);
        Ok(Self { model, stream, start: Instant::ZERO, from, speed, direction, mean_direction, velocity })
    }

    /// The speed in the present interval, in m/s; negative is backwards.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    pub(super) fn position(&mut self, at: Instant) -> Position {
        while at.saturating_since(self.start) >= self.model.interval {
            self.advance();
        }
        let (x, y) = self.straight_on(at.saturating_since(self.start));
        Position::new(reflect(x, self.model.area.width).0, reflect(y, self.model.area.height).0)
    }

    fn straight_on(&self, elapsed: Duration) -> (f64, f64) {
        let seconds = elapsed.as_secs_f64();
        (self.from.x + self.velocity.x * seconds, self.from.y + self.velocity.y * seconds)
    }

    fn advance(&mut self) {
        let (x, y) = self.straight_on(self.model.interval);
        let (x, is_turned_in_x) = reflect(x, self.model.area.width);
        let (y, is_turned_in_y) = reflect(y, self.model.area.height);
        if is_turned_in_x {
            self.direction = PI - self.direction;
            self.mean_direction = PI - self.mean_direction;
        }
        if is_turned_in_y {
            self.direction = -self.direction;
            self.mean_direction = -self.mean_direction;
        }
        let model = self.model;
        self.from = Position::new(x, y);
        self.start += model.interval;
        self.speed = model.next(self.speed, model.speed, model.speed_deviation, &mut self.stream);
        self.direction =
            model.next(self.direction, self.mean_direction, model.direction_deviation, &mut self.stream);
        self.velocity = velocity(self.speed, self.direction);
    }
}

fn velocity(speed: f64, direction: f64) -> Position {
    Position::new(speed * libm::cos(direction), speed * libm::sin(direction))
}

/// A straight way folded at 0 and `extent`, and whether its direction is reversed.
fn reflect(way: f64, extent: f64) -> (f64, bool) {
    if (0.0..=extent).contains(&way) {
        return (way, false);
    }
    let folded = way - 2.0 * extent * libm::floor(way / (2.0 * extent));
    if folded > extent { ((2.0 * extent - folded).max(0.0), true) } else { (folded, false) }
}

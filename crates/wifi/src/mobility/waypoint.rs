//! Random waypoint (Johnson and Maltz 1996): straight to a point drawn uniformly, at a speed drawn
//! uniformly, a pause, and on.

use super::checks::{require, require_area};
use super::{Leg, MobilityError};
use crate::position::{Area, Position};
use ropewalk_sim::Stream;
use ropewalk_units::{Duration, Instant};

/// The parameters of random waypoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RandomWaypoint {
    /// Where the stations move.
    pub area: Area,
    /// The lowest speed in m/s, above zero: with 0 the mean speed would fall for ever (Yoon, Liu,
    /// Noble, INFOCOM 2003).
    pub speed_min: f64,
    /// The highest speed in m/s.
    pub speed_max: f64,
    /// The stay at each point.
    pub pause: Duration,
    /// How it begins.
    pub start: Start,
}

/// How a random waypoint trajectory begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start {
    /// In the distribution of the long run: nothing has to be discarded (Navidi and Camp, IEEE TMC
    /// 2004).
    Stationary,
    /// At a point drawn uniformly (or given). The first leg begins `discarded` before the run
    /// starts. Speeds and places are biased at first; a warm-up of zero shows how.
    WarmUp {
        /// The first point; drawn when there is none.
        from: Option<Position>,
        /// The time that is discarded.
        discarded: Duration,
    },
}

impl RandomWaypoint {
    /// Are the parameters in their ranges?
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), MobilityError> {
        require_area(self.area)?;
        require(self.speed_min > 0.0, "speed_min", "above 0 m/s", self.speed_min)?;
        let is_faster = self.speed_max >= self.speed_min && self.speed_max < f64::INFINITY;
        require(is_faster, "speed_max", "finite and not below speed_min", self.speed_max)?;
        if let Start::WarmUp { from: Some(from), .. } = self.start {
            let (x, y) = (from.x, from.y);
            require((0.0..=self.area.width).contains(&x), "start.from.x", "inside the area", x)?;
            require((0.0..=self.area.height).contains(&y), "start.from.y", "inside the area", y)?;
        }
        Ok(())
    }

    /// The mean of the speed over time while moving: (v_max - v_min) / ln(v_max / v_min).
    #[cfg(test)]
    pub(super) fn mean_speed(&self) -> f64 {
        1.0 / self.mean_slowness()
    }

    /// The part of the time spent in pauses.
    pub fn pause_share(&self) -> f64 {
        let pause = self.pause.as_secs_f64();
        pause / (pause + self.area.mean_distance() * self.mean_slowness())
    }

    /// The mean of 1/v, in s/m.
    fn mean_slowness(&self) -> f64 {
        let (low, high) = (self.speed_min, self.speed_max);
        // Where both are nearly the same the quotient of differences has no digits left.
        if high - low < 1e-6 * low { 1.0 / low } else { libm::log(high / low) / (high - low) }
    }

    fn draw_point(&self, stream: &mut Stream) -> Position {
        let x = stream.uniform() * self.area.width;
        Position::new(x, stream.uniform() * self.area.height)
    }

    fn draw_speed(&self, stream: &mut Stream) -> f64 {
        self.speed_min + (self.speed_max - self.speed_min) * stream.uniform()
    }
}

/// One station moving by random waypoint.
#[derive(Clone, Debug)]
pub struct WaypointTrajectory {
    model: RandomWaypoint,
    stream: Stream,
    leg: Leg,
    is_pause: bool,
    /// How far the trajectory's own clock is ahead of the run's.
    discarded: Duration,
}

impl WaypointTrajectory {
    /// A trajectory from time zero; the stream is the station's own.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(model: RandomWaypoint, mut stream: Stream) -> Result<Self, MobilityError> {
        model.check()?;
        let (leg, is_pause, discarded) = match model.start {
            Start::Stationary => {
                let (leg, is_pause) = stationary_leg(&model, &mut stream);
                (leg, is_pause, Duration::ZERO)
            }
            Start::WarmUp { from, discarded } => {
                let from = from.unwrap_or_else(|| model.draw_point(&mut stream));
                (Leg::stay(from, Instant::ZERO, Instant::ZERO), true, discarded)
            }
        };
        Ok(Self { model, stream, leg, is_pause, discarded })
    }

    pub(super) fn position(&mut self, at: Instant) -> Position {
        let at = at.saturating_add(self.discarded);
        while at >= self.leg.end && self.leg.end < Instant::MAX {
            self.advance();
        }
        self.leg.position(at)
    }

    fn advance(&mut self) {
        let (here, now) = (self.leg.to, self.leg.end);
        self.is_pause = !self.is_pause && !self.model.pause.is_zero();
        self.leg = if self.is_pause {
            Leg::stay(here, now, now.saturating_add(self.model.pause))
        } else {
            let to = self.model.draw_point(&mut self.stream);
            Leg::travel(here, to, now, self.model.draw_speed(&mut self.stream))
        };
    }
}

/// The leg on which time zero falls in the long run.
fn stationary_leg(model: &RandomWaypoint, stream: &mut Stream) -> (Leg, bool) {
    if stream.bernoulli(model.pause_share()) {
        // Time zero is any moment of a pause of fixed length with the same probability.
        let left = model.pause.mul_f64(1.0 - stream.uniform());
        let at = model.draw_point(stream);
        return (Leg::stay(at, Instant::ZERO, Instant::ZERO.saturating_add(left)), true);
    }
    // Time zero falls on a leg in proportion to its duration: to its length, and to the inverse of
    // its speed.
    let diagonal = Position::default().distance(Position::new(model.area.width, model.area.height));
    let (from, to) = loop {
        let (from, to) = (model.draw_point(stream), model.draw_point(stream));
        if stream.uniform() * diagonal < from.distance(to) {
            break (from, to);
        }
    };
    let speed = model.speed_min * libm::pow(model.speed_max / model.speed_min, stream.uniform());
    let here = from.towards(to, stream.uniform());
    (Leg::travel(here, to, Instant::ZERO, speed), false)
}

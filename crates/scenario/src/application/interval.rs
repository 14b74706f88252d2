//! Times that are drawn.

use crate::plan::Interval;
use ropewalk_sim::Stream;
use ropewalk_units::Duration;

/// The next time of an interval.
pub fn draw(interval: Interval, stream: &mut Stream) -> Duration {
    match interval {
        Interval::Constant(duration) => duration,
        Interval::Exponential(mean) => Duration::from_secs_f64(stream.exponential(mean.as_secs_f64())),
    }
}

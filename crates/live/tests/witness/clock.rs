//! The real time.

use ropewalk_units::Instant;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since it was made, by the clock that nobody sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    /// It is now time zero.
    pub(crate) fn new() -> Self {
        Self { start: monotonic() }
    }

    /// The time.
    pub(crate) fn now(self) -> Instant {
        Instant::from_nanos(monotonic() - self.start)
    }
}

fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

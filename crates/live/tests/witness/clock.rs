//! The real time.

use ropewalk_units::Instant;
use rustix::time::{ClockId, clock_gettime};

/// The time since it was made, by CLOCK_MONOTONIC, which nobody can set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    /// A clock whose time zero is this call.
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

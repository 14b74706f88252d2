//! The real time, as the protocols count it.

use ropewalk_units::{Duration, Instant};
use rustix::event::{Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};

/// A thread that waits checks this often whether it has to stop.
const LOOK: Duration = Duration::from_millis(20);

/// The time since it was made, by CLOCK_MONOTONIC, which nobody can set.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: u64,
}

/// CLOCK_MONOTONIC in nanoseconds.
fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// As system calls want it.
pub(crate) fn timespec(time: Duration) -> Timespec {
    let nanos = time.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

impl Clock {
    /// A clock whose time zero is this call.
    #[expect(clippy::new_without_default, reason = "a clock that starts by default would surprise")]
    pub fn new() -> Self {
        Self { start: monotonic() }
    }

    /// Time zero comes after `ahead`. Before it, the time stands still at zero.
    pub(crate) fn starting_in(ahead: Duration) -> Self {
        Self { start: monotonic() + ahead.as_nanos() }
    }

    /// The time.
    pub fn now(self) -> Instant {
        Instant::from_nanos(monotonic().saturating_sub(self.start))
    }

    /// How much later than another's its time zero is.
    pub(crate) fn behind(self, other: Self) -> Duration {
        Duration::from_nanos(self.start.saturating_sub(other.start))
    }

    /// Waits until `at`. Returns false if `stop` is set before.
    pub(crate) fn wait_until(self, at: Instant, stop: &AtomicBool) -> bool {
        loop {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let at = self.start.saturating_add(at.as_nanos());
            let left = Duration::from_nanos(at.saturating_sub(monotonic()));
            if left.is_zero() {
                return true;
            }
            // A signal ends it early; the loop goes on.
            let _ = poll(&mut [], Some(&timespec(left.min(LOOK))));
        }
    }
}

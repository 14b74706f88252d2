//! Real time, by a clock that cannot be set and that goes on while the machine sleeps.

use ropewalk_units::{Duration, Instant};
use rustix::event::Timespec;
use rustix::time::{ClockId, clock_gettime};

/// The time since the machine booted.
pub(crate) fn now() -> Instant {
    let time = clock_gettime(ClockId::Boottime);
    Instant::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// When what one system call has read came. The clock is read after the call: before it this
/// process may have waited for a processor, and what came meanwhile would seem to have come earlier
/// than it did. Then a path would look shorter than it is.
#[derive(Default)]
pub(super) struct Came(Option<Instant>);

impl Came {
    /// To be called for each packet that was read.
    pub(super) fn at(&mut self) -> Instant {
        *self.0.get_or_insert_with(now)
    }
}

/// Nanoseconds since 1970 by the wall clock, which may be set. It is for what outlives the other
/// clock, which begins anew with each boot.
pub(super) fn wall_ns() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + time.tv_nsec as u64
}

/// A duration in the form that system calls take.
pub(super) fn timespec(time: Duration) -> Timespec {
    let nanos = time.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_one_call_has_read_came_when_the_first_of_it_is_looked_at() {
        let mut came = Came::default();
        // The call takes its time, or this process waits for a processor.
        let after = now();
        let at = came.at();
        assert!(at >= after);
        assert_eq!(came.at(), at);
    }
}

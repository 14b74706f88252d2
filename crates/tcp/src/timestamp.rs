//! The clock of the timestamps option (RFC 7323 §3.2): it ticks every millisecond, as Linux's.

use ropewalk_units::{Duration, Instant};

/// TSval at `now`; 0 is never sent.
pub(crate) fn value(now: Instant) -> u32 {
    (now.as_millis() as u32).wrapping_add(1)
}

/// How long before `now` an echoed value was sent, to the millisecond.
pub(crate) fn age(now: Instant, echo: u32) -> Duration {
    Duration::from_millis(u64::from(value(now).wrapping_sub(echo)))
}

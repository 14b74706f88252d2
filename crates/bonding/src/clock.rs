//! The wrapping microsecond clocks of the headers, and delays between two of them.

use ropewalk_units::Instant;

/// The clock that goes into headers.
#[inline]
pub(crate) fn micros(now: Instant) -> u32 {
    now.as_micros() as u32
}

/// Turns one-way delays, in which the offset between two clocks is hidden, into differences from the first one seen.
/// Those of different paths compare, since the offset is the same for all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DelayReference(Option<u32>);

impl DelayReference {
    /// Microseconds more (or less) than the first.
    #[inline]
    pub(crate) fn relative(&mut self, delay: u32) -> i64 {
        let reference = *self.0.get_or_insert(delay);
        i64::from(delay.wrapping_sub(reference) as i32)
    }
}

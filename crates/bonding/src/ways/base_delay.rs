//! The least delay of the last ten minutes: a way's length (RFC 6817 §2.5).

use super::parts::Parts;
use ropewalk_units::Instant;

/// Is `one` less than `other`?
pub(super) const fn is_less(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

pub(super) fn least(one: Option<u32>, other: u32) -> u32 {
    one.filter(|&one| is_less(one, other)).unwrap_or(other)
}

/// The least of the last ten minutes in which anything was noted.
#[derive(Clone, Copy)]
pub(super) struct BaseDelay {
    parts: Parts<u32>,
    pub(super) least: Option<u32>,
}

impl BaseDelay {
    pub(super) const fn new(now: Instant) -> Self {
        Self { parts: Parts::new(now), least: None }
    }

    /// Returns by how much the least has grown: what it was is too long ago.
    pub(super) fn note(&mut self, now: Instant, delay: u32) -> u32 {
        let before = self.least;
        if self.parts.is_over(now) {
            self.parts.begin(now);
            self.least = self.parts.iter().reduce(|one, other| least(Some(one), other));
        }
        self.parts.note(delay, |kept, delay| least(Some(kept), delay));
        let after = least(self.least, delay);
        self.least = Some(after);
        before.filter(|&before| is_less(before, after)).map_or(0, |before| after.wrapping_sub(before))
    }
}

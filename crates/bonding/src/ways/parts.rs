//! What is kept for ten minutes, by its parts (RFC 6817 §2.5: BASE_HISTORY).

use ropewalk_congestion::BASE_HISTORY;
use ropewalk_units::Instant;

/// So many parts.
const CAPACITY: usize = 10;

/// The newest of each part of the last ten minutes in which anything was noted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<T> {
    /// The newest first.
    parts: [Option<T>; CAPACITY],
    since: Instant,
}

impl<T: Copy> Parts<T> {
    pub(super) const fn new(now: Instant) -> Self {
        Self { parts: [None; CAPACITY], since: now }
    }

    /// Is the newest part over?
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_since(self.since) >= BASE_HISTORY / CAPACITY as u64
    }

    /// Begins a part, and forgets the oldest.
    pub(super) fn begin(&mut self, now: Instant) {
        self.parts.rotate_right(1);
        self.parts[0] = None;
        self.since = now;
    }

    /// Keeps `value` in the newest part, joined with what is there.
    pub(super) fn note(&mut self, value: T, join: impl Fn(T, T) -> T) {
        self.parts[0] = Some(self.parts[0].map_or(value, |kept| join(kept, value)));
    }

    /// What is kept, the newest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.parts.iter().flatten().copied()
    }
}

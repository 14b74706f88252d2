//! The least delay of the last ten minutes: a way's length (RFC 6817 §2.5).

use ropewalk_congestion::BASE_HISTORY;
use ropewalk_units::Instant;

/// The least delay of each of so many parts of the time for which a base delay stands.
pub(super) const CAPACITY: usize = 10;

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
    parts: [Option<u32>; CAPACITY],
    since: Instant,
    pub(super) least: Option<u32>,
}

impl BaseDelay {
    pub(super) const fn new(now: Instant) -> Self {
        Self { parts: [None; CAPACITY], since: now, least: None }
    }

    /// Returns by how much the least has grown: what it was is too long ago.
    pub(super) fn note(&mut self, now: Instant, delay: u32) -> u32 {
        let before = self.least;
        if now.saturating_since(self.since) >= BASE_HISTORY / CAPACITY as u64 {
            self.parts.rotate_right(1);
            self.parts[0] = None;
            self.since = now;
            self.least = self.parts.iter().flatten().fold(None, |all, &one| Some(least(all, one)));
        }
        self.parts[0] = Some(least(self.parts[0], delay));
        let now = least(self.least, delay);
        self.least = Some(now);
        before.filter(|&before| is_less(before, now)).map_or(0, |before| now.wrapping_sub(before))
    }
}

//! A model of the queue that our own packets make on a path, corrected by what they are reported to have waited.

use super::log::Entry;
use ropewalk_units::Instant;

/// Lindley's recursion: what a packet finds is what the one before it found and brought, less the time between them.
/// In nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueModel {
    backlog: i64,
    at: Instant,
    /// All corrections so far: a report speaks of a packet sent before the latest ones were made.
    corrections: i64,
    /// Since when it has not been empty, and the bytes that have joined since.
    busy_since: Instant,
    busy_bytes: u32,
    held_bytes: u32,
}

impl QueueModel {
    pub(super) fn new(now: Instant) -> Self {
        Self { backlog: 0, at: now, corrections: 0, busy_since: now, busy_bytes: 0, held_bytes: 0 }
    }

    /// The queue at `now`.
    #[inline]
    pub(super) fn backlog(&self, now: Instant) -> i64 {
        (self.backlog - now.saturating_since(self.at).as_nanos() as i64).max(0)
    }

    /// A packet of `bytes` that takes `transmission` joins a queue of `backlog`.
    #[inline]
    pub(super) fn push(&mut self, now: Instant, backlog: i64, bytes: u32, transmission: i64) {
        if backlog == 0 {
            self.busy_since = now;
            self.busy_bytes = 0;
        }
        self.busy_bytes = self.busy_bytes.saturating_add(bytes);
        self.backlog = backlog + transmission;
        self.at = now;
    }

    /// Of that packet, the driver holds back so much.
    #[inline]
    pub(super) fn note_held(&mut self, held: i64, bytes: u32) {
        self.held_bytes = if held > 0 { self.held_bytes.saturating_add(bytes) } else { 0 };
    }

    /// Bytes since it was last empty, for how many µs, and bytes since packets are held.
    #[inline]
    pub(super) fn busy(&self, now: Instant) -> (u32, u32, u32) {
        let micros = now.saturating_since(self.busy_since).as_micros() as u32;
        (self.busy_bytes, micros, self.held_bytes)
    }

    #[inline]
    pub(super) fn corrections_us(&self) -> i32 {
        (self.corrections / 1000) as i32
    }

    /// The packet of `entry` waited so many microseconds.
    pub(super) fn correct(&mut self, now: Instant, waited: i64, entry: &Entry) {
        let since = i64::from(self.corrections_us().wrapping_sub(entry.corrections));
        let error = (waited - (i64::from(entry.backlog) + since).max(0)) * 1000;
        let before = self.backlog(now);
        self.set(now, (before + error).max(0));
        self.corrections += self.backlog - before;
    }

    /// It cannot be shorter than this.
    pub(super) fn at_least(&mut self, now: Instant, least: i64) {
        let before = self.backlog(now);
        if before < least {
            self.set(now, least);
            self.corrections += least - before;
        }
    }

    /// It cannot be longer than this.
    pub(super) fn bound(&mut self, now: Instant, most: i64) {
        let before = self.backlog(now);
        self.set(now, before.min(most));
        self.corrections += self.backlog - before;
    }

    pub(super) fn set(&mut self, now: Instant, backlog: i64) {
        self.backlog = backlog;
        self.at = now;
    }

    pub(super) fn clear(&mut self, now: Instant) {
        self.set(now, 0);
    }
}

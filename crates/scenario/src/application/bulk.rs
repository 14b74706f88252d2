//! As much as the connection takes: a number of octets, or until a time.

use super::Writer;
use ropewalk_units::Instant;

/// A greedy source.
#[derive(Clone, Debug)]
pub struct BulkSource {
    remaining: u64,
    stop_at: Option<Instant>,
    finished: bool,
}

impl BulkSource {
    /// `bytes` octets (`None`: no end), no longer than until `stop_at`.
    pub fn new(bytes: Option<u64>, stop_at: Option<Instant>) -> Self {
        Self { remaining: bytes.unwrap_or(u64::MAX), stop_at, finished: false }
    }

    /// Writes what fits, and ends the stream when all is written.
    #[inline(always)]
    pub fn pump(&mut self, now: Instant, writer: &mut impl Writer) {
        if self.finished {
            return;
        }
        if self.stop_at.is_some_and(|stop| now >= stop) {
            self.remaining = 0;
        }
        let octets = writer.space().min(self.remaining);
        if octets > 0 {
            writer.write(octets);
            self.remaining -= octets;
        }
        if self.remaining == 0 {
            writer.finish();
            self.finished = true;
        }
    }

    /// When it wants to be pumped although nothing arrives.
    pub fn deadline(&self) -> Option<Instant> {
        self.stop_at.filter(|_| !self.finished)
    }

    /// Has all been written?
    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

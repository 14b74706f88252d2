//! How far an application has come, told by its thread and read by the run.

use ropewalk_units::Instant;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What both ends of a connection have done so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    bytes: AtomicU64,
    /// In nanoseconds; 0 before anything has arrived.
    last_at: AtomicU64,
    sent_all: AtomicBool,
    ended: AtomicBool,
    error: Mutex<Option<String>>,
}

impl Progress {
    /// Octets have arrived, as they should be.
    pub(super) fn deliver(&self, now: Instant, octets: u64) {
        self.bytes.fetch_add(octets, Ordering::Relaxed);
        self.last_at.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// The sender has nothing more to send.
    pub(super) fn finish_sending(&self) {
        self.sent_all.store(true, Ordering::Relaxed);
    }

    /// The receiver has seen the end of the stream.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Something went wrong; the first to say so is heard.
    pub(super) fn fail(&self, error: &io::Error) {
        let mut slot = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| error.to_string());
    }

    /// Octets delivered to the application.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// When the last of them came.
    pub(crate) fn last_at(&self) -> Option<Instant> {
        let nanos = self.last_at.load(Ordering::Relaxed);
        (nanos > 0).then(|| Instant::from_nanos(nanos))
    }

    /// Has all arrived that the sender had?
    pub(crate) fn is_complete(&self) -> bool {
        self.ended.load(Ordering::Relaxed) && self.sent_all.load(Ordering::Relaxed)
    }

    /// What went wrong.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

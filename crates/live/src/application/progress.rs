//! How far an application has come, told by its threads and read by the run.

use ropewalk_scenario::DatagramCounts;
use ropewalk_scenario::application::{Datagrams, Received};
use ropewalk_units::{Duration, Instant};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What both ends of a connection have done so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    bytes: AtomicU64,
    /// In nanoseconds; 0 before anything has arrived.
    last_at: AtomicU64,
    sent_all: AtomicBool,
    ended: AtomicBool,
    exchanges: AtomicU64,
    /// Sum of their times in nanoseconds.
    exchanged_in: AtomicU64,
    sent: AtomicU64,
    datagrams: Mutex<Option<Datagrams>>,
    error: Mutex<Option<String>>,
}

/// A thread that has panicked leaves values that still hold.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// So many octets have arrived, as they should be, the last of them then.
    pub(super) fn deliver(&self, octets: u64, last_at: Option<Instant>) {
        self.bytes.store(octets, Ordering::Relaxed);
        self.last_at.store(last_at.map_or(0, Instant::as_nanos), Ordering::Relaxed);
    }

    /// The sender has nothing more to send.
    pub(super) fn finish_sending(&self) {
        self.sent_all.store(true, Ordering::Relaxed);
    }

    /// The receiver has seen the end of the stream.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// So many exchanges are complete, and took so long together.
    pub(super) fn count_exchanges(&self, completed: u64, time: Duration) {
        self.exchanges.store(completed, Ordering::Relaxed);
        self.exchanged_in.store(time.as_nanos(), Ordering::Relaxed);
    }

    /// So many datagrams were sent.
    pub(super) fn count_sent(&self, datagrams: u64) {
        self.sent.store(datagrams, Ordering::Relaxed);
    }

    /// A datagram has arrived.
    pub(super) fn count_received(&self, now: Instant, datagram: Received) {
        let mut slot = lock(&self.datagrams);
        let receiver = slot.get_or_insert_with(Datagrams::new);
        receiver.receive(now, datagram);
        self.deliver(receiver.bytes, receiver.last_at);
    }

    /// Something went wrong. Only the first error is kept.
    pub(super) fn fail(&self, error: &io::Error) {
        lock(&self.error).get_or_insert_with(|| error.to_string());
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

    /// Has the sender nothing more to send?
    pub(crate) fn has_sent_all(&self) -> bool {
        self.sent_all.load(Ordering::Relaxed)
    }

    /// Has all arrived that the sender had?
    pub(crate) fn is_complete(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || (self.has_sent_all() && self.bytes() > 0)
    }

    /// Exchanges that are complete, and the sum of their times.
    pub(crate) fn exchanges(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.exchanged_in.load(Ordering::Relaxed));
        (self.exchanges.load(Ordering::Relaxed), time)
    }

    /// What became of the datagrams, and octets of those that came twice.
    pub(crate) fn datagrams(&self) -> (DatagramCounts, u64) {
        let slot = lock(&self.datagrams);
        let none = Datagrams::new();
        let receiver = slot.as_ref().unwrap_or(&none);
        (DatagramCounts::new(self.sent.load(Ordering::Relaxed), receiver), receiver.duplicate_bytes)
    }

    /// What went wrong.
    pub(crate) fn error(&self) -> Option<String> {
        lock(&self.error).clone()
    }
}

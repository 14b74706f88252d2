//! How busy the machine was while a test ran: how late a thread wakes that sleeps for a millisecond, again and again. A run
//! that fails on a busy machine says nothing of the code. It is not judged, and runs again.

#![allow(dead_code, reason = "each test binary uses a part of it")]

mod clock;

pub(crate) use clock::Clock;

use ropewalk_units::{Duration, Instant};
use rustix::event::{Timespec, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// A judge gets so many runs at the most.
pub(crate) const ATTEMPTS: usize = 5;
/// One sleep of the witness.
const NAP: Duration = Duration::from_millis(1);
/// Later than this on average, kernel and applications do not what they would do alone. An idle machine wakes it within 0.1 ms.
const MOST_MEAN: Duration = Duration::from_micros(200);
/// A single pause of this length can cost a packet its place.
const MOST: Duration = Duration::from_millis(5);
/// Milliseconds that this process spends waiting for the machine to get calm, all tests together.
static PATIENCE: AtomicU64 = AtomicU64::new(120_000);

/// How late it woke.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strain {
    naps: u64,
    total: Duration,
    worst: Duration,
}

impl Strain {
    fn add(&mut self, late: Duration) {
        self.naps += 1;
        self.total += late;
        self.worst = self.worst.max(late);
    }

    fn mean(&self) -> Duration {
        Duration::from_nanos(self.total.as_nanos() / self.naps.max(1))
    }

    /// Was the machine calm enough for a test in real time to be judged?
    pub(crate) fn is_bearable(&self) -> bool {
        self.naps > 0 && self.mean() <= MOST_MEAN && self.worst <= MOST
    }
}

/// A thread that sleeps and looks how late it wakes.
pub(crate) struct Witness {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Strain>,
}

impl Witness {
    pub(crate) fn new() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let (clock, mut strain) = (Clock::new(), Strain::default());
            while !until.load(Ordering::Relaxed) {
                strain.add(nap(clock));
            }
            strain
        });
        Self { over, thread }
    }

    pub(crate) fn end(self) -> Strain {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it only sleeps")
    }
}

fn nap(clock: Clock) -> Duration {
    let due = clock.now() + NAP;
    pause(NAP);
    clock.now().saturating_since(due)
}

/// Sleeps.
pub(crate) fn pause(time: Duration) {
    let nanos = time.as_nanos();
    let time = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 };
    // A signal ends it early: whoever needs more looks at the clock.
    let _ = poll(&mut [], Some(&time));
}

/// Waits until the machine has been calm for a second, as long as this process has patience.
pub(crate) fn wait_for_calm() {
    let clock = Clock::new();
    while PATIENCE.load(Ordering::Relaxed) > clock.now().as_millis() {
        let (mut strain, second) = (Strain::default(), clock.now() + Duration::from_secs(1));
        while clock.now() < second {
            strain.add(nap(clock));
        }
        if strain.is_bearable() {
            break;
        }
    }
    let waited = (clock.now() - Instant::ZERO).as_nanos() / 1_000_000;
    let _ =
        PATIENCE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(waited)));
}

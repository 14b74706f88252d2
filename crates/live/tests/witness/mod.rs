//! How busy the machine was while a test ran: how late a thread of each processor wakes that sleeps
//! for a millisecond, again and again, and how much time other machines had that share the
//! hardware. A run that fails on a busy machine says nothing of the code. It is not judged, and
//! runs again.

#![allow(dead_code, reason = "each test binary uses a part of it")]

mod clock;
mod processors;

pub(crate) use clock::Clock;

use ropewalk_units::{Duration, Instant};
use rustix::event::{Timespec, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// How often a test is run, at most, that fails while the machine is busy.
pub(crate) const ATTEMPTS: usize = 5;
/// One sleep of the witness.
const NAP: Duration = Duration::from_millis(1);
/// If threads wake later than this on average, kernel and applications do not do what they would do
/// alone. An idle machine wakes them within 0.1 ms.
const MOST_MEAN: Duration = Duration::from_micros(200);
/// A single pause of this length can cost a packet its place.
const MOST: Duration = Duration::from_millis(5);
/// Other machines may have less than this from a processor while a test runs. The kernel counts it
/// in hundredths of a second.
const MOST_STOLEN: Duration = Duration::from_millis(20);
/// Milliseconds that this process spends waiting for the machine to get calm, all tests together.
static PATIENCE: AtomicU64 = AtomicU64::new(120_000);

/// How late the threads of a witness woke.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strain {
    naps: u64,
    total: Duration,
    worst: Duration,
    stolen: Duration,
}

impl Strain {
    fn add(&mut self, late: Duration) {
        self.naps += 1;
        self.total += late;
        self.worst = self.worst.max(late);
    }

    fn join(self, other: Self) -> Self {
        Self {
            naps: self.naps + other.naps,
            total: self.total + other.total,
            worst: self.worst.max(other.worst),
            stolen: self.stolen + other.stolen,
        }
    }

    fn mean(&self) -> Duration {
        Duration::from_nanos(self.total.as_nanos() / self.naps.max(1))
    }

    /// Was the machine calm enough for a test in real time to be judged?
    pub(crate) fn is_bearable(&self) -> bool {
        let woke_in_time = self.naps > 0 && self.mean() <= MOST_MEAN && self.worst <= MOST;
        woke_in_time && self.stolen < MOST_STOLEN
    }
}

/// Threads that sleep and look how late they wake, one on each processor: a pause of one processor
/// is not felt on another.
pub(crate) struct Witness {
    over: Arc<AtomicBool>,
    stolen: Duration,
    threads: Vec<JoinHandle<Strain>>,
}

impl Witness {
    pub(crate) fn new() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let threads = processors::all().into_iter().map(|processor| {
            let until = Arc::clone(&over);
            thread::spawn(move || {
                processors::stay_on(processor);
                let (clock, mut strain) = (Clock::new(), Strain::default());
                while !until.load(Ordering::Relaxed) {
                    strain.add(nap(clock));
                }
                strain
            })
        });
        Self { threads: threads.collect(), stolen: processors::stolen(), over }
    }

    pub(crate) fn end(self) -> Strain {
        self.over.store(true, Ordering::Relaxed);
        let stolen = Strain { stolen: processors::stolen().saturating_sub(self.stolen), ..Strain::default() };
        let strains = self.threads.into_iter().map(|thread| thread.join().expect("it only sleeps"));
        strains.fold(stolen, Strain::join)
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
        let witness = Witness::new();
        pause(Duration::from_secs(1));
        if witness.end().is_bearable() {
            break;
        }
    }
    let waited = (clock.now() - Instant::ZERO).as_nanos() / 1_000_000;
    let _ =
        PATIENCE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(waited)));
}

//! Can this machine run the tests?

use crate::witness::{ATTEMPTS, Strain, Witness, wait_for_calm};
use ropewalk_live::Machine;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::thread;

/// Turns a skipped test into a failure.
const MUST_RUN: &str = "ROPEWALK_MUST_RUN";

/// Who writes has the machine for itself: what runs beside it would make it late.
static TURN: RwLock<()> = RwLock::new(());

/// A test waits for its turn. One that cannot run says why, or fails if it must run.
pub(crate) fn turn() -> Option<RwLockWriteGuard<'static, ()>> {
    // A test that has failed is no reason for the others not to run.
    can_run().then(|| TURN.write().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a test beside others, and again alone if it fails there: who is late because of a neighbour
/// says nothing of the code.
pub(crate) fn judged(test: impl Fn()) {
    if !can_run() {
        return;
    }
    let beside = TURN.read().unwrap_or_else(PoisonError::into_inner);
    let neighbours = Neighbours::here();
    let (result, strain) = attempt(&test);
    match result {
        Ok(()) => return,
        Err(panic) if neighbours.are_none() && strain.is_bearable() => resume_unwind(panic),
        Err(_) => println!("not judged, others ran: {strain:?}"),
    }
    drop((neighbours, beside));
    judged_alone(test);
}

/// Runs a test when it has the machine for itself, and judges it if it had: what fails while other
/// programs keep kernel and applications waiting runs again.
fn judged_alone(test: impl Fn()) {
    let Some(_turn) = turn() else { return };
    for _ in 0..ATTEMPTS {
        wait_for_calm();
        let (result, strain) = attempt(&test);
        match result {
            Ok(()) => return,
            Err(panic) if strain.is_bearable() => resume_unwind(panic),
            Err(_) => println!("not judged, the machine was busy: {strain:?}"),
        }
    }
    println!("inconclusive: the machine was busy in {ATTEMPTS} runs");
}

fn attempt(test: impl Fn()) -> (thread::Result<()>, Strain) {
    let witness = Witness::new();
    let result = catch_unwind(AssertUnwindSafe(test));
    (result, witness.end())
}

/// Tests that run now, and those that ever began.
static RUNNING: Mutex<[u64; 2]> = Mutex::new([0; 2]);

fn running() -> MutexGuard<'static, [u64; 2]> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tests beside one.
struct Neighbours {
    /// Ran when it began.
    before: u64,
    /// Had begun by then, itself included.
    begun: u64,
}

impl Neighbours {
    /// Of a test that begins now.
    fn here() -> Self {
        let [now, ever] = &mut *running();
        let before = *now;
        *now += 1;
        *ever += 1;
        Self { before, begun: *ever }
    }

    /// Has none run for a part of its time?
    fn are_none(&self) -> bool {
        self.before == 0 && running()[1] == self.begun
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        running()[0] -= 1;
    }
}

fn can_run() -> bool {
    let Some(missing) = missing(&Machine::look()) else { return true };
    assert!(std::env::var(MUST_RUN).is_err(), "{MUST_RUN} is set, and the test cannot run: {missing}");
    println!("skipped: {missing}");
    false
}

/// Is the daemon there? If not, says so, or fails if it must be. A machine that can make no
/// namespaces is told elsewhere.
pub(crate) fn has_gateway() -> bool {
    let is_there = Machine::look().gateway.is_some();
    let missing = "there is no program ropewalk-gateway: cargo build --profile test -p ropewalk-gateway";
    assert!(
        is_there || std::env::var(MUST_RUN).is_err(),
        "{MUST_RUN} is set, and the test cannot run: {missing}"
    );
    if !is_there {
        println!("skipped: {missing}");
    }
    is_there
}

fn missing(machine: &Machine) -> Option<&'static str> {
    if !machine.namespaces || !machine.capable {
        Some("no network namespace can be made: it needs root")
    } else if machine.tun.is_some() {
        Some("there is no /dev/net/tun")
    } else if !machine.mptcp {
        Some("the kernel has no Multipath TCP")
    } else {
        None
    }
}

/// This program, to run one of its tests.
pub(crate) fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command
}

//! Can this machine run the tests?

use crate::witness::{ATTEMPTS, Witness, wait_for_calm};
use ropewalk_live::Machine;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Turns a skipped test into a failure.
const MUST_RUN: &str = "ROPEWALK_MUST_RUN";

/// Each test has the machine for itself: what runs beside it would make it late.
static TURN: Mutex<()> = Mutex::new(());

/// A test waits for its turn. One that cannot run says why, or fails if it must run.
pub(crate) fn turn() -> Option<MutexGuard<'static, ()>> {
    let Some(missing) = missing(&Machine::look()) else {
        // A test that has failed is no reason for the others not to run.
        return Some(TURN.lock().unwrap_or_else(PoisonError::into_inner));
    };
    assert!(std::env::var(MUST_RUN).is_err(), "{MUST_RUN} is set, and the test cannot run: {missing}");
    println!("skipped: {missing}");
    None
}

/// Runs a test when it has the machine for itself, and judges it if it had: what fails while other
/// programs keep kernel and applications waiting runs again.
pub(crate) fn judged(test: impl Fn()) {
    let Some(_turn) = turn() else { return };
    for _ in 0..ATTEMPTS {
        let witness = Witness::new();
        let result = catch_unwind(AssertUnwindSafe(&test));
        let strain = witness.end();
        match result {
            Ok(()) => return,
            Err(panic) if strain.is_bearable() => resume_unwind(panic),
            Err(_) => println!("not judged, the machine was busy: {strain:?}"),
        }
        wait_for_calm();
    }
    println!("inconclusive: the machine was busy in {ATTEMPTS} runs");
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

//! Can this machine run the tests?

use ropewalk_live::Machine;
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

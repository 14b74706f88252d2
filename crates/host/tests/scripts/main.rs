//! Packet scripts that hold for our host, in virtual time, and for the kernel, in real time. Where
//! the two differ a script has lines for one of them alone; `docs/interoperation.md` lists these,
//! with the reason.

#![cfg(target_os = "linux")]

mod cases;
mod kernel;
#[path = "../../../live/tests/namespace/mod.rs"]
mod namespace;
mod ours;
mod player;
mod table;
#[path = "../../../live/tests/witness/mod.rs"]
mod witness;
mod words;
mod world;

use cases::Case;
use kernel::Kernel;
use ours::Ours;
use player::Player;
use witness::{ATTEMPTS, Witness, wait_for_calm};
use words::Where;

/// The test that a process in a namespace runs.
const KERNEL_TEST: &str = "the_kernel_does_what_the_scripts_say";

/// Part of a script's name: only those run.
fn wanted(case: &&Case) -> bool {
    case.name.contains(&std::env::var("ROPEWALK_CASE").unwrap_or_default())
}

/// One script against our host, with the lines of a world.
fn against_us(case: &Case, place: Where) -> Result<(), String> {
    Player::play(&mut Ours::new(case.settings), case.script, place)
}

/// One script against the kernel, in a process and a namespace of its own. One that fails while
/// other programs keep the kernel waiting says nothing, and runs again.
fn against_the_kernel(case: &Case) -> Result<&'static str, String> {
    for _ in 0..ATTEMPTS {
        let witness = Witness::new();
        let output = namespace::inside(KERNEL_TEST, case.name);
        let strain = witness.end();
        if output.status.success() {
            return Ok("holds");
        }
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        if strain.is_bearable() {
            return Err(why);
        }
        println!("{}: not judged, the machine was busy: {strain:?}\n{why}", case.name);
        wait_for_calm();
    }
    Ok("inconclusive: the machine was too busy")
}

fn assert_none(failed: &[String]) {
    assert!(failed.is_empty(), "{} scripts fail\n{}", failed.len(), failed.join("\n\n"));
}

#[test]
fn our_host_does_what_the_scripts_say() {
    let failed = cases::all().filter(wanted).filter_map(|case| {
        let why = against_us(case, Where::Ours).err()?;
        Some(format!("{}: {why}", case.name))
    });
    assert_none(&failed.collect::<Vec<_>>());
}

/// A line for the kernel alone must not hold for our host. Otherwise it would hide that both do the
/// same.
#[test]
fn our_host_does_not_do_what_holds_for_the_kernel_alone() {
    let same = cases::all().filter(|case| table::differs(case) && against_us(case, Where::Linux).is_ok());
    assert_none(&same.map(|case| format!("{}: nothing differs", case.name)).collect::<Vec<_>>());
}

#[test]
fn the_kernel_does_what_the_scripts_say() {
    if let Some(name) = namespace::case() {
        let case = cases::all().find(|case| case.name == name).expect("a script of this name");
        let result = Player::play(&mut Kernel::new(case.settings), case.script, Where::Linux);
        return result.unwrap_or_else(|why| panic!("{why}"));
    }
    if !namespace::may_run() {
        return;
    }
    let mut failed = Vec::new();
    for case in cases::all().filter(wanted) {
        match against_the_kernel(case) {
            Ok(verdict) => println!("{:75} {verdict}", case.name),
            Err(why) => failed.push(format!("{}: {why}", case.name)),
        }
    }
    assert_none(&failed);
}

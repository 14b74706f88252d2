//! A signal that ends the demo: no scene is dropped then, so its daemons and files are removed here.

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::exit;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a shell expects of a program that SIGINT has ended.
const ENDED_BY_SIGNAL: i32 = 130;
/// How long the daemons may take to remove what they have made.
const CLEARING_UP: Duration = Duration::from_secs(5);

/// What the scene at hand has made.
static LEFT: Mutex<Option<Left>> = Mutex::new(None);

struct Left {
    folder: PathBuf,
    daemons: [u32; 2],
}

/// From now on SIGINT and SIGTERM remove what a scene has made, and end the process. The lines go
/// with it: their program sees that its input ends.
///
/// To be called before there are other threads.
pub(super) fn clear_up_on_signals() -> io::Result<()> {
    let mut ends = SigSet::empty();
    ends.add(Signal::SIGINT);
    ends.add(Signal::SIGTERM);
    ends.thread_block()?;
    let wait = move || {
        if ends.wait().is_ok() {
            eprintln!("the demo ends, and removes what it has made");
            clear_up();
            exit(ENDED_BY_SIGNAL);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

/// A scene is at work.
pub(super) fn note(folder: PathBuf, daemons: [u32; 2]) {
    *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Left { folder, daemons });
}

/// It has removed its own.
pub(super) fn forget() {
    *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

fn clear_up() {
    let Some(left) = LEFT.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    for daemon in left.daemons {
        // Nobody has waited for it yet, so its number is its own.
        let _ = kill(Pid::from_raw(daemon as i32), Signal::SIGTERM);
    }
    let latest = Instant::now() + CLEARING_UP;
    while left.daemons.iter().any(|daemon| is_at_work(*daemon)) && Instant::now() < latest {
        thread::sleep(Duration::from_millis(10));
    }
    let _ = fs::remove_dir_all(left.folder);
}

/// One that has ended and that nobody has waited for is a zombie: `Z` stands behind its name.
fn is_at_work(process: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat"));
    text.is_ok_and(|text| !text.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

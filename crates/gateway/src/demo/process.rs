//! Processes in namespaces, and waiting for what they do.

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for what has to be there.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a process whose input has ended may take to remove what it has made.
const CLEARING_UP: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// A process. When this value is dropped it is told to end, and waited for: by the end of its input if that is a pipe, and only
/// then by a signal.
pub struct Process(pub Child);

impl Process {
    /// Its input ends, if that is a pipe. Has it ended by itself?
    fn ends_with_its_input(&mut self) -> bool {
        if self.0.stdin.take().is_none() {
            return false;
        }
        let latest = Instant::now() + CLEARING_UP;
        while Instant::now() < latest {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(LOOK);
        }
        false
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ends_with_its_input() {
            return;
        }
        // This fails if the process has ended. Its number is not given to another before it is
        // waited for.
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

/// The path of a program: beside this one, or else found by the search path.
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| own.parent().map(|folder| folder.join(name)));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(name))
}

/// Does `work` in a namespace, on a thread of its own. Processes that it starts stay there.
///
/// # Errors
/// There is no such namespace, or `work` fails.
pub fn inside<R: Send>(path: &Path, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    let file = File::open(path)?;
    let enter = || {
        setns(&file, CloneFlags::CLONE_NEWNET)?;
        work()
    };
    thread::scope(|scope| scope.spawn(enter).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

pub(super) fn until<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> io::Result<R> {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if began.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("not there in time: {what}")));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_that_ends_with_its_input_has_time_to_clear_up() {
        let made = std::env::temp_dir().join(format!("ropewalk-clears-up-{}", std::process::id()));
        let script = "trap 'exit 1' TERM; cat > /dev/null; sleep 0.2; : > \"$0\"";
        let shell = Command::new("sh").args(["-c", script]).arg(&made).stdin(Stdio::piped()).spawn();
        drop(Process(shell.expect("there is a shell")));
        std::fs::remove_file(made).expect("it came to its end");
    }

    #[test]
    fn a_process_without_input_is_told_by_a_signal() {
        let started = Instant::now();
        let sleeps = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn();
        drop(Process(sleeps.expect("there is sleep")));
        assert!(started.elapsed() < CLEARING_UP);
    }
}

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

/// A process. When this value is dropped it is told to end, and waited for.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
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

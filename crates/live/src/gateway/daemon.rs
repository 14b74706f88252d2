//! One daemon: started in the namespace of its router, ended with this value.

use super::status::{Peer, ask};
use crate::clock::Clock;
use crate::namespace::Namespace;
use crate::processor::Share;
use crate::urgency::{self, Urgency};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use ropewalk_units::{Duration, Instant};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

/// Time between the signal that asks a daemon to end and the one that ends it.
const GRACE: Duration = Duration::from_secs(2);
/// Time between two checks whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// So many last lines of its log are in the message when it fails.
const SHOWN_LINES: usize = 5;

/// A daemon at work.
pub(crate) struct Daemon {
    /// Its router's name.
    pub(crate) name: String,
    child: Child,
    socket: PathBuf,
    log: PathBuf,
}

/// A new private key in a new file; its public key.
pub(super) fn keygen(program: &Path, file: &Path) -> io::Result<String> {
    let output = Command::new(program).arg("keygen").arg(file).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(io::Error::other(format!("{} keygen: {said}", program.display())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Daemon {
    /// Runs the configuration in `config`, whose socket is `socket`.
    pub(super) fn start(
        program: &Path,
        name: &str,
        namespace: &Namespace,
        (config, socket): (&Path, PathBuf),
    ) -> io::Result<Self> {
        let log = config.with_extension("log");
        let told = File::create(&log)?;
        // It is in a process group of its own, so that Ctrl-C on a terminal does not come to it.
        let mut command = Command::new(program);
        command.arg("run").arg(config).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(told);
        let child = namespace.inside(|| {
            // The process inherits the priority of this thread.
            urgency::apply(Urgency::Applications);
            command.spawn()
        })?;
        Ok(Self { name: name.to_owned(), child, socket, log })
    }

    /// What it tells; nothing if it does not answer yet.
    ///
    /// # Errors
    /// It has ended, with the end of its log.
    pub(super) fn first_status(&mut self) -> io::Result<Vec<Peer>> {
        if let Some(status) = self.child.try_wait()? {
            return Err(io::Error::other(format!("it has ended: {status}{}", self.complaint())));
        }
        if self.socket.exists() { ask(&self.socket) } else { Ok(Vec::new()) }
    }

    /// What it tells, once it has told something.
    ///
    /// # Errors
    /// It does not answer, with the end of its log.
    pub(super) fn status(&self) -> io::Result<Vec<Peer>> {
        ask(&self.socket)
            .map_err(|error| io::Error::new(error.kind(), format!("{error}{}", self.complaint())))
    }

    /// What it has had of the processors so far.
    pub(super) fn share(&self) -> Share {
        Share::of_process(self.pid())
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// The end of its log.
    pub(super) fn complaint(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines().rev().take(SHOWN_LINES).collect::<Vec<_>>();
        lines.into_iter().rev().fold(String::new(), |all, line| format!("{all}\n  {line}"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that has ended already cannot be asked; its number is still its own until it is
        // waited for.
        let _ = kill(self.pid(), Signal::SIGTERM);
        let (clock, never) = (Clock::new(), AtomicBool::new(false));
        while clock.now() < Instant::ZERO + GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            clock.wait_until(clock.now() + LOOK, &never);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

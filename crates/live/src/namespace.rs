//! Network namespaces with names, as `ip netns` knows them.

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Where `ip netns` looks.
const FOLDER: &str = "/run/netns";
/// Before the run's name in all names.
const PREFIX: &str = "ropewalk";

/// A network namespace. It goes with this value.
#[derive(Debug)]
pub(crate) struct Namespace {
    name: String,
    file: File,
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

impl Namespace {
    /// A new one, for a host of a run.
    pub(crate) fn new(run: &str, host: &str) -> io::Result<Self> {
        let name = format!("{PREFIX}-{run}-{host}");
        let path = path(&name);
        fs::create_dir_all(FOLDER)?;
        OpenOptions::new().write(true).create_new(true).open(&path)?;
        // A network namespace can be that of one thread. A new thread makes a new namespace, and
        // binds it to the name.
        let made = on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let itself = Path::new("/proc/thread-self/ns/net");
            mount(Some(itself), &path, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
            File::open(&path)
        });
        match made {
            Ok(file) => Ok(Self { name, file }),
            Err(error) => {
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// Works inside. Sockets that are opened there stay there.
    pub(crate) fn inside<R: Send>(&self, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
        on_a_thread(|| {
            setns(&self.file, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = remove(&self.name);
    }
}

fn on_a_thread<R: Send>(work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Ends the processes inside, and takes the name away: the namespace goes with the last that holds
/// it.
fn remove(name: &str) -> io::Result<()> {
    let path = path(name);
    if let Ok(namespace) = fs::metadata(&path) {
        end_processes(&namespace);
    }
    match umount2(&path, MntFlags::MNT_DETACH) {
        // Nothing was mounted there: its owner died between the two steps.
        Ok(()) | Err(nix::errno::Errno::EINVAL) => {}
        Err(error) => return Err(error.into()),
    }
    fs::remove_file(&path)
}

/// Ends the processes that a run has started in its namespace. This process is none of them: only
/// some of its threads enter a namespace.
fn end_processes(namespace: &Metadata) {
    let is_it = |own: &Metadata| (own.dev(), own.ino()) == (namespace.dev(), namespace.ino());
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let inside = fs::metadata(entry.path().join("ns/net")).is_ok_and(|own| is_it(&own));
        if let (Some(number), true) = (number, inside) {
            let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
        }
    }
}

/// Removes all namespaces of a run; gives their names.
pub(crate) fn remove_all(run: &str) -> io::Result<Vec<String>> {
    let names = names()?;
    let prefix = format!("{PREFIX}-{run}-");
    let mut removed = Vec::new();
    for name in names.into_iter().filter(|name| name.starts_with(&prefix)) {
        remove(&name)?;
        removed.push(name);
    }
    Ok(removed)
}

/// The names of all namespaces of runs.
pub(crate) fn names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| name.starts_with(&format!("{PREFIX}-"))).collect())
}

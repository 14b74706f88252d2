//! Network namespaces with names, as `ip netns` knows them.

use nix::errno::Errno;
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
        share_folder()?;
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

/// Makes the folder a shared mount, as the first `ip netns add` of a machine does. One who did so later would mount the folder over
/// itself: names of before would lie below, and could not be removed.
fn share_folder() -> io::Result<()> {
    fs::create_dir_all(FOLDER)?;
    let folder = File::open(FOLDER)?;
    // As `ip` does: of two at once one mounts. The lock goes with the file.
    folder.lock()?;
    let shared = MsFlags::MS_SHARED | MsFlags::MS_REC;
    let share = || mount(None::<&str>, FOLDER, None::<&str>, shared, None::<&str>);
    match share() {
        // It is no mount yet.
        Err(Errno::EINVAL) => {
            let bound = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount(Some(FOLDER), FOLDER, None::<&str>, bound, None::<&str>)?;
            Ok(share()?)
        }
        other => Ok(other?),
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
        Ok(()) | Err(Errno::EINVAL) => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::geteuid;

    /// Works where `/run` is an empty folder that no other program sees.
    fn with_an_empty_run<R: Send>(work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
        on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNS)?;
            let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?;
            mount(Some("tmpfs"), "/run", Some("tmpfs"), MsFlags::empty(), None::<&str>)?;
            work()
        })
    }

    /// What the kernel says of the mounts of the folder itself, hidden ones among them.
    fn mounts_of_folder() -> io::Result<Vec<String>> {
        let all = fs::read_to_string("/proc/thread-self/mountinfo")?;
        Ok(all.lines().filter(|line| line.split(' ').nth(4) == Some(FOLDER)).map(str::to_owned).collect())
    }

    #[test]
    fn the_first_namespace_of_a_machine_makes_the_folder_a_shared_mount_and_others_leave_it() {
        if !geteuid().is_root() {
            eprintln!("skipped: mounts need root");
            return;
        }
        let (mounts, left) = with_an_empty_run(|| {
            let hidden = mounts_of_folder()?.len();
            let _first = Namespace::new("shared", "a")?;
            let second = Namespace::new("shared", "b")?;
            let mounts = mounts_of_folder()?.split_off(hidden);
            drop(second);
            Ok((mounts, names()?))
        })
        .expect("two namespaces");
        assert_eq!(mounts.len(), 1, "{mounts:?}");
        assert!(mounts[0].contains(" shared:"), "{mounts:?}");
        assert_eq!(left, ["ropewalk-shared-a"]);
    }
}

//! Runs on one machine: each has a name and a lock that says that its owner lives. What a dead
//! owner left is removed.

use crate::namespace;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where the locks are.
const FOLDER: &str = "/run/ropewalk";
/// The ending of a lock's file, behind the run's name.
const SUFFIX: &str = "lock";

/// The mode of a folder that only its owner may open.
const PRIVATE: u32 = 0o700;

fn folder(run: &str) -> PathBuf {
    Path::new(FOLDER).join(run)
}

/// A run's name and its lock. Both go with it.
#[derive(Debug)]
pub(crate) struct Lease {
    name: String,
    path: PathBuf,
    _lock: Flock<File>,
}

impl Lease {
    /// A name that no other run has.
    pub(crate) fn acquire() -> io::Result<Self> {
        fs::create_dir_all(FOLDER)?;
        let process = std::process::id();
        for number in 0.. {
            let name = format!("{process}-{number}");
            let path = Path::new(FOLDER).join(&name).with_extension(SUFFIX);
            if let Some(lock) = lock(&path, OpenOptions::new().write(true).create_new(true))? {
                return Ok(Self { name, path, _lock: lock });
            }
        }
        unreachable!("numbers do not end")
    }

    /// A new folder for secrets of this run, of mode 700. It goes with the run.
    pub(crate) fn folder(&self) -> io::Result<PathBuf> {
        let folder = folder(&self.name);
        DirBuilder::new().mode(PRIVATE).create(&folder)?;
        Ok(folder)
    }

    /// The run's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(folder(&self.name));
        // Before the lock goes: whoever takes it then sees that the file has gone.
        let _ = fs::remove_file(&self.path);
    }
}

/// The lock of a file that is opened so. `None`: another run has it, or has just removed it.
fn lock(path: &Path, how: &OpenOptions) -> io::Result<Option<Flock<File>>> {
    let file = match how.open(path) {
        Ok(file) => file,
        Err(error) if [io::ErrorKind::AlreadyExists, io::ErrorKind::NotFound].contains(&error.kind()) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else { return Ok(None) };
    let inode = |metadata: io::Result<fs::Metadata>| metadata.map(|metadata| metadata.ino()).ok();
    let is_there = inode(fs::metadata(path)) == inode(lock.metadata());
    Ok(is_there.then_some(lock))
}

/// Removes what runs have left whose owners are dead. Gives the names of the namespaces that are
/// gone.
///
/// # Errors
/// A folder cannot be read, or a namespace not removed.
pub(crate) fn clean() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut removed = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != SUFFIX) {
            continue;
        }
        let Some(run) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if let Some(lock) = lock(&path, OpenOptions::new().write(true))? {
            removed.extend(namespace::remove_all(run)?);
            let _ = fs::remove_dir_all(folder(run));
            fs::remove_file(&path)?;
            drop(lock);
        }
    }
    removed.sort_unstable();
    Ok(removed)
}

//! Which program has a socket. `/proc` has the processes of a group, and what each has open.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

/// Fields of `/proc/PID/stat` between the name and the process group: state and parent.
const BEFORE_GROUP: usize = 2;

/// The index of the process group that has the socket with this inode open.
pub(crate) fn owner(groups: &[AtomicI32], inode: u32) -> Option<usize> {
    if inode == 0 {
        return None;
    }
    let target = format!("socket:[{inode}]");
    let entries = fs::read_dir("/proc").ok()?.flatten();
    entries.into_iter().find_map(|entry| {
        let group = group(&entry.path())?;
        let index = groups.iter().position(|known| known.load(Ordering::Relaxed) == group)?;
        has_open(&entry.path(), &target).then_some(index)
    })
}

/// The process group of the process with this folder.
fn group(folder: &Path) -> Option<i32> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // A name may hold anything, also brackets and spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(BEFORE_GROUP)?.parse().ok()
}

fn has_open(folder: &Path, target: &str) -> bool {
    let files = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|link| link.as_os_str() == target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    #[test]
    fn the_owner_of_a_socket_is_found_by_its_group() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).expect("it is open");
        let link = link.to_string_lossy();
        let inode = link.trim_start_matches("socket:[").trim_end_matches(']').parse().expect("an inode");
        let own = group(Path::new("/proc/self")).expect("every process has one");
        let groups = [0, own].map(AtomicI32::new);
        assert_eq!(owner(&groups, inode), Some(1));
        assert_eq!(owner(&groups[..1], inode), None, "none of these");
        drop(socket);
        assert_eq!(owner(&groups, inode), None, "it is closed");
    }
}

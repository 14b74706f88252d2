//! What a run leaves on the machine, as other programs see it.

use crate::witness::pause;
use ropewalk_units::Duration;
use std::process::Command;

/// Namespaces and locks of the runs of one process, and interfaces that are in none of them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    pub(crate) namespaces: Vec<String>,
    locks: Vec<String>,
    interfaces: Vec<String>,
}

fn lines(command: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(command).args(arguments).output().expect(command);
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

impl Traces {
    /// Of the process with this number.
    pub(crate) fn of(process: u32) -> Self {
        let mine = |prefix: String, names: Vec<String>| {
            names.into_iter().filter(|name| name.starts_with(&prefix)).collect::<Vec<_>>()
        };
        let locks = std::fs::read_dir("/run/ropewalk").into_iter().flatten().flatten();
        let locks = locks.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        Self {
            namespaces: mine(format!("ropewalk-{process}-"), lines("ip", &["netns", "list"])),
            locks: mine(format!("{process}-"), locks),
            interfaces: lines("ip", &["-brief", "link", "show", "type", "tun"]),
        }
    }

    /// Of this process.
    pub(crate) fn of_this_process() -> Self {
        Self::of(std::process::id())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.locks.is_empty() && self.interfaces.is_empty()
    }
}

/// Waits until something is so, for two minutes at the longest.
pub(crate) fn wait_for(is_so: impl Fn() -> bool) {
    for _ in 0..12_000 {
        if is_so() {
            return;
        }
        pause(Duration::from_millis(10));
    }
    panic!("it has not come to it in two minutes");
}

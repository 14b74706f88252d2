//! The demo is ended before its time.

use crate::net::{GATEWAY, PATIENCE, possible, shell};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The program that makes its lines stands beside the gateway when the whole workspace is built.
fn has_links() -> bool {
    let is_there = Path::new(GATEWAY).with_file_name("ropewalk-links").exists();
    if !is_there {
        println!("skipped: ropewalk-links is not built");
    }
    is_there
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not so in time: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_signal_that_ends_it_leaves_nothing() {
    if !possible() || !has_links() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = Command::new(GATEWAY)
        .args(["demo", "--seconds", "30"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is built");
    let own = folder.path().join(format!("ropewalk-demo-{}", demo.id()));
    until("both daemons are at work", || {
        ["hub.sock", "site.sock"].iter().all(|name| own.join(name).exists())
    });
    let processes = format!("pgrep -f {}", own.display());
    assert!(shell(&processes).status.success(), "they have the folder in their arguments");
    // This process alone, as by a service manager. Ctrl-C tells all of them.
    assert!(shell(&format!("kill -TERM {}", demo.id())).status.success());
    let began = Instant::now();
    let ended = demo.wait().expect("it was started here");
    assert_eq!(ended.code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(
        fs::read_dir(folder.path()).expect("it is there").next().is_none(),
        "files, keys among them, are left"
    );
    // The shell that asks has the words in its own arguments.
    until("no process is left", || String::from_utf8_lossy(&shell(&processes).stdout).lines().count() <= 1);
}

//! A network namespace of a test's own. The test runs once more inside, in a process of its own, and with the process the
//! namespace goes, devices and all: there is nothing to clean up, whatever happens.

use std::process::Command;

/// Says in which test the process runs, inside its namespace.
const INSIDE: &str = "ROPEWALK_INSIDE";
/// Turns a skipped test into a failure.
const MUST_RUN: &str = "ROPEWALK_MUST_RUN";

/// Runs a test inside a namespace of its own; `name` is the test's.
pub(crate) fn inside(name: &str, test: impl FnOnce()) {
    if std::env::var(INSIDE).is_ok_and(|inside| inside == name) {
        prepare();
        return test();
    }
    if let Some(missing) = missing() {
        assert!(std::env::var(MUST_RUN).is_err(), "{MUST_RUN} is set, and {name} cannot run: {missing}");
        println!("skipped: {name}: {missing}");
        return;
    }
    let program = std::env::current_exe().expect("this test");
    let mut command = Command::new("unshare");
    command.arg("--net").arg(program).args(["--exact", name, "--nocapture", "--test-threads=1"]);
    let status = command.env(INSIDE, name).status().expect("unshare");
    assert!(status.success(), "{name} failed inside its namespace");
}

/// What this machine lacks.
fn missing() -> Option<&'static str> {
    let has = |command: &str, arguments: &[&str]| {
        Command::new(command).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    if !std::path::Path::new("/dev/net/tun").exists() {
        Some("there is no /dev/net/tun")
    } else if !has("unshare", &["--net", "true"]) {
        Some("no network namespace can be made: it needs root, and unshare of util-linux")
    } else if !has("ip", &["-V"]) {
        Some("there is no `ip` (package iproute2)")
    } else if !std::path::Path::new("/proc/sys/net/mptcp/enabled").exists() {
        Some("the kernel has no Multipath TCP")
    } else {
        None
    }
}

fn prepare() {
    run("ip link set lo up");
    for (key, value) in [
        ("net/ipv4/conf/all/rp_filter", "0"),
        ("net/ipv4/conf/default/rp_filter", "0"),
        ("net/mptcp/enabled", "1"),
    ] {
        std::fs::write(format!("/proc/sys/{key}"), value).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
}

/// Runs a command of words.
pub(crate) fn run(command: &str) {
    let mut words = command.split_whitespace();
    let program = words.next().expect("a command");
    let output = Command::new(program).args(words).output().expect(program);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

//! A network namespace of a case's own. The case runs in a process of its own inside, and with the
//! process the namespace goes, devices and all: there is nothing to clean up, whatever happens.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::process::{Command, Output};

/// Says which case the process runs, inside its namespace.
const INSIDE: &str = "ROPEWALK_INSIDE";
/// Turns a skipped test into a failure.
const MUST_RUN: &str = "ROPEWALK_MUST_RUN";

/// The case that this process is to run, if it is such a process.
pub(crate) fn case() -> Option<String> {
    std::env::var(INSIDE).ok()
}

/// Is this machine able to? A test that cannot run says why, or fails if it must run.
pub(crate) fn may_run() -> bool {
    let Some(missing) = missing() else { return true };
    assert!(std::env::var(MUST_RUN).is_err(), "{MUST_RUN} is set, and the test cannot run: {missing}");
    println!("skipped: {missing}");
    false
}

/// Runs the test of this name once more, inside, with this case.
pub(crate) fn inside(test: &str, case: &str) -> Output {
    let program = std::env::current_exe().expect("this test");
    let mut command = Command::new("unshare");
    command.arg("--net").arg(program).args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(INSIDE, case).output().expect("unshare")
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

/// The kernel's settings inside.
pub(crate) fn prepare() {
    run("ip link set lo up");
    for (key, value) in [
        ("net/ipv4/conf/all/rp_filter", "0"),
        ("net/ipv4/conf/default/rp_filter", "0"),
        ("net/ipv4/tcp_congestion_control", "reno"),
        // An address of IPv6 is used at once.
        ("net/ipv6/conf/all/accept_dad", "0"),
        ("net/ipv6/conf/default/accept_dad", "0"),
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

/// What the kernel has counted of TCP and of Multipath TCP in this namespace, without what is 0.
pub(crate) fn counters() -> String {
    let text = std::fs::read_to_string("/proc/self/net/netstat").unwrap_or_default();
    let mut counted = String::new();
    for protocol in ["TcpExt: ", "MPTcpExt: "] {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol));
        let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        for (name, value) in names.split(' ').zip(values.split(' ')).filter(|(_, value)| *value != "0") {
            counted += &format!(" {name} {value}");
        }
    }
    counted
}

/// Has the kernel counted this?
pub(crate) fn has_counted(name: &str) -> bool {
    counters().split(' ').any(|word| word == name)
}

/// Packets that the kernel meant for an interface of this namespace, and dropped since too many
/// waited there.
pub(crate) fn dropped() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/dev").expect("the counters of interfaces");
    // Behind the name eight counters of what came in, then octets, packets, errors and drops of
    // what went out.
    let dropped = |line: &str| line.split_once(':')?.1.split_whitespace().nth(11)?.parse::<u64>().ok();
    text.lines().filter_map(dropped).sum()
}

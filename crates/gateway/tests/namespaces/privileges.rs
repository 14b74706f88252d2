//! What a running gateway may do.

use crate::net::{Net, possible};
use std::fs;
use std::path::Path;

/// CAP_NET_ADMIN and CAP_NET_RAW.
const KEPT: u64 = 1 << 12 | 1 << 13;

fn field(status: &Path, name: &str) -> String {
    let text = fs::read_to_string(status).expect("the process is there");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel tells it");
    line.trim_start_matches(':').trim().to_owned()
}

fn capabilities(status: &Path, name: &str) -> u64 {
    u64::from_str_radix(&field(status, name), 16).expect("hexadecimal")
}

#[test]
fn root_is_given_up_and_little_is_kept() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.configure_more("hub", "[offload]\nqueues = 2\n");
    net.open_tunnel();
    for end in ["hub", "site"] {
        let process = Path::new("/proc").join(net.pid(end).to_string());
        let threads = fs::read_dir(process.join("task")).expect("it has threads");
        let threads = threads.map(|entry| entry.expect("a thread").path()).collect::<Vec<_>>();
        assert!(threads.len() >= 2, "the loop, and what answers or reads");
        for thread in threads {
            let status = thread.join("status");
            let is_loop = thread.file_name() == process.file_name();
            assert!(field(&status, "Uid").split_whitespace().all(|uid| uid != "0"), "{end}");
            assert_eq!(field(&status, "NoNewPrivs"), "1", "{end}");
            assert_eq!(field(&status, "Seccomp"), "2", "{end}: a filter at every thread");
            assert_eq!(capabilities(&status, "CapBnd"), KEPT, "{end}");
            let expected = if is_loop { KEPT } else { 0 };
            assert_eq!(capabilities(&status, "CapPrm"), expected, "{end}: {}", field(&status, "Name"));
        }
    }
}

#[test]
fn who_looks_names_up_keeps_nothing() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.name_hub("hub.example.org");
    net.open_tunnel();
    let process = Path::new("/proc").join(net.lookup_process());
    let status = process.join("status");
    assert_eq!(field(&status, "Uid"), "29296\t29296\t29296\t29296", "the tunnel's mark");
    assert_eq!(field(&status, "Groups"), "");
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(capabilities(&status, set), 0, "{set}");
    }
    assert_eq!((field(&status, "NoNewPrivs"), field(&status, "Seccomp")), ("1".into(), "2".into()));
    let files = fs::read_dir(process.join("fd")).expect("root may look");
    let files = files.map(|file| fs::read_link(file.expect("a file").path()).unwrap_or_default());
    let files = files.map(|file| file.display().to_string()).collect::<Vec<_>>();
    let own = files.iter().filter(|file| file.contains("socket:") || file.contains("tun"));
    assert_eq!(own.count(), 1, "the socket with names: {files:?}");
}

#[test]
fn the_filter_of_system_calls_can_be_switched_off() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let path = net.path("site.toml");
    let text = fs::read_to_string(&path).expect("it was written");
    fs::write(&path, text.replace("[gateway]", "[gateway]\nseccomp = false")).expect("it is this test's");
    net.open_tunnel();
    let status = Path::new("/proc").join(net.pid("site").to_string()).join("status");
    assert_eq!(field(&status, "Seccomp"), "0");
    assert!(net.log("site").contains("system calls are not filtered"), "{}", net.log("site"));
}

#[test]
fn a_user_that_is_not_there_is_named() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let path = net.path("site.toml");
    let text = fs::read_to_string(&path).expect("it was written");
    fs::write(&path, text.replace("[gateway]", "[gateway]\nuser = \"nosuchuser\""))
        .expect("it is this test's");
    net.start("site");
    net.until("it says so", || net.log("site").contains("there is no user nosuchuser"));
}

//! Captures of whole runs, read by tshark where it is installed: no malformed packet, no wrong checksum, times
//! in order, and Multipath TCP's options dissected.

use ropewalk_analyse::{Settings, analyse};
use ropewalk_scenario::{RunOptions, load, run};
use ropewalk_tests::root;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of this process's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ropewalk-{name}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What tshark prints of some fields, a line per packet; `None` where it is not installed.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file).args(["-o", "tcp.check_checksum:TRUE", "-Y", filter, "-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let Ok(output) = command.output() else {
        println!("skipped: tshark is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Runs a shipped scenario for three seconds and gives the folder of its captures.
fn captured(scenario: &str, folder: &str, more: &[(&str, &str)]) -> Folder {
    let path = root().join("scenarios").join(scenario);
    let source = std::fs::read_to_string(&path).expect("the scenario is there");
    let keys = [("scenario.duration", "3 s")].iter().chain(more);
    let overrides: Vec<_> = keys.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = load(&source, Some(&path), &overrides).unwrap_or_else(|error| panic!("{error}"));
    let folder = Folder::new(folder);
    run(&scenario, &RunOptions { capture: Some(folder.0.clone()), ..RunOptions::default() })
        .expect("it runs");
    folder
}

#[test]
fn captures_of_ipv6_are_ipv6_with_right_checksums() {
    let folder = captured("degraded-path.toml", "captures-ipv6", &[("scenario.address_family", "ipv6")]);
    for name in ["host-client", "link-a", "link-b"] {
        let file = folder.0.join(format!("{name}.pcapng"));
        let report = analyse(File::open(&file).expect("the capture is there"), &Settings::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let flows = report.connections.iter().flat_map(|found| &found.subflows).collect::<Vec<_>>();
        assert!(
            !flows.is_empty() && flows.iter().all(|flow| flow.client.is_ipv6() && flow.server.is_ipv6()),
            "{name}"
        );
        let wrong = "_ws.malformed || tcp.checksum.status == 0 || ip";
        let Some(wrong) = tshark(&file, wrong, &["frame.number"]) else { continue };
        assert!(wrong.is_empty(), "{name}: frames {wrong:?}");
        let longest = tshark(&file, "ipv6", &["frame.len"]).expect("installed");
        let longest = longest.iter().filter_map(|len| len.parse::<u32>().ok()).max();
        // 1400 octets of payload and options, as `classic` has them, behind both headers.
        assert_eq!(longest, Some(1460), "{name}");
    }
}

#[test]
fn tshark_reads_a_multipath_capture_of_every_host_and_link() {
    let folder = captured("degraded-path.toml", "captures", &[]);
    for name in ["host-client", "host-server", "link-a", "link-b"] {
        let file = folder.0.join(format!("{name}.pcapng"));
        assert!(file.exists(), "{name}");
        let wrong = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0";
        let Some(wrong) = tshark(&file, wrong, &["frame.number"]) else { return };
        assert!(wrong.is_empty(), "{name}: frames {wrong:?}");
        let times = tshark(&file, "tcp", &["frame.time_relative"]).expect("installed");
        let times: Vec<f64> = times.iter().map(|time| time.parse().expect("a number")).collect();
        assert!(times.len() > 100, "{name}: {} packets", times.len());
        assert!(times.is_sorted(), "{name}: packets stand out of the order of time");
        let subtypes = tshark(&file, "mptcp", &["tcp.options.mptcp.subtype"]).expect("installed");
        let subtypes: BTreeSet<&str> = subtypes.iter().flat_map(|line| line.split(',')).collect();
        let expected = if name == "link-a" { ["0", "2"] } else { ["1", "2"] };
        for subtype in expected {
            assert!(subtypes.contains(subtype), "{name}: subtypes {subtypes:?}");
        }
    }
}

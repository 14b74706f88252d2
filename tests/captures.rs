//! Captures of whole runs, read by tshark where it is installed: no malformed packet, no wrong checksum, times
//! in order, and Multipath TCP's options dissected.

use ropewalk_scenario::{RunOptions, load, run};
use ropewalk_tests::root;
use std::collections::BTreeSet;
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

#[test]
fn tshark_reads_a_multipath_capture_of_every_host_and_link() {
    let path = root().join("scenarios/degraded-path.toml");
    let source = std::fs::read_to_string(&path).expect("the scenario is there");
    let overrides = [("scenario.duration".to_owned(), "3 s".to_owned())];
    let scenario = load(&source, Some(&path), &overrides).unwrap_or_else(|error| panic!("{error}"));
    let folder = Folder::new("captures");
    run(&scenario, &RunOptions { capture: Some(folder.0.clone()), ..RunOptions::default() })
        .expect("it runs");
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

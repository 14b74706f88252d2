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

/// Layers that packets of a simulation have; what tshark names beside them, it has guessed.
const LAYERS: [&str; 12] = [
    "raw",
    "ip",
    "ipv6",
    "tcp",
    "udp",
    "mptcp",
    "data",
    "ropewalk_bond",
    "radiotap",
    "wlan_radio",
    "wlan",
    "llc",
];

/// For each file of a folder what tshark says of its packets: layers that none has, and frames that are malformed.
fn guessed(folder: &Path, script: &[&str]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let files = std::fs::read_dir(folder).expect("the folder is there");
    for file in files.map(|entry| entry.expect("readable").path()) {
        let mut command = Command::new("tshark");
        command
            .args(script)
            .args(["-T", "fields", "-e", "frame.protocols", "-e", "_ws.malformed", "-r"])
            .arg(&file);
        let Ok(output) = command.output() else {
            println!("skipped: tshark is not installed");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines: BTreeSet<String> =
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        let is_strange = |line: &String| {
            let (layers, malformed) = line.split_once('\t').expect("two fields");
            !malformed.is_empty() || layers.split(':').any(|layer| !LAYERS.contains(&layer))
        };
        found.extend(lines.into_iter().filter(is_strange).map(|line| format!("{}: {line}", file.display())));
    }
    Some(found)
}

#[test]
fn no_dissector_takes_the_packets_of_shipped_scenarios_for_its_own() {
    for scenario in ["chain", "degraded-path", "diamond", "handover", "lte-wifi", "mesh", "shared-bottleneck"]
    {
        let name = format!("{scenario}.toml");
        let folder = captured(&name, &format!("captures-{scenario}"), &[("scenario.duration", "1500 ms")]);
        let Some(strange) = guessed(&folder.0, &[]) else { return };
        assert!(strange.is_empty(), "{scenario}: {strange:#?}");
    }
}

#[test]
fn the_dissector_of_bonds_reads_every_packet_between_gateways() {
    let script = format!("lua_script:{}", root().join("docs/wireshark/ropewalk-bond.lua").display());
    let folder = captured("bonding.toml", "captures-bond", &[("scenario.duration", "500 ms")]);
    let file = folder.0.join("link-dsl.pcapng");
    let mut command = Command::new("tshark");
    let fields = ["ropewalk_bond.kind", "ropewalk_bond.global_seq", "ropewalk_bond.path", "_ws.malformed"];
    command.args(["-X", &script, "-T", "fields", "-r"]).arg(&file);
    for field in fields {
        command.args(["-e", field]);
    }
    let Ok(output) = command.output() else { return println!("skipped: tshark is not installed") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let packets: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert!(packets.len() > 100, "{} packets", packets.len());
    assert!(packets.iter().all(|fields| !fields[0].is_empty() && fields[3].is_empty()), "{text}");
    let data: Vec<u32> = packets
        .iter()
        .filter(|fields| fields[0] == "0")
        .map(|fields| fields[1].parse().expect("a number"))
        .collect();
    assert!(
        data.is_sorted() && data.len() > 100,
        "numbers of the bond in the order of the one path that is used"
    );
    let kinds: BTreeSet<&str> = packets.iter().map(|fields| fields[0]).collect();
    assert!(kinds.contains("1") && kinds.contains("2") && kinds.contains("3"), "{kinds:?}");
}

#[test]
fn a_capture_of_one_link_is_short_and_has_events_as_comments() {
    let path = root().join("scenarios/degraded-path.toml");
    let source = std::fs::read_to_string(&path).expect("the scenario is there");
    let keys = [("scenario.duration", "3 s"), ("scenario.events", "[\"scheduling\", \"timeout\"]")];
    let overrides: Vec<_> = keys.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let scenario = load(&source, Some(&path), &overrides).unwrap_or_else(|error| panic!("{error}"));
    let names = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let all = Folder::new("captures-comments");
    run(&scenario, &RunOptions { capture: Some(all.0.clone()), ..RunOptions::default() }).expect("it runs");
    assert_eq!(names(&all.0), ["host-client.pcapng", "host-server.pcapng", "link-a.pcapng", "link-b.pcapng"]);
    let links = ["b".to_owned()];
    let chosen = Folder::new("captures-chosen");
    let options = RunOptions {
        capture: Some(chosen.0.clone()),
        capture_links: &links,
        snap_length: 68,
        ..RunOptions::default()
    };
    run(&scenario, &options).expect("it runs");
    assert_eq!(names(&chosen.0), ["link-b.pcapng"]);
    let unknown = ["c".to_owned()];
    let options = RunOptions { capture_links: &unknown, ..options };
    let error = run(&scenario, &options).expect_err("there is no such link");
    assert_eq!(error.to_string(), "there is no link `c` to capture; the links are a, b");
    let Some(lengths) = tshark(&chosen.0.join("link-b.pcapng"), "tcp", &["frame.cap_len", "frame.len"])
    else {
        return;
    };
    let pairs = lengths.iter().map(|line| line.split_once('\t').expect("two fields"));
    let pairs: Vec<(u32, u32)> =
        pairs.map(|(kept, len)| (kept.parse().unwrap(), len.parse().unwrap())).collect();
    assert!(pairs.iter().all(|&(kept, len)| kept == len.min(68)) && pairs.iter().any(|&(_, len)| len > 1000));
    let comments = tshark(&all.0.join("host-client.pcapng"), "tcp", &["frame.comment"]).expect("installed");
    let said = comments.iter().filter(|comment| comment.contains("scheduled")).count();
    assert!(said > 50, "{said} of {} packets say why they go where they go", comments.len());
}

/// Types and subtypes of frames, as tshark numbers them.
const DATA: &str = "0x0020";
const ACK: &str = "0x001d";

#[test]
fn the_air_is_captured_frame_by_frame() {
    let path = root().join("scenarios/chain.toml");
    let source = std::fs::read_to_string(&path).expect("the scenario is there");
    let overrides = [("scenario.duration".to_owned(), "2 s".to_owned())];
    let scenario = load(&source, Some(&path), &overrides).unwrap_or_else(|error| panic!("{error}"));
    let folder = Folder::new("captures-air");
    let options = RunOptions { capture: Some(folder.0.clone()), ..RunOptions::default() };
    let outcome = run(&scenario, &options).expect("it runs");
    let file = folder.0.join("air-channel-1.pcapng");
    let fields = [
        "wlan.fc.type_subtype",
        "wlan.fc.retry",
        "radiotap.datarate",
        "radiotap.channel.freq",
        "wlan.ta",
        "frame.len",
        "tcp.srcport",
        "_ws.malformed",
        "wlan.duration",
    ];
    let Some(lines) = tshark(&file, "frame", &fields) else { return };
    let frames: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
    assert!(frames.iter().all(|frame| frame[7].is_empty() && frame[3] == "2412" && frame[2] == "11"));
    let count = |kind: &str| frames.iter().filter(|frame| frame[0] == kind).count() as u64;
    let sum = |of: fn(&ropewalk_scenario::RadioStats) -> u64| {
        outcome.radios.iter().map(|radio| of(&radio.stats)).sum::<u64>()
    };
    assert_eq!(count(DATA), sum(|stats| stats.data_sent));
    assert_eq!(count(ACK), sum(|stats| stats.acks_sent));
    let data = || frames.iter().filter(|frame| frame[0] == DATA);
    let again = data().filter(|frame| ["1", "True"].contains(&frame[1])).count() as u64;
    assert_eq!(again, sum(|stats| stats.retries));
    // What a frame repeats whose ACK was lost has moved on; all others have their segment.
    let dissected = data().filter(|frame| !frame[6].is_empty()).count();
    assert!(dissected * 10 > data().count() * 9, "{dissected} of {}", data().count());
    // Radiotap, MAC header, LLC, IP, TCP with timestamps, and 1400 octets; no check sequence.
    let longest = data().filter_map(|frame| frame[5].parse::<u32>().ok()).max();
    assert_eq!(longest, Some(14 + 24 + 8 + 20 + 20 + 12 + 1400));
    let senders: BTreeSet<&str> = data().map(|frame| frame[4]).collect();
    assert_eq!(senders.len(), 3, "{senders:?}");
}

//! A run that was recorded is played again.

use crate::net::{GATEWAY, Net, possible, rules, shell};
use std::fs;
use std::path::PathBuf;

/// Kinds of entries, as in `record.rs`.
const PACKET: u8 = 3;
const SENT: u8 = 6;

/// Where the octets of the entries of a kind begin and end: an entry is its kind, a time (8), the length (4) and octets.
fn places(record: &[u8], kind: u8) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut all) = (8, Vec::new());
    while let Some(head) = record.get(at..at + 13) {
        let len = u32::from_be_bytes(*head.last_chunk().expect("four of thirteen")) as usize;
        let octets = at + 13..at + 13 + len;
        at = octets.end;
        if head[0] == kind {
            all.push(octets);
        }
    }
    all
}

/// The record with one octet of a digest changed, with the last octet of each packet of the inside changed,
/// and without its last octet.
fn damaged(record: &[u8]) -> [Vec<u8>; 3] {
    let (mut digest, mut packets) = (record.to_vec(), record.to_vec());
    let sent = places(record, SENT);
    digest[sent[sent.len() / 2].start] ^= 0xff;
    let inside = places(record, PACKET);
    assert!(inside.len() > 20, "{} packets", inside.len());
    inside.iter().for_each(|octets| packets[octets.end - 1] ^= 0xff);
    [digest, packets, record[..record.len() - 1].to_vec()]
}

#[test]
fn a_record_gives_the_same_octets_again() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    // The record keeps what the name stood for. The replay runs where the name is not known.
    net.name_hub("hub.example.org");
    let records = ["hub", "site"].map(|end| net.path(&format!("{end}.record")));
    for (end, record) in ["hub", "site"].into_iter().zip(&records) {
        net.start_with(end, &["--record", record.to_str().expect("a name")]);
    }
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(net.transfer(2_000_000));
    let control = format!("--control {}", net.path("site.sock").display());
    assert!(shell(&format!("{GATEWAY} path {control} remove lte")).status.success());
    net.until("it works with one path", || net.pings("site", "10.9.0.1"));
    net.end("site", "TERM");
    net.end("hub", "TERM");
    becomes_a_scenario(&net, &records);
    for (end, record) in ["hub", "site"].into_iter().zip(&records) {
        let config = net.path(&format!("{end}.toml"));
        let replay = || shell(&format!("{GATEWAY} replay {} {}", config.display(), record.display()));
        let played = replay();
        let (out, error) = (String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr));
        assert!(played.status.success() && out.contains("each as recorded"), "{end}: {out}{error}");
        let [digest, packets, cut] = damaged(&fs::read(record).expect("it is there"));
        let said = [digest, packets, cut].map(|octets| {
            fs::write(record, octets).expect("it is this test's");
            let played = replay();
            format!("{}{}", String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr))
        });
        assert!(said[0].contains("datagrams at"), "{end}, another digest: {}", said[0]);
        assert!(said[1].contains("other octets than in the record"), "{end}, other packets: {}", said[1]);
        assert!(said[2].contains("cut off"), "{end}, an octet less: {}", said[2]);
    }
}

/// A file system of 64 kB, which is unmounted with this value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`: it cannot be mounted here.
    fn new(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).expect("a new folder");
        let mount = format!("mount -t tmpfs -o size=64k none {}", path.display());
        shell(&mount).status.success().then_some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        shell(&format!("umount -l {}", self.0.display()));
    }
}

#[test]
fn a_full_disk_stops_the_record_and_nothing_else() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let Some(disk) = SmallDisk::new(net.path("disk")) else {
        println!("skipped: no tmpfs can be mounted");
        return;
    };
    let (record, state) = (disk.0.join("record"), disk.0.join("state"));
    let config = net.path("site.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    let usual = format!("state = \"{}.json\"", net.path("site.sock").display());
    let text = text.replace(&usual, &format!("state = \"{}\"", state.display()));
    // The last table is that of the second line.
    fs::write(&config, text + "quota = \"50 MB\"\n").expect("it is this test's");
    let before = rules(&net);
    net.start("hub");
    net.start_with("site", &["--record", record.to_str().expect("a name")]);
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(net.transfer(2_000_000), "what goes through is more than the disk holds");
    assert!(net.log("site").contains("the record ends here"), "{}", net.log("site"));
    assert!(net.transfer(2_000_000), "the tunnel goes on");
    net.end("site", "TERM");
    assert!(net.log("site").contains("quotas"), "what could not be noted is told: {}", net.log("site"));
    assert_eq!(rules(&net), before);
    let replay = format!("{GATEWAY} replay {} {}", config.display(), record.display());
    let played = shell(&replay);
    let said = String::from_utf8_lossy(&played.stdout).into_owned();
    assert!(said.contains("cut off"), "{said}{}", String::from_utf8_lossy(&played.stderr));
}

/// The site's record as a scenario: lines and flows are those of the run.
fn becomes_a_scenario(net: &Net, [hub, site]: &[PathBuf; 2]) {
    let folder = net.path("what-if");
    let replay = |end: &str, record: &PathBuf| {
        let (config, record) = (net.path(&format!("{end}.toml")), record.display());
        shell(&format!("{GATEWAY} replay {} {record} --scenario {}", config.display(), folder.display()))
    };
    let refused = replay("hub", hub);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("only a site's becomes a scenario"), "{said}");
    let made = replay("site", site);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(!replay("site", site).status.success(), "what is there is not overwritten");
    let scenario = fs::read_to_string(folder.join("scenario.toml")).expect("it was written");
    for expected in ["[links.dsl]", "[links.lte]", "TCP from 10.9.0.", "file = \"flow-001.csv\""] {
        assert!(scenario.contains(expected), "{expected}\n{scenario}");
    }
    let flow = fs::read_to_string(folder.join("flow-001.csv")).expect("it was written");
    let octets = |line: &str| line.split_once(',').and_then(|(_, octets)| octets.parse::<u64>().ok());
    let carried = flow.lines().map(|line| octets(line).expect("a time and a length")).sum::<u64>();
    assert!(carried > 2_000_000, "{carried} octets");
}

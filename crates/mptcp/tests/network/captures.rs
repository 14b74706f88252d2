//! Option sequences against those of Linux's own Multipath TCP, per subflow and direction.
//!
//! The captures lie outside the repository; without them the tests say so and are skipped.

use super::{at, line};
use ropewalk_mptcp::{Config, FailureReason, Path, PathManager};
use ropewalk_testnet::{Finish, MptcpHost, Network, Seen, Stack, address, both_ways, paths, reversed};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{DataAck, Flags, Join, MptcpOption};
use std::collections::BTreeMap;

/// Subflow by first appearance, and whether the client sent it.
type Stream = (usize, bool);

/// What one segment says, in few words.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Word {
    syn: bool,
    fin: bool,
    rst: bool,
    len: u32,
    options: String,
}

fn capture(name: &str) -> Option<BTreeMap<Stream, Vec<Word>>> {
    let file = format!("{}/../../../shared/captures/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("skipped: no capture {name} beside the repository");
        return None;
    };
    let mut tuples: Vec<(String, String)> = Vec::new();
    let mut streams: BTreeMap<Stream, Vec<Word>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains('>')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (from, to) = fields[2].split_once('>').expect("source and destination");
        let key = (from.to_owned(), to.to_owned());
        let back = (key.1.clone(), key.0.clone());
        let (subflow, forward) = match tuples.iter().position(|known| *known == key || *known == back) {
            Some(at) => (at, tuples[at] == key),
            None => {
                tuples.push(key);
                (tuples.len() - 1, true)
            }
        };
        let flags = fields[3];
        let word = Word {
            syn: flags.contains('S'),
            fin: flags.contains('F'),
            rst: flags.contains('R'),
            len: fields[4].trim_start_matches("len=").parse().expect("a length"),
            options: linux_options(&fields[5..]),
        };
        streams.entry((subflow, forward)).or_default().push(word);
    }
    Some(streams)
}

/// The options of a line: names with what matters.
fn linux_options(fields: &[&str]) -> String {
    let value = |name: &str| {
        let found = fields.iter().find_map(|field| field.strip_prefix(name));
        found.unwrap_or_default().to_owned()
    };
    let kinds = fields.iter().enumerate().filter_map(|(at, field)| match *field {
        "MP_CAPABLE" => Some(format!("capable {}", value("len="))),
        "MP_JOIN" if fields[at + 1] == "ACK" => Some("join ACK".to_owned()),
        "MP_JOIN" => Some(format!("join {} B={} id={}", fields[at + 1], value("B="), value("id="))),
        "ADD_ADDR" => Some(format!("address E={} id={}", value("E="), value("id="))),
        "DSS" => Some(format!("dss {}", value("flags="))),
        "MP_FASTCLOSE" => Some("fastclose".to_owned()),
        "MP_TCPRST" => Some(format!("reset {}", value("reason="))),
        _ => None,
    });
    kinds.collect::<Vec<_>>().join(" ")
}

fn ours(seen: &[Seen]) -> BTreeMap<Stream, Vec<Word>> {
    let mut streams: BTreeMap<Stream, Vec<Word>> = BTreeMap::new();
    let mut subflows: Vec<Path> = Vec::new();
    for seen in seen {
        let path = if seen.side == 0 { seen.path } else { reversed(seen.path) };
        let subflow = subflows.iter().position(|known| *known == path).unwrap_or_else(|| {
            subflows.push(path);
            subflows.len() - 1
        });
        let segment = &seen.segment;
        let mut options: Vec<String> = segment.options.mptcp.rare().iter().map(rare).collect();
        if let Some(dss) = &segment.options.mptcp.dss {
            // RFC 8684 §3.3: F, m, M, a, A.
            let mut flags = if dss.data_fin() { 0x10 } else { 0 };
            flags |= if dss.mapping().is_some() { 0x0c } else { 0 };
            flags |= match dss.data_ack() {
                Some(DataAck::Long(_)) => 3,
                Some(DataAck::Short(_)) => 1,
                None => 0,
            };
            options.insert(0, format!("dss {flags:02x}"));
        }
        let word = Word {
            syn: segment.flags.contains(Flags::SYN),
            fin: segment.flags.contains(Flags::FIN),
            rst: segment.flags.contains(Flags::RST),
            len: segment.payload.len,
            options: options.join(" "),
        };
        streams.entry((subflow, seen.side == 0)).or_default().push(word);
    }
    streams
}

fn rare(option: &MptcpOption) -> String {
    match option {
        MptcpOption::Capable { sender_key, receiver_key, data, .. } => {
            let keys = u32::from(sender_key.is_some()) + u32::from(receiver_key.is_some());
            let data = data.map_or(0, |(_, checksum)| if checksum.is_some() { 4 } else { 2 });
            format!("capable {}", 4 + 8 * keys + data)
        }
        MptcpOption::Join(Join::Syn { backup, address_id, .. }) => {
            format!("join SYN B={} id={address_id}", u8::from(*backup))
        }
        MptcpOption::Join(Join::SynAck { backup, address_id, .. }) => {
            format!("join SYNACK B={} id={address_id}", u8::from(*backup))
        }
        MptcpOption::Join(Join::Ack { .. }) => "join ACK".to_owned(),
        MptcpOption::AddAddress(add) => {
            format!("address E={} id={}", u8::from(add.hmac.is_none()), add.address_id)
        }
        MptcpOption::FastClose(_) => "fastclose".to_owned(),
        MptcpOption::Reset { reason, .. } => format!("reset {}", *reason as u8),
        other => format!("{other:?}"),
    }
}

/// A stream up to the bulk data, or to the DATA_FIN if it has none.
fn opening(words: &[Word]) -> Vec<Word> {
    let opens = |word: &&Word| word.len < 100 && !word.options.starts_with("dss 1");
    words.iter().take_while(opens).cloned().collect()
}

fn assert_same_opening(linux: &BTreeMap<Stream, Vec<Word>>, ours: &BTreeMap<Stream, Vec<Word>>) {
    for (stream, words) in linux.iter().filter(|((_, forward), _)| *forward) {
        assert_eq!(opening(words), opening(&ours[stream]), "subflow and direction {stream:?}");
    }
    for (stream, words) in linux.iter().filter(|((_, forward), _)| !*forward) {
        // The server has no data: its stream goes on with bare DATA_ACKs. Compared up to the first of them.
        let until = |words: &[Word]| {
            let end =
                words.iter().position(|w| w.options.starts_with("dss")).map_or(words.len(), |at| at + 1);
            words[..end].to_vec()
        };
        assert_eq!(until(words), until(&ours[stream]), "subflow and direction {stream:?}");
    }
}

/// DATA_FIN on every subflow from both ends, and FINs after the peer's.
fn assert_same_close(linux: &BTreeMap<Stream, Vec<Word>>, ours: &BTreeMap<Stream, Vec<Word>>) {
    for (stream, words) in linux {
        let closing = |words: &[Word]| {
            let mut closing: Vec<String> = words
                .iter()
                .filter(|w| w.options.starts_with("dss 1") || w.fin)
                .map(|w| format!("{}{}", if w.fin { "FIN " } else { "" }, w.options))
                .collect();
            closing.dedup();
            closing
        };
        assert_eq!(closing(words), closing(&ours[stream]), "subflow and direction {stream:?}");
    }
}

/// What the captured applications did: 5 octets at once, 100 kB a third of a second later; the server closes when
/// the client has.
fn replay(client: Config, server: Config, paths: Vec<Path>, abort: bool) -> Network<MptcpHost> {
    let lines = vec![both_ways(line(10, 100)), both_ways(line(20, 100))];
    let mut client = MptcpHost::client(client, 2, 5);
    client.connect(paths, Instant::ZERO);
    let mut network = Network::new([client, MptcpHost::server(server, 2, 0)], lines, 1);
    network.record();
    (0..2).for_each(|side| network.host_mut(side).application_mut().finish = Finish::Never);
    network.run_until(at(300));
    network.host_mut(0).application_mut().to_write = if abort { 20_000 } else { 100_000 };
    if abort {
        network.run_until(at(330));
        network.host_mut(0).connection.as_mut().expect("opened").abort();
        network.run_until(at(1_000));
        return network;
    }
    network.host_mut(0).application_mut().finish = Finish::Written;
    network.run_until(at(1_000));
    assert!(network.host(1).mptcp().peer_finished());
    network.host_mut(1).application_mut().finish = Finish::Written;
    network.run_until(at(3_000));
    assert!(network.hosts().iter().all(|host| host.closed));
    network
}

fn across() -> Vec<Path> {
    vec![
        Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) },
        Path { local: address(1, 1, 0), remote: address(0, 2, 5001) },
    ]
}

fn parallel() -> Vec<Path> {
    paths(2)
}

fn config(path_manager: PathManager) -> Config {
    Config { path_manager, ..Config::linux() }
}

fn quiet() -> PathManager {
    PathManager::Scripted { steps: Vec::new() }
}

#[test]
fn a_second_address_announced_and_joined() {
    let Some(linux) = capture("simple") else { return };
    let full = config(PathManager::FullMesh);
    // The client learns the second address from ADD_ADDR alone.
    let network = replay(full.clone(), full, parallel(), false);
    let ours = ours(&network.seen);
    assert_same_opening(&linux, &ours);
    assert_same_close(&linux, &ours);
}

#[test]
fn the_client_s_second_address_joins() {
    let Some(linux) = capture("clijoin") else { return };
    let network = replay(config(PathManager::FullMesh), config(quiet()), across(), false);
    let ours = ours(&network.seen);
    assert_same_opening(&linux, &ours);
    assert_same_close(&linux, &ours);
}

#[test]
fn a_backup_subflow() {
    let Some(linux) = capture("backup") else { return };
    let network = replay(config(PathManager::Backup), config(quiet()), across(), false);
    let ours = ours(&network.seen);
    assert_same_opening(&linux, &ours);
    assert_same_close(&linux, &ours);
    let on_backup = &ours[&(1, true)];
    assert!(on_backup.iter().all(|word| word.len == 0), "a backup carries nothing while the other works");
}

#[test]
fn checksums_lengthen_the_options() {
    let Some(linux) = capture("csum") else { return };
    let full = Config { checksum: true, ..config(PathManager::FullMesh) };
    let network = replay(full.clone(), full, parallel(), false);
    let ours = ours(&network.seen);
    assert_same_opening(&linux, &ours);
    assert_same_close(&linux, &ours);
}

#[test]
fn a_fast_close_resets_every_subflow() {
    let Some(linux) = capture("fastclose") else { return };
    let full = config(PathManager::FullMesh);
    let network = replay(full.clone(), full, parallel(), true);
    let ours = ours(&network.seen);
    assert_same_opening(&linux, &ours);
    for subflow in 0..2 {
        let last = |streams: &BTreeMap<Stream, Vec<Word>>| {
            let reset = streams[&(subflow, true)].iter().find(|word| word.rst);
            reset.map(|word| word.options.clone())
        };
        assert_eq!(last(&linux), last(&ours), "subflow {subflow}");
    }
    assert_eq!(network.host(1).failed, Some(FailureReason::PeerAborted));
}

#[test]
fn payloads_are_as_long_as_linux_s() {
    // MTU 1400 with timestamps: Linux sends 1324 octets per segment (1348 in TCP).
    let mut config = config(PathManager::FullMesh);
    config.tcp.mss = 1360;
    let network = replay(config.clone(), config, parallel(), false);
    let longest = network.seen.iter().map(|seen| seen.segment.payload.len).max();
    assert_eq!(longest, Some(1324));
    let first = network.seen.iter().find(|seen| seen.segment.payload.len == 5).expect("the first data");
    assert_ne!(first.segment.seq, Seq::new(0));
}

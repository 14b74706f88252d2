//! An analysis of a run's own captures finds what the run counted: octets, shares, retransmissions, reinjections.

use ropewalk_analyse::{Connection, Kind, Report, Settings, analyse};
use ropewalk_scenario::{ConnectionRow, LinkRow, Outcome, RunOptions, SubflowRow, load, run};
use ropewalk_tests::root;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A folder of this process's own, removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a shipped scenario with captures and hands both to `check`.
fn with_captures(test: &str, name: &str, settings: &[(&str, &str)], check: impl FnOnce(&Outcome, &Path)) {
    let path = root().join("scenarios").join(name).with_extension("toml");
    let source = std::fs::read_to_string(&path).expect("the scenario is there");
    let settings: Vec<_> = settings.iter().map(|(key, to)| ((*key).to_owned(), (*to).to_owned())).collect();
    let scenario = load(&source, Some(&path), &settings).unwrap_or_else(|error| panic!("{error}"));
    let folder = Folder(std::env::temp_dir().join(format!("ropewalk-{test}-{name}-{}", std::process::id())));
    let options = RunOptions { capture: Some(folder.0.clone()), ..RunOptions::default() };
    let outcome = run(&scenario, &options).expect("it runs");
    check(&outcome, &folder.0);
}

fn of(folder: &Path, file: &str) -> Report {
    let file = File::open(folder.join(file).with_extension("pcapng")).expect("the capture is there");
    analyse(file, &Settings::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The run's connection and subflows, and the same as the capture of one host shows them.
fn pair<'a>(
    outcome: &'a Outcome,
    report: &'a Report,
) -> (&'a ConnectionRow, Vec<&'a SubflowRow>, &'a Connection) {
    let run = &outcome.connections[0];
    let subflows = outcome.subflows.iter().filter(|subflow| subflow.connection == run.name).collect();
    let found = report.connections.iter().find(|found| found.kind == Kind::Mptcp).expect("multipath");
    (run, subflows, found)
}

/// The direction that carried more.
fn data_direction(found: &Connection) -> usize {
    usize::from(found.streams[1].octets > found.streams[0].octets)
}

const MSS: u64 = 1460;

#[test]
fn the_sender_s_capture_shows_what_its_subflows_sent() {
    for preset in ["classic", "linux"] {
        let settings = [("scenario.duration", "30 s"), ("tcp.preset", preset)];
        with_captures(preset, "degraded-path", &settings, |outcome, folder| {
            let report = of(folder, "host-client");
            let (run, subflows, found) = pair(outcome, &report);
            assert_eq!(found.subflows.len(), subflows.len(), "{preset}");
            for (subflow, expected) in found.subflows.iter().zip(&subflows) {
                let flow = &subflow.flows[0];
                println!("{preset}: {expected:?}\n  {flow:?}");
                let is_its =
                    |link: &&LinkRow| link.name == expected.path && link.direction.starts_with("client");
                let link = outcome.links.iter().find(is_its).expect("each path is a link");
                // What still waits before the link at the end has not been captured.
                let waiting = link.offered - link.drops_queue - link.packets;
                assert_eq!(flow.segments + flow.bare_segments + waiting, expected.segments, "{preset}");
                let most = expected.retransmissions * MSS;
                let again = flow.retransmitted_octets;
                assert!(again <= most && again * 10 >= most * 9, "{preset}: {again} of {most}");
                assert_eq!(flow.unmapped_octets, 0, "{preset}");
            }
            let reinjected: u64 =
                found.subflows.iter().map(|subflow| subflow.flows[0].reinjected_octets).sum();
            assert_eq!(Some(reinjected), run.reinjected_bytes, "{preset}");
            assert!(preset == "classic" || reinjected > 0, "a timeout of the bad path reinjects its head");
            assert!(found.streams[0].octets >= run.bytes, "{preset}");
        });
    }
}

#[test]
fn the_receiver_s_capture_shows_what_came_and_what_waited() {
    for (scenario, receiver) in [("degraded-path", "host-server"), ("handover", "host-phone")] {
        with_captures("came", scenario, &[("scenario.duration", "30 s")], |outcome, folder| {
            let report = of(folder, receiver);
            let (run, _, found) = pair(outcome, &report);
            let stream = &found.streams[data_direction(found)];
            println!("{scenario}: {run:?}\n  {stream:?}");
            assert_eq!(stream.missing_octets, 0, "{scenario}");
            assert!(
                stream.octets >= run.bytes
                    && stream.octets - run.bytes <= run.reorder_buffer_max.expect("simulated"),
                "{scenario}"
            );
            // What waits in a subflow for a segment that was lost there has not reached the run's connection level.
            assert!(
                stream.blocked.as_secs_f64() >= run.hol_blocked_s.expect("simulated"),
                "{scenario}: {:?}",
                stream.blocked
            );
        });
    }
}

#[test]
fn without_losses_data_wait_exactly_as_long_as_the_run_says() {
    let clean = [
        ("scenario.duration", "20 s"),
        ("links.a.loss", "0 %"),
        ("links.b.loss", "0 %"),
        ("links.a.queue", "10000 packets"),
        ("links.b.queue", "10000 packets"),
    ];
    with_captures("clean", "degraded-path", &clean, |outcome, folder| {
        let report = of(folder, "host-server");
        let (run, _, found) = pair(outcome, &report);
        let stream = &found.streams[0];
        println!("{run:?}\n  {stream:?}");
        assert!(
            run.hol_blocked_s.expect("simulated") > 1.0,
            "one path is five times as fast: {}",
            run.hol_blocked_s.expect("simulated")
        );
        assert!(
            (stream.blocked.as_secs_f64() - run.hol_blocked_s.expect("simulated")).abs() < 0.05,
            "{:?}",
            stream.blocked
        );
        let repeated = |flow: &ropewalk_analyse::Flow| flow.retransmitted_octets + flow.reinjected_octets;
        assert!(found.subflows.iter().all(|subflow| repeated(&subflow.flows[0]) == 0));
    });
}

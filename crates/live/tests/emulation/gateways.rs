//! Bonds whose gateways are the daemon. It has to be built before:
//! `cargo build --profile test -p ropewalk-gateway`.

use crate::machine::{has_gateway, judged, turn};
use crate::scenarios::{Emulated, bonded, limited, two_sites, weighted};
use crate::traces::{self, Traces};
use crate::{close, goodput};
use ropewalk_live::RunError;
use ropewalk_scenario::{BondRow, Outcome, RunOptions};
use ropewalk_units::Duration;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The row of a path, or of the whole, from the client's gateway to the server's.
fn there<'a>(outcome: &'a Outcome, path: Option<&str>) -> &'a BondRow {
    let mut rows = outcome.bonds.iter().filter(|row| row.direction == "site->hub");
    rows.find(|row| row.path.as_deref() == path).unwrap_or_else(|| panic!("{:#?}", outcome.bonds))
}

/// Of what both paths have sent, the part of the dearer one in per cent.
fn dear(outcome: &Outcome) -> f64 {
    let sent = ["dsl", "lte"].map(|path| there(outcome, Some(path)).traffic.sent_bytes as f64);
    100.0 * sent[1] / (sent[0] + sent[1])
}

/// What both worlds must agree on.
fn agree(scenario: &Emulated) {
    let (real, simulated) = (scenario.run(), scenario.simulate());
    println!("{:#?}\n{:#?}\n{:?}", real.bonds, real.connections, real.lateness);
    for outcome in [&real, &simulated] {
        assert_eq!(outcome.bonds.len(), 6, "both directions, and two paths in each: {:#?}", outcome.bonds);
        let file = outcome.connections.iter().find(|row| row.name == "file").expect("there is one");
        assert!(file.completed && file.bytes == 300_000, "{file:?}");
    }
    let names = |outcome: &Outcome| {
        let rows = outcome.bonds.iter();
        rows.map(|row| (row.name.clone(), row.direction.clone(), row.path.clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&real), names(&simulated));
    let parts = real.processes.iter().map(|row| row.name.as_str()).collect::<Vec<_>>();
    assert_eq!(parts, ["links", "applications", "gateway hub", "gateway site"]);
    assert!(real.processes.iter().all(|row| row.running > Duration::ZERO), "{:?}", real.processes);
    assert_eq!(simulated.processes, []);
    let calls = [&real, &simulated].map(|outcome| {
        let call = outcome.connections.iter().find(|row| row.name == "call").expect("there is one");
        call.datagrams.expect("it is UDP")
    });
    println!("dear path {:.1} % and {:.1} %, {calls:?}", dear(&real), dear(&simulated));
    assert_eq!(calls[0].sent, calls[1].sent);
    assert!(calls[0].received * 100 >= calls[0].sent * 98, "{calls:?}");
    assert!(close(goodput(&real), goodput(&simulated), 0.03));
    assert!((dear(&real) - dear(&simulated)).abs() < 5.0, "{:.1} and {:.1} %", dear(&real), dear(&simulated));
    let whole = there(&real, None);
    assert!(whole.traffic.sent_packets >= calls[0].sent, "{whole:?}");
    assert!(whole.egress.is_some_and(|egress| egress.depth_max > 0), "two paths, and one order: {whole:?}");
}

#[test]
fn a_bond_of_two_paths_carries_datagrams_and_tcp_in_both_worlds() {
    if has_gateway() {
        judged(|| agree(&bonded().longer()));
    }
}

/// Weights follow losses, so the links must lose packets. The daemon's packets are 2 % longer.
#[test]
fn a_bond_by_weights_is_the_same_in_both_worlds() {
    if !has_gateway() {
        return;
    }
    judged(|| {
        let (real, simulated) = (weighted().run(), weighted().simulate());
        let came = [&real, &simulated].map(|outcome| {
            let call = outcome.connections.iter().find(|row| row.name == "call").expect("there is one");
            let call = call.datagrams.expect("it is UDP");
            call.received as f64 / call.sent as f64
        });
        let dear = [dear(&real), dear(&simulated)];
        println!("dear path {dear:.1?} %, came {came:.3?}");
        assert!((dear[0] - dear[1]).abs() < 5.0, "{dear:.1?} %");
        assert!(dear[1] > 10.0, "its weight begins at 10 beside 20");
        assert!((came[0] - came[1]).abs() < 0.04, "{came:.3?}");
    });
}

#[test]
fn a_path_whose_quota_is_spent_carries_nothing_more() {
    if !has_gateway() {
        return;
    }
    judged(|| {
        let (real, simulated) = (limited().run(), limited().simulate());
        let sent = |outcome: &Outcome, path| there(outcome, path).traffic.sent_bytes;
        let dear = [&real, &simulated].map(|outcome| sent(outcome, Some("lte")));
        let all = [&real, &simulated].map(|outcome| sent(outcome, None));
        println!("{dear:?} octets of 3 MB, {all:?} in all");
        for (dear, all) in dear.into_iter().zip(all) {
            assert!(
                (1_000_000..=3_000_000).contains(&dear),
                "{dear} octets: both directions and all else count"
            );
            assert!(all > dear + 2_000_000, "{all} octets in all, {dear} by the path with a quota");
        }
    });
}

/// One daemon at the hub has both sites, and carries what one says to the other.
#[test]
fn two_sites_of_one_hub() {
    if !has_gateway() {
        return;
    }
    judged(|| {
        let (real, simulated) = (two_sites().run(), two_sites().simulate());
        println!("{:#?}\n{:#?}", real.bonds, real.connections);
        for outcome in [&real, &simulated] {
            assert_eq!(outcome.bonds.len(), 12, "{:#?}", outcome.bonds);
            for name in ["file", "across"] {
                let row = outcome.connections.iter().find(|row| row.name == name).expect("there is one");
                assert!(row.completed, "{row:?}");
            }
            let talk = outcome.connections.iter().find(|row| row.name == "talk").expect("there is one");
            let talk = talk.datagrams.expect("it is UDP");
            assert!(talk.received * 100 >= talk.sent * 98, "{talk:?}");
            let sent = |name: &str, direction: &str| {
                let rows = outcome.bonds.iter().filter(|row| row.path.is_none());
                let row = rows.into_iter().find(|row| row.name == name && row.direction == direction);
                row.expect("there is one").traffic.sent_bytes
            };
            assert!(sent("branches", "hub->branch") > 100_000, "what the client says to the other site");
            assert!(sent("branches", "branch->hub") > 1_500_000);
            assert!(sent("tunnel", "site->hub") > 7_000_000);
        }
    });
}

#[test]
fn a_bond_over_ipv6() {
    if has_gateway() {
        judged(|| agree(&bonded().longer().over_ipv6()));
    }
}

#[test]
fn the_series_of_a_bond_is_sampled() {
    if !has_gateway() {
        return;
    }
    judged(|| {
        let options = RunOptions { series: true, ..RunOptions::default() };
        let outcome = ropewalk_live::run(&bonded().load(&[]), &options).expect("it runs");
        let rows = outcome.bond_series.iter().filter(|row| row.row == 1).collect::<Vec<_>>();
        assert_eq!(outcome.bonds[1].path.as_deref(), Some("dsl"));
        assert!(rows.len() >= 5, "{} samples", rows.len());
        let at_work = |row: &&&ropewalk_scenario::BondSeriesRow| {
            row.sent_mbps > 5.0
                && row
                    .path
                    .is_some_and(|path| path.state == "up" && path.srtt_ms.is_some_and(|srtt| srtt > 19.0))
        };
        assert!(rows.iter().filter(at_work).count() >= 3, "{rows:#?}");
    });
}

#[test]
fn nothing_is_left_of_a_bond_that_is_stopped() {
    let Some(_turn) = turn().filter(|_| has_gateway()) else { return };
    let stop = AtomicBool::new(false);
    let options = RunOptions { stop: Some(&stop), ..RunOptions::default() };
    let scenario = bonded().load(&[("scenario.duration", "1 h")]);
    let result = thread::scope(|scope| {
        let run = scope.spawn(|| ropewalk_live::run(&scenario, &options));
        traces::wait_for(|| folder().is_some_and(|folder| folder.join("0-site.sock").exists()));
        let private = std::os::unix::fs::MetadataExt::mode(
            &std::fs::metadata(folder().expect("it is there")).expect("root may look"),
        );
        stop.store(true, Ordering::Relaxed);
        (run.join().expect("it does not panic"), private)
    });
    assert_eq!(result.1 & 0o777, 0o700, "keys are in it");
    assert!(matches!(result.0, Err(RunError::Interrupted { .. })), "{result:?}");
    assert!(Traces::of_this_process().is_empty(), "{:?}", Traces::of_this_process());
    assert!(folder().is_none() && daemons_in(std::process::id()).is_empty(), "{:?}", folder());
}

/// The folder of this process's run.
fn folder() -> Option<PathBuf> {
    folder_of(std::process::id())
}

/// The folder of the run of a process.
fn folder_of(process: u32) -> Option<PathBuf> {
    let entries = std::fs::read_dir("/run/ropewalk").ok()?.flatten();
    let own = format!("{process}-");
    let mut folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&own));
    folders.find(|entry| entry.path().is_dir()).map(|entry| entry.path())
}

/// The daemons of the run of a process, as folders of `/proc`: their configurations are in the
/// run's folder.
fn daemons_in(process: u32) -> Vec<PathBuf> {
    let config = format!("/run/ropewalk/{process}-");
    let processes = std::fs::read_dir("/proc").expect("it is there").flatten().map(|entry| entry.path());
    let runs_it = |folder: &PathBuf| {
        let line = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&config)
    };
    processes.filter(runs_it).collect()
}

/// Says to this program, run once more, that it is to be killed.
const VICTIM: &str = "ROPEWALK_VICTIM_OF_GATEWAYS";

#[test]
fn what_a_killed_run_leaves_of_its_bonds_the_next_one_removes() {
    let Some(_turn) = turn().filter(|_| has_gateway()) else { return };
    if std::env::var_os(VICTIM).is_some() {
        let scenario = bonded().load(&[("scenario.duration", "1 h")]);
        let result = ropewalk_live::run(&scenario, &RunOptions::default());
        panic!("it was not killed: {result:?}");
    }
    let name = "gateways::what_a_killed_run_leaves_of_its_bonds_the_next_one_removes";
    let mut victim = crate::machine::this_test(name).env(VICTIM, "1").spawn().expect("this program");
    let number = victim.id();
    traces::wait_for(|| folder_of(number).is_some_and(|folder| folder.join("0-site.sock").exists()));
    let daemons = daemons_in(number);
    assert_eq!(daemons.len(), 2, "a site and a hub");
    victim.kill().expect("it runs");
    victim.wait().expect("it has ended");
    assert!(folder_of(number).is_some_and(|folder| folder.join("0-psk").exists()), "nobody has removed it");
    ropewalk_live::clean().expect("root may");
    assert!(Traces::of(number).is_empty(), "{:?}", Traces::of(number));
    traces::wait_for(|| daemons.iter().all(|daemon| !daemon.exists()));
}

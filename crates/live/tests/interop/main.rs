//! Our TCP and Multipath TCP talk to Linux's, in both roles, over TUN interfaces in a network
//! namespace of each case's own. Each side sends a stream, and has to see the other one's: its
//! length, and its SHA-256.

mod cases;
mod kernel;
mod middlebox;
#[path = "../namespace/mod.rs"]
mod namespace;
mod scene;
mod watch;
#[path = "../witness/mod.rs"]
mod witness;

use scene::Role;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use witness::{ATTEMPTS, Witness, wait_for_calm};

/// Octets of a stream, unless a case says otherwise, in MB. `ROPEWALK_MEGABYTES=50` for more.
fn megabytes() -> u64 {
    std::env::var("ROPEWALK_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

/// One row of the table. Linux 6.18 now and then puts the first segment of a joined subflow in a
/// wrong place (`docs/interoperation.md`): a row in which that happened is not about us, and runs
/// again. So does one that failed while other programs kept the kernel waiting; when that has
/// happened each time, the row says so instead of failing.
fn row(case: &str) -> Result<String, String> {
    let mut misplaced = String::new();
    for _ in 0..ATTEMPTS {
        let witness = Witness::new();
        let result = run(case);
        let strain = witness.end();
        match result {
            Err(why) if why.contains(scene::MISPLACED) => {
                println!("{case}: {}; once more", scene::MISPLACED);
                misplaced = why;
            }
            Err(why) if !strain.is_bearable() => {
                println!("{case}: not judged, the machine was busy: {strain:?}\n{why}");
                wait_for_calm();
            }
            result => return result,
        }
    }
    if misplaced.is_empty() {
        Ok("inconclusive: the machine was too busy".to_owned())
    } else {
        Err(misplaced)
    }
}

fn run(case: &str) -> Result<String, String> {
    let output = namespace::inside("linux_and_we_understand_each_other", case);
    let text = String::from_utf8_lossy(&output.stdout);
    let report = text.lines().find_map(|line| Some(line.split_once("report: ")?.1));
    match report {
        Some(report) if output.status.success() => Ok(report.to_owned()),
        _ => Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

#[test]
fn linux_and_we_understand_each_other() {
    if let Some(case) = namespace::case() {
        return cases::run(&case);
    }
    if !namespace::may_run() {
        return;
    }
    println!(
        "{:57} {:8} {:>8} {:>9} {:>9}  subflows, MB carried by us",
        "case", "we are", "s", "again", "fallback"
    );
    let rows = wanted_rows();
    let failed = side_by_side(&rows);
    assert!(failed.is_empty(), "{} cases failed\n{}", failed.len(), failed.join("\n\n"));
}

/// Each case in each of its roles. `ROPEWALK_CASE` is a part of a case's name: only those run.
fn wanted_rows() -> Vec<(&'static str, Role)> {
    let wanted = std::env::var("ROPEWALK_CASE").unwrap_or_default();
    let cases = cases::CASES.iter().filter(|case| case.name.contains(&wanted));
    let in_roles = cases.flat_map(|case| [Role::Client, Role::Server].map(|role| (case, role)));
    in_roles.filter(|(case, role)| case.roles.contains(role)).map(|(case, role)| (case.name, role)).collect()
}

/// Runs two rows at once on each processor, since most of the time a row waits for its links. Prints them in their order, and
/// returns what failed.
fn side_by_side(rows: &[(&str, Role)]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let (told, results) = mpsc::channel();
    let work = |told: mpsc::Sender<(usize, Result<String, String>)>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, role)) = rows.get(at) else { return };
            let _ = told.send((at, row(&format!("{name}/{role:?}"))));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 * std::thread::available_parallelism().map_or(1, usize::from) {
            let told = told.clone();
            scope.spawn(|| work(told));
        }
        drop(told);
        print_in_order(rows, &results)
    })
}

fn print_in_order(
    rows: &[(&str, Role)],
    results: &mpsc::Receiver<(usize, Result<String, String>)>,
) -> Vec<String> {
    let mut early = BTreeMap::new();
    let mut failed = Vec::new();
    for (at, (name, role)) in rows.iter().enumerate() {
        while !early.contains_key(&at) {
            let (other, result) = results.recv().expect("a row ends with a result");
            early.insert(other, result);
        }
        match early.remove(&at).expect("it is there") {
            Ok(report) => println!("{name:57} {:8} {report}", format!("{role:?}")),
            Err(why) => {
                println!("{name:57} {:8} FAILED", format!("{role:?}"));
                failed.push(format!("{name}/{role:?}:\n{why}"));
            }
        }
    }
    failed
}

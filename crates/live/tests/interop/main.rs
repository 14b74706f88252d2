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
    let mut failed = Vec::new();
    // Part of a case's name: only those run.
    let wanted = std::env::var("ROPEWALK_CASE").unwrap_or_default();
    for case in cases::CASES.iter().filter(|case| case.name.contains(&wanted)) {
        for role in [Role::Client, Role::Server] {
            if !case.roles.contains(&role) {
                continue;
            }
            let name = format!("{}/{role:?}", case.name);
            match row(&name) {
                Ok(report) => println!("{:57} {:8} {report}", case.name, format!("{role:?}")),
                Err(why) => {
                    println!("{:57} {:8} FAILED", case.name, format!("{role:?}"));
                    failed.push(format!("{name}:\n{why}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} cases failed\n{}", failed.len(), failed.join("\n\n"));
}

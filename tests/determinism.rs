//! The same scenario and seed give the same bytes; another seed gives others.

use ropewalk_scenario::{RunOptions, load, run};
use std::path::Path;

/// Every shipped scenario.
fn scenarios() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let entries = std::fs::read_dir(folder).expect("the scenarios are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    assert!(paths.len() >= 8, "at least eight scenarios are shipped");
    paths
}

#[test]
fn shipped_scenarios_run_alike_twice_and_conserve_packets() {
    for path in scenarios() {
        let source = std::fs::read_to_string(&path).expect("readable");
        let short = [("scenario.duration".to_owned(), "5 s".to_owned())];
        // A scenario whose events lie after five seconds keeps its own duration.
        let scenario = load(&source, Some(&path), &short)
            .or_else(|_| load(&source, Some(&path), &[]))
            .unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions { series: true, seed: Some(3), ..RunOptions::default() };
        let first = run(&scenario, &options).expect("it runs");
        let second = run(&scenario, &options).expect("it runs");
        assert_eq!(first, second, "{}", path.display());
        for link in &first.links {
            let sent = link.offered + link.duplicates;
            let accounted = link.delivered + link.drops_queue + link.drops_loss + link.queued;
            assert_eq!(sent, accounted, "{}: {link:?}", path.display());
        }
    }
}

//! Prints one hash for everything that the shipped scenarios return. Run it before and after a change that must not
//! change results: the hashes are the same.
//!
//! `outcomes [FOLDER]...`: the scenarios in these folders, by default `scenarios` and `benches/scenarios`.

use ropewalk_scenario::{RunOptions, load, run};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

/// Settings that each scenario runs with, beside its own: seeds, and both presets of TCP.
const VARIANTS: [(u64, &str); 3] = [(1, ""), (2, "classic"), (3, "linux")];

/// FNV-1a with 64 bits: the hash of a text that is never held whole.
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths
}

/// The hash of one scenario's outcomes over all variants.
fn hash(path: &Path) -> u64 {
    let source = std::fs::read_to_string(path).expect("readable");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for (seed, preset) in VARIANTS {
        let short = [("scenario.duration".to_owned(), "8 s".to_owned())];
        let mut settings = short.to_vec();
        if !preset.is_empty() {
            settings.push(("tcp.preset".to_owned(), preset.to_owned()));
        }
        // A scenario whose events lie after the short duration keeps its own.
        let scenario = load(&source, Some(path), &settings)
            .or_else(|_| load(&source, Some(path), &settings[1..]))
            .or_else(|_| load(&source, Some(path), &[]))
            .unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions { series: true, seed: Some(seed), ..RunOptions::default() };
        let mut outcome = run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"));
        // It changes with every new key, and results do not.
        outcome.provenance.scenario_hash.clear();
        write!(hash, "{outcome:?}").expect("a hash takes every text");
    }
    hash.0
}

fn main() {
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        folders = vec![root.join("scenarios"), root.join("benches/scenarios")];
    }
    let mut all = Fnv(0xcbf2_9ce4_8422_2325);
    for path in folders.iter().flat_map(|folder| scenarios(folder)) {
        let one = hash(&path);
        let name = path.file_stem().expect("a file has a name");
        println!("{one:016x} {}", name.display());
        write!(all, "{one:016x}").expect("a hash takes every text");
    }
    println!("{:016x} all", all.0);
}

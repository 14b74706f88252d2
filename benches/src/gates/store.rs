//! Records of runs in a file, a line each: what has run stays, whatever ends the program.

use crate::case::Run;
use crate::measure::Record;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file, and what it has.
pub(crate) struct Store {
    file: File,
    records: HashMap<String, Record>,
}

impl Store {
    /// Opens the file, or makes it. A line that cannot be read, as a kill may leave it behind, is passed over.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let records =
            text.lines().filter_map(|line| serde_json::from_str::<(String, Record)>(line).ok()).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            writeln!(file)?;
        }
        Ok(Self { file, records })
    }

    /// The record of this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Record> {
        self.records.get(key)
    }

    /// Keeps a record, at once. Runs that were stopped are not kept in the file.
    pub(crate) fn put(&mut self, key: String, record: Record) -> io::Result<()> {
        let line = serde_json::to_string(&(&key, &record)).map_err(io::Error::other)?;
        writeln!(self.file, "{line}")?;
        self.records.insert(key, record);
        Ok(())
    }
}

/// What names a run: its scenario, and the code.
pub(crate) fn key(run: &Run, labels: &Labels) -> String {
    let label = if run.is_bare { &labels.bare } else { &labels.bond };
    hex(Sha256::new().chain_update(&run.text).chain_update([0]).chain_update(label))
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Names of the code: that of everything, and that of everything but bonding.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    /// For runs of bonds.
    pub(crate) bond: String,
    /// For runs without.
    pub(crate) bare: String,
}

/// Sources that only bonds depend on.
const BONDING: [&str; 3] =
    ["crates/bonding/", "crates/scenario/src/world/gateway", "crates/scenario/src/world/bonds"];
/// Sources that no run depends on.
const NOT_RUN: [&str; 9] = [
    "crates/adversary/",
    "crates/analyse/",
    "crates/gateway/",
    "crates/live/",
    "crates/python/",
    "crates/routing/",
    "crates/scenario/src/explain/",
    "crates/testnet/",
    "/tests/",
];

impl Labels {
    /// Hashes of the sources below `root`.
    pub(crate) fn of_sources(root: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        sources(&root.join("crates"), &mut files)?;
        files.sort();
        let (mut bond, mut bare) = (Sha256::new(), Sha256::new());
        for path in files {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if NOT_RUN.iter().any(|part| name.contains(part)) {
                continue;
            }
            let content = fs::read(&path)?;
            bond.update(&content);
            if !BONDING.iter().any(|part| name.starts_with(part)) {
                bare.update(&content);
            }
        }
        Ok(Self { bond: hex(bond), bare: hex(bare) })
    }
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_there_again_and_a_torn_line_is_not() {
        let path = std::env::temp_dir().join(format!("ropewalk-gates-store-{}", std::process::id()));
        let record = Record { events: 7, ..Record::default() };
        {
            let mut store = Store::open(&path).expect("a new file");
            store.put("a".into(), record.clone()).expect("written");
        }
        let mut text = fs::read_to_string(&path).expect("readable");
        text.push_str("[\"b\", {\"events\": 9");
        fs::write(&path, text).expect("written");
        let mut store = Store::open(&path).expect("the same file");
        assert_eq!((store.get("a"), store.get("b")), (Some(&record), None));
        store.put("c".into(), Record::default()).expect("written");
        let store = Store::open(&path).expect("the same file");
        assert!(store.get("c").is_some() && store.get("a").is_some());
        fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn a_bare_run_is_known_again_whatever_the_bond() {
        let labels = |bond: &str| Labels { bond: bond.into(), bare: "base".into() };
        let run = |is_bare| Run { text: "x".into(), is_bare };
        assert_eq!(key(&run(true), &labels("old")), key(&run(true), &labels("new")));
        assert_ne!(key(&run(false), &labels("old")), key(&run(false), &labels("new")));
        assert_ne!(
            key(&run(false), &labels("base")),
            key(&Run { text: "y".into(), is_bare: true }, &labels("base"))
        );
    }
}

//! What the tests share: scenarios from texts, files and folders, and what becomes of them.

use ropewalk_scenario::{Outcome, RunOptions, Scenario, ScenarioError, load, run};
use std::fs;
use std::path::{Path, PathBuf};

/// Two hosts and the routers beside them: the gateways of bonds, between which a text puts its links.
macro_rules! gateways {
    () => {
        "
[hosts.server]
[hosts.client]
[routers.hub]
[routers.cpe]
[links.core]
between = [\"server\", \"hub\"]
rate = \"1 Gbit/s\"
[links.lan]
between = [\"client\", \"cpe\"]
rate = \"1 Gbit/s\"
"
    };
}

/// The beginning of a bond of a line of 8 Mbit/s and 5 ms, and a second one of this rate and delay.
macro_rules! two_lines {
    ($rate:literal, $delay:literal) => {
        concat!(
            $crate::support::gateways!(),
            "
[links.dsl]
between = [\"hub\", \"cpe\"]
rate = \"8 Mbit/s\"
delay = \"5 ms\"
[links.lte]
between = [\"hub\", \"cpe\"]
rate = \"",
            $rate,
            "\"
delay = \"",
            $delay,
            "\"
[bonds.home]
between = [\"hub\", \"cpe\"]
"
        )
    };
}

/// Two hosts with two links between them.
macro_rules! two_paths {
    () => {
        "
[hosts.a]
[hosts.b]
[links.l]
between = [\"a\", \"b\"]
rate = \"8 Mbit/s\"
[links.m]
between = [\"a\", \"b\"]
rate = \"4 Mbit/s\"
"
    };
}

/// Two hosts, bulk data from one to the other, and the beginning of a wireless network in which a station hears others up
/// to 20 m away.
macro_rules! air {
    () => {
        "
[hosts.s]
[hosts.d]
[connections.bulk]
from = \"s\"
to = \"d\"
application = { kind = \"bulk\" }
[wifi]
propagation = { model = \"disk\", reception = \"20 m\" }
"
    };
}

pub(crate) use {air, gateways, two_lines, two_paths};

/// Keys and values to set beside those of a text.
pub(crate) type Overrides<'a> = [(&'a str, &'a str)];

/// Owned, as `load` wants them.
pub(crate) fn pairs(overrides: &Overrides<'_>) -> Vec<(String, String)> {
    overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The scenario of a text, which is right.
pub(crate) fn scenario(text: &str, overrides: &Overrides<'_>) -> Scenario {
    load(text, None, &pairs(overrides)).unwrap_or_else(|error| panic!("{overrides:?}: {error}\n{text}"))
}

/// What is wrong with a text.
pub(crate) fn mistake(text: &str, overrides: &Overrides<'_>) -> ScenarioError {
    match load(text, Some(Path::new("test.toml")), &pairs(overrides)) {
        Ok(_) => panic!("this is wrong, but was accepted: {overrides:?}\n{text}"),
        Err(error) => error,
    }
}

/// Values to set, the key at fault, what is wrong and what was expected.
pub(crate) type Refusal<'a> = (&'a Overrides<'a>, &'a str, &'a str, &'a str);

/// A good text is refused with each of these values, in exactly these words.
pub(crate) fn refuses(good: &str, cases: &[Refusal<'_>]) {
    scenario(good, &[]);
    for &(overrides, key, message, expected) in cases {
        let error = mistake(good, overrides);
        let found = (&*error.key, &*error.message, &*error.expected);
        assert_eq!(found, (key, message, expected), "{overrides:?}: {error}");
    }
}

/// What comes out, with samples.
pub(crate) fn ran(scenario: &Scenario) -> Outcome {
    run(scenario, &RunOptions { series: true, ..RunOptions::default() }).expect("the run ends")
}

/// What comes out of a text, with samples.
pub(crate) fn outcome(text: &str, overrides: &Overrides<'_>) -> Outcome {
    ran(&scenario(text, overrides))
}

/// The folder of the scenarios of this repository.
pub(crate) fn shipped_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Their files, in order of their names.
pub(crate) fn shipped_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(shipped_folder()).expect("the repository has scenarios");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// What stands in a file.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// The scenario of a file, which is right.
pub(crate) fn open(path: &Path, overrides: &Overrides<'_>) -> Scenario {
    load(&read(path), Some(path), &pairs(overrides)).unwrap_or_else(|error| panic!("{overrides:?}: {error}"))
}

/// A scenario of this repository.
pub(crate) fn shipped(name: &str, overrides: &Overrides<'_>) -> Scenario {
    open(&shipped_folder().join(name), overrides)
}

/// A folder of its own for each test, removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ropewalk-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("writable");
    }

    /// The scenario of a text in this folder.
    pub(crate) fn load(&self, text: &str) -> Result<Scenario, ScenarioError> {
        load(text, Some(&self.0.join("test.toml")), &[])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

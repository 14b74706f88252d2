//! The files that a scenario names beside itself: each is read once, and known by the hash of its content.

use super::trace;
use ropewalk_sim::Trace;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The files that a scenario names. What was read is remembered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// Names are relative to it.
    folder: Option<PathBuf>,
    read: RefCell<FileHashes>,
}

/// The hashes of the files that a scenario names, and the traces in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileHashes {
    traces: BTreeMap<String, (Trace, String)>,
    /// Hashes of other files, by name.
    others: BTreeMap<String, String>,
}

/// Why there is no trace.
pub(super) enum FileFault {
    /// The file cannot be read.
    Unreadable { path: String, error: io::Error },
    /// A line of it is wrong.
    Line { path: String, line: usize, message: String, text: String },
}

impl Files {
    /// Files whose names are relative to `folder`.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Self { folder: folder.map(Path::to_path_buf), read: RefCell::default() }
    }

    /// What was read.
    pub(crate) fn into_hashes(self) -> FileHashes {
        self.read.into_inner()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.as_ref().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
    }

    /// The trace in the file `name`.
    pub(super) fn trace(&self, name: &str) -> Result<Trace, FileFault> {
        if let Some((trace, _)) = self.read.borrow().traces.get(name) {
            return Ok(trace.clone());
        }
        let path = self.path(name);
        let shown = || path.display().to_string();
        let content = std::fs::read(&path).map_err(|error| FileFault::Unreadable { path: shown(), error })?;
        let trace = trace::parse(&content).map_err(|fault| {
            let trace::TraceFault { line, message, text } = fault;
            FileFault::Line { path: shown(), line, message, text }
        })?;
        self.read.borrow_mut().traces.insert(name.to_owned(), (trace.clone(), hash(&content)));
        Ok(trace)
    }

    /// The text of the file `name`, and its path; the path and what is wrong if it cannot be read.
    pub(super) fn text(&self, name: &str) -> Result<(String, String), (String, io::Error)> {
        let path = self.path(name);
        let shown = path.display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                self.read.borrow_mut().others.insert(name.to_owned(), hash(text.as_bytes()));
                Ok((text, shown))
            }
            Err(error) => Err((shown, error)),
        }
    }
}

impl FileHashes {
    /// A file with the content of a trace.
    pub(crate) fn name(&self, trace: &Trace) -> Option<&str> {
        self.traces.iter().find(|(_, (known, _))| known == trace).map(|(name, _)| name.as_str())
    }

    /// SHA-256 of a file's content, in hexadecimal digits.
    pub(crate) fn hash(&self, name: &str) -> Option<&str> {
        let of_trace = || self.traces.get(name).map(|(_, hash)| hash.as_str());
        of_trace().or_else(|| self.others.get(name).map(String::as_str))
    }
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

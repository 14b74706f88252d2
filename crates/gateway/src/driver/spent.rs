//! The file in which a gateway notes what was spent of its paths' quotas. It is opened before the
//! process gives up its privileges. After that it is only written.

use super::clock::wall_ns;
use crate::bond::{PastSpendings, PathSpending};
use ropewalk_units::Duration;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Time between two writes. A power failure loses no more than this.
pub(super) const INTERVAL: Duration = Duration::from_secs(30);

/// What stands in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Noted {
    /// When it was noted, by the wall clock. The other clock begins anew with each boot.
    at_unix_ns: u64,
    quotas: Vec<PathSpending>,
}

/// The file, open.
#[derive(Debug)]
pub(super) struct SpentFile {
    file: File,
    /// Octets that it has.
    len: usize,
}

impl SpentFile {
    /// Opens or makes the file, and reads it. If it is not understood it counts as empty, with a
    /// warning.
    ///
    /// # Errors
    /// It cannot be opened, made or read.
    pub(super) fn open(path: &Path) -> io::Result<(Self, PastSpendings)> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let noted = match text.trim() {
            "" => Noted::default(),
            json => serde_json::from_str(json).unwrap_or_else(|error| {
                tracing::warn!(file = %path.display(), reason = %error, "what was spent of quotas is not known");
                Noted::default()
            }),
        };
        let ago = Duration::from_nanos(wall_ns().saturating_sub(noted.at_unix_ns));
        Ok((Self { file, len: text.len() }, PastSpendings { paths: noted.quotas, ago }))
    }

    /// Replaces what the file holds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&mut self, quotas: Vec<PathSpending>) -> io::Result<()> {
        let noted = Noted { at_unix_ns: wall_ns(), quotas };
        let mut text = serde_json::to_string(&noted).map_err(io::Error::other)?;
        text.push('\n');
        // Blanks cover what was longer. Cutting the file would need another system call.
        let longest = self.len.max(text.len());
        text.extend(std::iter::repeat_n(' ', longest - text.len()));
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.len = longest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spending(path: &str, octets: u64) -> PathSpending {
        PathSpending { peer: "hub".into(), path: path.into(), octets, period_left_ns: 5 }
    }

    #[test]
    fn what_was_noted_is_there_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/bond0.json");
        let (mut file, past) = SpentFile::open(&path).expect("it is made");
        assert_eq!(past.paths, []);
        let both = vec![spending("a path with a long name", u64::MAX), spending("lte", 7)];
        file.write(both.clone()).expect("written");
        assert_eq!(SpentFile::open(&path).expect("it is there").1.paths, both);
        file.write(vec![spending("lte", 9)]).expect("written");
        let (_, PastSpendings { paths, ago }) = SpentFile::open(&path).expect("it is there");
        assert_eq!(paths, [spending("lte", 9)], "nothing is left of what was longer");
        assert!(ago < Duration::from_secs(60), "{ago}");
    }

    #[test]
    fn what_is_no_such_file_begins_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bond0.json");
        fs::write(&path, "{\"at_unix_ns\": 3, \"quo").expect("written");
        let (mut file, past) = SpentFile::open(&path).expect("it is there");
        assert_eq!(past.paths, []);
        file.write(vec![spending("lte", 1)]).expect("written");
        assert_eq!(SpentFile::open(&path).expect("it is there").1.paths, [spending("lte", 1)]);
        assert!(SpentFile::open(&path.join("below")).is_err(), "a file is no folder");
    }
}

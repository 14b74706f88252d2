//! One of the shaped lines alone, through another program's tunnel: what somebody has who bonds nothing.

use crate::tunnel::{self, Line, Start};
use crate::{Bar, Value, wireguard};
use ropewalk_gateway::demo::{Lines, Plan, Process};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

/// A folder that is removed with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("ropewalk-bars-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map(|()| Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A tunnel over one line. Fields are dropped in this order: the processes before the lines.
pub(crate) struct Alone {
    _ends: [Process; 2],
    lines: Lines,
    began_at: Instant,
    _folder: Folder,
}

impl AsRef<Lines> for Alone {
    fn as_ref(&self) -> &Lines {
        &self.lines
    }
}

impl Alone {
    pub(crate) fn new(plan: &Plan, line: &str, start: Start) -> io::Result<Self> {
        let folder = Folder::new()?;
        let began_at = Instant::now();
        let lines = Lines::new(plan, &folder.0)?;
        let addresses = [lines.address("hub", line)?, lines.address("site", line)?];
        let namespaces = ["hub", "site"].map(|host| lines.namespace(host));
        let ends = start(&Line { namespaces, addresses })?;
        Ok(Self { _ends: ends, lines, began_at, _folder: folder })
    }

    /// When its lines were made.
    pub(crate) const fn began_at(&self) -> Instant {
        self.began_at
    }
}

/// What wireguard-go gives over the first line of a plan. It is told and not judged.
pub(crate) fn wireguard<const COUNT: usize>(
    plan: &Plan,
    whats: [&'static str; COUNT],
    measure: impl FnOnce(&Alone) -> io::Result<[f64; COUNT]>,
) -> io::Result<Vec<Value>> {
    if wireguard::program().is_none() {
        return Ok(whats.into_iter().map(Value::absent).collect());
    }
    let got = measure(&Alone::new(plan, "dsl", tunnel::wireguard)?)?;
    Ok(whats.into_iter().zip(got).map(|(what, got)| Value::new(what, got, Bar::None)).collect())
}

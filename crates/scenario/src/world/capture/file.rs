//! A capture's file, which has another name until it is complete.

use ropewalk_wire::pcapng::Writer;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// One file under construction.
#[derive(Debug)]
pub(super) struct Capture {
    pub(super) path: PathBuf,
    pub(super) writer: Writer<BufWriter<File>>,
}

impl Capture {
    /// Opens `name` in `folder`.
    pub(super) fn create(folder: &Path, name: &str, snap_length: u32) -> io::Result<Self> {
        let path = folder.join(format!("{name}.pcapng"));
        let file = BufWriter::new(File::create(partial(&path))?);
        let mut writer = Writer::new(file, concat!("ropewalk ", env!("CARGO_PKG_VERSION")))?;
        writer.set_snap_length(snap_length);
        Ok(Self { path, writer })
    }

    /// The file as long as it is incomplete.
    pub(super) fn partial(&self) -> PathBuf {
        partial(&self.path)
    }
}

fn partial(path: &Path) -> PathBuf {
    path.with_extension("pcapng.partial")
}

//! Tables as Parquet files: written beside their place, then renamed, so that none is ever half there.
//!
//! They are written here and not in `ropewalk_scenario`, which then builds without Parquet's many dependencies.

use crate::nameless;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use ropewalk_scenario::{ENGINE_VERSION, Outcome};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What a file may be at most; the umask takes away what the user does not want, as for files made by others.
const READABLE_BY_UMASK: u32 = 0o666;

/// Writes `<stem>.<table>.parquet` into `folder`, which must exist, for each table that has rows (the
/// connections always), and returns their paths. The connections come last: their file says that the run is
/// complete.
///
/// # Errors
/// Whatever the file system says; nothing of this run is left behind then.
pub(crate) fn write(outcome: &Outcome, folder: &Path, stem: &str) -> io::Result<Vec<PathBuf>> {
    let mut tables = vec![("subflows", outcome.subflows_table()), ("links", outcome.links_table())];
    if !outcome.series.is_empty() {
        tables.push(("series", outcome.series_table()));
    }
    tables.extend(outcome.special_tables());
    tables.push(("connections", outcome.connections_table()));
    let mut written = Vec::new();
    for (table, batch) in &tables {
        let path = folder.join(format!("{stem}.{table}.parquet"));
        if let Err(error) = write_table(outcome, &path, batch) {
            for path in &written {
                let _ = std::fs::remove_file(path);
            }
            return Err(error);
        }
        written.push(path);
    }
    Ok(written)
}

/// Writes the table where nobody sees it, and moves it to its place when it is whole.
fn write_table(outcome: &Outcome, path: &Path, batch: &RecordBatch) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut beside = tempfile::Builder::new();
    let beside = beside.prefix(".").suffix(".partial").permissions(Permissions::from_mode(READABLE_BY_UMASK));
    // A process that is killed while it writes leaves nothing, where the file system has files without names.
    if let Some(file) = nameless::create(folder) {
        write_batch(outcome, &file, batch)?;
        beside.make_in(folder, |name| nameless::link(&file, name))?.persist(path)?;
    } else {
        let file = beside.tempfile_in(folder)?;
        write_batch(outcome, file.as_file(), batch)?;
        file.persist(path)?;
    }
    Ok(())
}

fn write_batch(outcome: &Outcome, file: &File, batch: &RecordBatch) -> io::Result<()> {
    let metadata = metadata(outcome).into_iter();
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.finish()?;
    file.sync_all()
}

/// What a run came from; of an emulation also the kernel, and how late packets were in milliseconds.
fn metadata(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let provenance = &outcome.provenance;
    let mut all = vec![
        ("scenario_hash", provenance.scenario_hash.clone()),
        ("seed", provenance.seed.to_string()),
        ("engine_version", ENGINE_VERSION.to_owned()),
    ];
    if let Some(late) = &outcome.lateness {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        all.extend([
            ("kernel", kernel.trim().to_owned()),
            ("lateness_mean_ms", late.mean_ms.to_string()),
            ("lateness_p99_ms", late.p99_ms.to_string()),
            ("lateness_worst_ms", late.worst_ms.to_string()),
        ]);
    }
    all
}

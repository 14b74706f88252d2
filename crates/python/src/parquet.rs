//! Tables as Parquet files: written beside their place, then renamed, so that none is ever half there.
//!
//! They are written here and not in `ropewalk_scenario`, which then builds without Parquet's many dependencies.

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use ropewalk_scenario::{ENGINE_VERSION, Outcome};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

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

fn write_table(outcome: &Outcome, path: &Path, batch: &RecordBatch) -> io::Result<()> {
    let beside = path.with_extension("parquet.partial");
    let result = write_file(outcome, &beside, batch).and_then(|()| std::fs::rename(&beside, path));
    if result.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    result
}

fn write_file(outcome: &Outcome, path: &Path, batch: &RecordBatch) -> io::Result<()> {
    let file = File::create(path)?;
    let metadata = metadata(outcome).into_iter();
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.into_inner()?.sync_all()
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

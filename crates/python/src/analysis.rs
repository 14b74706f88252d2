//! Captures for Python: a file in, Arrow tables out.

use crate::errors::{input_error, interrupted};
use crate::interrupt::Interrupt;
use crate::table::Table;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use ropewalk_analyse::{CaptureError, Connection, Direction, Flow, Report, Settings, Stream, Subflow};
use ropewalk_units::{Duration, Instant};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Both directions, in the order in which the report has them.
const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

/// What one capture shows.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct Analysis(Report);

/// A file whose reading can be stopped.
struct Stoppable<'a> {
    file: File,
    stop: Option<&'a AtomicBool>,
}

impl Stoppable<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_stopped() { Err(io::Error::other("stopped")) } else { self.file.read(buffer) }
    }
}

/// What a pcap or pcapng file shows of TCP and Multipath TCP connections.
#[pyfunction]
#[pyo3(signature = (path, interval_s, gap_s, interrupt=None))]
pub(crate) fn analyse(
    py: Python<'_>,
    path: PathBuf,
    interval_s: f64,
    gap_s: f64,
    interrupt: Option<Py<Interrupt>>,
) -> PyResult<Analysis> {
    let settings =
        Settings { interval: Duration::from_secs_f64(interval_s), gap: Duration::from_secs_f64(gap_s) };
    let stop = interrupt.as_ref().map(|interrupt| interrupt.get().flag());
    let result = py.detach(|| {
        let file = File::open(&path).map_err(|error| CaptureError::Io(error.to_string()))?;
        ropewalk_analyse::analyse(Stoppable { file, stop }, &settings)
    });
    if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return Err(interrupted(py, "the analysis was stopped"));
    }
    result.map(Analysis).map_err(|error| of_file(py, &path, &error))
}

/// What is wrong with a file, with its name in front.
fn of_file(py: Python<'_>, path: &Path, error: &CaptureError) -> PyErr {
    let file = path.display().to_string();
    input_error(py, &format!("{file}: {error}"), None, Some(&file), None)
}

fn table(columns: Vec<(&str, ArrayRef)>) -> PyResult<Table> {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    Ok(Table(batch))
}

fn counts<R>(rows: &[R], of: impl Fn(&R) -> u64) -> ArrayRef {
    Arc::new(rows.iter().map(|row| Some(of(row))).collect::<UInt64Array>())
}

fn texts<R>(rows: &[R], of: impl Fn(&R) -> String) -> ArrayRef {
    Arc::new(rows.iter().map(|row| Some(of(row))).collect::<StringArray>())
}

fn truths<R>(rows: &[R], of: impl Fn(&R) -> bool) -> ArrayRef {
    Arc::new(rows.iter().map(|row| Some(of(row))).collect::<BooleanArray>())
}

fn figures<R>(rows: &[R], of: impl Fn(&R) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Float64Array>())
}

fn at<R>(rows: &[R], of: impl Fn(&R) -> Instant) -> ArrayRef {
    figures(rows, |row| Some(of(row).as_secs_f64()))
}

fn long<R>(rows: &[R], of: impl Fn(&R) -> Duration) -> ArrayRef {
    figures(rows, |row| Some(of(row).as_secs_f64()))
}

/// One direction of a subflow, and where it stands.
struct SubflowRow<'a> {
    connection: usize,
    number: usize,
    subflow: &'a Subflow,
    direction: Direction,
    flow: &'a Flow,
    stream: &'a Stream,
}

impl Analysis {
    /// The connections with their numbers.
    fn numbered(&self) -> impl Iterator<Item = (usize, &Connection)> {
        self.0.connections.iter().enumerate()
    }

    fn stream_rows(&self) -> Vec<(usize, Direction, &Stream)> {
        self.numbered()
            .flat_map(|(number, connection)| {
                DIRECTIONS
                    .into_iter()
                    .zip(&connection.streams)
                    .map(move |(way, stream)| (number, way, stream))
            })
            .collect()
    }

    fn subflow_rows(&self) -> Vec<SubflowRow<'_>> {
        self.numbered().flat_map(|(number, connection)| rows_of(number, connection)).collect()
    }
}

/// The directions of all subflows of a connection.
fn rows_of(connection: usize, of: &Connection) -> impl Iterator<Item = SubflowRow<'_>> {
    of.subflows.iter().enumerate().flat_map(move |(number, subflow)| {
        let flows = DIRECTIONS.into_iter().zip(subflow.flows.iter().zip(&of.streams));
        flows.map(move |(direction, (flow, stream))| SubflowRow {
            connection,
            number,
            subflow,
            direction,
            flow,
            stream,
        })
    })
}

#[pymethods]
impl Analysis {
    /// Seconds from the epoch to the first packet.
    #[getter]
    fn start_s(&self) -> f64 {
        self.0.start.as_secs_f64()
    }

    /// Seconds from the first packet to the last.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.as_secs_f64()
    }

    /// Packets of the file.
    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets
    }

    /// Packets that are not TCP, or too short to tell.
    #[getter]
    fn other_packets(&self) -> u64 {
        self.0.other_packets
    }

    /// Whether the file ends within a packet.
    #[getter]
    fn truncated(&self) -> bool {
        self.0.truncated
    }

    /// One row per connection.
    #[getter]
    fn connections(&self) -> PyResult<Table> {
        let rows: Vec<_> = self.numbered().collect();
        let tokens: UInt32Array = rows.iter().map(|(_, row)| row.token).collect();
        table(vec![
            ("connection", counts(&rows, |(number, _)| *number as u64)),
            ("kind", texts(&rows, |(_, row)| row.kind.name().to_owned())),
            ("client", texts(&rows, |(_, row)| row.client.to_string())),
            ("server", texts(&rows, |(_, row)| row.server.to_string())),
            ("start_s", at(&rows, |(_, row)| row.start)),
            ("end_s", at(&rows, |(_, row)| row.end)),
            ("subflows", counts(&rows, |(_, row)| row.subflows.len() as u64)),
            ("token", Arc::new(tokens)),
        ])
    }

    /// One row per connection and direction.
    #[getter]
    fn streams(&self) -> PyResult<Table> {
        let rows = self.stream_rows();
        let seconds = |time: Option<Instant>| time.map(Instant::as_secs_f64);
        table(vec![
            ("connection", counts(&rows, |(number, ..)| *number as u64)),
            ("direction", texts(&rows, |(_, way, _)| way.name().to_owned())),
            ("bytes", counts(&rows, |(.., row)| row.octets)),
            ("goodput_bps", figures(&rows, |(.., row)| row.goodput().map(|octets| octets * 8.0))),
            ("first_s", figures(&rows, |(.., row)| seconds(row.first))),
            ("last_s", figures(&rows, |(.., row)| seconds(row.last))),
            ("late_segments", counts(&rows, |(.., row)| row.late_segments)),
            ("late_extent_bytes", counts(&rows, |(.., row)| row.late_extent)),
            ("blocked_s", long(&rows, |(.., row)| row.blocked)),
            ("longest_block_s", long(&rows, |(.., row)| row.longest_block)),
            ("mean_wait_s", long(&rows, |(.., row)| row.mean_wait)),
            ("missing_bytes", counts(&rows, |(.., row)| row.missing_octets)),
        ])
    }

    /// One row per subflow and direction.
    #[getter]
    fn subflows(&self) -> PyResult<Table> {
        let rows = self.subflow_rows();
        let share = |row: &SubflowRow<'_>| {
            (row.stream.octets > 0).then(|| row.flow.fresh_octets as f64 / row.stream.octets as f64)
        };
        table(vec![
            ("connection", counts(&rows, |row| row.connection as u64)),
            ("subflow", counts(&rows, |row| row.number as u64)),
            ("direction", texts(&rows, |row| row.direction.name().to_owned())),
            ("client", texts(&rows, |row| row.subflow.client.to_string())),
            ("server", texts(&rows, |row| row.subflow.server.to_string())),
            ("backup", truths(&rows, |row| row.subflow.backup)),
            ("start_s", at(&rows, |row| row.subflow.start)),
            ("end_s", at(&rows, |row| row.subflow.end)),
            ("segments", counts(&rows, |row| row.flow.segments)),
            ("bare_segments", counts(&rows, |row| row.flow.bare_segments)),
            ("bytes", counts(&rows, |row| row.flow.octets)),
            ("fresh_bytes", counts(&rows, |row| row.flow.fresh_octets)),
            ("retransmitted_bytes", counts(&rows, |row| row.flow.retransmitted_octets)),
            ("reinjected_bytes", counts(&rows, |row| row.flow.reinjected_octets)),
            ("unmapped_bytes", counts(&rows, |row| row.flow.unmapped_octets)),
            ("share", figures(&rows, share)),
            ("min_rtt_s", figures(&rows, |row| row.flow.min_rtt.map(Duration::as_secs_f64))),
            ("median_rtt_s", figures(&rows, |row| row.flow.median_rtt.map(Duration::as_secs_f64))),
        ])
    }

    /// One row per time without new data.
    #[getter]
    fn gaps(&self) -> PyResult<Table> {
        let rows: Vec<_> = self
            .stream_rows()
            .into_iter()
            .flat_map(|(number, way, stream)| stream.gaps.iter().map(move |gap| (number, way, gap)))
            .collect();
        table(vec![
            ("connection", counts(&rows, |(number, ..)| *number as u64)),
            ("direction", texts(&rows, |(_, way, _)| way.name().to_owned())),
            ("start_s", at(&rows, |(.., gap)| gap.start)),
            ("duration_s", long(&rows, |(.., gap)| gap.duration)),
            ("subflow_before", counts(&rows, |(.., gap)| gap.before as u64)),
            ("subflow_after", counts(&rows, |(.., gap)| gap.after as u64)),
            ("handover", truths(&rows, |(.., gap)| gap.before != gap.after)),
        ])
    }

    /// One row per event.
    #[getter]
    fn events(&self) -> PyResult<Table> {
        let rows: Vec<_> = self
            .numbered()
            .flat_map(|(number, of)| of.events.iter().map(move |event| (number, event)))
            .collect();
        table(vec![
            ("connection", counts(&rows, |(number, _)| *number as u64)),
            ("time_s", at(&rows, |(_, event)| event.time)),
            ("subflow", counts(&rows, |(_, event)| event.subflow as u64)),
            ("direction", texts(&rows, |(_, event)| event.direction.name().to_owned())),
            ("event", texts(&rows, |(_, event)| event.kind.to_string())),
        ])
    }

    /// New data over time: one row per subflow, direction and interval that has some.
    #[getter]
    fn series(&self) -> PyResult<Table> {
        let rows: Vec<_> = self
            .subflow_rows()
            .into_iter()
            .flat_map(|row| {
                let place = (row.connection, row.number, row.direction);
                row.flow.samples.iter().map(move |sample| (place, sample))
            })
            .collect();
        table(vec![
            ("connection", counts(&rows, |((connection, ..), _)| *connection as u64)),
            ("subflow", counts(&rows, |((_, subflow, _), _)| *subflow as u64)),
            ("direction", texts(&rows, |((.., way), _)| way.name().to_owned())),
            ("time_s", at(&rows, |(_, sample)| sample.time)),
            ("bytes", counts(&rows, |(_, sample)| sample.octets)),
        ])
    }
}

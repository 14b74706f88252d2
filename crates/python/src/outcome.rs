//! What a run measured, as Python sees it.

use crate::errors::os_error;
use crate::parquet;
use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::path::PathBuf;

/// The result of one run: a summary, and tables that Arrow consumers take without a copy.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct Outcome(ropewalk_scenario::Outcome);

impl From<ropewalk_scenario::Outcome> for Outcome {
    fn from(outcome: ropewalk_scenario::Outcome) -> Self {
        Self(outcome)
    }
}

fn table(batch: RecordBatch) -> PyResult<PyTable> {
    let schema = batch.schema();
    PyTable::try_new(vec![batch], schema)
}

#[pymethods]
impl Outcome {
    /// The summary as one JSON object.
    fn summary(&self) -> String {
        self.0.summary_json()
    }

    /// One row per connection.
    #[getter]
    fn connections(&self) -> PyResult<PyTable> {
        table(self.0.connections_table())
    }

    /// One row per subflow.
    #[getter]
    fn subflows(&self) -> PyResult<PyTable> {
        table(self.0.subflows_table())
    }

    /// One row per link and direction.
    #[getter]
    fn links(&self) -> PyResult<PyTable> {
        table(self.0.links_table())
    }

    /// Time series; no rows unless the run was asked for them.
    #[getter]
    fn series(&self) -> PyResult<PyTable> {
        table(self.0.series_table())
    }

    /// One row per direction of a bond and one per path of it; no rows without bonds.
    #[getter]
    fn bonds(&self) -> PyResult<PyTable> {
        table(self.0.bonds_table())
    }

    /// The time series of bonds; no rows without bonds, or unless the run was asked for series.
    #[getter]
    fn bond_series(&self) -> PyResult<PyTable> {
        table(self.0.bond_series_table())
    }

    /// One row per station and channel of a wireless network; no rows without one.
    #[getter]
    fn radios(&self) -> PyResult<PyTable> {
        table(self.0.radios_table())
    }

    /// One row per station, channel and station that it has sent data frames to; no rows without a wireless network.
    #[getter]
    fn hops(&self) -> PyResult<PyTable> {
        table(self.0.hops_table())
    }

    /// One row per broadcast, sending station and station in its range; no rows without broadcasts.
    #[getter]
    fn broadcasts(&self) -> PyResult<PyTable> {
        table(self.0.broadcasts_table())
    }

    /// One row per wireless route: its way at the beginning, and how stable it was.
    #[getter]
    fn routes(&self) -> PyResult<PyTable> {
        table(self.0.routes_table())
    }

    /// One row per way that a wireless route has taken, by time.
    #[getter]
    fn route_changes(&self) -> PyResult<PyTable> {
        table(self.0.route_changes_table())
    }

    /// One row per program of a Linux host.
    #[getter]
    fn commands(&self) -> PyResult<PyTable> {
        table(self.0.commands_table())
    }

    /// One row per TCP socket of a Linux host that is of no connection.
    #[getter]
    fn sockets(&self) -> PyResult<PyTable> {
        table(self.0.sockets_table())
    }

    /// Writes the tables as Parquet files whose names begin with `stem` and returns their paths.
    fn write(&self, py: Python<'_>, folder: PathBuf, stem: &str) -> PyResult<Vec<PathBuf>> {
        py.detach(|| parquet::write(&self.0, &folder, stem)).map_err(|error| os_error(&error))
    }
}

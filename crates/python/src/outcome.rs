//! What a run measured, as Python sees it.

use crate::table::Table;
use pyo3::prelude::*;
use ropewalk_scenario::ENGINE_VERSION;

/// The result of one run: a summary, and tables that Arrow consumers take without a copy.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct Outcome(ropewalk_scenario::Outcome);

impl From<ropewalk_scenario::Outcome> for Outcome {
    fn from(outcome: ropewalk_scenario::Outcome) -> Self {
        Self(outcome)
    }
}

#[pymethods]
impl Outcome {
    /// The summary as one JSON object.
    fn summary(&self) -> String {
        self.0.summary_json()
    }

    /// One row per connection.
    #[getter]
    fn connections(&self) -> Table {
        Table(self.0.connections_table())
    }

    /// One row per subflow.
    #[getter]
    fn subflows(&self) -> Table {
        Table(self.0.subflows_table())
    }

    /// One row per link and direction.
    #[getter]
    fn links(&self) -> Table {
        Table(self.0.links_table())
    }

    /// Time series; no rows unless the run was asked for them.
    #[getter]
    fn series(&self) -> Table {
        Table(self.0.series_table())
    }

    /// The time series of links; no rows unless the run was asked for series.
    #[getter]
    fn link_series(&self) -> Table {
        Table(self.0.link_series_table())
    }

    /// Connections of Multipath TCP over time; no rows without any, or unless the run was asked for
    /// series.
    #[getter]
    fn mptcp_series(&self) -> Table {
        Table(self.0.mptcp_series_table())
    }

    /// What happened and why; no rows unless the scenario asks for events.
    #[getter]
    fn events(&self) -> Table {
        Table(self.0.events_table())
    }

    /// One row per direction of a bond and one per path of it; no rows without bonds.
    #[getter]
    fn bonds(&self) -> Table {
        Table(self.0.bonds_table())
    }

    /// The time series of bonds; no rows without bonds, or unless the run was asked for series.
    #[getter]
    fn bond_series(&self) -> Table {
        Table(self.0.bond_series_table())
    }

    /// One row per station and channel of a wireless network; no rows without one.
    #[getter]
    fn radios(&self) -> Table {
        Table(self.0.radios_table())
    }

    /// One row per station, channel and station that it has sent data frames to; no rows without a
    /// wireless network.
    #[getter]
    fn hops(&self) -> Table {
        Table(self.0.hops_table())
    }

    /// One row per broadcast, sending station and station in its range; no rows without broadcasts.
    #[getter]
    fn broadcasts(&self) -> Table {
        Table(self.0.broadcasts_table())
    }

    /// One row per frame of voice or video that was sent; no rows without such applications.
    #[getter]
    fn frames(&self) -> Table {
        Table(self.0.frames_table())
    }

    /// One row per wireless route: its way at the beginning, and how stable it was.
    #[getter]
    fn routes(&self) -> Table {
        Table(self.0.routes_table())
    }

    /// One row per way that a wireless route has taken, by time.
    #[getter]
    fn route_changes(&self) -> Table {
        Table(self.0.route_changes_table())
    }

    /// One row per program of a Linux host.
    #[getter]
    fn commands(&self) -> Table {
        Table(self.0.commands_table())
    }

    /// One row per TCP socket of a Linux host that belongs to no connection of the scenario.
    #[getter]
    fn sockets(&self) -> Table {
        Table(self.0.sockets_table())
    }

    /// One row per part of an emulation: the processor time that it had, and how long it waited for
    /// it.
    #[getter]
    fn processes(&self) -> Table {
        Table(self.0.processes_table())
    }

    /// The tables with rows that only some scenarios have, by name.
    fn special(&self) -> Vec<(&'static str, Table)> {
        self.0.special_tables().into_iter().map(|(name, batch)| (name, Table(batch))).collect()
    }

    /// What the run came from, as pairs for the result files. An emulation adds the kernel's
    /// release, and how late packets were, in ms.
    fn provenance(&self) -> Vec<(&'static str, String)> {
        let provenance = &self.0.provenance;
        let mut all = vec![
            ("scenario_hash", provenance.scenario_hash.clone()),
            ("seed", provenance.seed.to_string()),
            ("engine_version", ENGINE_VERSION.to_owned()),
        ];
        if let Some(late) = &self.0.lateness {
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

    /// Writes the tables as Parquet files whose names begin with `stem` and returns their paths.
    fn write<'py>(slf: &Bound<'py, Self>, folder: &str, stem: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ropewalk.parquet")?.call_method1("write", (slf, folder, stem))
    }
}

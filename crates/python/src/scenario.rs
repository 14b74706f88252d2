//! Reading, checking and running scenarios.

use crate::errors::{run_error, scenario_error};
use crate::interrupt::Interrupt;
use crate::outcome::Outcome;
use pyo3::prelude::*;
use ropewalk_scenario::{Plan, RunOptions, Scenario};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `(dotted key, value)` pairs that replace what a scenario says.
type Overrides = Vec<(String, String)>;

/// What a valid scenario is, before it runs.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub(crate) struct Info {
    /// The scenario's name.
    name: String,
    /// The hash over every value, defaults included.
    hash: String,
    /// The scenario's own seed.
    seed: u64,
    /// Simulated time, in seconds.
    duration_s: f64,
    /// The MPTCP connections as the file names them, each with the names of its copies in the results.
    multipath: BTreeMap<String, Vec<String>>,
}

fn load(py: Python<'_>, source: &str, path: Option<&Path>, overrides: &Overrides) -> PyResult<Scenario> {
    ropewalk_scenario::load(source, path, overrides).map_err(|error| scenario_error(py, &error))
}

/// The engine's version.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    ropewalk_scenario::ENGINE_VERSION
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    ropewalk_scenario::schema()
}

/// Validates a scenario and says what it is.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    source: &str,
    path: Option<PathBuf>,
    overrides: Overrides,
) -> PyResult<Info> {
    let scenario = load(py, source, path.as_deref(), &overrides)?;
    let plan = scenario.plan();
    Ok(Info {
        name: scenario.name().to_owned(),
        hash: scenario.hash(),
        seed: scenario.seed(),
        duration_s: scenario.duration().as_secs_f64(),
        multipath: scenario.multipath().into_iter().map(|name| (name.clone(), copies(plan, &name))).collect(),
    })
}

fn copies(plan: &Plan, name: &str) -> Vec<String> {
    let copies = plan.connections.iter().filter(|connection| connection.group == name);
    copies.map(|connection| connection.name.clone()).collect()
}

/// The scenario as canonical JSON, every default filled in.
#[pyfunction]
pub(crate) fn canonical(
    py: Python<'_>,
    source: &str,
    path: Option<PathBuf>,
    overrides: Overrides,
) -> PyResult<String> {
    Ok(load(py, source, path.as_deref(), &overrides)?.canonical_json())
}

/// The topology drawn, and every default made visible.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    source: &str,
    path: Option<PathBuf>,
    overrides: Overrides,
) -> PyResult<String> {
    Ok(load(py, source, path.as_deref(), &overrides)?.explain())
}

/// `(connection, path, TOML)`: the scenario with one multipath connection as TCP on one of its paths.
#[pyfunction]
pub(crate) fn references(
    py: Python<'_>,
    source: &str,
    path: Option<PathBuf>,
    overrides: Overrides,
) -> PyResult<Vec<(String, String, String)>> {
    let scenario = load(py, source, path.as_deref(), &overrides)?;
    let references = scenario.references().into_iter();
    Ok(references.map(|reference| (reference.connection, reference.path, reference.source)).collect())
}

/// Runs a scenario to its end, without Python's lock.
#[pyfunction]
#[pyo3(signature = (source, path, overrides, seed=None, series=true, capture=None, interrupt=None))]
#[expect(clippy::too_many_arguments, reason = "one per argument of the Python function")]
pub(crate) fn run(
    py: Python<'_>,
    source: &str,
    path: Option<PathBuf>,
    overrides: Overrides,
    seed: Option<u64>,
    series: bool,
    capture: Option<PathBuf>,
    interrupt: Option<&Bound<'_, Interrupt>>,
) -> PyResult<Outcome> {
    let scenario = load(py, source, path.as_deref(), &overrides)?;
    let options = RunOptions { seed, series, capture, stop: interrupt.map(|flag| flag.get().flag()) };
    py.detach(|| ropewalk_scenario::run(&scenario, &options))
        .map(Outcome::from)
        .map_err(|error| run_error(py, error))
}

//! Reading, checking and running scenarios.

use crate::errors::{interrupted, run_error, scenario_error};
use crate::interrupt::{Interrupt, RunProgress};
use crate::outcome::Outcome;
use crate::routing::RouteProgress;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ropewalk_scenario::plan::Stack;
use ropewalk_scenario::{RunOptions, Scenario, ScenarioError, Watch};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Python's `Source`: a scenario's text, where it came from, `(dotted key, value)` pairs that
/// replace what it says, and the stack that every host runs, whatever it says.
#[derive(FromPyObject)]
pub(crate) struct Source {
    text: String,
    path: Option<PathBuf>,
    overrides: Vec<(String, String)>,
    stack: Option<String>,
}

/// What a valid scenario is, before it runs.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub(crate) struct Info {
    /// The scenario's name.
    name: String,
    /// The hash over every value, defaults included.
    hash: String,
    /// The scenario's own seed.
    seed: u64,
    /// Simulated time, in seconds; of an emulation real time.
    duration_s: f64,
    /// What a run may keep in memory at most, in octets, without time series.
    memory_bytes: u64,
    /// What time series add to that.
    series_bytes: u64,
    /// Are its hosts Linux's, so that it runs in real time and one run at a time?
    emulated: bool,
    /// What it says and a kernel does otherwise, if all hosts were asked to be Linux's: the key,
    /// what is wrong with it, and what the kernel does.
    departures: Vec<(String, String, String)>,
    /// The MPTCP connections as the file names them, each with the names of its copies in the
    /// results. Bonds too, as `bonds.NAME`, each with the names of the connections that go over it.
    multipath: BTreeMap<String, Vec<String>>,
}

/// Reads a scenario without Python's lock: drawing its stations may take long.
fn load(py: Python<'_>, source: &Source, stack: Option<&str>, watch: Watch<'_>) -> PyResult<Scenario> {
    let Source { text, path, overrides, .. } = source;
    let stack = stack.map(stack_named).transpose()?;
    let loaded = py.detach(|| ropewalk_scenario::load_as(text, path.as_deref(), overrides, stack, watch));
    loaded.map_err(|error| match watch.is_stopped() {
        true => interrupted(py, "the drawing was interrupted"),
        false => scenario_error(py, &error),
    })
}

fn stack_named(name: &str) -> PyResult<Stack> {
    match name {
        "ropewalk" => Ok(Stack::Ropewalk),
        "linux" => Ok(Stack::Linux),
        _ => Err(PyValueError::new_err(format!("there is no stack `{name}`"))),
    }
}

fn watch<'a>(
    interrupt: Option<&'a Bound<'_, Interrupt>>,
    progress: Option<&'a Bound<'_, RouteProgress>>,
) -> Watch<'a> {
    Watch {
        stop: interrupt.map(|flag| flag.get().flag()),
        progress: progress.map(|progress| &progress.get().0),
    }
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

/// Validates a scenario, also with `seed`, and says what it is. If `source` names a stack, all
/// hosts run that one, and this checks that the machine can run them.
#[pyfunction]
#[pyo3(signature = (source, seed=None, interrupt=None, progress=None))]
pub(crate) fn check(
    py: Python<'_>,
    source: Source,
    seed: Option<u64>,
    interrupt: Option<&Bound<'_, Interrupt>>,
    progress: Option<&Bound<'_, RouteProgress>>,
) -> PyResult<Info> {
    let watch = watch(interrupt, progress);
    let stack = source.stack.as_deref();
    let scenario = load(py, &source, stack, watch)?;
    if stack.is_some() && scenario.plan().is_emulation() {
        check_machine(py, &scenario)?;
    }
    if let Some(seed) = seed.filter(|&seed| seed != scenario.seed()) {
        py.detach(|| scenario.check_seed(seed, watch)).map_err(|error| run_error(py, error))?;
    }
    let plan = scenario.plan();
    let memory = scenario.memory();
    Ok(Info {
        name: scenario.name().to_owned(),
        hash: scenario.hash(),
        seed: scenario.seed(),
        duration_s: scenario.duration().as_secs_f64(),
        memory_bytes: memory.world.saturating_add(memory.events),
        series_bytes: memory.series,
        emulated: plan.is_emulation(),
        departures: scenario.departures().iter().map(departure).collect(),
        multipath: scenario.multipath().into_iter().map(|one| (one.name, one.connections)).collect(),
    })
}

fn departure(error: &ScenarioError) -> (String, String, String) {
    (error.key.clone(), error.message.clone(), error.expected.clone())
}

/// The topology drawn, and every default made visible.
#[pyfunction]
#[pyo3(signature = (source, interrupt=None, progress=None))]
pub(crate) fn explain(
    py: Python<'_>,
    source: Source,
    interrupt: Option<&Bound<'_, Interrupt>>,
    progress: Option<&Bound<'_, RouteProgress>>,
) -> PyResult<String> {
    Ok(load(py, &source, None, watch(interrupt, progress))?.explain())
}

/// `(name, path, TOML)`: the scenario with one multipath connection as TCP on one of its paths, or
/// one path for a bond.
#[pyfunction]
#[pyo3(signature = (source, interrupt=None))]
pub(crate) fn references(
    py: Python<'_>,
    source: Source,
    interrupt: Option<&Bound<'_, Interrupt>>,
) -> PyResult<Vec<(String, String, String)>> {
    let scenario = load(py, &source, None, watch(interrupt, None))?;
    let references = scenario.references().into_iter();
    Ok(references.map(|reference| (reference.name, reference.path, reference.source)).collect())
}

/// Runs a scenario to its end, without Python's lock. If `source` names a stack, all hosts run that
/// one, whatever the file says.
#[pyfunction]
#[pyo3(signature = (source, seed=None, series=true, capture=None, interrupt=None, capture_links=Vec::new(), snap_length=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one per keyword of the Python function")]
pub(crate) fn run(
    py: Python<'_>,
    source: Source,
    seed: Option<u64>,
    series: bool,
    capture: Option<PathBuf>,
    interrupt: Option<&Bound<'_, Interrupt>>,
    capture_links: Vec<String>,
    snap_length: u32,
    progress: Option<&Bound<'_, RunProgress>>,
) -> PyResult<Outcome> {
    let scenario = load(py, &source, source.stack.as_deref(), watch(interrupt, None))?;
    let stop = interrupt.map(|flag| flag.get().flag());
    let reached = progress.map(|progress| progress.get().reached());
    let options =
        RunOptions { seed, series, capture, capture_links: &capture_links, snap_length, stop, reached };
    if scenario.plan().is_emulation() {
        return emulate(py, &scenario, &options);
    }
    py.detach(|| ropewalk_scenario::run(&scenario, &options))
        .map(Outcome::from)
        .map_err(|error| run_error(py, error))
}

/// Runs a scenario with Linux hosts.
#[cfg(target_os = "linux")]
fn emulate(py: Python<'_>, scenario: &Scenario, options: &RunOptions<'_>) -> PyResult<Outcome> {
    let outcome = py.detach(|| ropewalk_live::run(scenario, options));
    outcome.map(Outcome::from).map_err(|error| crate::errors::emulation_error(py, &error))
}

/// Can this machine run it?
#[cfg(target_os = "linux")]
fn check_machine(py: Python<'_>, scenario: &Scenario) -> PyResult<()> {
    ropewalk_live::check(scenario).map_err(|error| scenario_error(py, &error))
}

/// Other systems have no Linux hosts.
#[cfg(not(target_os = "linux"))]
fn emulate(py: Python<'_>, scenario: &Scenario, _options: &RunOptions<'_>) -> PyResult<Outcome> {
    Err(no_linux(py, scenario))
}

/// Other systems have no Linux hosts.
#[cfg(not(target_os = "linux"))]
fn check_machine(py: Python<'_>, scenario: &Scenario) -> PyResult<()> {
    Err(no_linux(py, scenario))
}

#[cfg(not(target_os = "linux"))]
fn no_linux(py: Python<'_>, scenario: &Scenario) -> PyErr {
    let host = scenario.plan().nodes.iter().find(|node| node.stack == Stack::Linux);
    let key = host.map_or(String::new(), |host| format!("hosts.{}.stack", host.name));
    scenario_error(py, &scenario.mistake(&key, "this machine does not run Linux", "`ropewalk`"))
}

/// `(what, found, remedy)` for everything that a scenario with Linux hosts needs of this machine.
/// `remedy` is `None` if nothing is missing. With `clean`, what dead runs have left is removed
/// first. The second list names the namespaces that are gone.
#[pyfunction]
#[cfg(target_os = "linux")]
pub(crate) fn doctor(py: Python<'_>, clean: bool) -> PyResult<(Vec<Finding>, Vec<String>)> {
    let removed = if clean { py.detach(ropewalk_live::clean) } else { Ok(Vec::new()) };
    let removed = removed.map_err(|error| crate::errors::emulation_error(py, &error))?;
    let findings = ropewalk_live::examine().into_iter();
    Ok((findings.map(|finding| (finding.what, finding.found, finding.remedy)).collect(), removed))
}

/// Other systems have no Linux hosts.
#[pyfunction]
#[cfg(not(target_os = "linux"))]
pub(crate) fn doctor(_clean: bool) -> (Vec<Finding>, Vec<String>) {
    let what = ("Linux hosts".to_owned(), "this machine does not run Linux".to_owned());
    (vec![(what.0, what.1, Some("a Linux machine, real or virtual".to_owned()))], Vec::new())
}

/// What, how it was found, and how it is mended if something is missing.
type Finding = (String, String, Option<String>);

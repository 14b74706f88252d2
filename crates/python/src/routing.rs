//! Deployments and routes for Python: settings in, deployments and an Arrow table out.

use crate::errors::routing_error;
use crate::interrupt::Interrupt;
use crate::table::Table;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ropewalk_routing::{
    Condition, Deployment, Effort, End, Format, Found, Layout, Method, Metric, Position, Progress, Radio,
    Record, Report, RoutingError, Search, Sets, TieRule,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A point or a name.
#[derive(FromPyObject)]
pub(crate) enum Place {
    Point((f64, f64)),
    Name(String),
}

impl From<Place> for End {
    fn from(place: Place) -> Self {
        match place {
            Place::Point((x, y)) => Self::Nearest(Position::new(x, y)),
            Place::Name(name) => Self::Named(name),
        }
    }
}

/// How far a search is, for another thread.
#[pyclass(frozen, module = "ropewalk._core")]
#[derive(Default)]
pub(crate) struct RouteProgress(pub(crate) Progress);

#[pymethods]
impl RouteProgress {
    /// Nothing drawn yet.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Deployments drawn.
    #[getter]
    fn drawn(&self) -> u64 {
        self.0.drawn.load(Ordering::Relaxed)
    }

    /// Draws after which it gives up.
    #[getter]
    fn limit(&self) -> u64 {
        self.0.limit.load(Ordering::Relaxed)
    }

    /// Deployments found.
    #[getter]
    fn found(&self) -> u64 {
        self.0.found.load(Ordering::Relaxed)
    }
}

/// The settings of a search for deployments: what is drawn and what is kept.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct RouteSearch(Search);

/// Python's `Layout`: how nodes are placed, how far they reach, and the two ends of the routes.
#[derive(FromPyObject)]
pub(crate) struct Scattering {
    nodes: Option<usize>,
    intensity: Option<f64>,
    grid: Option<(usize, usize)>,
    jitter: f64,
    size_m: (f64, f64),
    range_m: f64,
    source: Place,
    destination: Place,
}

impl Scattering {
    /// The layout that is meant: uniform, Poisson or grid.
    fn layout(&self) -> Result<Layout, RoutingError> {
        let size = Position::new(self.size_m.0, self.size_m.1);
        match (self.intensity, self.grid, self.nodes) {
            (Some(intensity), None, _) => Ok(Layout::Poisson { intensity, size }),
            (None, Some((columns, rows)), _) => Ok(Layout::Grid { columns, rows, size, jitter: self.jitter }),
            (None, None, Some(nodes)) => Ok(Layout::Uniform { nodes, size }),
            _ => Err(RoutingError::Setting {
                key: "nodes",
                message: "give one of nodes, intensity and grid".to_owned(),
            }),
        }
    }
}

/// Python's `Effort`: which draws are made, on how many workers, and what watches and stops them.
#[derive(FromPyObject)]
pub(crate) struct SearchEffort<'py> {
    first: u64,
    draws: Option<u64>,
    workers: usize,
    interrupt: Option<Bound<'py, Interrupt>>,
    progress: Option<Bound<'py, RouteProgress>>,
}

impl SearchEffort<'_> {
    fn effort(&self) -> Effort<'_> {
        Effort {
            first: self.first,
            draws: self.draws,
            workers: self.workers,
            stop: self.interrupt.as_ref().map(|flag| flag.get().flag()),
            progress: self.progress.as_ref().map(|progress| &progress.get().0),
        }
    }
}

#[pymethods]
impl RouteSearch {
    /// Checks the settings.
    #[new]
    fn new(py: Python<'_>, layout: Scattering, condition: &str, ties: &str, seed: u64) -> PyResult<Self> {
        let made = || {
            let search = Search {
                layout: layout.layout()?,
                range: layout.range_m,
                source: layout.source.into(),
                destination: layout.destination.into(),
                condition: condition.parse()?,
                ties: ties.parse()?,
                seed,
            };
            search.validate()?;
            Ok(Self(search))
        };
        made().map_err(|error| routing_error(py, &error))
    }

    /// Looks for deployments and gives the length of their routes, one row per deployment and
    /// algorithm.
    #[pyo3(signature = (count, effort, *, optimal))]
    fn statistics(
        &self,
        py: Python<'_>,
        count: usize,
        effort: SearchEffort<'_>,
        optimal: bool,
    ) -> PyResult<RouteStatistics> {
        let Search { ties, seed, .. } = self.0;
        let sets = if optimal { Sets::GreedyAndOptimal } else { Sets::Greedy };
        let make = move |deployment: Deployment| Record::new(&deployment, ties, seed, sets);
        self.found(py, count, effort.effort(), make).map(RouteStatistics)
    }

    /// Looks for deployments and keeps them whole, with the routes of these algorithms.
    fn deployments(
        &self,
        py: Python<'_>,
        count: usize,
        effort: SearchEffort<'_>,
        algorithms: Vec<String>,
    ) -> PyResult<RouteDeployments> {
        let methods = methods(&algorithms).map_err(|error| routing_error(py, &error))?;
        let Search { ties, seed, .. } = self.0;
        let make = move |deployment| Report::new(deployment, &methods, ties, seed, None);
        let found = self.found(py, count, effort.effort(), make)?;
        let (drawn, connected) = (found.drawn, found.connected);
        let reports = found.items.into_iter().map(|report| report.map(RouteReport)).collect::<Result<_, _>>();
        let reports = reports.map_err(|error| routing_error(py, &error))?;
        Ok(RouteDeployments { reports, drawn, connected })
    }
}

impl RouteSearch {
    /// Searches without Python's lock.
    fn found<T: Send>(
        &self,
        py: Python<'_>,
        count: usize,
        effort: Effort<'_>,
        make: impl Fn(Deployment) -> T + Sync + Send,
    ) -> PyResult<Found<T>> {
        py.detach(|| self.0.run(count, effort, make)).map_err(|error| routing_error(py, &error))
    }
}

/// The methods of these names.
fn methods(names: &[String]) -> Result<Vec<Method>, RoutingError> {
    names.iter().map(|name| name.parse()).collect()
}

/// The length of the routes of many deployments.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct RouteStatistics(Found<Record>);

#[pymethods]
impl RouteStatistics {
    /// How many were drawn, up to the last one found.
    #[getter]
    fn drawn(&self) -> u64 {
        self.0.drawn
    }

    /// How many of those were connected.
    #[getter]
    fn connected(&self) -> u64 {
        self.0.connected
    }

    /// One row per deployment and algorithm.
    #[getter]
    fn table(&self) -> PyResult<Table> {
        let rows = || self.0.items.iter().flat_map(|record| record.sets.iter().map(move |set| (record, set)));
        let draws: UInt64Array = rows().map(|(record, _)| Some(record.draw)).collect();
        let number = |pick: fn(&Record) -> u32| -> ArrayRef {
            Arc::new(rows().map(|(record, _)| Some(pick(record))).collect::<UInt32Array>())
        };
        let names: StringArray = rows().map(|(_, set)| Some(set.method.name())).collect();
        let length = |pick: fn(&ropewalk_routing::SetRecord) -> Option<u32>| -> ArrayRef {
            Arc::new(rows().map(|(_, set)| pick(set)).collect::<UInt32Array>())
        };
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("draw", Arc::new(draws) as ArrayRef, false),
            ("nodes", number(|record| record.nodes), false),
            ("links", number(|record| record.links), false),
            ("algorithm", Arc::new(names) as ArrayRef, false),
            ("routes", length(|set| Some(set.routes)), false),
            ("first_hops", length(|set| set.first), true),
            ("second_hops", length(|set| set.second), true),
            ("total_hops", length(|set| Some(set.total)), false),
        ])
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        Ok(Table(batch))
    }
}

/// Deployments found by a search.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct RouteDeployments {
    reports: Vec<RouteReport>,
    drawn: u64,
    connected: u64,
}

#[pymethods]
impl RouteDeployments {
    /// How many were drawn, up to the last one found.
    #[getter]
    fn drawn(&self) -> u64 {
        self.drawn
    }

    /// How many of those were connected.
    #[getter]
    fn connected(&self) -> u64 {
        self.connected
    }

    /// The deployments, in the order of their draws.
    #[getter]
    fn reports(&self) -> Vec<RouteReport> {
        self.reports.clone()
    }
}

/// A deployment with its routes.
#[pyclass(frozen, module = "ropewalk._core")]
#[derive(Clone)]
pub(crate) struct RouteReport(Report);

#[pymethods]
impl RouteReport {
    /// As one JSON object.
    fn json(&self) -> String {
        self.0.json()
    }

    /// As GraphML.
    fn graphml(&self) -> String {
        self.0.graphml()
    }

    /// The same deployment with the routes of these algorithms, judged over radios. Settings that
    /// are not given have their defaults.
    #[pyo3(signature = (ties, seed, algorithms, **settings))]
    fn judged(
        &self,
        py: Python<'_>,
        ties: &str,
        seed: u64,
        algorithms: Vec<String>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut radio = Radio::default();
        for (name, value) in settings.into_iter().flatten() {
            set(&mut radio, name.extract()?, &value)?;
        }
        let made = || {
            let (methods, ties) = (methods(&algorithms)?, ties.parse::<TieRule>()?);
            Report::new(self.0.deployment().clone(), &methods, ties, seed, Some(radio)).map(Self)
        };
        made().map_err(|error| routing_error(py, &error))
    }
}

/// Sets one setting of radios, named by its keyword in Python.
fn set(radio: &mut Radio, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let refused = |error: RoutingError| routing_error(value.py(), &error);
    match name {
        "channels" => radio.channels = value.extract()?,
        "assign" => radio.assignment = value.extract::<&str>()?.parse().map_err(refused)?,
        "radios" => radio.radios = value.extract()?,
        "metric" => radio.metric = value.extract::<&str>()?.parse().map_err(refused)?,
        "interference" => radio.interference = value.extract()?,
        "bit_rate" => radio.bit_rate = value.extract()?,
        "frame_octets" => radio.frame_octets = value.extract()?,
        "delivery" => radio.delivery = value.extract()?,
        "edge_loss" => radio.edge_loss = value.extract()?,
        "edge_exponent" => radio.edge_exponent = value.extract()?,
        "beta" => radio.beta = value.extract()?,
        "switch_cost" => radio.switch_cost = value.extract()?,
        "stay_cost" => radio.stay_cost = value.extract()?,
        _ => {
            let message = format!("judged() got an unexpected keyword argument '{name}'");
            return Err(PyTypeError::new_err(message));
        }
    }
    Ok(())
}

/// What `read_routes` needs beside the file's text.
#[derive(Default)]
struct Wanted {
    range_m: Option<f64>,
    source: Option<Place>,
    destination: Option<Place>,
    ties: TieRule,
    seed: u64,
    methods: Vec<Method>,
}

impl Wanted {
    /// Sets one setting, named by its keyword in Python.
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let refused = |error: RoutingError| routing_error(value.py(), &error);
        match name {
            "range_m" => self.range_m = value.extract()?,
            "source" => self.source = value.extract()?,
            "destination" => self.destination = value.extract()?,
            "ties" => self.ties = value.extract::<&str>()?.parse().map_err(refused)?,
            "seed" => self.seed = value.extract()?,
            "algorithms" => self.methods = methods(&value.extract::<Vec<String>>()?).map_err(refused)?,
            _ => {
                let message = format!("read_routes() got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(())
    }
}

/// The routes of the deployment that `text` describes. The format follows from `ending`, or else
/// from the name `file`.
#[pyfunction]
#[pyo3(signature = (text, file, ending=None, **settings))]
pub(crate) fn read_routes(
    py: Python<'_>,
    text: &str,
    file: &str,
    ending: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<RouteReport> {
    let mut wanted = Wanted { seed: 1, methods: Method::ALL.to_vec(), ..Wanted::default() };
    for (name, value) in settings.into_iter().flatten() {
        wanted.set(name.extract()?, &value)?;
    }
    let made = || {
        let format = match ending {
            Some(ending) => Format::of(&format!("{file}.{ending}"))?,
            None => Format::of(file)?,
        };
        let topology = ropewalk_routing::read(text, file, format)?;
        let [source, destination] = [wanted.source, wanted.destination].map(|place| place.map(End::from));
        let deployment = topology.deployment(wanted.range_m, source, destination)?;
        Report::new(deployment, &wanted.methods, wanted.ties, wanted.seed, None).map(RouteReport)
    };
    made().map_err(|error| routing_error(py, &error))
}

/// The names that can be chosen: (conditions, tie rules, algorithms, metrics).
#[pyfunction]
pub(crate) fn route_names() -> [Vec<&'static str>; 4] {
    [
        Condition::ALL.map(Condition::name).to_vec(),
        TieRule::ALL.map(TieRule::name).to_vec(),
        Method::ALL.map(Method::name).to_vec(),
        Metric::ALL.map(Metric::name).to_vec(),
    ]
}

//! `ropewalk._core`: it takes scenarios, searches for routes, and captures, and gives Arrow tables.
//! It releases Python's lock while a simulation runs.
//!
//! Nothing is decided here: every function hands over to `ropewalk_scenario`, `ropewalk_live`,
//! `ropewalk_routing` or `ropewalk_analyse`.

mod analysis;
mod errors;
mod examples;
mod interrupt;
mod outcome;
mod routing;
mod scenario;
mod table;

use pyo3::prelude::*;

/// The Rust half of the package `ropewalk`.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::analysis::{Analysis, analyse};
    #[pymodule_export]
    use crate::examples::examples;
    #[pymodule_export]
    use crate::interrupt::{Interrupt, RunProgress};
    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::routing::{
        RouteDeployments, RouteProgress, RouteReport, RouteSearch, RouteStatistics, read_routes, route_names,
    };
    #[pymodule_export]
    use crate::scenario::{Info, check, doctor, explain, references, run, schema, version};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("ScenarioError", crate::errors::scenario_error_type(py)?)?;
        module.add("RunError", crate::errors::run_error_type(py)?)
    }
}

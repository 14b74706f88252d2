//! Errors of the library as the exceptions that `ropewalk.errors` defines.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use ropewalk_routing::RoutingError;
use ropewalk_scenario::{RunError, ScenarioError};
use std::io;

static SCENARIO_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static RUN_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static INPUT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static INTERRUPTED: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `ropewalk.errors.ScenarioError`.
pub(crate) fn scenario_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    SCENARIO_ERROR.import(py, "ropewalk.errors", "ScenarioError")
}

/// `ropewalk.errors.RunError`.
pub(crate) fn run_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    RUN_ERROR.import(py, "ropewalk.errors", "RunError")
}

/// The exception for a scenario that cannot be run, with its parts as attributes.
pub(crate) fn scenario_error(py: Python<'_>, error: &ScenarioError) -> PyErr {
    let build = || {
        let parts = PyDict::new(py);
        parts.set_item("message", &error.message)?;
        parts.set_item("file", &error.file)?;
        parts.set_item("line", error.line)?;
        parts.set_item("column", error.column)?;
        parts.set_item("key", said(&error.key))?;
        parts.set_item("expected", said(&error.expected))?;
        parts.set_item("suggestion", &error.suggestion)?;
        let mistakes = error.mistakes().iter().map(|one| (said(&one.key), one.line, one.to_string()));
        parts.set_item("mistakes", mistakes.collect::<Vec<_>>())?;
        scenario_error_type(py)?.call((error.to_string(),), Some(&parts))
    };
    build().map_or_else(|failed| failed, PyErr::from_value)
}

/// A text, unless it is empty.
fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The exception for a run without an outcome.
pub(crate) fn run_error(py: Python<'_>, error: RunError) -> PyErr {
    match error {
        RunError::Interrupted { .. } => interrupted(py, &error.to_string()),
        RunError::Wifi { .. } | RunError::Emulated | RunError::NoLink { .. } => {
            raised(RUN_ERROR.import(py, "ropewalk.errors", "RunError"), &error.to_string())
        }
        RunError::Capture { source, .. } => os_error(&source),
    }
}

/// The exception for an emulation without an outcome.
#[cfg(target_os = "linux")]
pub(crate) fn emulation_error(py: Python<'_>, error: &ropewalk_live::RunError) -> PyErr {
    match error {
        ropewalk_live::RunError::Scenario(mistake) => scenario_error(py, mistake),
        ropewalk_live::RunError::Interrupted { .. } => interrupted(py, &error.to_string()),
        ropewalk_live::RunError::Kernel { .. } => {
            raised(RUN_ERROR.import(py, "ropewalk.errors", "RunError"), &error.to_string())
        }
    }
}

/// The exception for what was stopped.
pub(crate) fn interrupted(py: Python<'_>, message: &str) -> PyErr {
    raised(INTERRUPTED.import(py, "ropewalk.errors", "InterruptedRunError"), message)
}

/// The exception for routes that cannot be found, with its parts as attributes.
pub(crate) fn routing_error(py: Python<'_>, error: &RoutingError) -> PyErr {
    let (key, file, line) = match error {
        RoutingError::Interrupted { .. } => {
            return interrupted(py, &error.to_string());
        }
        RoutingError::Setting { key, .. } => (Some(*key), None, None),
        RoutingError::File { file, line, .. } => (None, Some(file), *line),
        RoutingError::Rare { .. } => (Some("draws"), None, None),
    };
    input_error(py, &error.to_string(), key, file.map(String::as_str), line)
}

/// The exception for something that the user gave and that is wrong, with its parts as attributes.
pub(crate) fn input_error(
    py: Python<'_>,
    message: &str,
    key: Option<&str>,
    file: Option<&str>,
    line: Option<usize>,
) -> PyErr {
    let build = || {
        let parts = PyDict::new(py);
        parts.set_item("key", key)?;
        parts.set_item("file", file)?;
        parts.set_item("line", line)?;
        let class = INPUT_ERROR.import(py, "ropewalk.errors", "InputError")?;
        class.call((message,), Some(&parts))
    };
    build().map_or_else(|failed| failed, PyErr::from_value)
}

/// An error of the file system, with its `errno` for Python code.
pub(crate) fn os_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

fn raised(class: PyResult<&Bound<'_, PyType>>, message: &str) -> PyErr {
    match class {
        Ok(class) => PyErr::from_type(class.clone(), message.to_owned()),
        Err(failed) => failed,
    }
}

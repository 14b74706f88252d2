//! What another thread may do to a run: stop it, and see how far it is.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Stops every run that it was handed to, once set.
#[pyclass(frozen, module = "ropewalk._core")]
#[derive(Default)]
pub(crate) struct Interrupt(AtomicBool);

impl Interrupt {
    /// The flag that the engine checks.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}

#[pymethods]
impl Interrupt {
    /// A flag that is not set.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the runs.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been set.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a run has come, for another thread to look at meanwhile.
#[pyclass(frozen, module = "ropewalk._core")]
#[derive(Default)]
pub(crate) struct RunProgress(AtomicU64);

impl RunProgress {
    /// Where the engine writes how far it is, in nanoseconds of simulated time.
    pub(crate) fn reached(&self) -> &AtomicU64 {
        &self.0
    }
}

#[pymethods]
impl RunProgress {
    /// The progress of a run that has not begun.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The simulated time that it has reached, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
    }
}

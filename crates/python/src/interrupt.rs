//! A flag that stops runs from another thread.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops every run that it was handed to, once set.
#[pyclass(frozen, module = "ropewalk._core")]
#[derive(Default)]
pub(crate) struct Interrupt(AtomicBool);

impl Interrupt {
    /// What the engine looks at.
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

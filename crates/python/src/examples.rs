//! The scenarios that the package comes with.

use pyo3::prelude::*;

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// Name and text of every file: scenarios, their traces, and the JSON Schema.
#[pyfunction]
pub(crate) fn examples() -> Vec<(&'static str, &'static str)> {
    FILES.to_vec()
}

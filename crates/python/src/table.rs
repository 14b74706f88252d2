//! Tables as Python sees them: the Arrow PyCapsule interface, which hands them over without a copy.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name that the interface prescribes for a capsule with a stream.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// A table. Whatever reads Arrow takes it: `polars.DataFrame(table)`.
#[pyclass(frozen, module = "ropewalk._core")]
pub(crate) struct Table(pub(crate) RecordBatch);

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The table as a stream of one batch. It has one schema, whichever is asked for, as the
    /// interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let schema = self.0.schema();
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
    }
}

//! Proving that a data set is whole.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::VerifyOptions;

use crate::error::to_json;
use crate::task;

/// The report, as JSON. `progress` is called with the frames done and their number.
#[pyfunction]
pub fn verify(py: Python<'_>, path: PathBuf, deep: bool, progress: Option<Bound<'_, PyAny>>) -> PyResult<String> {
    to_json(&task::run(py, progress.as_ref(), |tell| {
        vidrec::verify(path, VerifyOptions { deep, ..VerifyOptions::default() }, tell)
    })?)
}

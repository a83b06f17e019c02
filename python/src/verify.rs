//! Proving that a data set is whole.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::{Progress, VerifyOptions};

use crate::error::{raise, usage};
use crate::task;

/// The report, as JSON. `progress` is called with the number of frames done.
#[pyfunction]
pub fn verify(py: Python<'_>, path: PathBuf, deep: bool, progress: Option<Bound<'_, PyAny>>) -> PyResult<String> {
    let show = |p: Progress| progress.as_ref().map_or(Ok(()), |call| call.call1((p.done,)).map(drop));
    let report = task::run(py, show, |say| vidrec::verify(path, VerifyOptions { deep }, say))?;
    serde_json::to_string(&report.map_err(raise)?).map_err(|e| usage(e.to_string()))
}

//! Copies of local data sets in object storage.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::PushOptions;

use crate::error::to_json;
use crate::storage::Storage;
use crate::task;

/// The report, as JSON. `progress` is called with the bytes that are done and their number.
#[pyfunction]
pub fn push(
    py: Python<'_>,
    path: PathBuf,
    location: PathBuf,
    overwrite: bool,
    only_publisher: bool,
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let options = PushOptions { storage: storage.into_storage()?, overwrite, only_publisher };
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::push(path, location, &options, tell))?)
}

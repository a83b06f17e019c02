//! Proving that a data set is whole.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::VerifyOptions;

use crate::error::to_json;
use crate::storage::Storage;
use crate::task;

/// The report, as JSON. `progress` is called with the frames done and their number.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    path: PathBuf,
    deep: bool,
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let options = VerifyOptions { deep, storage: storage.into_storage()? };
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::verify(path, options, tell))?)
}

//! Local copies of remote data sets.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::FetchOptions;

use crate::error::to_json;
use crate::selection::SelectionArguments;
use crate::storage::Storage;
use crate::task;

/// The report, as JSON. `progress` is called with what is done and how much there is: bytes, or clips if some are chosen.
#[pyfunction]
pub fn fetch(
    py: Python<'_>,
    location: PathBuf,
    out: PathBuf,
    chosen: Option<SelectionArguments>,
    overwrite: bool,
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = FetchOptions::default();
    options.storage = storage.into_storage()?;
    options.selection = chosen.map(Into::into);
    options.overwrite = overwrite;
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::fetch(location, out, &options, tell))?)
}

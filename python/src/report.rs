//! Pages about data sets.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::report::{NamedSet, ReportOptions};

use crate::dataset::Dataset;
use crate::error::{raise, to_json};
use crate::task;

/// The figures, as JSON. `numbers` are the most clips, the most bytes and the seed; `work` is whether to check, and the
/// number of threads. `progress` is called with the clips done
/// and their number.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    sets: Vec<(String, PyRef<'_, Dataset>)>,
    out: Option<PathBuf>,
    title: Option<String>,
    numbers: (u64, String, u64),
    work: (Option<bool>, Option<usize>),
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let ((clips, budget, seed), (check, threads)) = (numbers, work);
    let budget = vidrec::parse_bytes(&budget).map_err(raise)?;
    let options = ReportOptions { title, clips, budget, check, seed, threads };
    let sets: Vec<_> = sets.into_iter().map(|(name, set)| NamedSet { name, set: set.get().clone() }).collect();
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::report::report(&sets, out.as_deref(), &options, tell))?)
}

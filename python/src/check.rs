//! Clips that a person should look at.

use pyo3::prelude::*;
use vidrec::check::{CheckOptions, FindingKind};

use crate::dataset::Dataset;
use crate::error::{raise, to_json};
use crate::task;

/// The report, as JSON. `only` and `skip` are kinds of findings; empty `only` means all. `progress` is called with the clips
/// done and their number.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    sets: Vec<PyRef<'_, Dataset>>,
    only: Vec<String>,
    skip: Vec<String>,
    distance: Option<u32>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let kinds = |words: &[String]| -> PyResult<Vec<FindingKind>> {
        words.iter().map(|word| word.parse().map_err(raise)).collect()
    };
    let (only, skip) = (kinds(&only)?, kinds(&skip)?);
    let is_wanted = |kind: &FindingKind| (only.is_empty() || only.contains(kind)) && !skip.contains(kind);
    let mut options = CheckOptions { threads, ..CheckOptions::default() };
    options.kinds.retain(is_wanted);
    options.distance = distance.unwrap_or(options.distance);
    let sets: Vec<_> = sets.iter().map(|set| set.get().clone()).collect();
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::check::check(&sets, &options, tell))?)
}

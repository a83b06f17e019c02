//! Long work on whole data sets that ends in a report: looks at clips, proofs, pages, and copies from and to object storage.
//!
//! The reports are JSON.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use vidrec::check::{CheckOptions, FindingKind};
use vidrec::report::{NamedSet, ReportOptions};
use vidrec::{FetchOptions, ProgressFn, PushOptions, VerifyOptions};

use crate::dataset::Dataset;
use crate::error::{raise, to_json};
use crate::storage::Storage;
use crate::task;

fn run<R: Serialize + Send>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<String> {
    to_json(&task::run(py, progress.as_ref(), work)?)
}

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
    run(py, progress, |tell| vidrec::check::check(&sets, &options, tell))
}

/// The report, as JSON. `progress` is called with the bytes that are done and their number.
#[pyfunction]
pub fn fetch(
    py: Python<'_>,
    location: PathBuf,
    out: PathBuf,
    overwrite: bool,
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = FetchOptions::default();
    options.storage = storage.into_storage()?;
    options.overwrite = overwrite;
    run(py, progress, |tell| vidrec::fetch(location, out, &options, tell))
}

/// The report, as JSON. `progress` is called with the bytes that are done and their number.
#[pyfunction]
pub fn push(
    py: Python<'_>,
    path: PathBuf,
    location: PathBuf,
    overwrite: bool,
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let options = PushOptions { storage: storage.into_storage()?, overwrite, scratch: None };
    run(py, progress, |tell| vidrec::push(path, location, &options, tell))
}

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
    run(py, progress, |tell| vidrec::report::report(&sets, out.as_deref(), &options, tell))
}

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
    run(py, progress, |tell| vidrec::verify(path, options, tell))
}

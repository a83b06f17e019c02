//! Data sets out of data sets.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::Sharding;
use vidrec::edit::{self, Change, EditOptions, Key, Relabeling, Selection, SplitBy};

use crate::dataset::Dataset;
use crate::error::{raise, to_json, usage};
use crate::selection::{Chosen, Parts};
use crate::task;

/// How outputs are written. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Output {
    shards: Option<u32>,
    shard_size: Option<u64>,
    overwrite: bool,
}

impl Output {
    fn into_options(self) -> PyResult<EditOptions> {
        let shards = match (self.shards, self.shard_size) {
            (Some(_), Some(_)) => return Err(usage("pass shards or shard_size, not both".into())),
            (Some(count), None) => Some(Sharding::Count(count)),
            (None, Some(bytes)) => Some(Sharding::Bytes(bytes)),
            (None, None) => None,
        };
        Ok(EditOptions { shards, overwrite: self.overwrite })
    }
}

type Show<'py> = Option<Bound<'py, PyAny>>;

/// The report, as JSON.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    sets: Vec<PyRef<'_, Dataset>>,
    out: PathBuf,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (how, sets) = (how.into_options()?, sets.iter().map(|set| set.get().clone()).collect::<Vec<_>>());
    to_json(&task::run(py, progress.as_ref(), |tell| edit::merge(&sets, out, &how, tell))?)
}

/// The reports of all parts, as JSON.
#[pyfunction]
pub fn split(
    py: Python<'_>,
    set: PyRef<'_, Dataset>,
    out: PathBuf,
    parts: Parts,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (set, by, how) = (set.get().clone(), SplitBy::from(parts), how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::split(&set, &by, out, &how, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn subset(
    py: Python<'_>,
    set: PyRef<'_, Dataset>,
    out: PathBuf,
    chosen: Chosen,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (set, selection, how) = (set.get().clone(), Selection::from(chosen), how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::subset(&set, &selection, out, &how, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn reshard(
    py: Python<'_>,
    set: PyRef<'_, Dataset>,
    out: PathBuf,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (set, how) = (set.get().clone(), how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::reshard(&set, out, &how, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn append(
    py: Python<'_>,
    path: PathBuf,
    more: PyRef<'_, Dataset>,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (more, how) = (more.get().clone(), how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::append(path, &more, &how, tell))?)
}

/// A clip's ordinal or a source, a label or none, attributes as JSON.
type Changed = (Option<u64>, String, Option<String>, String);

fn change((clip, source, label, attributes): Changed) -> PyResult<Change> {
    let attributes = attributes.parse().map_err(raise)?;
    Ok(Change { key: clip.map_or(Key::Source(source), Key::Clip), label, attributes })
}

/// The report, as JSON.
#[pyfunction]
pub fn relabel(
    py: Python<'_>,
    set: PyRef<'_, Dataset>,
    out: PathBuf,
    changes: Vec<Changed>,
    renamed_classes: Vec<(String, String)>,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let changes = changes.into_iter().map(change).collect::<PyResult<_>>()?;
    let (set, relabeling, how) = (set.get().clone(), Relabeling { changes, renamed_classes }, how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::relabel(&set, &relabeling, out, &how, tell))?)
}

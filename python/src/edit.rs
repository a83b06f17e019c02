//! Data sets out of data sets.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use vidrec::edit::{self, Change, Changes, EditOptions, EditReport, Key, RatioSplit, Selection};
use vidrec::{ProgressFn, Sharding};

use crate::dataset::Dataset;
use crate::error::{from_json, raise, refuse, to_json};
use crate::storage::{Output, Remote};
use crate::task::{self, ProgressCallbacks};

/// Options of an output. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct OutputOptions {
    shards: Option<String>,
    overwrite: bool,
    remote: Remote,
}

/// The number or size of shards.
fn sharding(shards: Option<&str>) -> PyResult<Option<Sharding>> {
    shards.map(str::parse).transpose().map_err(|e| refuse("shards", &e))
}

/// A data set, wherever it is to be. The report, as JSON.
fn write(
    py: Python<'_>,
    out: PathBuf,
    options: OutputOptions,
    progress: &ProgressCallbacks<'_>,
    edit: impl FnOnce(&Path, &EditOptions, &mut ProgressFn<'_>) -> vidrec::Result<EditReport> + Send,
) -> PyResult<String> {
    let (shards, location) = (sharding(options.shards.as_deref())?, out.display().to_string());
    let output = Output::new(out, options.overwrite, options.remote)?;
    let (mut report, pushed) = task::run_and_upload(py, progress, |tell, upload| {
        output.write(upload, |folder, overwrite| edit(folder, &EditOptions { shards, overwrite }, tell))
    })?;
    if let Some(pushed) = pushed {
        report.output = location;
        report.notes.extend(pushed.notes);
    }
    to_json(&report)
}

/// The report, as JSON.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    sets: Vec<PyRef<'_, Dataset>>,
    out: PathBuf,
    options: OutputOptions,
    progress: ProgressCallbacks<'_>,
) -> PyResult<String> {
    let sets = sets.iter().map(|set| set.get().clone()).collect::<Vec<_>>();
    write(py, out, options, &progress, |out, options, tell| edit::merge(&sets, out, options, tell))
}

/// The reports of all parts, as JSON. They are in folders of this machine.
#[pyfunction]
pub fn split(
    py: Python<'_>,
    set: PyRef<'_, Dataset>,
    out: PathBuf,
    by: &str,
    options: (Option<String>, bool),
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let split: RatioSplit = from_json("parts", by)?;
    let options = EditOptions { shards: sharding(options.0.as_deref())?, overwrite: options.1 };
    let set = set.get().clone();
    to_json(&task::run(py, progress.as_ref(), |tell| edit::split(&set, &split, out, &options, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn subset(
    py: Python<'_>,
    set: PyRef<'_, Dataset>,
    out: PathBuf,
    chosen: &str,
    changes: ChangeArguments,
    options: OutputOptions,
    progress: ProgressCallbacks<'_>,
) -> PyResult<String> {
    let (clips, renamed_classes, align_clocks) = changes;
    let clips = clips.into_iter().map(change).collect::<PyResult<_>>()?;
    let changes = Changes { clips, renamed_classes, align_clocks };
    let selection: Selection = from_json("clips", chosen)?;
    let set = set.get().clone();
    write(py, out, options, &progress, |out, options, tell| {
        edit::subset(&set, &selection, &changes, out, options, tell)
    })
}

/// The report, as JSON. The data set that grows is in a folder of this machine.
#[pyfunction]
pub fn append(
    py: Python<'_>,
    path: PathBuf,
    more: Vec<PyRef<'_, Dataset>>,
    shards: Option<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let more = more.iter().map(|set| set.get().clone()).collect::<Vec<_>>();
    let options = EditOptions { shards: sharding(shards.as_deref())?, overwrite: false };
    to_json(&task::run(py, progress.as_ref(), |tell| edit::append(path, &more, &options, tell))?)
}

/// The report, as JSON. The data set is in a folder of this machine.
#[pyfunction]
pub fn remove(py: Python<'_>, path: PathBuf, chosen: &str, progress: Option<Bound<'_, PyAny>>) -> PyResult<String> {
    let selection: Selection = from_json("clips", chosen)?;
    to_json(&task::run(py, progress.as_ref(), |tell| edit::remove(path, &selection, tell))?)
}

/// A clip's ordinal or a source, a label or none, attributes as JSON.
type ChangeOfClips = (Option<u64>, String, Option<String>, String);

fn change((clip, source, label, attributes): ChangeOfClips) -> PyResult<Change> {
    let attributes = attributes.parse().map_err(raise)?;
    Ok(Change { key: clip.map_or(Key::Source(source), Key::Clip), label, attributes })
}

/// Changes of clips, classes to rename, and whether clocks begin at first frames.
type ChangeArguments = (Vec<ChangeOfClips>, Vec<(String, String)>, bool);

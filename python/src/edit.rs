//! Data sets out of data sets: the options of edits, and those that write.

use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::edit::{
    self, Change, ClipList, EditOptions, KeepTogether, Key, RatioSplit, Relabeling, Selection, SplitBy,
};
use vidrec::{Dataset, Sharding};

use crate::error::{raise, to_json, usage};
use crate::task;

/// Clips by ordinal and by source.
type Listed = (Vec<u64>, Vec<String>);

fn clip_list((clips, sources): Listed) -> ClipList {
    ClipList { clips, sources }
}

/// Which clips to choose. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Chosen {
    classes: Vec<String>,
    list: Option<Listed>,
    exclude: Listed,
    attributes: Vec<(String, String)>,
    sample: Option<u64>,
    seed: u64,
}

impl From<Chosen> for Selection {
    fn from(o: Chosen) -> Selection {
        Selection {
            classes: o.classes,
            clips: None,
            list: o.list.map(clip_list),
            exclude: clip_list(o.exclude),
            attributes: o.attributes,
            sample: o.sample,
            seed: o.seed,
        }
    }
}

/// How to split: by an attribute, by lists, or by ratio. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Parts {
    attribute: Option<String>,
    lists: Option<Vec<(String, Listed)>>,
    ratio: Vec<(String, f64)>,
    seed: u64,
    stratify: bool,
    keep_sources: bool,
    /// A number for each clip; instead of `keep_sources`.
    groups: Option<Vec<u64>>,
}

impl From<Parts> for SplitBy {
    fn from(o: Parts) -> SplitBy {
        if let Some(attribute) = o.attribute {
            return SplitBy::Attribute(attribute);
        }
        if let Some(lists) = o.lists {
            return SplitBy::Lists(lists.into_iter().map(|(name, list)| (name, clip_list(list))).collect());
        }
        let keep_together = match o.groups {
            Some(groups) => KeepTogether::Groups(groups),
            None if o.keep_sources => KeepTogether::Sources,
            None => KeepTogether::Draws,
        };
        SplitBy::Ratio(RatioSplit { parts: o.ratio, seed: o.seed, stratify: o.stratify, keep_together })
    }
}

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
pub fn merge(py: Python<'_>, paths: Vec<PathBuf>, out: PathBuf, how: Output, progress: Show<'_>) -> PyResult<String> {
    let how = how.into_options()?;
    to_json(&task::run(py, progress.as_ref(), |tell| {
        let sets = paths.iter().map(Dataset::open).collect::<vidrec::Result<Vec<_>>>()?;
        edit::merge(&sets, out, &how, tell)
    })?)
}

/// The reports of all parts, as JSON.
#[pyfunction]
pub fn split(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    parts: Parts,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (by, how) = (SplitBy::from(parts), how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::split(&Dataset::open(path)?, &by, out, &how, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn subset(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    chosen: Chosen,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let (selection, how) = (Selection::from(chosen), how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| edit::subset(&Dataset::open(path)?, &selection, out, &how, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn reshard(py: Python<'_>, path: PathBuf, out: PathBuf, how: Output, progress: Show<'_>) -> PyResult<String> {
    let how = how.into_options()?;
    to_json(&task::run(py, progress.as_ref(), |tell| edit::reshard(&Dataset::open(path)?, out, &how, tell))?)
}

/// The report, as JSON.
#[pyfunction]
pub fn append(py: Python<'_>, path: PathBuf, more: PathBuf, how: Output, progress: Show<'_>) -> PyResult<String> {
    let how = how.into_options()?;
    to_json(&task::run(py, progress.as_ref(), |tell| edit::append(path, &Dataset::open(more)?, &how, tell))?)
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
    path: PathBuf,
    out: PathBuf,
    changes: Vec<Changed>,
    renamed_classes: Vec<(String, String)>,
    how: Output,
    progress: Show<'_>,
) -> PyResult<String> {
    let changes = changes.into_iter().map(change).collect::<PyResult<_>>()?;
    let (relabeling, how) = (Relabeling { changes, renamed_classes }, how.into_options()?);
    to_json(&task::run(py, progress.as_ref(), |tell| {
        edit::relabel(&Dataset::open(path)?, &relabeling, out, &how, tell)
    })?)
}

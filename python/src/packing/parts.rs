//! Packing in parts: plans, their parts, how far they are, and the data set.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::pack::{PackPlan, PartOptions, PartsPlan, PublishOptions, Recipe, Resources};

use super::options::Options;
use super::pack::Told;
use crate::error::to_json;
use crate::storage::Storage;
use crate::task;

/// Divides a pack into parts. What was written, as JSON.
#[pyfunction]
pub fn write_plan(py: Python<'_>, inputs: Vec<PathBuf>, out: PathBuf, options: Options) -> PyResult<String> {
    let Recipe { inputs, options } = options.recipe(&inputs)?;
    let written = task::run(py, None, |_| {
        let plan = PackPlan::for_parts(&inputs, &options.input)?;
        vidrec::pack::write_plan(&plan, &out, &options)
    })?;
    to_json(&written)
}

/// Packs a part of a plan. The report, as JSON. `options` are resources; the plan has all others. `worker` starts a process
/// that calls [`serve`](super::pack::serve) with one more argument. It decodes unless `isolate` is false.
#[pyfunction]
pub fn pack_part(
    py: Python<'_>,
    plan: PathBuf,
    part: u32,
    options: Options,
    worker: Option<Vec<OsString>>,
    isolate: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (given, resources) = (options.remote(), options.resources()?);
    let mut options = PartOptions::default();
    options.scratch = given.scratch;
    options.storage = given.storage.into_storage()?;
    let report = task::run(py, progress.as_ref(), |tell| {
        let plan = PartsPlan::open_at(&plan, &options.storage)?;
        // It may not be able to read the plan: secrets are in no command line.
        let of_plan = plan.options(&resources)?.to_json()?;
        let worker = worker.map(|command| command.into_iter().chain([of_plan.into()]).collect::<Vec<OsString>>());
        options.resources = Resources { isolate: worker.filter(|_| isolate), ..resources };
        plan.pack(part, &options, tell)
    })?;
    to_json(&Told::new(&report))
}

/// How far a plan is, as JSON.
#[pyfunction]
pub fn plan_status(py: Python<'_>, plan: PathBuf, storage: Storage) -> PyResult<String> {
    let storage = storage.into_storage()?;
    let status = task::run(py, None, |_| vidrec::pack::plan_status(&plan, &storage))?;
    to_json(&status)
}

/// Makes a data set of the parts. The report, as JSON. `how`: allow missing parts, read all, overwrite, only publisher.
/// `progress` is called with the shards checked and their number.
#[pyfunction]
pub fn publish(
    py: Python<'_>,
    plan: PathBuf,
    how: (bool, bool, bool, bool),
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = PublishOptions::default();
    (options.allow_missing, options.read_all, options.overwrite, options.only_publisher) = how;
    let storage = storage.into_storage()?;
    let report = task::run(py, progress.as_ref(), |tell| PartsPlan::open_at(&plan, &storage)?.publish(&options, tell))?;
    to_json(&Told::new(&report))
}

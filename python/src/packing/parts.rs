//! Packing in parts: plans, their parts, how far they are, and the data set.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use vidrec::pack::{PackPlan, PartOptions, PartsPlan, PublishOptions, Resources};

use super::pack::Told;
use super::pack_options::Options;
use crate::error::{raise, to_json};
use crate::storage::Storage;
use crate::task;

/// Divides a pack into parts. What was written, as JSON.
#[pyfunction]
pub fn write_plan(py: Python<'_>, inputs: Vec<PathBuf>, out: PathBuf, options: Options) -> PyResult<String> {
    let parts = options.parts()?.map_or(1, |parts| parts.parts);
    let options = options.to_pack_options()?;
    let written = task::run(py, None, |_| {
        let plan = PackPlan::from_inputs(&inputs, &options.input)?;
        vidrec::pack::write_plan(&plan, &out, parts, &options)
    })?;
    to_json(&written)
}

/// Packs a part of a plan. The report, as JSON. `options` are resources and how often to commit; the plan has all others.
/// `worker` starts a process that calls [`serve_part`] with one more argument, and decodes unless `no_isolate`, or if an
/// attempt before this one died.
#[pyfunction]
pub fn pack_part(
    py: Python<'_>,
    plan: PathBuf,
    part: u32,
    options: Options,
    worker: Option<Vec<OsString>>,
    no_isolate: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (scratch, given) = (options.remote().scratch, options.to_pack_options()?);
    let mut options = PartOptions::default();
    (options.commit_every, options.storage, options.scratch) = (given.run.commit_every, given.input.storage, scratch);
    let report = task::run(py, progress.as_ref(), |tell| {
        let plan = PartsPlan::open_at(&plan, &options.storage)?;
        // It may not be able to read the plan: secrets are in no command line.
        let worker = worker.map(|command| command.into_iter().chain([plan.options_text().into()]).collect::<Vec<_>>());
        options.resources = Resources { isolate: worker.clone().filter(|_| !no_isolate), ..given.resources };
        options.worker = worker;
        plan.pack(part, &options, tell)
    })?;
    to_json(&Told::new(&report))
}

/// Decodes for the attempt that started this process with these options, until it ends. Then the caller should end the
/// process.
#[pyfunction]
pub fn serve_part(py: Python<'_>, options: &str) -> PyResult<()> {
    let serve = || vidrec::pack::serve(&PartsPlan::options_from(options, &Resources::default())?);
    py.detach(serve).map_err(raise)
}

/// How far a plan is, as JSON.
#[pyfunction]
pub fn plan_status(py: Python<'_>, plan: PathBuf, storage: Storage) -> PyResult<String> {
    let storage = storage.into_storage()?;
    let status = task::run(py, None, |_| PartsPlan::open_at(&plan, &storage)?.status())?;
    to_json(&status)
}

/// Makes a data set of the parts. The report, as JSON. `how`: allow missing parts, read all, overwrite, only publisher.
/// `progress` is called with the shards checked and their number.
#[pyfunction]
pub fn publish(
    py: Python<'_>,
    plan: PathBuf,
    out: Option<PathBuf>,
    how: (bool, bool, bool, bool),
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = PublishOptions::default();
    options.out = out;
    (options.allow_missing, options.read_all, options.overwrite, options.only_publisher) = how;
    let storage = storage.into_storage()?;
    let report = task::run(py, progress.as_ref(), |tell| PartsPlan::open_at(&plan, &storage)?.publish(&options, tell))?;
    to_json(&Told::new(&report))
}

//! Packing videos.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use vidrec::pack::{PackOptions, PackPlan, PackReport, Recipe};

use super::options::Options;
use crate::error::{raise, to_json};
use crate::task;

/// A report, and what follows from it.
#[derive(Serialize)]
pub struct Told<'a> {
    #[serde(flatten)]
    report: &'a PackReport,
    /// Whether everything was there already, so that there was nothing to do.
    unchanged: bool,
}

impl<'a> Told<'a> {
    pub fn new(report: &'a PackReport) -> Self {
        Told { report, unchanged: report.is_unchanged() }
    }
}

/// The report, as JSON. `progress` is called with the videos done and their number. An exception from there or of a signal
/// handler stops the pack, which can then be resumed. `worker`: what starts a process that calls [`serve`], with one more
/// argument.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
    worker: Option<Vec<OsString>>,
) -> PyResult<String> {
    let mut recipe = options.recipe(&inputs)?;
    isolate(&mut recipe, worker)?;
    if !vidrec::is_remote(&out) {
        options.remote().check_local()?;
    }
    let Recipe { inputs, options } = &recipe;
    let report = task::run(py, progress.as_ref(), |tell| {
        let plan = PackPlan::from_inputs(inputs, &options.input)?;
        vidrec::pack::pack_plan(&plan, &out, options, tell)
    })?;
    to_json(&Told::new(&report))
}

/// Lets processes decode that `worker` starts.
fn isolate(recipe: &mut Recipe, worker: Option<Vec<OsString>>) -> PyResult<()> {
    if let Some(mut worker) = worker {
        // Options of the storage may be secret, and are not among these. The run opens remote videos itself.
        worker.push(recipe.options.to_json().map_err(raise)?.into());
        recipe.options.resources.isolate = Some(worker);
    }
    Ok(())
}

/// What [`pack`] would give, as JSON. `progress` is called with the videos looked at and their number.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
    worker: Option<Vec<OsString>>,
) -> PyResult<String> {
    let (mut recipe, remote) = (options.recipe(&inputs)?, options.remote());
    isolate(&mut recipe, worker)?;
    // An output in object storage is made on this machine first.
    let out = if vidrec::is_remote(&out) { remote.scratch_folder() } else { out };
    let Recipe { inputs, options } = &recipe;
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::pack::estimate(inputs, out, options, tell))?)
}

/// The recipe of these inputs and options, as TOML.
#[pyfunction]
pub fn recipe(inputs: Vec<PathBuf>, options: Options) -> PyResult<String> {
    options.recipe(&inputs)?.to_toml().map_err(raise)
}

/// Decodes for the run that started this process with these options, until the run ends. Then the caller should end the
/// process.
#[pyfunction]
pub fn serve(py: Python<'_>, options: &str) -> PyResult<()> {
    py.detach(|| PackOptions::from_json(options).and_then(|options| vidrec::pack::serve(&options))).map_err(raise)
}

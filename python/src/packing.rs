//! Packs videos, as one data set or in parts: in a build with FFmpeg.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use vidrec::pack::{
    PackOptions, PackPlan, PackReport, PartOptions, PartsPlan, PublishOptions, Recipe, Resources, RunOptions,
};
use vidrec::{JsonObject, PushOptions};

use crate::error::{from_json, raise, refuse, to_json, usage};
use crate::storage::{Remote, Storage};
use crate::task;

/// Adds the functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pack, module)?)?;
    module.add_function(wrap_pyfunction!(serve, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(recipe, module)?)?;
    module.add_function(wrap_pyfunction!(write_plan, module)?)?;
    module.add_function(wrap_pyfunction!(pack_part, module)?)?;
    module.add_function(wrap_pyfunction!(plan_status, module)?)?;
    module.add_function(wrap_pyfunction!(publish, module)?)
}

/// The options of a pack, from the dict that `vidrec/_pack_options.py` makes of the arguments. Every key must be there. What is
/// None has the library's default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    /// The options of a recipe, as JSON.
    recipe: String,
    if_exists: String,
    threads: Option<usize>,
    memory: Option<String>,
    /// How an output in object storage is written, and inputs there are read.
    pub remote: Remote,
}

impl Options {
    /// Inputs and options, for this machine.
    pub fn recipe(&self, inputs: &[PathBuf]) -> PyResult<Recipe> {
        let given = JsonObject(from_json("options", &self.recipe)?);
        let mut recipe = Recipe::given(inputs, given).map_err(raise)?;
        recipe.options.input.storage = self.remote.storage.clone().into_storage()?;
        (recipe.options.resources, recipe.options.run) = (self.resources()?, self.run()?);
        Ok(recipe)
    }

    pub fn resources(&self) -> PyResult<Resources> {
        if self.threads == Some(0) {
            return Err(usage("threads: expected 1 or more, found 0".into()));
        }
        let memory = self.memory.as_deref().map(vidrec::parse_bytes).transpose().map_err(|e| refuse("memory", &e))?;
        Ok(Resources { threads: self.threads, memory, isolate: None })
    }

    fn run(&self) -> PyResult<RunOptions> {
        Ok(RunOptions {
            if_exists: self.if_exists.parse().map_err(|e| refuse("if_exists", &e))?,
            scratch: self.remote.scratch.clone(),
        })
    }
}

/// A report, and what follows from it.
#[derive(Serialize)]
pub struct PackOutput<'a> {
    #[serde(flatten)]
    report: &'a PackReport,
    /// Whether everything was there already, so that there was nothing to do.
    unchanged: bool,
}

impl<'a> PackOutput<'a> {
    pub fn new(report: &'a PackReport) -> Self {
        PackOutput { report, unchanged: report.is_unchanged() }
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
        options.remote.check_local()?;
    }
    let Recipe { inputs, options } = &recipe;
    let report = task::run(py, progress.as_ref(), |tell| {
        let plan = PackPlan::from_inputs(inputs, &options.input)?;
        vidrec::pack::pack_plan(&plan, &out, options, tell)
    })?;
    to_json(&PackOutput::new(&report))
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
    let mut recipe = options.recipe(&inputs)?;
    isolate(&mut recipe, worker)?;
    // An output in object storage is made on this machine first.
    let remote = PushOptions { scratch: options.remote.scratch, ..PushOptions::default() };
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
/// that calls [`serve`] with one more argument. It decodes unless `isolate` is false.
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
    let (remote, resources) = (options.remote.clone(), options.resources()?);
    let mut options = PartOptions::default();
    (options.scratch, options.storage) = (remote.scratch, remote.storage.into_storage()?);
    let report = task::run(py, progress.as_ref(), |tell| {
        let plan = PartsPlan::open_at(&plan, &options.storage)?;
        // It may not be able to read the plan: secrets are in no command line.
        let of_plan = plan.options(&resources)?.to_json()?;
        let worker = worker.map(|command| command.into_iter().chain([of_plan.into()]).collect::<Vec<OsString>>());
        options.resources = Resources { isolate: worker.filter(|_| isolate), ..resources };
        plan.pack(part, &options, tell)
    })?;
    to_json(&PackOutput::new(&report))
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
    how: (bool, bool, bool),
    storage: Storage,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = PublishOptions::default();
    (options.allow_missing, options.read_all, options.overwrite) = how;
    let storage = storage.into_storage()?;
    let report = task::run(py, progress.as_ref(), |tell| PartsPlan::open_at(&plan, &storage)?.publish(&options, tell))?;
    to_json(&PackOutput::new(&report))
}

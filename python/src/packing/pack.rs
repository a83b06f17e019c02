//! Packing videos.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use serde::Serialize;
use vidrec::Progress;
use vidrec::pack::{InParts, Interrupted, PackOptions, PackPlan, PackReport};

use super::pack_options::Options;
use crate::error::{raise, to_json, usage};
use crate::output::Output;
use crate::task::{self, Shows};

/// A report, and what follows from it.
#[derive(Serialize)]
pub struct Told<'a> {
    #[serde(flatten)]
    report: &'a PackReport,
    /// Whether everything was there already, so that there was nothing to do or to retry.
    unchanged: bool,
}

impl<'a> Told<'a> {
    pub fn new(report: &'a PackReport) -> Self {
        Told { report, unchanged: report.is_unchanged() }
    }
}

/// The report, as JSON. `progress` is called with the videos done and their number. An exception from there or of a signal
/// handler stops the pack, which can then be resumed. `isolate`: what starts a process that calls [`serve`] with the same
/// options, to decode there. `mxnet`: export the data set into its folder `mxnet` as well.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Shows<'_>,
    isolate: Option<Vec<OsString>>,
    mxnet: bool,
) -> PyResult<String> {
    let (parts, remote) = (options.parts()?, options.remote());
    let mut options = options.to_pack_options()?;
    options.resources.isolate = isolate;
    if !vidrec::is_remote(&out) {
        remote.check_local()?;
        return pack_here(py, &inputs, &out, (parts, options), &progress, mxnet);
    }
    check_remote(options.run.retry_failed, mxnet)?;
    // In the scratch folder, or in the plan that is there.
    options.run.interrupted = match options.run.interrupted {
        Interrupted::Restart => Interrupted::Restart,
        _ => Interrupted::Resume,
    };
    match parts {
        // Each part is uploaded when it is packed.
        Some(parts) => pack_here(py, &inputs, &out, (Some(parts), options), &progress, false),
        None => pack_there(py, &inputs, Output::new(out, options.run.overwrite, remote)?, options, &progress),
    }
}

/// Packs in a folder, or in parts that are uploaded one by one.
fn pack_here(
    py: Python<'_>,
    inputs: &[PathBuf],
    out: &Path,
    (parts, options): (Option<InParts>, PackOptions),
    progress: &Shows<'_>,
    mxnet: bool,
) -> PyResult<String> {
    let report = task::run(py, progress.0.as_ref(), |tell| {
        let mut latest = Progress::default();
        let mut note = |how_far: &Progress| {
            latest = *how_far;
            tell(how_far)
        };
        let plan = PackPlan::from_inputs(inputs, &options.input)?;
        let mut report = match parts {
            Some(parts) => vidrec::pack::pack_in_parts(&plan, out, parts, &options, &mut note)?,
            None => vidrec::pack::pack_plan(&plan, out, &options, &mut note)?,
        };
        if mxnet && report.clips > 0 {
            // The items of an export are clips. The caller counts videos, of which all are done.
            let exported = vidrec::interop::mxnet::export_within(out, &mut |_| tell(&latest))?;
            report.notes.extend(exported.left_out_note("the folder mxnet"));
        }
        Ok(report)
    })?;
    to_json(&Told::new(&report))
}

/// Packs in a scratch folder, and uploads the data set. What an interrupted call left there is resumed, and a data set there
/// is only replaced by one that starts over.
fn pack_there(
    py: Python<'_>,
    inputs: &[PathBuf],
    output: Output,
    mut options: PackOptions,
    progress: &Shows<'_>,
) -> PyResult<String> {
    options.run.overwrite = options.run.interrupted == Interrupted::Restart;
    let (mut report, pushed) = task::run_and_upload(py, progress, |tell, upload| {
        let plan = PackPlan::from_inputs(inputs, &options.input)?;
        if let Some(report) = output.find_packed(&plan, &options)? {
            return Ok((report, None));
        }
        output.write(upload, |folder, _| vidrec::pack::pack_plan(&plan, folder, &options, tell))
    })?;
    report.notes.extend(pushed.into_iter().flat_map(|pushed| pushed.notes));
    to_json(&Told::new(&report))
}

/// Refuses what only works in a folder of this machine.
fn check_remote(retry_failed: bool, mxnet: bool) -> PyResult<()> {
    let (option, then) = match (retry_failed, mxnet) {
        (true, _) => {
            ("retry_failed needs the data set", "vidrec.fetch it, retry there, then vidrec.push it with overwrite=True")
        }
        (_, true) => ("mxnet needs an output", "vidrec.push it afterwards"),
        _ => return Ok(()),
    };
    Err(usage(format!("{option} on this machine: {then}")))
}

/// What [`pack`] would give, as JSON. `progress` is called with the videos looked at and their number.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
    isolate: Option<Vec<OsString>>,
) -> PyResult<String> {
    let (remote, mut options) = (options.remote(), options.to_pack_options()?);
    options.resources.isolate = isolate;
    // An output in object storage is made on this machine first.
    let out = if vidrec::is_remote(&out) { remote.scratch_folder() } else { out };
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::pack::estimate(&inputs, out, &options, tell))?)
}

/// Decodes for the run that started this process, until the run ends. Then the caller should end the process.
#[pyfunction]
pub fn serve(py: Python<'_>, options: Options) -> PyResult<()> {
    let options = options.to_pack_options()?;
    py.detach(|| vidrec::pack::serve(&options)).map_err(raise)
}

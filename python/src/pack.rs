//! Packing videos.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use vidrec::Progress;
use vidrec::pack::{PackPlan, PackReport};

use crate::error::{raise, to_json};
use crate::pack_options::Options;
use crate::task;

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
    progress: Option<Bound<'_, PyAny>>,
    isolate: Option<Vec<OsString>>,
    mxnet: bool,
) -> PyResult<String> {
    let parts = options.parts()?;
    let mut options = options.to_pack_options()?;
    options.resources.isolate = isolate;
    let report = task::run(py, progress.as_ref(), |tell| {
        let mut latest = Progress::default();
        let mut note = |how_far: &Progress| {
            latest = *how_far;
            tell(how_far)
        };
        let plan = PackPlan::from_inputs(&inputs, &options.input)?;
        let report = match parts {
            Some(parts) => vidrec::pack::pack_in_parts(&plan, &out, parts, &options, &mut note)?,
            None => vidrec::pack::pack_plan(&plan, &out, &options, &mut note)?,
        };
        if mxnet && report.clips > 0 {
            // The items of an export are clips. The caller counts videos, of which all are done.
            vidrec::interop::mxnet::export_within(&out, &mut |_| tell(&latest))?;
        }
        Ok(report)
    })?;
    to_json(&Told::new(&report))
}

/// What [`pack`] would give, as JSON. `progress` is called with the videos looked at and their number.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let options = options.to_pack_options()?;
    to_json(&task::run(py, progress.as_ref(), |tell| vidrec::pack::estimate(&inputs, out, &options, tell))?)
}

/// Decodes for the run that started this process, until the run ends. Then the caller should end the process.
#[pyfunction]
pub fn serve(py: Python<'_>, options: Options) -> PyResult<()> {
    let options = options.to_pack_options()?;
    py.detach(|| vidrec::pack::serve(&options)).map_err(raise)
}

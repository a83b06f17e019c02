//! All parts of a pack on this machine.

use std::path::Path;
use std::time::Instant;

use super::here_options::{InParts, refuse_retry};
use super::pack_all::pack_all;
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::write::write_plan;
use crate::disk::regular_file::refuse_link;
use crate::disk::{FolderLock, publication, whole_folder};
use crate::format::names::{PARTS, PLAN};
#[cfg(feature = "remote")]
use crate::is_remote;
use crate::pack::options::PackOptions;
use crate::pack::plan::PackPlan;
use crate::pack::run::{Existing, Interrupted, PackReport, RunFingerprint};
use crate::progress::ProgressFn;
use crate::{Error, Hint, Result, writer};

/// Packs the videos of a plan in parts, some of them at a time, into the data set `out`: a folder, or a location in object
/// storage, which `options.input.storage` says how to reach.
///
/// The bytes are those of [`write_plan`], of its parts packed by any number of machines, and of
/// [`publish`](PartsPlan::publish). The threads of `options.resources` are divided among the jobs.
///
/// # Errors
///
/// As [`pack_plan`](crate::pack::pack_plan) and [`write_plan`]. What was done can be resumed.
pub fn pack_in_parts(
    plan: &PackPlan,
    out: impl AsRef<Path>,
    parts: impl Into<InParts>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let (parts, out) = (parts.into(), out.as_ref());
    #[cfg(feature = "remote")]
    if is_remote(out) {
        return super::here_remote::pack_into_bucket(plan, out, &parts, options, progress);
    }
    pack_into_folder(plan, out, &parts, options, progress)
}

fn pack_into_folder(
    plan: &PackPlan,
    out: &Path,
    parts: &InParts,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let began = Instant::now();
    let dir = out.join(PARTS);
    // Nobody else packs or publishes here meanwhile.
    let lock = FolderLock::take(out)?;
    publication::recover(out)?;
    begin(&dir, options)?;
    let resumes = dir.join(PLAN).exists();
    let divided =
        divide(plan, &dir, parts.parts, options).map_err(|e| if resumes { e.hint(Hint::Restart) } else { e })?;
    let found = finished(plan, out, &divided, options);
    let found = match found {
        Ok(None) => writer::replaceable(out, options.run.overwrite, &lock).map(|_| None),
        found => found,
    };
    if matches!(found, Ok(Some(_))) || (found.is_err() && !resumes) {
        whole_folder::remove(&dir, &[])?;
    }
    if let Some(report) = found? {
        return Ok(report);
    }
    pack_all(&divided, parts, options, progress)?;
    drop(lock);
    let publish =
        PublishOptions { out: Some(out.to_owned()), overwrite: options.run.overwrite, ..PublishOptions::default() };
    let mut report = divided.publish(&publish, &mut crate::no_progress)?;
    whole_folder::remove(&dir, &[])?;
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// The plan in `dir`, which is made if none is there.
fn divide(plan: &PackPlan, dir: &Path, parts: u32, options: &PackOptions) -> Result<PartsPlan> {
    write_plan(plan, dir, parts, options)?;
    PartsPlan::open(dir)
}

/// The report of the same pack, if a call that resumes finds it finished.
fn finished(plan: &PackPlan, out: &Path, divided: &PartsPlan, options: &PackOptions) -> Result<Option<PackReport>> {
    let meta = divided.json.meta(options.frames.draws);
    let fingerprint = RunFingerprint::new(plan, &meta, None, options.run.overwrite)?;
    let existing = Existing::find(out, plan, &options.run, &fingerprint, None)?;
    existing.map(|existing| existing.report(plan)).transpose()
}

/// Does what the options say with an interrupted run.
fn begin(dir: &Path, options: &PackOptions) -> Result<()> {
    refuse_retry(options)?;
    refuse_link(dir)?;
    match options.run.interrupted {
        _ if !dir.exists() => Ok(()),
        Interrupted::Resume => Ok(()),
        Interrupted::Restart => whole_folder::remove(dir, &[]),
        Interrupted::Refuse => {
            let e = Error::usage("an interrupted pack in parts is here").file(dir);
            Err(e.hint(Hint::Resume).hint(Hint::Restart))
        }
    }
}

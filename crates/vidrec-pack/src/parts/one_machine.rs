//! All parts of a pack on this machine.

use std::path::Path;
use std::time::Instant;

use super::one_machine_options::{InParts, refuse_retry};
use super::pack_all::pack_all;
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::write::write_plan;
use crate::options::PackOptions;
use crate::plan::PackPlan;
use crate::run::{Existing, Interrupted, PackReport, RunFingerprint};
use vidrec_dataset::writer;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::names::{PARTS, PLAN};
use vidrec_format::progress::ProgressFn;
use vidrec_store::disk::regular_file::refuse_link;
use vidrec_store::disk::{FolderLock, publication, whole_folder};
use vidrec_store::location::is_remote;

/// Packs the videos of a plan in parts on this machine, several parts at a time.
///
/// `out` is the folder of the data set, or a location in object storage, which `options.input.storage` says how to
/// reach.
///
/// The result has the same bytes as that of [`write_plan`] and [`publish`](PartsPlan::publish), with the parts
/// packed by any number of machines. The threads of `options.resources` are divided among the jobs.
///
/// # Errors
///
/// The errors of [`pack_plan`](crate::pack_plan) and [`write_plan`]. Work that was done can be resumed.
pub fn pack_in_parts(
    plan: &PackPlan,
    out: impl AsRef<Path>,
    parts: impl Into<InParts>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let (parts, out) = (parts.into(), out.as_ref());
    if is_remote(out) {
        return super::one_machine_remote::pack_into_bucket(plan, out, &parts, options, progress);
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
    // Hold the lock, so that nobody else packs or publishes here meanwhile.
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
    let mut report = divided.publish(&publish, &mut vidrec_format::progress::no_progress)?;
    let left = |e| {
        format!(
            "the data set is complete, but vidrec could not remove its parts: {e:#}; \
             resuming the pack removes them"
        )
    };
    report.left_behind.extend(whole_folder::remove(&dir, &[]).err().map(left));
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Returns the plan in `dir`, and writes it first if there is none.
fn divide(plan: &PackPlan, dir: &Path, parts: u32, options: &PackOptions) -> Result<PartsPlan> {
    write_plan(plan, dir, parts, options)?;
    PartsPlan::open(dir)
}

/// Returns the report of the same pack, if a call that resumes finds it finished.
fn finished(plan: &PackPlan, out: &Path, divided: &PartsPlan, options: &PackOptions) -> Result<Option<PackReport>> {
    let meta = divided.json.meta(options.frames.draws);
    let fingerprint = RunFingerprint::new(plan, &meta, None, options.run.overwrite)?;
    let existing = Existing::find(out, plan, &options.run, &fingerprint, None)?;
    existing.map(|existing| existing.report(plan)).transpose()
}

/// Handles an interrupted run as the options say.
fn begin(dir: &Path, options: &PackOptions) -> Result<()> {
    refuse_retry(options)?;
    refuse_link(dir)?;
    match options.run.interrupted {
        _ if !dir.exists() => Ok(()),
        Interrupted::Resume => Ok(()),
        Interrupted::Restart => whole_folder::remove(dir, &[]),
        Interrupted::Refuse => {
            let e = Error::usage("this folder has an interrupted pack in parts").file(dir);
            Err(e.hint(Hint::Resume).hint(Hint::Restart))
        }
    }
}

//! All parts of a pack on this machine.

use std::path::Path;
use std::time::Instant;

use super::one_machine_options::InParts;
use super::pack_all::pack_all;
use super::place::{PLAN, Place};
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::removal::{discard, forget, remove_rest};
use super::write::{WrittenPlan, write_plan_in};
use crate::options::PackOptions;
use crate::pack::{find_remote, fingerprint, restart};
use crate::plan::PackPlan;
use crate::run::{Existing, IfExists, PackReport};
use vidrec_dataset::writer;
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::progress::{ProgressFn, no_progress};
use vidrec_store::disk::regular_file::refuse_link;
use vidrec_store::disk::{FolderLock, publication};
use vidrec_transfer::upload;
use vidrec_transfer::upload::PushOptions;

/// Packs the videos of a plan in parts on this machine, one part after the other.
///
/// `out` is the folder of the data set, or a location in object storage, which `options.input.storage` says how to
/// reach.
///
/// The result has the same bytes as that of [`write_plan`](super::write_plan) and [`publish`](PartsPlan::publish), with the parts
/// packed by any number of machines. Parts go to object storage as soon as they are packed, so this machine needs room
/// only for the part at work.
///
/// # Errors
///
/// The errors of [`pack_plan`](crate::pack_plan) and [`write_plan`](super::write_plan). Work that was done can be resumed.
pub fn pack_in_parts(
    plan: &PackPlan,
    out: impl AsRef<Path>,
    parts: impl Into<InParts>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    pack_parts(plan, out.as_ref(), &parts.into(), options, progress).map_err(restart)
}

fn pack_parts(
    plan: &PackPlan,
    out: &Path,
    parts: &InParts,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let began = Instant::now();
    let place = Place::within(out, &options.input.storage)?;
    // Hold the lock, so that nobody else packs or publishes here meanwhile.
    let lock = lock(out, &place, options)?;
    let resumes = begin(&place, options)?;
    let existing = find_existing(plan, out, parts, options)?;
    if let Some(existing) = existing.as_ref().filter(|e| !retries(options) || !e.has_failures()) {
        // A call that was killed after it had published may not have removed the plan.
        if resumes {
            forget_finished(&place, options)?;
        }
        return existing.report(plan);
    }
    let overwrite = options.run.if_exists.replaces();
    let publish = PublishOptions {
        out: Some(out.to_owned()),
        overwrite,
        only_publisher: parts.only_publisher,
        ..PublishOptions::default()
    };
    check_output(out, lock.as_ref(), resumes, &publish, options)?;
    plan_again(plan, &place, parts, resumes, options)?;
    let divided = PartsPlan::open_place(place)?;
    let copies = existing.as_ref().map(|existing| existing.copies(plan));
    pack_all(&divided, copies.as_ref(), parts, options, progress)?;
    drop(lock);
    let mut report = divided.publish(&publish, &mut no_progress)?;
    let left = |e| {
        format!(
            "the data set is complete, but vidrec could not remove its parts: {e:#}; \
             resuming the pack removes them"
        )
    };
    report.left_behind.extend(forget(&divided.place).err().map(left));
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

fn retries(options: &PackOptions) -> bool {
    options.run.if_exists == IfExists::RetryFailed
}

/// Writes the plan. If there is another one, of an interrupted pack, it is discarded where the options say so.
fn plan_again(
    plan: &PackPlan,
    place: &Place,
    parts: &InParts,
    resumes: bool,
    options: &PackOptions,
) -> Result<WrittenPlan> {
    let write = || write_plan_in(plan, place, parts.scratch.as_deref(), parts.parts, options);
    match write() {
        Err(e) if resumes && e.kind() == ErrorKind::Usage => match options.run.if_exists {
            IfExists::Replace => discard(place).and_then(|()| write()),
            _ => Err(e.hint(Hint::Restart)),
        },
        written => written,
    }
}

/// Locks the folder of the data set, and completes what an interrupted command has nearly published there.
fn lock(out: &Path, place: &Place, options: &PackOptions) -> Result<Option<FolderLock>> {
    let Place::Folder(parts) = place else {
        return match retries(options) {
            true => Err(Error::usage("the failed videos of a data set in object storage cannot be retried there")
                .file(out)
                .help("fetch it, retry there, then push it")),
            false => Ok(None),
        };
    };
    let lock = FolderLock::take(out)?;
    publication::recover(out)?;
    refuse_link(&parts.dir)?;
    Ok(Some(lock))
}

/// Handles an interrupted pack as the options say. Returns whether there is one to resume.
fn begin(place: &Place, options: &PackOptions) -> Result<bool> {
    if place.read(PLAN)?.is_none() {
        return remove_rest(place).map(|()| false);
    }
    let is_there = || Error::usage("this folder has an interrupted pack in parts").file(place.path(PLAN));
    options.run.if_exists.resumes(is_there).map(|()| true)
}

/// Finds the data set that this call would make, or whose failed videos it retries.
fn find_existing(plan: &PackPlan, out: &Path, parts: &InParts, options: &PackOptions) -> Result<Option<Existing>> {
    if !vidrec_store::location::is_remote(out) {
        let fingerprint = fingerprint(plan, Some(parts.parts), options)?;
        return Existing::find(out, plan, options.run.if_exists, &fingerprint, None);
    }
    if options.run.if_exists == IfExists::Replace {
        return Ok(None);
    }
    find_remote(plan, out, Some(parts.parts), parts.scratch.as_deref(), options)
}

/// Removes a plan beside a data set that is finished. A plan that retries failed videos has work that is not in
/// that data set.
fn forget_finished(place: &Place, options: &PackOptions) -> Result<()> {
    if PartsPlan::open_place(place.clone())?.json.retries && !retries(options) {
        let e = Error::usage("this folder has an interrupted pack of failed videos").file(place.path(PLAN));
        return Err(e.hint(Hint::Choose("if_exists", "retry-failed")));
    }
    forget(place)
}

/// Refuses an output that cannot be written, or that has another data set.
fn check_output(
    out: &Path,
    lock: Option<&FolderLock>,
    resumes: bool,
    publish: &PublishOptions,
    options: &PackOptions,
) -> Result<()> {
    if let Some(lock) = lock {
        return writer::replaceable(out, publish.overwrite, lock).map(drop);
    }
    if resumes {
        return Ok(());
    }
    let (storage, overwrite) = (options.input.storage.clone(), publish.overwrite);
    upload::Place::open(out, &PushOptions { storage, overwrite, only_publisher: publish.only_publisher })?.check()
}

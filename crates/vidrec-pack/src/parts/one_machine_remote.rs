//! All parts of a pack on this machine, to a data set in object storage.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use super::one_machine_options::{InParts, refuse_retry};
use super::pack_all::pack_all;
use super::place::{PLAN, Place};
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use super::write::write_plan_in;
use super::{note, receipt};
use crate::options::PackOptions;
use crate::pack::find_packed;
use crate::plan::PackPlan;
use crate::run::{Interrupted, PackReport};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::limits;
use vidrec_format::progress::ProgressFn;
use vidrec_format::workers::in_order;
use vidrec_transfer::upload;
use vidrec_transfer::upload::PushOptions;

/// Packs all parts on this machine, and uploads each one as soon as it is packed.
///
/// So this machine needs room only for the parts at work. The plan is in the store meanwhile, so running the same
/// command again resumes the pack.
pub(super) fn pack_into_bucket(
    plan: &PackPlan,
    out: &Path,
    parts: &InParts,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let began = Instant::now();
    refuse_retry(options)?;
    let place = Place::within(out, &options.input.storage)?;
    let publish = PublishOptions {
        overwrite: options.run.overwrite,
        only_publisher: parts.only_publisher,
        ..PublishOptions::default()
    };
    let resumes = begin(&place, options)?;
    if !publish.overwrite
        && options.run.interrupted != Interrupted::Restart
        && let Some(report) = find_packed(plan, out, Some(parts.parts), parts.scratch.as_deref(), options)?
    {
        // A command that was killed after it had published may not have removed the plan.
        return if resumes { forget(&PartsPlan::open_place(place)?).map(|()| report) } else { Ok(report) };
    }
    if !resumes {
        let push = PushOptions {
            storage: options.input.storage.clone(),
            overwrite: publish.overwrite,
            only_publisher: publish.only_publisher,
        };
        upload::Place::open(out, &push)?.check()?;
    }
    let scratch = parts.scratch.as_deref();
    write_plan_in(plan, &place, scratch, parts.parts, options)
        .map_err(|e| if resumes { e.hint(Hint::Restart) } else { e })?;
    let divided = PartsPlan::open_place(place)?;
    pack_all(&divided, parts, options, progress)?;
    let mut report = divided.publish(&publish, &mut vidrec_format::progress::no_progress)?;
    forget(&divided)?;
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Handles an interrupted run as the options say. Returns whether there is one to resume.
fn begin(place: &Place, options: &PackOptions) -> Result<bool> {
    if place.read(PLAN)?.is_none() {
        return Ok(false);
    }
    match options.run.interrupted {
        Interrupted::Resume => Ok(true),
        Interrupted::Restart => {
            let old = PartsPlan::open_place(place.clone())?;
            remove_shards(&old)?;
            forget(&old).map(|()| false)
        }
        Interrupted::Refuse => {
            let e = Error::usage("this folder has an interrupted pack in parts").file(place.path(PLAN));
            Err(e.hint(Hint::Resume).hint(Hint::Restart))
        }
    }
}

/// Removes the files of parts that are not in a data set.
fn remove_shards(plan: &PartsPlan) -> Result<()> {
    let Place::Bucket(there) = &plan.place else { return Ok(()) };
    let listing = there.bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)?;
    let listing = listing.map(|(bytes, _)| DatasetJson::prove(&bytes)).transpose()?;
    let listed: HashSet<&FileName> = listing.iter().flat_map(DatasetJson::file_names).collect();
    let shards: Vec<_> = plan.receipts()?.into_iter().flatten().flat_map(|receipt| receipt.shards).collect();
    let names: Vec<&FileName> =
        shards.iter().flat_map(ShardJson::file_names).filter(|name| !listed.contains(name)).collect();
    in_order(names.len(), plan.place.at_once(), |i| there.bucket.remove(names[i])).map(drop)
}

/// Removes the files of a plan, with `plan.json` last.
fn forget(plan: &PartsPlan) -> Result<()> {
    in_order(plan.parts() as usize, plan.place.at_once(), |part| {
        plan.place.remove(&receipt::name(part as u32))?;
        plan.place.remove(&note::name(part as u32))
    })?;
    plan.place.remove(plan.json.jobs())?;
    plan.place.remove(PLAN)
}

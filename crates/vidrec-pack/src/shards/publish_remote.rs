//! From receipts to a data set in object storage.

use std::path::Path;

use super::bucket::InBucket;
use super::place::PLAN;
use super::plan::PartsPlan;
use super::publish::NewSet;
use super::publish_options::PublishOptions;
use vidrec_format::dataset_json::{DatasetJson, ShardJson};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::progress::ProgressFn;
use vidrec_format::workers::in_order;
use vidrec_store::location::{is_remote, split};
use vidrec_transfer::upload;
use vidrec_transfer::upload::{PushOptions, PushReport};

/// Publishes the shards, which belong to the plan in `from`, and the list of failures. Returns notes about what could not
/// be cleaned up.
pub(super) fn publish(new: &NewSet<'_>, from: &InBucket, progress: &mut ProgressFn<'_>) -> Result<Vec<String>> {
    let NewSet { plan, json, failures, options } = *new;
    let out = elsewhere(from.bucket.location(), options)?;
    let listing = json.to_bytes();
    let target = upload::Place::open(out.unwrap_or(from.bucket.location()), &push_options(from, options))?;
    let is_there = target.has(&listing);
    if !is_there {
        target.check()?;
    }
    new.check_files(progress)?;
    if !is_there {
        if out.is_some() {
            copy(plan, from, &target, json)?;
        }
        if let Some(listed) = &json.failures {
            target.bucket.put(&listed.file, failures.as_bytes().to_vec())?;
        }
        target.commit(&listing)?;
    }
    let mut pushed = PushReport::default();
    target.tidy(json, &mut pushed);
    Ok(pushed.notes)
}

fn push_options(from: &InBucket, options: &PublishOptions) -> PushOptions {
    PushOptions { storage: from.storage.clone(), overwrite: options.overwrite, only_publisher: options.only_publisher }
}

/// Returns the location of the data set, if it is not that of the plan. It must be in the same store, which copies
/// the files.
fn elsewhere<'a>(here: &Path, options: &'a PublishOptions) -> Result<Option<&'a Path>> {
    let Some(out) = options.out.as_deref() else { return Ok(None) };
    let trimmed = |path: &Path| path.to_string_lossy().trim_end_matches('/').to_owned();
    if trimmed(here) == trimmed(out) {
        return Ok(None);
    }
    let store =
        |path: &Path| split(path).map(|(scheme, rest)| (scheme.to_owned(), rest.split('/').next().map(str::to_owned)));
    if is_remote(out) && store(out) == store(here) {
        return Ok(Some(out));
    }
    let e = Error::usage("a plan in object storage can be published only to the same bucket").file(out);
    Err(e
        .expected(format!("a location in the bucket of {}", here.display()))
        .help("publish it there, then copy the data set with `vidrec fetch`"))
}

/// Makes the server copy the files of all shards.
fn copy(plan: &PartsPlan, from: &InBucket, target: &upload::Place, json: &DatasetJson) -> Result<()> {
    if target.bucket.look(PLAN)?.is_some() {
        return Err(Error::usage("this folder contains a plan and its parts").file(target.bucket.path(PLAN)));
    }
    let names: Vec<&FileName> = json.shards.iter().flat_map(ShardJson::file_names).collect();
    in_order(names.len(), plan.place.at_once(), |i| target.bucket.copy(&from.bucket.path(names[i]), names[i]))?;
    Ok(())
}

//! From receipts to a data set in object storage.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::bucket::InBucket;
use super::place::PLAN;
use super::plan::PartsPlan;
use super::publish_options::PublishOptions;
use crate::run::{PackReport, lines};
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::{DatasetJson, FailuresJson, ShardJson};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::progress::ProgressFn;
use vidrec_format::workers::in_order;
use vidrec_store::location::{is_remote, split};
use vidrec_transfer::upload;
use vidrec_transfer::upload::{PushOptions, PushReport};

/// Publishes the shards that `json` lists, which belong to the plan in `from`, and the failures in the report.
pub(super) fn publish(
    plan: &PartsPlan,
    from: &InBucket,
    (mut json, report): (DatasetJson, &mut PackReport),
    options: &PublishOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    let out = elsewhere(from.bucket.location(), options)?;
    let failures = list_failures(report)?;
    if let Some((listed, _)) = &failures {
        report.failures_file = Some(listed.file.to_string());
        json.failures = Some(listed.clone());
    }
    let listing = json.to_bytes();
    let target = upload::Place::open(out.unwrap_or(from.bucket.location()), &push_options(from, options))?;
    let is_there = target.has(&listing);
    if !is_there {
        target.check()?;
    }
    plan.check_files(&json.shards, options.read_all, progress)?;
    if is_there {
        return tidy(&target, &json, report);
    }
    if out.is_some() {
        copy(plan, from, &target, &json)?;
    }
    if let Some((listed, text)) = failures {
        target.bucket.put(&listed.file, text.into_bytes())?;
    }
    target.commit(&listing)?;
    tidy(&target, &json, report)
}

fn tidy(target: &upload::Place, json: &DatasetJson, report: &mut PackReport) -> Result<()> {
    let mut pushed = PushReport::default();
    target.tidy(json, &mut pushed);
    report.notes.append(&mut pushed.notes);
    Ok(())
}

pub(super) fn push_options(from: &InBucket, options: &PublishOptions) -> PushOptions {
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

/// Returns the list of skipped videos and its description in `dataset.json`, or `None` if no video was skipped.
fn list_failures(report: &PackReport) -> Result<Option<(FailuresJson, String)>> {
    if report.failed == 0 {
        return Ok(None);
    }
    let text = lines(&report.failures)?;
    let sha256: [u8; 32] = Sha256::digest(&text).into();
    let file = FileName::of_failures(&sha256);
    Ok(Some((FailuresJson { file, count: report.failed, sha256: hex(&sha256) }, text)))
}

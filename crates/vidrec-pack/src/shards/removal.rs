//! Removes a plan whose parts became a data set, or never will.

use std::collections::HashSet;

use super::place::{PLAN, Place};
use super::plan::PartsPlan;
use super::receipt;
use vidrec_core::store::remote::Bucket;
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::Result;
use vidrec_format::file_name::FileName;
use vidrec_format::limits;
use vidrec_format::workers::in_order;

/// Removes a plan whose parts became a data set. In object storage, its jobs go first, so that a plan without them is known to
/// be published, and `plan.json` goes last, because it says which objects there are.
pub(super) fn forget(place: &Place) -> Result<()> {
    if place.bucket.is_none() {
        return place.remove_folder();
    }
    let plan = match PartsPlan::open_place(place.clone()) {
        // Another process has removed it.
        Err(_) if place.read(PLAN)?.is_none() => return Ok(()),
        plan => plan?,
    };
    place.remove(&plan.json.jobs)?;
    in_order(plan.parts() as usize, place.at_once(), |part| place.remove(&receipt::name(part as u32)))?;
    place.remove(PLAN)
}

/// Removes a plan, and the files of its parts that are not in a data set.
pub(super) fn discard(place: &Place) -> Result<()> {
    if let Some(bucket) = &place.bucket {
        remove_shards(&PartsPlan::open_place(place.clone())?, bucket)?;
    }
    forget(place)
}

fn remove_shards(plan: &PartsPlan, bucket: &Bucket) -> Result<()> {
    let listing = bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)?;
    let listing = listing.map(|(bytes, _)| DatasetJson::prove(&bytes)).transpose()?;
    let listed: HashSet<&FileName> = listing.iter().flat_map(DatasetJson::file_names).collect();
    let shards: Vec<_> = plan.receipts()?.into_iter().flatten().filter_map(|receipt| receipt.shard).collect();
    let names: Vec<&FileName> =
        shards.iter().flat_map(ShardJson::file_names).filter(|name| !listed.contains(name)).collect();
    in_order(names.len(), plan.place.at_once(), |i| bucket.remove(names[i])).map(drop)
}

//! Removes a plan whose parts became a data set, or never will.

use std::collections::HashSet;

use super::bucket::InBucket;
use super::place::{PLAN, Place};
use super::plan::PartsPlan;
use super::{note, receipt};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME, ShardJson};
use vidrec_format::error::Result;
use vidrec_format::file_name::FileName;
use vidrec_format::limits;
use vidrec_format::workers::in_order;
use vidrec_store::disk::whole_folder;

/// Removes a plan whose parts became a data set.
///
/// In a folder, `plan.json` goes first, because a folder without it has no plan, whatever else is left. In object
/// storage it goes last, because nobody lists objects.
pub(super) fn forget(place: &Place) -> Result<()> {
    match place {
        Place::Folder(folder) => whole_folder::remove(&folder.dir, &[PLAN]),
        Place::Bucket(_) => remove_objects(&PartsPlan::open_place(place.clone())?),
    }
}

/// Removes a plan, and the files of its parts that are not in a data set.
pub(super) fn discard(place: &Place) -> Result<()> {
    if let Place::Bucket(there) = place {
        remove_shards(&PartsPlan::open_place(place.clone())?, there)?;
    }
    forget(place)
}

/// Removes what is left of a plan that has no `plan.json`, so that no plan after it finds old receipts.
pub(super) fn remove_rest(place: &Place) -> Result<()> {
    match place {
        Place::Folder(folder) => whole_folder::remove(&folder.dir, &[]),
        Place::Bucket(_) => Ok(()),
    }
}

fn remove_shards(plan: &PartsPlan, there: &InBucket) -> Result<()> {
    let listing = there.bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)?;
    let listing = listing.map(|(bytes, _)| DatasetJson::prove(&bytes)).transpose()?;
    let listed: HashSet<&FileName> = listing.iter().flat_map(DatasetJson::file_names).collect();
    let shards: Vec<_> = plan.receipts()?.into_iter().flatten().filter_map(|receipt| receipt.shard).collect();
    let names: Vec<&FileName> =
        shards.iter().flat_map(ShardJson::file_names).filter(|name| !listed.contains(name)).collect();
    in_order(names.len(), plan.place.at_once(), |i| there.bucket.remove(names[i])).map(drop)
}

fn remove_objects(plan: &PartsPlan) -> Result<()> {
    in_order(plan.parts() as usize, plan.place.at_once(), |part| {
        plan.place.remove(&receipt::name(part as u32))?;
        plan.place.remove(&note::name(part as u32))
    })?;
    plan.place.remove(plan.json.jobs())?;
    plan.place.remove(PLAN)
}

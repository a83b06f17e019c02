//! Further shards for a data set, beside those that it has.

use std::fs;
use std::path::{Path, PathBuf};

use super::copy::{self, refuse_input};
use super::merge::require_group;
use super::plan::{Describe, Plan, Source};
use super::{EditOptions, EditReport, classes, groups};
use crate::atomic_file;
use crate::dataset_json::{self, DatasetJson, ShardJson};
use crate::{Dataset, Error, Result, writer};

/// The folder in which the new shards are written, inside that of the data set.
const WORKPLACE: &str = ".append.tmp";

/// Adds the clips of `more` to the data set in the folder `to`, as further shards; its own shards are not touched.
///
/// Classes go by name and must be known to the data set already. The new shards become part of it in one step, when
/// `dataset.json` is replaced: until then readers see the old data set, and so they do after a crash.
/// `options.overwrite` has no meaning here. The report is about what was added.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): `to` has no `dataset.json`; `more` has a class that it has not, other draws, or is
/// the same data set; another process writes there, or a pack was interrupted there. Otherwise as [`reshard`](super::reshard).
pub fn append(
    to: impl AsRef<Path>,
    more: &Dataset,
    options: &EditOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<EditReport> {
    let to = to.as_ref();
    let listing = to.join(dataset_json::FILE_NAME);
    if !listing.is_file() {
        return Err(Error::usage("there is no dataset.json, which is needed to append in one step")
            .file(to)
            .help("`vidrec repair` makes one; `vidrec merge` writes a new data set"));
    }
    let _lock = writer::lock(to)?;
    let old = Dataset::open(to)?;
    refuse_input(more, to)?;
    let plan = plan(&old, more)?;
    let workplace = to.join(WORKPLACE);
    let written = copy::run_one(&plan, &workplace, &EditOptions { overwrite: true, ..*options }, progress);
    let added = written.and_then(|report| Ok((report, move_shards(&workplace, to, &old)?)));
    // Best effort: the next append replaces what stays.
    let _ = fs::remove_dir_all(&workplace);
    let (report, added) = added?;
    let mut shards = old.to_json().shards;
    shards.extend(added);
    let json = DatasetJson::new(&old.meta().cloned().unwrap_or_default(), shards);
    atomic_file::sync_folder(to)?;
    atomic_file::write_file(&listing, &json.to_bytes())?;
    atomic_file::sync_folder(to)?;
    Ok(EditReport { output: to.display().to_string(), ..report })
}

fn plan(old: &Dataset, more: &Dataset) -> Result<Plan<'static>> {
    let group = groups::size(old)?;
    require_group(more, group)?;
    let union = classes::union(&[old.clone(), more.clone()])?;
    if union.classes.len() > old.classes().len() {
        let new = &union.classes[old.classes().len()];
        return Err(Error::usage(format!("class \"{new}\" is new to the data set"))
            .help("`vidrec merge` writes a new data set with the classes of both"));
    }
    let mut plan = Plan::whole(more)?;
    plan.meta.classes = union.classes;
    let labels = union.labels.into_iter().nth(1).unwrap_or_default();
    let describe: Describe<'static> = Box::new(move |clip| classes::renumbered(clip, &labels));
    plan.sources = vec![Source { set: more.clone(), describe }];
    Ok(plan)
}

/// Moves the finished shards beside the old ones, where nothing lists them yet; gives their entries in the list.
fn move_shards(workplace: &Path, to: &Path, old: &Dataset) -> Result<Vec<ShardJson>> {
    let written = DatasetJson::read(&workplace.join(dataset_json::FILE_NAME))?;
    let first = old.shards().len();
    let name = |ordinal: usize, ending: &str| format!("shard-{ordinal:05}.{ending}");
    let taken = |ordinal: usize| ["rec", "vidx"].iter().any(|ending| to.join(name(ordinal, ending)).exists());
    if let Some(ordinal) = (first..first + written.shards.len()).find(|&ordinal| taken(ordinal)) {
        return Err(Error::usage("a file stands where the new shard must go, and dataset.json does not list it there")
            .file(to.join(name(ordinal, "rec")))
            .help("if it was left by an append that was interrupted, remove it"));
    }
    let mut added = Vec::new();
    for (ordinal, shard) in (first..).zip(written.shards) {
        let (record_file, index_file) = (name(ordinal, "rec"), name(ordinal, "vidx"));
        rename(workplace.join(&shard.record_file), to.join(&record_file))?;
        rename(workplace.join(&shard.index_file), to.join(&index_file))?;
        added.push(ShardJson { record_file, index_file, ..shard });
    }
    Ok(added)
}

fn rename(from: PathBuf, to: PathBuf) -> Result<()> {
    fs::rename(from, &to).map_err(|e| Error::io("give the file its name", &to, e))
}

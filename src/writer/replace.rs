//! What a new data set replaces, and how its files and its `dataset.json` are staged.

use std::path::Path;

use crate::dataset::listing;
use crate::disk::publication::{Replaced, Staged};
use crate::disk::{FolderLock, Temporary};
use crate::format::dataset_json::{DatasetJson, FILE_NAME};
use crate::format::names;
use crate::{Error, Hint, Result};

/// What is replaced when a data set is written to `dir`, if it may be.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): there is a data set, or what is left of one, and `overwrite` is off.
pub(crate) fn replaceable(dir: &Path, overwrite: bool, lock: &FolderLock) -> Result<Replaced> {
    let listing = dir.join(FILE_NAME);
    let refused = |what: &str, file: &Path| Error::usage(what).file(file).help("choose another folder");
    let left = listing::names_in(dir, names::is_ours)?;
    if !listing.exists() {
        let is_shard = |name: &&String| !name.starts_with("failures");
        return match left.iter().find(is_shard) {
            Some(shard) if !overwrite => {
                let what = "shards are here, but no dataset.json that makes them a data set";
                Err(refused(what, &dir.join(shard)).hint(Hint::Repair).hint(Hint::Overwrite))
            }
            _ => Ok(Replaced { files: left.clone(), removable: left }),
        };
    }
    if !overwrite && lock.completed {
        return Err(Error::usage("an interrupted run had nearly written this data set; it is complete now")
            .file(&listing)
            .help("if it is the one you want, there is nothing left to do")
            .hint(Hint::Overwrite));
    }
    if !overwrite {
        return Err(refused("there is a data set here already", &listing).hint(Hint::Overwrite));
    }
    let Ok(json) = listing::read(&listing) else {
        return Ok(Replaced { files: left.clone(), removable: left });
    };
    let files: Vec<String> = json.file_names().map(str::to_owned).collect();
    // Record files of other programs were indexed where they are, and stay.
    let is_removable = |name: &&String| names::is_ours(name) || name.ends_with(".vidx");
    let unlisted = left.iter().filter(|name| *name == names::FAILURES);
    let removable = files.iter().filter(is_removable).chain(unlisted).cloned().collect();
    Ok(Replaced { files, removable })
}

/// Stages `dataset.json` beside staged files, which it lists with others that are there already.
pub(crate) fn stage(
    dir: &Path,
    lock: FolderLock,
    files: Vec<(Temporary, String)>,
    json: &DatasetJson,
    replaced: Replaced,
) -> Result<Staged> {
    let is_listed = |name: &String| name == FILE_NAME || json.file_names().any(|listed| listed == name);
    let removable = replaced.removable.into_iter().filter(|name| !is_listed(name)).collect();
    Staged::new(dir, lock, files, &json.to_bytes(), Replaced { removable, ..replaced })
}

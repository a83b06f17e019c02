//! Which files a new data set replaces, and how its files and its `dataset.json` are staged.

use std::fs;
use std::path::Path;

use crate::dataset::listing;
use crate::disk::publication::{Replaced, Staged};
use crate::disk::{FolderLock, Temporary};
use crate::format::dataset_json::{DatasetJson, FILE_NAME};
use crate::format::file_name::{FileKind, FileName};
use crate::format::names;
use crate::{Error, Hint, Result};

/// The files that a data set written to `dir` replaces, if it may.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): there is a data set, or the remains of one, and `overwrite` is off.
pub(crate) fn replaceable(dir: &Path, overwrite: bool, lock: &FolderLock) -> Result<Replaced> {
    let listing = dir.join(FILE_NAME);
    let refused = |what: &str, file: &Path| Error::usage(what).file(file).help("choose another folder");
    if listing::is_plan(dir) {
        return Err(refused("this folder has a plan and its parts", &dir.join(names::PLAN)));
    }
    let is_there = fs::symlink_metadata(&listing).is_ok();
    let mut left = listing::files_in(dir, FileName::is_ours)?;
    if !is_there {
        if let Some(shard) = left.iter().find(|name| name.kind() != Some(FileKind::Failures)).filter(|_| !overwrite) {
            let what = "this folder has shards but no dataset.json";
            return Err(refused(what, &dir.join(shard)).hint(Hint::Repair).hint(Hint::Overwrite));
        }
        // A list without digits may be anybody's.
        left.retain(|name| overwrite || **name != *names::FAILURES);
        return Ok(Replaced { files: left.clone(), removable: left });
    }
    if !overwrite && lock.completed {
        return Err(Error::usage("an interrupted run had nearly written this data set; it is complete now")
            .file(&listing)
            .help("if it is the one you want, there is nothing left to do")
            .hint(Hint::Overwrite));
    }
    if !overwrite {
        return Err(refused("there is already a data set here", &listing).hint(Hint::Overwrite));
    }
    let Ok(json) = listing::read(&listing) else {
        return Ok(Replaced { files: left.clone(), removable: left });
    };
    let mut files: Vec<FileName> = json.file_names().cloned().collect();
    // Record files of other programs were indexed in place, and stay.
    let given = files.iter().filter(|name| name.is_given());
    let unlisted = left.iter().filter(|name| ***name == *names::FAILURES);
    let removable = given.chain(unlisted).cloned().collect();
    files.extend(left);
    Ok(Replaced { files, removable })
}

/// Stages a `dataset.json` that lists staged files and others that already exist.
pub(crate) fn stage(
    dir: &Path,
    lock: FolderLock,
    files: Vec<(Temporary, FileName)>,
    json: &DatasetJson,
    replaced: Replaced,
) -> Result<Staged> {
    Staged::new(dir, lock, files, &json.to_bytes(), replaced.but_for(json))
}

//! Decides which files a new data set replaces, and stages its files and its `dataset.json`.

use std::fs;
use std::path::Path;

use crate::dataset::listing;
use crate::store::disk::publication::{Replaced, Staged};
use crate::store::disk::{FolderLock, Temporary};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name::{FileKind, FileName};

/// The files that a data set in `dir` replaces, if it may replace them.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is a data set, or the remains of one, and `overwrite` is
/// off.
pub fn replaceable(dir: &Path, overwrite: bool) -> Result<Replaced> {
    let listing = dir.join(FILE_NAME);
    let refused = |what: &str, file: &Path| Error::usage(what).file(file).help("choose another folder");
    let is_there = fs::symlink_metadata(&listing).is_ok();
    let left = listing::files_in(dir, FileName::is_ours)?;
    if !is_there {
        if let Some(shard) = left.iter().find(|name| name.kind() != Some(FileKind::Failures)).filter(|_| !overwrite) {
            let what = "this folder has shards but no dataset.json";
            return Err(refused(what, &dir.join(shard)).hint(Hint::Repair).hint(Hint::Overwrite));
        }
        return Ok(if overwrite { all_of(left) } else { Replaced::default() });
    }
    if !overwrite {
        return Err(there_already(&listing));
    }
    let Ok(json) = listing::read(&listing) else { return Ok(all_of(left)) };
    let mut files: Vec<FileName> = json.file_names().cloned().collect();
    // Record files of other programs were indexed in place, and stay.
    let removable = files.iter().filter(|name| name.is_given()).cloned().collect();
    files.extend(left);
    Ok(Replaced { files, removable })
}

/// The error about a data set that may not be replaced, by its `dataset.json`.
pub fn there_already(listing: &Path) -> Error {
    let e = Error::usage("there is already a data set here").file(listing);
    e.help("choose another folder").hint(Hint::Overwrite)
}

/// A data set whose `dataset.json` is lost: it had all files with names that vidrec gives.
fn all_of(left: Vec<FileName>) -> Replaced {
    Replaced { files: left.clone(), removable: left }
}

/// Stages a `dataset.json` that lists staged files and others that already exist.
pub fn stage(
    dir: &Path,
    lock: FolderLock,
    files: Vec<(Temporary, FileName)>,
    json: &DatasetJson,
    replaced: Replaced,
) -> Result<Staged> {
    Staged::new(dir, lock, files, &json.to_bytes(), replaced.but_for(json))
}

//! Decides which files a new data set replaces, locks its folder, and stages its list of failures.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::dataset::{Io, Source, listing};
use crate::store::disk::publication::Replaced;
use crate::store::disk::{
    AtomicFile, FolderLock, Temporary, folder, is_being_written, publication, remove_temporaries,
};
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::{Error, FailuresJson, FileKind, FileName, Hint, Result, file_name};

/// The files that a data set in `dir` replaces, if it may replace them.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is a data set, or the remains of one, and `overwrite` is
/// off.
pub fn replaceable(dir: &Path, overwrite: bool) -> Result<Replaced> {
    let listing = dir.join(FILE_NAME);
    let is_there = fs::symlink_metadata(&listing).is_ok();
    let left = listing::files_in(dir, FileName::is_ours)?;
    if !is_there {
        if let Some(shard) = left.iter().find(|name| name.kind() != Some(FileKind::Failures)).filter(|_| !overwrite) {
            let e = Error::usage("this folder has shards but no dataset.json").file(dir.join(shard));
            return Err(e.help("choose another folder").hint(Hint::Repair).hint(Hint::Overwrite));
        }
        return Ok(if overwrite { all_of(left) } else { Replaced::default() });
    }
    if !overwrite {
        return Err(there_already(&listing));
    }
    let Ok(json) = listing::read(&listing, &Source::Local(Io::Map)) else { return Ok(all_of(left)) };
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

/// The description of the list, which has `count` lines of JSON.
pub fn describe_failures(count: u64, lines: &str) -> FailuresJson {
    let sha256: [u8; 32] = Sha256::digest(lines).into();
    FailuresJson { file: FileName::of_failures(&sha256), count, sha256: hex(&sha256) }
}

/// Writes the list under a temporary name in `dir`.
pub fn stage_failures(dir: &Path, lines: &str) -> Result<Temporary> {
    let mut file = AtomicFile::create(&dir.join(file_name::FAILURES))?;
    file.write_all(lines.as_bytes())?;
    file.sync()?;
    Ok(file.seal())
}

/// Locks `dir` for writing, and completes or undoes what an interrupted process left there. Creates the folder if it
/// does not exist.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if another process is writing there, or if there is an
/// interrupted pack that can be resumed.
pub fn lock(dir: &Path) -> Result<FolderLock> {
    let lock = lock_with_leftovers(dir)?;
    remove_leftovers(dir, |_| false)?;
    Ok(lock)
}

/// Like [`lock`], but keeps what killed processes staged, for a writer that resumes with it.
pub fn lock_with_leftovers(dir: &Path) -> Result<FolderLock> {
    let lock = FolderLock::take(dir)?;
    if listing::has_pack(dir) {
        return Err(Error::usage("this folder has an interrupted pack that can be resumed")
            .file(dir)
            .help("choose another folder")
            .hint(Hint::Resume)
            .hint(Hint::Restart));
    }
    // A folder without a plan is left of a pack that became a data set.
    let pack = dir.join(file_name::PACK);
    if !is_being_written(&pack) {
        folder::remove(&pack)?;
    }
    publication::recover(dir)?;
    Ok(lock)
}

/// Removes files that killed processes staged in `dir`, except files whose final names are used. The caller has
/// locked the folder.
pub fn remove_leftovers(dir: &Path, is_used: impl Fn(&str) -> bool) -> Result<()> {
    let is_given = |name: &str| name.parse().is_ok_and(|name: FileName| name.is_given());
    remove_temporaries(dir, |name| {
        ([file_name::LISTING, publication::CHANGES].contains(&name) || is_given(name)) && !is_used(name)
    })
}

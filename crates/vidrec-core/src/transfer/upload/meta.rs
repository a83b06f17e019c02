//! The folder `meta` of a data set that LeRobot reads. No `dataset.json` lists its files.

use std::fs;
use std::path::Path;

use crate::store::disk::regular_file::{Links, read_if_there};
use crate::store::remote::Bucket;
use crate::store::storage::Storage;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The name of the folder.
const FOLDER: &str = "meta";
/// Folders in folders.
const DEPTH: usize = 4;

/// Uploads the files of the folder `meta` in `set` to the data set at `location`, if its `info.json` says that LeRobot reads
/// the data set there. They replace those at the location.
pub fn push_meta(set: &Path, location: &Path, storage: &Storage) -> Result<()> {
    upload_meta(set, &Bucket::open(location, storage)?)
}

/// The same, to a folder in object storage.
pub(super) fn upload_meta(set: &Path, bucket: &Bucket) -> Result<()> {
    let info = read_if_there(&set.join(FOLDER).join("info.json"), limits::MAX_META_BYTES, Links::Follow)?;
    let info = info.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    if info.is_none_or(|info| info["storage_format"] != "vidrec") {
        return Ok(());
    }
    push_folder(set, FOLDER, bucket, DEPTH)
}

fn push_folder(set: &Path, name: &str, bucket: &Bucket, depth: usize) -> Result<()> {
    let folder = set.join(name);
    let failed = |e| Error::io("read the folder", &folder, e);
    let mut entries = fs::read_dir(&folder).map_err(failed)?.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file = entry.file_name();
        // LeRobot writes no others.
        let Some(file) = file.to_str().filter(|file| is_plain(file)) else { continue };
        let (path, name) = (folder.join(file), format!("{name}/{file}"));
        if path.is_dir() {
            if depth > 1 {
                push_folder(set, &name, bucket, depth - 1)?;
            }
        } else if let Some(bytes) = read_if_there(&path, limits::MAX_SMALL_OBJECT_BYTES, Links::Follow)? {
            bucket.put(&name, bytes)?;
        }
    }
    Ok(())
}

fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

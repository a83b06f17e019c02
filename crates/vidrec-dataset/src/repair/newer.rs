//! Refuses files of a newer version of the format, because a repair would drop the parts that this version does not
//! know.

use std::path::Path;

use serde::Deserialize;

use super::shards::Files;
use crate::Index;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::track::ends;
use vidrec_format::{NEWER, crc32, dataset_json, header};
use vidrec_store::disk::regular_file::{Links, read_regular};

/// The fields that every version of `dataset.json` has.
#[derive(Deserialize)]
struct Version {
    format: String,
    format_version: u64,
}

/// # Errors
///
/// A file is of a newer version of the format.
pub(super) fn refuse(files: &Files) -> Result<()> {
    let mut is_of_this_version = false;
    for shard in &files.shards {
        if let Some(index) = shard.index.as_deref() {
            let fault = Index::prove(index).err();
            is_of_this_version |= fault.is_none();
            refuse_one(&shard.index_path, index, fault)?;
        }
        if let Some((path, Some(tracks))) = &shard.tracks {
            refuse_one(path, tracks, tracks.first_chunk().and_then(|head| ends::check_header(head).err()))?;
        }
    }
    // dataset.json has no checksum, so an intact index counts for more.
    let Some(folder) = files.folder.as_ref().filter(|_| !is_of_this_version) else { return Ok(()) };
    let path = folder.join(dataset_json::FILE_NAME);
    let listing =
        || serde_json::from_slice::<Version>(&read_regular(&path, limits::MAX_LISTING_BYTES, Links::Follow).ok()?).ok();
    match listing().filter(|listing| listing.format == "vidrec").map(|listing| listing.format_version) {
        Some(version) if version > u64::from(header::VERSION.0) => {
            let e = Error::format("dataset-version", "a newer version of the format");
            Err(refused(e.expected(header::VERSION.0).found(version), &path))
        }
        _ => Ok(()),
    }
}

fn refuse_one(path: &Path, bytes: &[u8], fault: Option<Error>) -> Result<()> {
    match fault.filter(|e| e.rule().is_some_and(|rule| NEWER.contains(&rule)) && !is_damaged(bytes)) {
        Some(e) => Err(refused(e, path)),
        None => Ok(()),
    }
}

/// Whether the version number is the only fault of the header. Both kinds of file have it, and the CRC-32, in the
/// same place. The checksums of the bytes after the version are compared before it is judged.
fn is_damaged(bytes: &[u8]) -> bool {
    let Some(head) = bytes.first_chunk::<{ header::BYTES }>() else { return true };
    let mut first = *head;
    first[8..10].copy_from_slice(&header::VERSION.0.to_le_bytes());
    let version = u16::from_le_bytes([head[8], head[9]]);
    let fits = crc32(&first[..60]).to_le_bytes() == head[60..];
    version < header::VERSION.0 || (fits && version != header::VERSION.0)
}

fn refused(e: Error, path: &Path) -> Error {
    e.file(path).help(
        "a repair would drop what this version of vidrec does not know: use a newer version. \
         If you know that the file is damaged instead, move it away and repair again",
    )
}

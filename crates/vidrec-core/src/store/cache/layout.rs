//! The names in a cache's folder, and the identity of an object there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::disk::claim_file::ClaimFile;
use crate::store::disk::regular_file::{Links, read_regular};
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Result};

/// The unit in which bytes are kept.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// The version of everything in the folder.
const FORMAT: u32 = 2;
/// The largest `object.json` that is read.
const LONGEST: u64 = 1 << 20;
const KEY_DIGITS: usize = 32;

pub(super) const MARKER: &str = "vidrec-cache";
pub(super) const USED: &str = "used";
pub(super) const LOCK: &str = "lock";
pub(super) const OBJECTS: &str = "objects";
pub(super) const NEW: &str = "new-";
pub(super) const OBJECT_JSON: &str = "object.json";

/// The text of the marker.
pub(super) fn marker_text() -> String {
    format!("vidrec cache, format {FORMAT}\n")
}

/// One version of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    format: u32,
    pub location: String,
    pub version: String,
    pub length: u64,
}

impl Identity {
    pub fn new(location: &str, version: &str, length: u64) -> Self {
        let (location, version) = (location.to_owned(), version.to_owned());
        Identity { format: FORMAT, location, version, length }
    }

    /// The name of the object's folder.
    pub fn key(&self) -> String {
        let mut digest = Sha256::new();
        // The lengths are included, so that no two identities produce the same bytes.
        for text in [&self.location, &self.version] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        digest.update(self.length.to_le_bytes());
        hex(&digest.finalize())[..KEY_DIGITS].to_owned()
    }

    pub fn json(&self) -> Vec<u8> {
        // Serialization cannot fail: a struct of texts and numbers has no value that JSON lacks.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Reads the identity of the object in a folder; `None` if there is none that this version of vidrec knows.
    pub fn read(object: &Path) -> Option<Self> {
        let text = read_regular(&object.join(OBJECT_JSON), LONGEST, Links::Refuse).ok()?;
        let identity: Self = serde_json::from_slice(&text).ok()?;
        let is_here = object.file_name().is_some_and(|name| *name == *identity.key());
        (identity.format == FORMAT && is_here).then_some(identity)
    }
}

/// The text of the file `used`: the bytes of all blocks, and the limit. It is always of the same length.
pub(super) fn used_text(bytes: u64, limit: u64) -> String {
    format!("{bytes:020} {limit:020}\n")
}

/// Reads such a text; `None` if it is not whole.
pub(super) fn read_used(file: &ClaimFile) -> Option<(u64, u64)> {
    let text = String::from_utf8(file.read().ok()?).ok()?;
    let (bytes, limit) = text.strip_suffix('\n')?.split_once(' ')?;
    Some((bytes.parse().ok()?, limit.parse().ok()?))
}

/// A file with a block.
#[derive(Debug)]
pub(super) struct BlockFile {
    pub path: PathBuf,
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

/// The folders of all objects.
pub(super) fn objects(dir: &Path) -> Result<Vec<PathBuf>> {
    let is_key = |name: &str| name.len() == KEY_DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit());
    named(&dir.join(OBJECTS), is_key)
}

/// The blocks of an object.
pub(super) fn blocks_of(object: &Path) -> Result<Vec<BlockFile>> {
    files(named(object, |name| name.bytes().all(|b| b.is_ascii_digit()))?)
}

/// The blocks that are being written, or were being written when a process was killed.
pub(super) fn unfinished(dir: &Path) -> Result<Vec<BlockFile>> {
    let is_new =
        |name: &str| name.strip_prefix(NEW).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'-'));
    files(named(dir, is_new)?)
}

/// Files that other processes may remove meanwhile.
fn files(paths: Vec<PathBuf>) -> Result<Vec<BlockFile>> {
    let file = |path: PathBuf| {
        let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some(BlockFile { path, bytes: meta.len(), used: meta.modified().ok()? })
    };
    Ok(paths.into_iter().filter_map(file).collect())
}

fn named(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let io = |e| Error::io("list the folder", dir, e);
    let mut found = Vec::new();
    match fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(io(e)),
        Ok(entries) => {
            for entry in entries {
                let entry = entry.map_err(io)?;
                if entry.file_name().to_str().is_some_and(&wanted) {
                    found.push(entry.path());
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Refuses a folder that is not a cache of this version.
pub(super) fn check_is_cache(dir: &Path) -> Result<()> {
    let marker = dir.join(MARKER);
    if !marker.is_file() {
        return Err(Error::usage("this folder is not a vidrec cache: it has no file vidrec-cache").file(dir));
    }
    let (expected, found) = (marker_text(), ClaimFile::open_to_read(&marker)?.read()?);
    if found == expected.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found).chars().take(60).collect::<String>();
    Err(Error::usage("another version of vidrec made this cache, or the folder is not a cache")
        .file(dir)
        .expected(format!("{:?} in vidrec-cache", expected.trim_end()))
        .found(format!("{:?}", found.trim_end()))
        .help("name another folder, or remove this one if it is a cache"))
}

/// Refuses a folder that contains files other than those of a cache.
pub(super) fn check_ours(dir: &Path) -> Result<()> {
    let marker = dir.join(MARKER);
    // The marker is the first file of a cache, so a process that sees another file of it also sees the marker.
    if marker.exists() || named(dir, |_| true)?.is_empty() || marker.exists() {
        return Ok(());
    }
    Err(Error::usage("the folder is not a cache and has other files, so vidrec does not use it")
        .file(dir)
        .help("name a folder that is empty or does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_written_and_only_where_it_belongs() {
        let dir = tempfile::tempdir().unwrap();
        let identity = Identity::new("s3://bücket/ö", "\"etag\"", 1 << 40);
        let object = dir.path().join(identity.key());
        fs::create_dir(&object).unwrap();
        assert_eq!(Identity::read(&object), None);
        let text = String::from_utf8(identity.json()).unwrap();
        let put = |text: &str| fs::write(object.join(OBJECT_JSON), text).unwrap();
        put(&text);
        assert_eq!(Identity::read(&object), Some(identity));
        let changed = [
            text.replace("\"format\": 2", "\"format\": 3"),
            text.replace("etag", "other"),
            text[..text.len() / 2].to_owned(),
            "[".repeat(1 << 17),
        ];
        for changed in changed {
            assert_ne!(changed, text);
            put(&changed);
            assert_eq!(Identity::read(&object), None);
        }
    }
}

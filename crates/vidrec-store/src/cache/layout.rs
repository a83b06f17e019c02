//! The names in a cache's folder, and the identity of an object there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cache::claims::PAGE_BYTES;
use crate::disk::regular_file::{Links, read_regular};
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Result};

/// The version of everything in the folder.
const FORMAT: u32 = 1;
/// The largest `object.json` that is read.
const LONGEST: u64 = 1 << 20;
const KEY_DIGITS: usize = 32;

pub(super) const MARKER: &str = "vidrec-cache";
pub(super) const BUDGET: &str = "budget";
pub(super) const SLOTS: &str = "slots";
pub(super) const REMOVAL: &str = "removal";
pub(super) const OBJECTS: &str = "objects";
pub(super) const NEW: &str = "new-";
pub(super) const TRASH: &str = "trash-";
pub(super) const PAGES: &str = "pages";
pub(super) const MAP: &str = "map";
pub(super) const CLEAN: &str = "clean";
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
    page_bytes: u64,
}

impl Identity {
    pub fn new(location: &str, version: &str, length: u64) -> Self {
        let (location, version) = (location.to_owned(), version.to_owned());
        Identity { format: FORMAT, location, version, length, page_bytes: PAGE_BYTES }
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

    pub fn pages(&self) -> u64 {
        self.length.div_ceil(PAGE_BYTES)
    }

    pub fn json(&self) -> Vec<u8> {
        // Serialization cannot fail: a struct of texts and numbers has no value that JSON lacks.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Reads the identity of the object in a folder; `None` if there is none that this version of vidrec knows.
    pub fn read(object: &Path) -> Option<Self> {
        let text = read_regular(&object.join(OBJECT_JSON), LONGEST, Links::Refuse).ok()?;
        let identity: Self = serde_json::from_slice(&text).ok()?;
        let is_known = identity.format == FORMAT && identity.page_bytes == PAGE_BYTES;
        let is_here = object.file_name().is_some_and(|name| *name == *identity.key());
        (is_known && is_here).then_some(identity)
    }
}

/// The folders of all objects, in the order of their names.
pub(super) fn objects(dir: &Path) -> Result<Vec<PathBuf>> {
    named(&dir.join(OBJECTS), is_key)
}

/// The folders of objects that are being removed, or were being removed when a process was killed.
pub(super) fn trash(dir: &Path) -> Result<Vec<PathBuf>> {
    named(dir, |name| name.strip_prefix(TRASH).is_some_and(is_key))
}

/// The folders of objects that are being created, or were being created when a process was killed.
pub(super) fn unfinished(dir: &Path) -> Result<Vec<PathBuf>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let are_numbers = |(slot, count): (&str, &str)| is_number(slot) && is_number(count);
    named(dir, |name| name.strip_prefix(NEW).and_then(|rest| rest.split_once('-')).is_some_and(are_numbers))
}

fn is_key(name: &str) -> bool {
    name.len() == KEY_DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit())
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
    fn each_version_of_each_object_has_its_own_key() {
        let key = |location, version, length| Identity::new(location, version, length).key();
        let keys = [key("s3://a/b", "1", 10), key("s3://a/b1", "", 10), key("s3://a/b", "1", 11), key("", "", 0)];
        assert!(keys.iter().all(|key| key.len() == 32));
        assert!((1..4).all(|i| !keys[..i].contains(&keys[i])));
        assert_eq!(keys[0], key("s3://a/b", "1", 10));
    }

    #[test]
    fn only_names_that_a_cache_gives_are_taken_for_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let key = Identity::new("", "", 0).key();
        let (trashed, made) = (format!("{TRASH}{key}"), format!("{NEW}12-0"));
        for name in [&trashed, &made, "trash-", "trash-of-mine", "new-", "new-1", "new-1-", "new-stuff-2", &key] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        assert_eq!(trash(dir.path()).unwrap(), [dir.path().join(trashed)]);
        assert_eq!(unfinished(dir.path()).unwrap(), [dir.path().join(made)]);
        assert!(objects(dir.path()).unwrap().is_empty());
        assert!(check_ours(dir.path()).unwrap_err().to_string().contains("other files"));
    }

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
            text.replace("\"format\": 1", "\"format\": 2"),
            text.replace("4096", "512"),
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

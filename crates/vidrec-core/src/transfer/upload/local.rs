//! The files of a local data set, and the proof of each while it is read.

use std::fs;
use std::path::Path;

use crate::store::disk::regular_file::{Links, read_regular};
use crate::store::location::is_remote;
use crate::transfer::both_ways::listing_of;
use crate::transfer::fetch::{Item, items};
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::limits;

/// A data set in a local folder.
pub(super) struct LocalSet {
    /// The bytes of its `dataset.json`.
    pub bytes: Vec<u8>,
    pub json: DatasetJson,
    pub files: Vec<LocalFile>,
}

/// A file of a data set.
pub(super) struct LocalFile {
    item: Item,
    pub bytes: u64,
}

impl LocalSet {
    /// Reads the `dataset.json` in a folder, or the one that `path` names, and checks that the
    /// listed files exist and have their lengths.
    pub fn open(path: &Path) -> Result<Self> {
        if is_remote(path) {
            let e = Error::usage("vidrec can push only data sets on this machine").file(path);
            return Err(e.help("fetch it first"));
        }
        let listing = listing_of(path, "pushes")?;
        let bytes = read_regular(&listing, limits::MAX_LISTING_BYTES, Links::Follow)?;
        let json = DatasetJson::prove(&bytes).map_err(|e| e.file(&listing))?;
        let files = items(&listing, &json).into_iter().map(LocalFile::of).collect::<Result<_>>()?;
        Ok(LocalSet { bytes, json, files })
    }

    /// The size of all its files, except `dataset.json`.
    pub fn all_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl LocalFile {
    fn of(item: Item) -> Result<Self> {
        let path = &item.location;
        let bytes = fs::metadata(path).map_err(|e| Error::io("open the file", path, e).hint(Hint::Verify))?.len();
        item.check_length(bytes).map_err(|e| e.hint(Hint::Verify))?;
        Ok(LocalFile { item, bytes })
    }

    pub fn name(&self) -> &str {
        &self.item.name
    }

    /// Whether its name is unique to its contents, so that an object of this name and length is this file.
    pub fn has_own_name(&self) -> bool {
        self.item.has_digits()
    }

    pub fn path(&self) -> &Path {
        &self.item.location
    }

    /// Compares the SHA-256 of all bytes that were read with `dataset.json`.
    pub fn prove(&self, sha256: [u8; 32]) -> Result<()> {
        self.item.prove(&self.item.location, sha256).map_err(|e| e.hint(Hint::Verify))
    }
}

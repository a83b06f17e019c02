//! A data set that is changed in its folder, in one step.

use std::io::ErrorKind::NotFound;
use std::path::Path;

use crate::dataset::{Dataset, Io, Source, listing, writer};
use crate::store::disk::FolderLock;
use crate::store::location::is_remote;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::{DatasetJson, Error, Result};

/// A data set whose folder is locked.
pub(super) struct InPlace {
    pub lock: FolderLock,
    pub set: Dataset,
    /// Its `dataset.json`. The shards come from the indexes, so that a new one has what earlier versions did not list.
    pub json: DatasetJson,
}

impl InPlace {
    /// Locks the folder of a data set.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the data set is remote, or there is none; another process writes
    /// there, or a pack was interrupted there.
    pub fn open(folder: &Path) -> Result<Self> {
        if is_remote(folder) {
            let e = Error::usage("vidrec changes data sets in place in local folders only").file(folder);
            return Err(e.help(
                "fetch it, change the copy, and push that with the option to overwrite (`vidrec push --overwrite`)",
            ));
        }
        if !folder.is_dir() {
            return Err(Error::io("open the data set", folder, NotFound.into()));
        }
        let lock = writer::lock(folder)?;
        let listing = folder.join(FILE_NAME);
        if !listing.is_file() {
            return Err(listing::missing(folder));
        }
        let set = Dataset::open(folder)?;
        let failures = listing::read(&listing, &Source::Local(Io::Map))?.failures;
        let json = DatasetJson { failures, ..set.to_json() };
        Ok(InPlace { lock, set, json })
    }
}

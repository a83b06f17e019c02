//! The destination of a data set: its contents, whether the store keeps publishers apart, and the commit.

use std::collections::HashSet;
use std::path::Path;

use crate::store::remote::{Bucket, Tag};
use crate::store::storage::Storage;
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::limits;

/// Options of [`push`](crate::transfer::upload::push).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PushOptions {
    /// How to reach the storage. Its cache is not used.
    pub storage: Storage,
    /// Replace another, existing data set. Off by default: such a data set is an error.
    pub overwrite: bool,
    /// The caller states that nobody else publishes at this location at the same time, so the store need not keep
    /// publishers apart. Off by default: a store that cannot keep them apart is refused.
    pub only_publisher: bool,
}

/// The destination of a data set.
pub struct Place {
    /// The folder of objects.
    pub bucket: Bucket,
    options: PushOptions,
    /// The `dataset.json` that existed at the beginning.
    there: Option<(Vec<u8>, Tag)>,
}

impl Place {
    /// Opens a location and reads its `dataset.json`.
    pub fn open(location: &Path, options: &PushOptions) -> Result<Self> {
        if matches!(location.extension().and_then(|e| e.to_str()), Some("json" | "rec" | "vidx")) {
            let e = Error::usage("a data set is a folder").file(location);
            return Err(e.help("give the location of the folder, such as s3://bucket/train"));
        }
        let bucket = Bucket::open(location, &options.storage)?;
        let there = bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)?;
        Ok(Place { bucket, options: options.clone(), there })
    }

    /// The `dataset.json` that existed at the beginning.
    pub fn listing(&self) -> Option<&[u8]> {
        self.there.as_ref().map(|(bytes, _)| &**bytes)
    }

    /// Whether the location already has the data set of this `dataset.json`.
    pub fn has(&self, listing: &[u8]) -> bool {
        self.listing() == Some(listing)
    }

    /// Checks that objects can be written there, and that a data set may be.
    pub fn check(&self) -> Result<()> {
        if self.there.is_some() && !self.options.overwrite {
            return Err(is_there("there is another data set here", self.bucket.location()));
        }
        check_store(&self.bucket, self.options.only_publisher)
    }

    /// Turns the objects that `dataset.json` lists into a data set, in one step.
    pub fn commit(&self, listing: &[u8]) -> Result<()> {
        let bytes = listing.to_vec();
        let is_done = match &self.there {
            _ if self.options.only_publisher => self.bucket.put(FILE_NAME, bytes).map(|()| true),
            there => self.bucket.put_if(FILE_NAME, bytes, there.as_ref().map(|(_, tag)| tag.clone())),
        };
        if is_done? {
            return Ok(());
        }
        let e = is_there("another data set was published here in the meantime", self.bucket.location());
        Err(e.help("look at it first; the uploaded files do not belong to it, and remain"))
    }

    /// Removes the objects that only the replaced data set had. The data set `now` must be committed. Returns how many
    /// objects it removed, and what it could not do.
    pub fn tidy(&self, now: &DatasetJson) -> (u64, Vec<String>) {
        let Some((there, _)) = &self.there else { return Default::default() };
        let there = match DatasetJson::prove(there) {
            Ok(there) => there,
            Err(e) => {
                let note = format!("vidrec could not read the replaced dataset.json, so its files remain: {e}");
                return (0, vec![note]);
            }
        };
        let (listed, mut removed): (HashSet<&FileName>, _) = (now.file_names().collect(), 0);
        for name in there.file_names().filter(|name| name.is_given() && !listed.contains(name)) {
            if let Err(e) = self.bucket.remove(name) {
                return (
                    removed,
                    vec![format!("files that only the replaced data set had remain, from {name} on: {e}")],
                );
            }
            removed += 1;
        }
        (removed, Vec::new())
    }
}

/// Checks that objects can be written at a location without publishers overwriting each other's.
pub(super) fn check_store(bucket: &Bucket, only_publisher: bool) -> Result<()> {
    if only_publisher {
        return bucket.try_to_write();
    }
    if bucket.has_conditions()? {
        return Ok(());
    }
    let e = Error::usage("the store does not support conditional writes, so two publishers could overwrite each other")
        .file(bucket.location());
    Err(e.help("if nobody else publishes here, say so").hint(Hint::Set("only_publisher")))
}

fn is_there(what: &str, location: &Path) -> Error {
    Error::usage(what).file(location).hint(Hint::Overwrite)
}

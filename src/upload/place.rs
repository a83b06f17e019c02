//! Where a data set goes: what is there, whether the store keeps publishers apart, and the commit.

use std::collections::HashSet;
use std::path::Path;

use super::options::PushOptions;
use super::report::PushReport;
use crate::format::dataset_json::{DatasetJson, FILE_NAME};
use crate::format::file_name::FileName;
use crate::remote::{Bucket, Tag};
use crate::{Error, Hint, Result, limits};

/// A location that a data set goes to.
pub(crate) struct Place {
    pub bucket: Bucket,
    options: PushOptions,
    /// The `dataset.json` that was there at the beginning.
    there: Option<(Vec<u8>, Tag)>,
}

impl Place {
    /// Looks what is at a location.
    pub fn open(location: &Path, options: &PushOptions) -> Result<Self> {
        if matches!(location.extension().and_then(|e| e.to_str()), Some("json" | "rec" | "vidx")) {
            let e = Error::usage("a data set is a folder").file(location);
            return Err(e.help("give the location of the folder, such as s3://bucket/train"));
        }
        let bucket = Bucket::open(location, &options.storage)?;
        let there = bucket.read(FILE_NAME, limits::MAX_LISTING_BYTES)?;
        Ok(Place { bucket, options: options.clone(), there })
    }

    /// The `dataset.json` that was there at the beginning.
    pub fn listing(&self) -> Option<&[u8]> {
        self.there.as_ref().map(|(bytes, _)| &**bytes)
    }

    /// Whether the data set of this `dataset.json` is there already.
    pub fn has(&self, listing: &[u8]) -> bool {
        self.listing() == Some(listing)
    }

    /// Whether objects can be written there, and a data set may be.
    pub fn check(&self) -> Result<()> {
        if self.there.is_some() && !self.options.overwrite {
            return Err(is_there("there is another data set here", self.bucket.location()));
        }
        check_store(&self.bucket, self.options.only_publisher)
    }

    /// Makes the objects that `dataset.json` lists a data set, in one step.
    pub fn commit(&self, listing: &[u8]) -> Result<()> {
        let bytes = listing.to_vec();
        let is_done = match &self.there {
            _ if self.options.only_publisher => self.bucket.put(FILE_NAME, bytes).map(|()| true),
            Some((_, tag)) => self.bucket.put_instead(FILE_NAME, bytes, tag),
            None => self.bucket.put_once(FILE_NAME, bytes),
        };
        if is_done? {
            return Ok(());
        }
        let e = is_there("another data set was published here in the meantime", self.bucket.location());
        Err(e.help("look at it first; what was uploaded does not belong to it, and stays"))
    }

    /// Removes what only the replaced data set had, after the commit.
    pub fn tidy(&self, now: &DatasetJson, report: &mut PushReport) {
        let Some((old, _)) = &self.there else { return };
        let old = match DatasetJson::prove(old) {
            Ok(old) => old,
            Err(e) => {
                return report.notes.push(format!("the replaced dataset.json cannot be read, so its files stay: {e}"));
            }
        };
        let listed: HashSet<&FileName> = now.file_names().collect();
        for name in old.file_names().filter(|name| !listed.contains(name) && name.is_given()) {
            match self.bucket.remove(name) {
                Ok(()) => report.removed += 1,
                Err(e) => report.notes.push(format!("a file of the replaced data set stays: {e}")),
            }
        }
    }
}

/// Whether objects can be written at a location, so that publishers do not overwrite each other's.
pub(super) fn check_store(bucket: &Bucket, only_publisher: bool) -> Result<()> {
    if only_publisher {
        return bucket.try_to_write();
    }
    if bucket.has_conditions()? {
        return Ok(());
    }
    let e =
        Error::usage("the store does not write objects on conditions, so two publishers could overwrite each other")
            .file(bucket.location());
    Err(e.help("if nobody else publishes here").hint(Hint::Set("only_publisher")))
}

fn is_there(what: &str, location: &Path) -> Error {
    Error::usage(what).file(location).hint(Hint::Overwrite)
}

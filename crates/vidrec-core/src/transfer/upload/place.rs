//! The destination of a data set: its contents, whether the store keeps publishers apart, and the commit.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use super::options::{PushOptions, PushReport};
use crate::store::remote::{Bucket, Tag};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::limits;

/// The object that lists files of replaced data sets that are not removed yet, as a JSON list.
const OUTDATED: &str = ".vidrec-outdated.json";

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

    /// Checks that a data set may be written there, and objects can be without publishers overwriting each other's.
    pub fn check(&self) -> Result<()> {
        let location = self.bucket.location();
        if self.there.is_some() && !self.options.overwrite {
            return Err(is_there("there is another data set here", location));
        }
        if self.options.storage.has_one_publisher() {
            return self.bucket.try_to_write();
        }
        if self.bucket.has_conditions()? {
            return Ok(());
        }
        let what = "the store does not support conditional writes, so two publishers could overwrite each other";
        let help = "if nobody else publishes here, set the option of the storage conditional_put=disabled";
        Err(Error::usage(what).file(location).help(help))
    }

    /// Turns the objects that `dataset.json` lists into a data set, in one step. Before that, it records the objects
    /// to remove afterwards, so that the next push removes them if this one is killed.
    pub fn commit(&self, listing: &[u8]) -> Result<()> {
        let (outdated, noted) = self.outdated()?;
        if outdated != noted {
            let note = serde_json::to_vec(&outdated).map_err(|e| Error::internal(format!("outdated files: {e}")))?;
            self.bucket.put(OUTDATED, note)?;
        }
        let bytes = listing.to_vec();
        let is_done = match &self.there {
            _ if self.options.storage.has_one_publisher() => self.bucket.put(FILE_NAME, bytes).map(|()| true),
            Some((_, tag)) => self.bucket.put_instead(FILE_NAME, bytes, tag),
            None => self.bucket.put_once(FILE_NAME, bytes),
        };
        if is_done? {
            return Ok(());
        }
        let e = is_there("another data set was published here in the meantime", self.bucket.location());
        Err(e.help("look at it first; the uploaded files do not belong to it, and remain"))
    }

    /// Removes objects that only replaced data sets had. The data set `now` must be committed.
    pub fn tidy(&self, now: &DatasetJson, report: &mut PushReport) {
        if let Some(Err(e)) = self.there.as_ref().map(|(old, _)| DatasetJson::prove(old)) {
            report.notes.push(format!("vidrec could not read the replaced dataset.json, so its files remain: {e}"));
        }
        if let Err(e) = self.try_to_tidy(now, report) {
            report.notes.push(format!("a file of a replaced data set remains until the next push: {e}"));
        }
    }

    fn try_to_tidy(&self, now: &DatasetJson, report: &mut PushReport) -> Result<()> {
        let (outdated, noted) = self.outdated()?;
        let listed: HashSet<&FileName> = now.file_names().collect();
        for name in outdated.iter().filter(|name| !listed.contains(name)) {
            self.bucket.remove(name)?;
            report.removed += 1;
        }
        if !noted.is_empty() {
            self.bucket.remove(OUTDATED)?;
        }
        // If there was no data set, this push has just used the probe object and removed it.
        if self.there.is_some() { self.bucket.remove_probe() } else { Ok(()) }
    }

    /// The files of the data set that existed at the beginning, and files of earlier ones that killed pushes have not
    /// removed. The second set contains those that are already recorded.
    fn outdated(&self) -> Result<(BTreeSet<FileName>, BTreeSet<FileName>)> {
        // If there was no data set, nothing was replaced, and nothing is recorded.
        let Some((there, _)) = &self.there else { return Ok(Default::default()) };
        let noted = self.bucket.read(OUTDATED, limits::MAX_META_BYTES)?;
        let noted = noted.and_then(|(bytes, _)| serde_json::from_slice::<BTreeSet<FileName>>(&bytes).ok());
        let noted: BTreeSet<FileName> = noted.into_iter().flatten().filter(FileName::is_given).collect();
        let listed = DatasetJson::prove(there).ok();
        let listed = listed.iter().flat_map(DatasetJson::file_names).filter(|name| name.is_given());
        Ok((listed.cloned().chain(noted.iter().cloned()).collect(), noted))
    }
}

fn is_there(what: &str, location: &Path) -> Error {
    Error::usage(what).file(location).hint(Hint::Overwrite)
}

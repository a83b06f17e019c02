//! The videos that were not packed, from the data set's list of failures.

use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::dataset::{Dataset, Source, listing};
use vidrec_format::data_binding::hex;
use vidrec_format::{DatasetJson, Error, Result};

/// A line of a list of failures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FailedSource {
    /// The source of the video.
    pub source: String,
    /// The stage of the work on the video at which it failed.
    #[serde(default)]
    pub stage: String,
    /// The error, in FFmpeg's words if FFmpeg refused the video.
    pub error: String,
}

impl Dataset {
    /// Returns the videos that were not packed, for all folders that contain the record files. A shard that no
    /// `dataset.json` lists has none.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if a list is damaged;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a list cannot be read.
    #[doc(hidden)]
    pub fn failures(&self) -> Result<Vec<FailedSource>> {
        let mut failures = Vec::new();
        for (listing, source) in self.listings() {
            failures.append(&mut source.twice(|| read(&listing, &source))?);
        }
        Ok(failures)
    }
}

fn read(listing: &Path, source: &Source) -> Result<Vec<FailedSource>> {
    let Some(json) = listing::read_if_listed(listing, source)? else { return Ok(Vec::new()) };
    let bytes = read_failures(listing, &json, source)?;
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let failure = |line: &[u8]| serde_json::from_slice(line);
    lines
        .map(failure)
        .collect::<serde_json::Result<_>>()
        .map_err(|e| Error::usage("a line in the list of failures does not describe a failure").file(listing).found(e))
}

/// The bytes of the list of failures that a `dataset.json` lists, proven by its digest; empty if it lists none.
pub(super) fn read_failures(listing: &Path, json: &DatasetJson, source: &Source) -> Result<Vec<u8>> {
    let Some(listed) = &json.failures else { return Ok(Vec::new()) };
    let path = listing.with_file_name(&listed.file);
    let bytes = source.read(&path)?;
    let found = hex(&Sha256::digest(&bytes));
    if found == listed.sha256 {
        return Ok(bytes);
    }
    let e = Error::format("failures-digest", "the list of failures is not the one that dataset.json lists").file(path);
    Err(e.expected(format!("SHA-256 {}", listed.sha256)).found(found))
}

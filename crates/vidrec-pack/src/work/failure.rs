//! The list of the videos that were skipped.

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use crate::video::VideoError;

/// A video that was skipped: a line of the list of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// Its place in the plan, from 0.
    pub item: u64,
    /// Path relative to the input root.
    pub source: String,
    /// The stage at which it failed: `open`, `stream`, `decode`, `sample`, `scale`, `limit`, `timeout`, `encode`,
    /// `track`, `short`, `crash` or `internal`.
    pub stage: String,
    /// What is wrong, in FFmpeg's own words if they come from FFmpeg.
    pub error: String,
}

impl Failure {
    pub(crate) fn new(place: u64, job: &Job, failure: &VideoError) -> Self {
        let (source, stage) = (job.source.clone(), failure.stage.to_string());
        Failure { item: place, source, stage, error: failure.message() }
    }
}

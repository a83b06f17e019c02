//! The report of [`check`](super::check).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::{Finding, FindingKind};

/// The report of [`check`](super::check). `vidrec check --json` prints the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// The checked data sets, in the order in which they were given.
    pub sets: Vec<CheckedSet>,
    /// The number of clips that were looked at, in all data sets.
    pub clips: u64,
    /// The number of frames that were decoded; 0 if no kind of finding needs them.
    pub frames: u64,
    /// The number of findings of each kind that was looked for.
    pub counts: BTreeMap<FindingKind, u64>,
    /// The findings, by kind, and within a kind in order of the clips.
    pub findings: Vec<Finding>,
}

/// A data set that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckedSet {
    /// The folder or location of its first record file.
    pub location: String,
    /// The number of its clips.
    pub clips: u64,
    /// The number of its frames.
    pub frames: u64,
    /// The number of its clips that are in findings.
    pub found_clips: u64,
    /// The number of its videos that were not packed, as far as its `dataset.json` lists them.
    pub failed_videos: u64,
}

impl CheckReport {
    /// Whether there are no findings.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

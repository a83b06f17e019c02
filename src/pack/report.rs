//! What a run of the packer says of itself, while it runs and at the end.

use serde::Serialize;

use super::clip::{ClipFailure, PackedClip};
use super::inputs::{Item, Plan};

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Videos done, packed or failed.
    pub videos: u64,
    /// Videos in all.
    pub total: u64,
    /// Frames written.
    pub frames: u64,
    /// Bytes of the record file so far.
    pub bytes: u64,
    /// Videos left out.
    pub failed: u64,
}

/// The outcome of a run. This is also what `vidrec pack --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackReport {
    /// Clips written.
    pub clips: u64,
    /// Frames written.
    pub frames: u64,
    /// Videos left out.
    pub failed: u64,
    /// Clips of which the source had fewer frames than asked for.
    pub short: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Time taken by the clock.
    pub seconds: f64,
    /// The videos left out, in order.
    pub failures: Vec<Failure>,
    /// Videos that were packed although something was wrong with them, in order.
    pub warnings: Vec<Warning>,
    /// Files in the input folders that were not taken for videos, by their endings.
    pub ignored_files: u64,
}

/// A video that was left out: a line of `failures.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Path relative to the input root.
    pub source: String,
    /// Where it failed: `open`, `stream`, `decode`, `sample`, `scale`, `timeout`, `encode`, `short` or `internal`.
    pub stage: String,
    /// What is wrong, with FFmpeg's own words where they are from FFmpeg.
    pub error: String,
}

/// A video that was packed although something was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Path relative to the input root.
    pub source: String,
    /// What is wrong.
    pub message: String,
}

impl PackReport {
    pub(super) fn new(plan: &Plan) -> Self {
        PackReport {
            clips: 0,
            frames: 0,
            failed: 0,
            short: 0,
            bytes: 0,
            seconds: 0.0,
            failures: Vec::new(),
            warnings: Vec::new(),
            ignored_files: plan.ignored_files,
        }
    }

    pub(super) fn push_failure(&mut self, item: &Item, failure: &ClipFailure) {
        self.failed += 1;
        self.failures.push(Failure {
            source: item.source.clone(),
            stage: failure.stage.to_string(),
            error: failure.message.clone(),
        });
    }

    pub(super) fn push_clip(&mut self, item: &Item, packed: &PackedClip) {
        self.clips += 1;
        self.frames += packed.frames.len() as u64;
        self.short += u64::from(packed.info.short);
        if let Some(message) = trouble(packed) {
            self.warnings.push(Warning { source: item.source.clone(), message });
        }
    }

    /// Whether everything that was asked for is in the data set, without a word to be said.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.warnings.is_empty()
    }
}

/// What went wrong while a video was decoded that was packed all the same.
fn trouble(packed: &PackedClip) -> Option<String> {
    let facts = &packed.facts;
    let counts = [
        (facts.decode_errors, "decoding errors"),
        (facts.corrupt_packets, "corrupt packets"),
        (u64::from(facts.damaged_frames), "damaged frames"),
    ];
    let parts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() {
        return None;
    }
    let first = facts.first_error.as_ref().map(|e| format!("; first: {e}")).unwrap_or_default();
    Some(format!("{}{first}", parts.join(", ")))
}

//! What a run of the packer says of itself, while it runs and at the end.

use serde::{Deserialize, Serialize};

use super::clip::{ClipFailure, PackedClip};
use super::inputs::{Item, Plan};
use super::outcome::Outcome;
use super::passed_over::PassedOver;
use crate::video::VideoFacts;

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
    /// Frames that stand for one that is missing: the repeated ones of short clips.
    pub repeated_frames: u64,
    /// Frames that decoded with damage; they are stored only where a video has no others.
    pub damaged_frames: u64,
    /// Packets that their containers mark as damaged.
    pub corrupt_packets: u64,
    /// Packets or frames that decoders refused, and reads that broke off.
    pub decode_errors: u64,
    /// Errors that FFmpeg logged of videos that were packed.
    pub logged_errors: u64,
    /// Parts of containers whose checksum does not fit.
    pub failed_checksums: u64,
    /// Times that videos changed to another picture size on the way.
    pub size_changes: u64,
    /// Videos of which clearly less decodes than their containers claim.
    pub cut_off: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Time taken by the clock.
    pub seconds: f64,
    /// The videos left out, in order.
    pub failures: Vec<Failure>,
    /// Name of the file in the output folder that lists them; absent if none were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures_file: Option<String>,
    /// Videos that were packed although something was wrong with them, in order.
    pub warnings: Vec<Warning>,
    /// Files in the input folders that are neither videos nor frames, by kind.
    pub passed_over: Vec<PassedOver>,
    /// What the machine ran out of, and how many videos were packed at a time because of that. It costs time and nothing
    /// else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortage: Option<String>,
    /// Number of videos that an interrupted run had done when this one resumed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<u64>,
    /// Place in the plan of the last video that gave a clip.
    #[serde(skip)]
    pub(super) last_clip_item: Option<u64>,
    /// Number of videos that are done.
    #[serde(skip)]
    videos: u64,
}

/// A video that was left out: a line of the list of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its place among the inputs, from 0.
    pub item: u64,
    /// Path relative to the input root.
    pub source: String,
    /// Where it failed: `open`, `stream`, `decode`, `sample`, `scale`, `limit`, `timeout`, `encode`, `short`, `crash` or
    /// `internal`.
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
            repeated_frames: 0,
            damaged_frames: 0,
            corrupt_packets: 0,
            decode_errors: 0,
            logged_errors: 0,
            failed_checksums: 0,
            size_changes: 0,
            cut_off: 0,
            bytes: 0,
            seconds: 0.0,
            failures: Vec::new(),
            failures_file: None,
            warnings: Vec::new(),
            passed_over: plan.passed_over.clone(),
            shortage: None,
            resumed_at: None,
            last_clip_item: None,
            videos: 0,
        }
    }

    /// Number of videos that are done.
    pub(super) fn videos(&self) -> u64 {
        self.videos
    }

    /// Videos that this run dealt with, in a second by the clock: those that an interrupted run had done are not counted.
    /// `None` if there were none, or no time passed.
    pub fn videos_per_second(&self) -> Option<f64> {
        let done = self.videos.saturating_sub(self.resumed_at.unwrap_or(0));
        (done > 0 && self.seconds > 0.0).then(|| done as f64 / self.seconds)
    }

    /// Whether all was there already, so that this run had no video to deal with.
    pub fn is_unchanged(&self) -> bool {
        self.resumed_at == Some(self.videos)
    }

    /// Adds the next video of the plan.
    pub(super) fn push(&mut self, item: &Item, outcome: &Outcome) {
        match outcome {
            Outcome::Packed { clips, troubles } => {
                self.last_clip_item = Some(self.videos);
                self.clips += clips.len() as u64;
                self.frames += clips.iter().map(|c| u64::from(c.frames)).sum::<u64>();
                self.short += clips.iter().map(|c| u64::from(c.info.short)).sum::<u64>();
                self.repeated_frames += troubles.repeated_frames;
                self.damaged_frames += troubles.damaged_frames;
                self.corrupt_packets += troubles.corrupt_packets;
                self.decode_errors += troubles.decode_errors;
                self.logged_errors += troubles.logged_errors;
                self.failed_checksums += troubles.failed_checksums;
                self.size_changes += troubles.size_changes;
                self.cut_off += u64::from(troubles.cut_off);
                if let Some(message) = troubles.message.clone() {
                    self.warnings.push(Warning { source: item.source.clone(), message });
                }
            }
            Outcome::Failed(failure) => {
                self.failed += 1;
                self.failures.push(failure.clone());
            }
        }
        self.videos += 1;
    }

    /// Whether everything that was asked for is in the data set, without a word to be said.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.warnings.is_empty()
    }
}

impl Failure {
    pub(super) fn new(ordinal: usize, item: &Item, failure: &ClipFailure) -> Self {
        Failure {
            item: ordinal as u64,
            source: item.source.clone(),
            stage: failure.stage.to_string(),
            error: failure.message.clone(),
        }
    }
}

/// What went wrong with a video that was packed all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Troubles {
    repeated_frames: u64,
    damaged_frames: u64,
    corrupt_packets: u64,
    decode_errors: u64,
    #[serde(default)]
    logged_errors: u64,
    #[serde(default)]
    failed_checksums: u64,
    #[serde(default)]
    size_changes: u64,
    cut_off: bool,
    message: Option<String>,
}

impl Troubles {
    /// Those of the clips of one video.
    pub fn of(clips: &[PackedClip]) -> Self {
        let facts = clips.first().map(|clip| clip.facts.clone()).unwrap_or_default();
        Self::new(&facts, clips.iter().map(PackedClip::repeated_frames).sum())
    }

    pub fn new(facts: &VideoFacts, repeated_frames: u64) -> Self {
        let mut troubles = Troubles {
            repeated_frames,
            damaged_frames: u64::from(facts.damaged_frames),
            corrupt_packets: facts.corrupt_packets,
            decode_errors: facts.decode_errors,
            logged_errors: facts.logged_errors,
            failed_checksums: facts.failed_checksums,
            size_changes: u64::from(facts.size_changes),
            cut_off: facts.is_cut_off(),
            message: None,
        };
        let counts = [
            (troubles.decode_errors, "decoding error", "decoding errors"),
            (troubles.corrupt_packets, "corrupt packet", "corrupt packets"),
            (troubles.failed_checksums, "failed checksum", "failed checksums"),
            (troubles.damaged_frames, "damaged frame", "damaged frames"),
            (troubles.logged_errors, "logged error", "logged errors"),
            (troubles.size_changes, "change of the picture size", "changes of the picture size"),
        ];
        let text = |&(n, one, several): &(u64, &str, &str)| format!("{n} {}", if n == 1 { one } else { several });
        let mut parts: Vec<String> = counts.iter().filter(|(n, ..)| *n > 0).map(text).collect();
        if let (true, Some(claimed), Some(decoded)) = (troubles.cut_off, facts.claimed_seconds, facts.stream_seconds) {
            parts.push(format!("the container claims {claimed:.1} s, {decoded:.1} s are there"));
        }
        if !parts.is_empty() {
            let first = facts.first_error.as_ref().map(|e| format!("; first: {e}")).unwrap_or_default();
            troubles.message = Some(format!("{}{first}", parts.join(", ")));
        }
        troubles
    }
}

//! The result of a video: clips that are ready to be written, or a failure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use crate::video::{VideoError, VideoFacts};
use vidrec_core::dataset::writer::{ClipInfo, EncodedTrack};

/// A video that is ready to be written.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PackedVideo {
    /// One clip, or one for each draw.
    pub clips: Vec<PackedClip>,
    /// The JPEGs of the frames taken from the video, which all its clips share.
    #[serde(skip)]
    pub jpegs: Vec<Vec<u8>>,
    /// The PSNR of luma of those JPEGs that were measured, in dB.
    pub psnr: Vec<f64>,
    pub facts: VideoFacts,
}

impl PackedVideo {
    /// Returns the bytes that the JPEGs and tracks hold.
    pub fn held_bytes(&self) -> u64 {
        let tracks = self.clips.iter().flat_map(|clip| &clip.tracks).map(|track| &track.bytes);
        self.jpegs.iter().chain(tracks).map(|bytes| bytes.len() as u64).sum()
    }
}

/// A clip of a video.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PackedClip {
    pub info: ClipInfo,
    pub frames: Vec<PackedFrame>,
    pub tracks: Vec<EncodedTrack>,
}

/// A frame of a packed clip. Repeated frames share a JPEG.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct PackedFrame {
    /// Position in [`PackedVideo::jpegs`].
    pub jpeg: usize,
    pub pts: i64,
    pub source_index: u32,
}

impl PackedClip {
    /// Returns the number of frames that replace a missing one.
    pub fn repeated_frames(&self) -> u64 {
        if self.info.short { repeated_frames(&self.frames) } else { 0 }
    }
}

pub(super) fn repeated_frames(frames: &[PackedFrame]) -> u64 {
    let distinct: BTreeSet<usize> = frames.iter().map(|f| f.jpeg).collect();
    (frames.len() - distinct.len()) as u64
}

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
    /// The error, in FFmpeg's own words if they come from FFmpeg.
    pub error: String,
}

impl Failure {
    pub(crate) fn new(place: u64, job: &Job, failure: &VideoError) -> Self {
        let (source, stage) = (job.source.clone(), failure.stage.to_string());
        Failure { item: place, source, stage, error: failure.message.clone() }
    }
}

//! Why a video has no clip, and at which stage it failed.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use crate::video::{Stage, VideoError};
use vidrec_core::store::location::is_of_network;
use vidrec_format::allocation;
use vidrec_format::error::{Error, ErrorKind};
use vidrec_format::machine::Shortage;

/// The stage of the work at which a video failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PackStage {
    /// While the video was read.
    Video(Stage),
    /// While a frame was encoded.
    Encode,
    /// While its tracks were read, or compared with the video.
    Track,
    /// Skipped because the options say so: too few frames under [`ShortVideo::Skip`](vidrec_format::sampler::ShortVideo::Skip).
    Short,
    /// The decoding process died.
    Crash,
    /// A bug in vidrec itself.
    Internal,
}

impl fmt::Display for PackStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackStage::Video(stage) => stage.fmt(f),
            PackStage::Encode => f.write_str("encode"),
            PackStage::Track => f.write_str("track"),
            PackStage::Short => f.write_str("short"),
            PackStage::Crash => f.write_str("crash"),
            PackStage::Internal => f.write_str("internal"),
        }
    }
}

/// Why a video has no clip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClipFailure {
    pub stage: PackStage,
    pub message: String,
    /// What the machine ran out of. If this is set, the video itself is not at fault.
    pub shortage: Option<Shortage>,
    /// Whether the video could not be fetched although it may exist. In that case the video itself is not at fault
    /// either.
    pub unreached: bool,
}

impl ClipFailure {
    pub fn new(stage: PackStage, message: impl Into<String>) -> Self {
        ClipFailure { stage, message: message.into(), shortage: None, unreached: false }
    }

    /// Creates a failure with the message of the error and its causes.
    pub fn of(stage: PackStage, e: &Error) -> Self {
        ClipFailure { stage, message: format!("{e:#}"), shortage: e.shortage(), unreached: false }
    }

    /// Creates the failure of reading a video. The cause may be the video itself, the machine or the network.
    pub fn of_video(stage: Stage, e: Error) -> Self {
        let unreached = is_of_network(&e) || e.kind() == ErrorKind::Interrupted;
        ClipFailure { unreached, ..ClipFailure::of(PackStage::Video(stage), &e.without_file()) }
    }

    /// Whether the run has to end because no video is at fault.
    pub fn stops(&self) -> bool {
        self.shortage.is_some() || self.unreached
    }

    pub fn missing_frame() -> Self {
        ClipFailure::new(PackStage::Internal, "a chosen frame is missing")
    }

    pub fn to_error(&self, path: &Path) -> Error {
        let what = format!("{}: {}", self.stage, self.message);
        let e = if self.unreached { Error::lost(what) } else { Error::decode(what) }.file(path);
        match self.shortage {
            Some(shortage) => e.blame(shortage),
            None => e,
        }
    }

    /// Turns the failure into an error with the same message.
    pub fn into_cause(self) -> Error {
        let e = if self.unreached { Error::lost(self.message) } else { Error::decode(self.message) };
        match self.shortage {
            Some(shortage) => e.blame(shortage),
            None => e,
        }
    }

    /// Turns a lack of memory into a failure of the video, if the video was packed alone.
    ///
    /// It does so if `needed` bytes can still be allocated, because then the video asked for more than it should
    /// need.
    pub fn when_alone(self, needed: u64) -> Self {
        if self.shortage != Some(Shortage::Memory) || !allocation::can_allocate(needed) {
            return self;
        }
        let message = format!("{} (even alone, it needs more than any valid video does)", self.message);
        ClipFailure { message, shortage: None, ..self }
    }
}

impl From<VideoError> for ClipFailure {
    fn from(e: VideoError) -> Self {
        ClipFailure::of_video(e.stage, e.error)
    }
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
    /// What is wrong, in FFmpeg's own words if they come from FFmpeg.
    pub error: String,
}

impl Failure {
    pub(crate) fn new(place: u64, job: &Job, failure: &ClipFailure) -> Self {
        Failure {
            item: place,
            source: job.source.clone(),
            stage: failure.stage.to_string(),
            error: failure.message.clone(),
        }
    }
}

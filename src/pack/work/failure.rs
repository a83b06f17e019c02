//! Why a video gave no clip, and where in the work.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::location::is_of_network;
use crate::machine::Shortage;
use crate::video::{Stage, VideoError};
use crate::{Error, ErrorKind, allocation};

/// Where in the work on a video something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PackStage {
    /// While the video was read.
    Video(Stage),
    /// While a frame was encoded.
    Encode,
    /// While its tracks were read, or compared with the video.
    Track,
    /// Skipped as asked: too few frames under [`Short::Skip`](crate::sampler::Short::Skip).
    Short,
    /// While a clip that was packed before was read again, to retry others.
    Copy,
    /// The process that decoded it died.
    Crash,
    /// A fault in vidrec itself.
    Internal,
}

impl fmt::Display for PackStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackStage::Video(stage) => stage.fmt(f),
            PackStage::Encode => f.write_str("encode"),
            PackStage::Track => f.write_str("track"),
            PackStage::Short => f.write_str("short"),
            PackStage::Copy => f.write_str("copy"),
            PackStage::Crash => f.write_str("crash"),
            PackStage::Internal => f.write_str("internal"),
        }
    }
}

/// Why a video gave no clip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClipFailure {
    pub stage: PackStage,
    pub message: String,
    /// What the machine ran out of: then it is not the video that failed.
    pub shortage: Option<Shortage>,
    /// Whether the video could not be fetched, although it may be there: then it is not the video that failed either.
    pub unreached: bool,
}

impl ClipFailure {
    pub fn new(stage: PackStage, message: impl Into<String>) -> Self {
        ClipFailure { stage, message: message.into(), shortage: None, unreached: false }
    }

    /// A failure with the words of the error and its causes.
    pub fn of(stage: PackStage, e: &Error) -> Self {
        ClipFailure { stage, message: format!("{e:#}"), shortage: e.shortage(), unreached: false }
    }

    /// The failure of reading a video: of the video itself, of the machine, or of the network.
    pub fn of_video(stage: Stage, e: Error) -> Self {
        let unreached = is_of_network(&e) || e.kind() == ErrorKind::Interrupted;
        ClipFailure { unreached, ..ClipFailure::of(PackStage::Video(stage), &e.without_file()) }
    }

    /// Whether the run has to end, since no video is at fault.
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

    /// The error that gives a failure of these words again.
    pub fn into_cause(self) -> Error {
        let e = if self.unreached { Error::lost(self.message) } else { Error::decode(self.message) };
        match self.shortage {
            Some(shortage) => e.blame(shortage),
            None => e,
        }
    }

    /// The failure of a video that was alone: if it got no memory although there is as much as it should need, it asked for
    /// too much itself.
    pub fn when_alone(self, needed: u64) -> Self {
        if self.shortage != Some(Shortage::Memory) || !allocation::can_allocate(needed) {
            return self;
        }
        let message = format!("{} (it asks for more than any sound video needs, also when it is alone)", self.message);
        ClipFailure { message, shortage: None, ..self }
    }
}

impl From<VideoError> for ClipFailure {
    fn from(e: VideoError) -> Self {
        ClipFailure::of_video(e.stage, e.error)
    }
}

//! Why a video could not be read.

use std::fmt;
use std::io;
use std::path::Path;

use crate::Error;
use crate::machine::Shortage;

/// Where reading a video failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Stage {
    /// The file could not be opened, or is not a video container.
    Open,
    /// It has no video stream.
    Stream,
    /// No frame could be decoded, or reading failed before the end.
    Decode,
    /// The caller's choice of frames failed.
    Sample,
    /// A picture could not be scaled or converted.
    Scale,
    /// It exceeds a limit of the options.
    Limit,
    /// It took too long.
    Timeout,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Open => "open",
            Stage::Stream => "stream",
            Stage::Decode => "decode",
            Stage::Sample => "sample",
            Stage::Scale => "scale",
            Stage::Limit => "limit",
            Stage::Timeout => "timeout",
        })
    }
}

/// Why a video could not be read, and how far reading got.
#[derive(Debug)]
#[non_exhaustive]
pub struct VideoError {
    /// Where it failed.
    pub stage: Stage,
    /// What failed, with the file's name.
    pub error: Error,
}

impl VideoError {
    pub(super) fn new(stage: Stage, error: Error) -> Self {
        VideoError { stage, error }
    }

    pub(super) fn of_file(self, path: &Path) -> Self {
        VideoError { stage: self.stage, error: self.error.file(path) }
    }
}

impl fmt::Display for VideoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read the video (stage {})", self.stage)
    }
}

impl std::error::Error for VideoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

pub(super) fn timeout(doing: &str) -> VideoError {
    let error =
        Error::limit(format!("the time ran out while {doing}")).help("raise the timeout if the video is this long");
    VideoError::new(Stage::Timeout, error)
}

/// An error from FFmpeg; if the machine ran out of something, that is its kind.
pub(super) fn ffmpeg_error(what: &str, e: &ffmpeg_next::Error) -> Error {
    Error::decode(format!("{what}: {e}")).short_of(shortage(e))
}

/// What the machine ran out of, if that is the error.
pub(super) fn shortage(e: &ffmpeg_next::Error) -> Option<Shortage> {
    match e {
        ffmpeg_next::Error::Other { errno } => Shortage::of(&io::Error::from_raw_os_error(*errno)),
        _ => None,
    }
}

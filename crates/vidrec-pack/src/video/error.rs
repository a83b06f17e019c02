//! Why a video has no clip, and at which stage of the work it failed.

use std::ffi::c_int;
use std::fmt;
use std::io;
use std::path::Path;

use ffmpeg_next::error::{EAGAIN, EINVAL, EIO, ENOENT, ENOMEM, ENOSYS, ENOTSUP, ERANGE};

use vidrec_format::allocation;
use vidrec_format::error::Error;
use vidrec_format::machine::Shortage;

/// The stage of the work at which a video failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Stage {
    /// The file could not be opened, or is not a video container.
    Open,
    /// The file has no video stream.
    Stream,
    /// No frame could be decoded, or reading failed before the end.
    Decode,
    /// The caller's choice of frames failed.
    Sample,
    /// A picture could not be scaled or converted.
    Scale,
    /// The video exceeds a limit of the options.
    Limit,
    /// Reading took too long.
    Timeout,
    /// A frame could not be encoded.
    Encode,
    /// A track could not be read, or does not match the video.
    Track,
    /// The video has too few frames, and the options say to skip such videos:
    /// [`ShortVideo::Skip`](vidrec_format::sampler::ShortVideo::Skip).
    Short,
    /// The process that decoded the video ended.
    Crash,
    /// vidrec itself has a bug.
    Internal,
}

/// Why a video has no clip, and the stage at which it failed.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct VideoError {
    /// The stage at which it failed.
    pub stage: Stage,
    /// The error in words, with its causes, but without the name of the video's file.
    pub message: String,
    /// The resource that the machine ran out of. If this is set, the video itself is not at fault.
    pub(crate) shortage: Option<Shortage>,
    /// Whether the video could not be fetched although it may exist.
    pub(crate) is_lost: bool,
}

impl VideoError {
    pub(crate) fn new(stage: Stage, error: Error) -> Self {
        let error = error.without_file();
        VideoError { stage, message: format!("{error:#}"), shortage: error.shortage(), is_lost: false }
    }

    pub(crate) fn internal(what: impl Into<String>) -> Self {
        VideoError::new(Stage::Internal, Error::decode(what))
    }

    pub(crate) fn missing_frame() -> Self {
        VideoError::internal("a chosen frame is missing")
    }

    /// Whether the run has to end because no video is at fault.
    pub(crate) fn stops(&self) -> bool {
        self.shortage.is_some() || self.is_lost
    }

    /// Returns the error that ends a run.
    pub(crate) fn to_error(&self, path: &Path) -> Error {
        let what = format!("{}: {}", self.stage, self.message);
        let e = if self.is_lost { Error::lost(what) } else { Error::decode(what) }.file(path);
        self.shortage.into_iter().fold(e, Error::blame)
    }

    /// Turns a lack of memory into a failure of the video, if the video was packed alone.
    ///
    /// It does so if `needed` bytes can still be allocated, because then the video asked for more than it should need.
    pub(crate) fn when_alone(self, needed: u64) -> Self {
        if self.shortage != Some(Shortage::Memory) || !allocation::can_allocate(needed) {
            return self;
        }
        let message = format!("{} (even alone, it needs more than any valid video does)", self.message);
        VideoError { message, shortage: None, ..self }
    }
}

impl fmt::Display for VideoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read the video (stage {}): {}", self.stage, self.message)
    }
}

impl std::error::Error for VideoError {}

pub(super) fn timeout(doing: &str) -> VideoError {
    let error =
        Error::limit(format!("the time ran out while {doing}")).help("raise the timeout if the video is this long");
    VideoError::new(Stage::Timeout, error)
}

/// Returns the error for an encrypted stream of sound or pictures, which cannot be decoded without its key.
pub(super) fn encrypted(is_sound: bool, how: &str) -> VideoError {
    let (what, stage) = if is_sound { ("sound", Stage::Decode) } else { ("video", Stage::Stream) };
    let error = Error::decode(format!("the {what} is encrypted"))
        .found(how)
        .help("decrypt it with its key first, or get a copy without protection");
    VideoError::new(stage, error)
}

/// Returns an error from FFmpeg, with what FFmpeg logged. If the machine ran out of something, the error says so.
pub(super) fn ffmpeg_error(what: &str, e: &ffmpeg_next::Error, said: Option<&str>) -> Error {
    Error::decode(format!("{what}: {}", words(e, said))).short_of(shortage(e))
}

/// Returns the text of an FFmpeg error, with what FFmpeg logged.
///
/// Some decoders return -1 or another small number that has no meaning. Read as a system error, -1 would say
/// "Operation not permitted".
pub(super) fn words(e: &ffmpeg_next::Error, said: Option<&str>) -> String {
    let meant = match e {
        ffmpeg_next::Error::Other { errno } => MEANT.contains(errno) || shortage(e).is_some(),
        _ => true,
    };
    match (meant, said) {
        (true, Some(said)) => format!("{e} ({said})"),
        (true, None) => e.to_string(),
        (false, Some(said)) => format!("FFmpeg rejects the data ({said})"),
        (false, None) => "FFmpeg rejects the data without giving a reason".into(),
    }
}

/// The system errors that FFmpeg means when it returns them.
const MEANT: [c_int; 8] = [EAGAIN, EINVAL, EIO, ENOENT, ENOMEM, ENOSYS, ENOTSUP, ERANGE];

/// Returns the width and height of a picture that FFmpeg found too large, according to its log.
pub(super) fn refused_size(said: &str) -> Option<(u32, u32)> {
    let (_, rest) = said.split_once("Picture size ")?;
    let (width, height) = rest.split_whitespace().next()?.split_once('x')?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// Returns what the machine ran out of, if that is the error.
pub(super) fn shortage(e: &ffmpeg_next::Error) -> Option<Shortage> {
    match e {
        ffmpeg_next::Error::Other { errno } => Shortage::of(&io::Error::from_raw_os_error(*errno)),
        _ => None,
    }
}

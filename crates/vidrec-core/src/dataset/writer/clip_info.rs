//! The description of a clip and its frames, as given to a writer.

use serde::{Deserialize, Serialize};

use vidrec_format::JsonObject;

/// A clip to write, except for its frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipInfo {
    /// Label, at most [`limits::MAX_LABEL`](vidrec_format::limits::MAX_LABEL); `None` for a clip without one.
    pub label: Option<u32>,
    /// Source path relative to the input root, with `/` between folders.
    pub source: String,
    /// Class name; empty if there is none.
    pub class: String,
    /// Other facts about the clip.
    pub attributes: JsonObject,
    /// Width of every frame in pixels; 0 if they differ.
    pub width: u32,
    /// Height of every frame in pixels; 0 if they differ.
    pub height: u32,
    /// Unit of the frames' `pts` in seconds, as a fraction.
    pub time_base: (u32, u32),
    /// Whether the source had fewer frames than requested, so that some frames are repeated.
    pub short: bool,
}

impl Default for ClipInfo {
    fn default() -> Self {
        ClipInfo {
            label: None,
            source: String::new(),
            class: String::new(),
            attributes: JsonObject::default(),
            width: 0,
            height: 0,
            time_base: (1, 1_000_000),
            short: false,
        }
    }
}

/// A frame to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameData<'a> {
    /// The image, a complete JPEG.
    pub jpeg: &'a [u8],
    /// Presentation time in units of the clip's time base.
    pub pts: i64,
    /// Ordinal among the frames decoded from the source, if known.
    pub source_index: Option<u32>,
}

//! A video to be packed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::attributes::Attributes;
use super::episode_frames::EpisodeFrames;
use super::picture_column::PictureColumn;
use super::segment::Segment;
use crate::track::RowTracks;

/// A video to be packed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Where the video is: a file, a folder of JPEG or PNG files that are its frames, or the location of a remote
    /// file such as `s3://bucket/a.mp4`.
    #[serde(with = "system_path")]
    pub path: PathBuf,
    /// The name of the video in the data set: its path relative to the input root, with `/` between folders.
    ///
    /// A byte that is not UTF-8 is written as `\xHH` with two capital hexadecimal digits. If a name itself
    /// contains such a text, its backslash is written as `\x5C`. So no two paths have the same name.
    pub source: String,
    /// The label, if the video has one. Where clips may have several labels, they are in the attribute `labels`.
    pub label: Option<u32>,
    /// The class name; empty if there is none.
    pub class: String,
    /// The part of the video to take. `None`: all of it.
    pub segment: Option<Segment>,
    /// The place in the order of the inputs, from 0, before any shuffling. Random frames are drawn by this number.
    pub ordinal: u64,
    /// Attributes from further columns of a manifest.
    pub attributes: Attributes,
    /// Why the video could not be looked at when its folder was listed. A video with a fault fails.
    pub fault: Option<String>,
    /// The tracks that its row provides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tracks: Option<Box<RowTracks>>,
    /// The frames that its segment must have, if it belongs to an episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) episode: Option<EpisodeFrames>,
    /// The frames, if `path` is a Parquet file with pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<Box<PictureColumn>>,
}

impl Job {
    /// Whether the video should be on this machine and is not. Remote videos are not looked for.
    pub(crate) fn is_missing(&self) -> bool {
        !vidrec_store::location::is_remote(&self.path) && !self.path.exists()
    }
}

/// Paths as the system has them, including those that are not UTF-8.
mod system_path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}

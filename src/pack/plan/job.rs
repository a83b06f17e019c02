//! A video to be packed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::attributes::Attributes;
use super::episode_frames::EpisodeFrames;
use super::segment::Segment;
use crate::pack::track::RowTracks;

/// A video to be packed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Where it is: a file, or a folder of JPEG or PNG files, which are its frames; or the location of a remote file, such
    /// as `s3://bucket/a.mp4`.
    #[serde(with = "system_path")]
    pub path: PathBuf,
    /// Its name in the data set: the path relative to the input root, with `/` between folders. A byte that is not UTF-8
    /// is written `\xHH` with two capital hexadecimal digits. So is the backslash of a name that contains such a text
    /// itself, as `\x5C`. So no two paths have the same name.
    pub source: String,
    /// Label, if it has one. Where clips may have several, they are in the attribute `labels`.
    pub label: Option<u32>,
    /// Class name; empty when there is none.
    pub class: String,
    /// The part to take; `None`: all of it.
    pub segment: Option<Segment>,
    /// Place in the order of the inputs, from 0, before any shuffling. Random frames are drawn by this number.
    pub ordinal: u64,
    /// Further columns of a manifest.
    pub attributes: Attributes,
    /// Why it could not be looked at when its folder was listed. Then it fails.
    pub fault: Option<String>,
    /// What its row gives for tracks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tracks: Option<Box<RowTracks>>,
    /// The frames that its segment has to have, if it is of an episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) episode: Option<EpisodeFrames>,
}

impl Job {
    /// Whether it should be on this machine and is not. Remote videos are not looked for.
    pub(crate) fn is_missing(&self) -> bool {
        !crate::is_remote(&self.path) && !self.path.exists()
    }
}

/// Paths as the system has them, also those that are not UTF-8.
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

//! A video to be packed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::attributes::Attributes;
use super::segment::Segment;
use crate::system_path;
use crate::track::EpisodeFrames;
use crate::track::RowTracks;

/// A video to be packed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Job {
    /// Where the video is: a file, a folder of JPEG or PNG files that are its frames, or the location of a remote
    /// file such as `s3://bucket/a.mp4`.
    #[serde(deserialize_with = "system_path::deserialize")]
    pub path: PathBuf,
    /// The name of the video in the data set: its path relative to the input root, with `/` between folders.
    ///
    /// A byte that is not UTF-8 is written as `\xHH` with two capital hexadecimal digits. If a name itself
    /// contains such a text, its backslash is written as `\x5C`. So no two paths have the same name.
    pub source: String,
    /// The label, if the video has one. Where clips may have several labels, they are in the attribute `labels`.
    pub label: Option<u32>,
    /// The class name; empty if there is none.
    #[serde(deserialize_with = "shared_text")]
    pub class: Arc<str>,
    /// The part of the video to take. `None`: all of it.
    pub segment: Option<Segment>,
    /// The place in the order of the inputs, from 0, before any shuffling. Random frames are drawn by this number.
    pub ordinal: u64,
    /// Attributes from further columns of a manifest.
    pub attributes: Attributes,
    /// Why the video could not be looked at when its folder was listed. A video with a fault fails.
    pub fault: Option<Box<str>>,
    /// The tracks that its row provides.
    #[serde(default)]
    pub(crate) tracks: Option<Box<RowTracks>>,
    /// The frames that its segment must have, if it belongs to an episode.
    #[serde(default)]
    pub(crate) episode: Option<Box<EpisodeFrames>>,
}

/// A job as it is written, with its files at places that may be named otherwise.
#[derive(Serialize)]
pub(crate) struct JobAt<'a> {
    #[serde(serialize_with = "system_path::serialize")]
    path: &'a Path,
    source: &'a str,
    label: Option<u32>,
    class: &'a str,
    segment: Option<Segment>,
    ordinal: u64,
    attributes: &'a Attributes,
    fault: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracks: Option<&'a RowTracks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    episode: Option<&'a EpisodeFrames>,
}

impl Serialize for Job {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.at(&self.path, self.tracks.as_deref()).serialize(to)
    }
}

impl Job {
    /// Returns the job with its files at these places.
    pub(crate) fn at<'a>(&'a self, path: &'a Path, tracks: Option<&'a RowTracks>) -> JobAt<'a> {
        let Job { source, class, attributes, fault, episode, .. } = self;
        JobAt {
            path,
            source,
            label: self.label,
            class,
            segment: self.segment,
            ordinal: self.ordinal,
            attributes,
            fault: fault.as_deref(),
            tracks,
            episode: episode.as_deref(),
        }
    }

    /// Whether the video should be on this machine and is not. Remote videos are not looked for.
    pub(crate) fn is_missing(&self) -> bool {
        self.fault.is_none() && !vidrec_core::store::location::is_remote(&self.path) && !self.path.exists()
    }
}

fn shared_text<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Arc::from)
}

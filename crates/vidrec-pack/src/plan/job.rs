//! A video to be packed, and a video as an input provides it, before labels are numbers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::extensions::has_video_ending;
use super::labels::{Classes, Label, Tag};
use super::segment::Segment;
use crate::system_path;
use crate::track::{EpisodeFrames, RowTracks};
use vidrec_format::error::{Error, Result};

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
    #[serde(serialize_with = "str::serialize", deserialize_with = "shared_text")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tracks: Option<Box<RowTracks>>,
    /// The frames that its segment must have, if it belongs to an episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) episode: Option<Box<EpisodeFrames>>,
}

impl Job {
    /// Whether the video should be on this machine and is not. Remote videos are not looked for.
    pub(crate) fn is_missing(&self) -> bool {
        self.fault.is_none() && !vidrec_core::store::location::is_remote(&self.path) && !self.path.exists()
    }
}

/// Returns why a file of a manifest may be missing.
pub(crate) fn missing(path: &Path) -> Option<String> {
    if path.as_os_str().as_encoded_bytes().contains(&b'\\') {
        return Some("its name has backslashes: write / between folders".into());
    }
    let names = std::fs::read_dir(path.parent()?).ok()?.flatten().map(|entry| PathBuf::from(entry.file_name()));
    let longer = names.filter(|name| name.file_stem() == path.file_name() && has_video_ending(name)).min()?;
    Some(format!("the folder has {longer:?}: paths need the endings of their files"))
}

fn shared_text<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Arc::from)
}

/// A JSON object, kept as its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Attributes(Box<str>);

impl Attributes {
    /// Returns the object.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        // The text was made from a map, so it parses as one.
        if self.0.is_empty() { Map::new() } else { serde_json::from_str(&self.0).unwrap_or_default() }
    }

    /// Returns the text of the object, which is empty for an empty object.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    pub(super) fn from_map(map: Map<String, Value>) -> Self {
        // A map with text as keys can always be written.
        let text = if map.is_empty() { String::new() } else { serde_json::to_string(&map).unwrap_or_default() };
        Attributes(text.into())
    }

    pub(super) fn insert(&mut self, key: &str, value: impl Into<Value>) {
        let mut map = self.to_map();
        map.insert(key.to_owned(), value.into());
        *self = Attributes::from_map(map);
    }
}

/// A video as an input provides it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FoundVideo {
    pub path: PathBuf,
    pub source: String,
    /// The number of its root in [`Roots`](super::roots::Roots).
    pub root: usize,
    pub label: Label,
    pub segment: Option<Segment>,
    pub split: Option<Box<str>>,
    pub attributes: Attributes,
    pub fault: Option<Box<str>>,
    pub tracks: Option<Box<RowTracks>>,
    /// The frames that its segment must have, if it belongs to an episode.
    pub episode: Option<Box<EpisodeFrames>>,
}

impl FoundVideo {
    /// Creates a whole video with nothing but a path, a source and a label.
    pub fn new(path: PathBuf, source: String, label: Label) -> Self {
        FoundVideo { path, source, label, ..FoundVideo::default() }
    }

    /// Returns the video with its place in the order of the inputs, and its label as a number.
    ///
    /// # Errors
    ///
    /// The classes do not include its label.
    pub fn into_job(self, ordinal: u64, classes: &Classes) -> Result<Job> {
        let find = |tag: &Tag| classes.find(tag).map_err(|what| Error::usage(format!("{}: {what}", self.source)));
        let mut attributes = self.attributes;
        let label = match &self.label {
            Label::None => None,
            Label::One(tag) => Some(find(tag)?),
            Label::Many(tags) => {
                let labels = tags.iter().map(find).collect::<Result<Vec<u32>>>()?;
                attributes.insert("labels", labels);
                None
            }
        };
        let class = match (label, &self.label) {
            (Some(_), Label::One(Tag::Name(name))) => name.clone(),
            (label, _) => label.map_or("", |label| classes.name(label)).into(),
        };
        let FoundVideo { path, source, segment, fault, tracks, episode, .. } = self;
        Ok(Job { path, source, label, class, segment, ordinal, attributes, fault, tracks, episode })
    }
}

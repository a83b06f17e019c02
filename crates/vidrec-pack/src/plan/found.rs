//! A video as an input provides it, before labels are numbers.

use std::path::PathBuf;

use super::attributes::Attributes;
use super::job::Job;
use super::labels::{Classes, Label, Tag};
use super::segment::Segment;
use crate::track::EpisodeFrames;
use crate::track::RowTracks;
use vidrec_format::error::{Error, Result};

/// A video as an input provides it.
#[derive(Debug, Clone, PartialEq)]
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
        FoundVideo {
            path,
            source,
            root: 0,
            label,
            segment: None,
            split: None,
            attributes: Attributes::default(),
            fault: None,
            tracks: None,
            episode: None,
        }
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

//! Reads the clips of a data set that was packed earlier.

use std::sync::Arc;

use super::failure::{ClipFailure, PackStage};
use super::packed::{PackedClip, PackedFrame};
use crate::video::VideoFacts;
use vidrec_dataset::writer::ClipInfo;
use vidrec_dataset::writer::EncodedTrack;
use vidrec_dataset::{Dataset, TrackView, edit};
use vidrec_format::error::Result;

/// The clips of a data set that was packed earlier, by the ordinals of their videos.
pub(crate) struct Copies<'a> {
    pub set: &'a Dataset,
    /// The number of clips of each video, which is the number of its draws.
    pub draws: u64,
    /// The first clip of each video; `None` for a video that failed.
    pub first: Vec<Option<u64>>,
}

impl Copies<'_> {
    /// Returns the copies for a plan that begins with video `first` of this one.
    pub fn from(&self, first: u64) -> Self {
        let rest = usize::try_from(first).ok().and_then(|first| self.first.get(first..));
        Copies { set: self.set, draws: self.draws, first: rest.unwrap_or_default().to_vec() }
    }

    /// Returns the clips of a video as they were packed, verified by their checksums; `None` if the video failed.
    pub fn of(&self, ordinal: usize) -> Option<Result<Vec<PackedClip>, ClipFailure>> {
        let first = (*self.first.get(ordinal)?)?;
        let clips = first..first.saturating_add(self.draws);
        let copied: Result<Vec<PackedClip>> = clips.map(|clip| self.copy(clip)).collect();
        Some(copied.map_err(|e| ClipFailure::of(PackStage::Copy, &e)))
    }

    fn copy(&self, clip: u64) -> Result<PackedClip> {
        let clip = self.set.clip(clip)?;
        let info = edit::as_it_is(&clip)?;
        let (mut jpegs, mut frames) = (Vec::new(), Vec::<PackedFrame>::new());
        for frame in clip.frames() {
            let frame = frame?;
            let source_index = frame.source_index().unwrap_or(u32::MAX);
            let known = frames.iter().find(|f| f.source_index == source_index && source_index != u32::MAX);
            let jpeg = known.map_or(jpegs.len(), |f| f.jpeg);
            if jpeg == jpegs.len() {
                jpegs.push(frame.jpeg().to_vec());
            }
            // The check comes after the copy, so that it covers the copy too. Bytes that a mapped file has lost
            // stay lost.
            frame.check()?;
            frames.push(PackedFrame { jpeg, pts: frame.pts(), source_index });
        }
        let tracks = clip.tracks()?.all()?.iter().map(encoded).collect();
        Ok(PackedClip {
            facts: video_facts(&info),
            info,
            jpegs: Arc::new(jpegs),
            frames,
            measured: Arc::default(),
            tracks,
        })
    }
}

fn encoded(track: &TrackView<'_>) -> EncodedTrack {
    let payload = track.payload();
    EncodedTrack { schema: payload.schema.clone(), facts: payload.facts, bytes: payload.bytes.to_vec() }
}

/// Returns the facts about the video from the attributes of a stored clip.
pub(crate) fn video_facts(info: &ClipInfo) -> VideoFacts {
    // Other programs may have changed the attributes. In that case nothing is known.
    info.attributes.get("video").ok().flatten().unwrap_or_default()
}

//! Clips of a data set that was packed before, read again.

use std::sync::Arc;

use super::failure::{ClipFailure, PackStage};
use super::packed::{PackedClip, PackedFrame};
use crate::video::VideoFacts;
use crate::writer::EncodedTrack;
use crate::{ClipInfo, Dataset, Result, TrackView, edit};

/// The clips of a data set that was packed before, by the places of their videos.
pub(crate) struct Copies<'a> {
    pub set: &'a Dataset,
    /// Clips of each video: its draws.
    pub draws: u64,
    /// The first clip of each video; `None` where it failed.
    pub first: Vec<Option<u64>>,
}

impl Copies<'_> {
    /// The clips of a video as they were packed, proven by their checksums; `None` if it failed then.
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
            // After the copy, to prove the copy too: what a mapped file has lost stays lost.
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

/// What a stored clip's attributes say of its video.
pub(crate) fn video_facts(info: &ClipInfo) -> VideoFacts {
    // Others may have changed the attributes; then nothing is known.
    info.attributes.get("video").ok().flatten().unwrap_or_default()
}

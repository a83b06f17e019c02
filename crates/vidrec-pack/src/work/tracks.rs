//! Makes the tracks of a clip from its row of the manifest.

use std::cell::RefCell;
use std::path::Path;

use super::failure::{ClipFailure, PackStage};
use super::memory::MemoryBound;
use super::options::ClipRecipe;
use super::video;
use crate::plan::{Job, Segment};
use crate::track::{EpisodeFrames, ReadVideo, TrackFiles, Window};
use crate::video::Timeline;
use vidrec_core::dataset::writer::EncodedTrack;
use vidrec_format::error::Error;

/// Makes the tracks of a video.
pub(super) struct TrackSource<'a> {
    job: &'a Job,
    recipe: ClipRecipe<'a>,
    /// The window of the video when its timeline was last seen.
    window: RefCell<Option<Window>>,
}

impl<'a> TrackSource<'a> {
    pub fn new(job: &'a Job, recipe: ClipRecipe<'a>) -> Self {
        TrackSource { job, recipe, window: RefCell::default() }
    }

    /// Records the frames of the video, as far as they are known now.
    pub fn see(&self, timeline: &Timeline) {
        if self.job.tracks.is_some() || self.recipe.input.audio.is_some() {
            *self.window.borrow_mut() = Some(self.recipe.input.segments.window(timeline, self.job.segment));
        }
    }

    /// Returns the part of the video that the clip covers, in nanoseconds on the clock of its pts. An open side is
    /// the least or the greatest number.
    pub fn part(&self) -> (i64, i64) {
        let window = self.window.borrow();
        let segment = window.as_ref().and_then(|window| Some((window.segment?, window.to_clip)));
        segment.map_or((i64::MIN, i64::MAX), |(segment, to_clip)| {
            let start = if segment.from_first { i64::MIN } else { segment.start.saturating_add(to_clip) };
            (start, if segment.end == i64::MAX { i64::MAX } else { segment.end.saturating_add(to_clip) })
        })
    }

    /// Returns the tracks of a clip with these frames. Videos are decoded within `memory`.
    pub fn of_clip(&self, frames: &[u32], memory: &MemoryBound) -> Result<Vec<EncodedTrack>, ClipFailure> {
        let (Some(row), Some(window)) = (&self.job.tracks, &*self.window.borrow()) else { return Ok(Vec::new()) };
        let window = Window { chosen: frames.iter().map(|&frame| frame as usize).collect(), ..window.clone() };
        // What the machine or the network is to blame for stops the run, as with the video of the frames.
        let failed = RefCell::new(None);
        let to_error = |failure: ClipFailure| {
            let e = Error::usage(&*failure.message);
            *failed.borrow_mut() = Some(failure);
            e
        };
        let open = |path: &Path| self.recipe.store.open(path);
        let list = |folder: &Path| self.recipe.store.pictures(folder).map_err(to_error);
        let video: ReadVideo<'_> = &|(path, frames), choose, encode| {
            let episode = frames.map(|frames| Ok((frames, self.segment(frames)?))).transpose();
            let episode = episode.map_err(|e: String| Error::usage(e))?;
            video::numbers((path, episode), self.recipe, memory, choose, encode).map_err(to_error)
        };
        let how = TrackFiles { open: &open, list: &list, video };
        let tracks = self.recipe.tracks.iter().enumerate();
        let made = tracks.filter_map(|(number, track)| track.of_clip(number, row, &window, how).transpose());
        made.collect::<Result<_, _>>().map_err(|e| {
            let failure = ClipFailure::of(PackStage::Track, &e);
            let ClipFailure { shortage, unreached, .. } = failed.take().unwrap_or_else(|| failure.clone());
            ClipFailure { shortage, unreached, ..failure }
        })
    }

    /// Returns the part of its video that an episode is: all of it, if the clip is all of its own video.
    fn segment(&self, frames: EpisodeFrames) -> Result<Segment, String> {
        let whole = self.job.segment.filter(|segment| segment.end_us.is_none());
        whole.map_or_else(|| frames.segment(), Ok)
    }
}

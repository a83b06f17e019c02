//! Packs the JPEG and PNG files of a folder, in the natural order of their names, as a clip. Each is a frame.
//!
//! The code that decodes videos also decodes these images. It turns them as EXIF says, scales them and converts
//! them: gray becomes color, and alpha is ignored. All frames get the size of the first one taken.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use super::options::ClipRecipe;
use super::video::{EncodedFrame, FrameEncoder};
use crate::plan::Job;
use crate::video::{FrameSize, Moment, SampledVideo, Stage, Timeline, Video, VideoError, VideoFacts, VideoOptions};
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::Rate;

/// Reads the images of a folder that `choose` selects.
pub(super) fn sample(
    job: &Job,
    recipe: ClipRecipe<'_>,
    choose: &dyn Fn(&Timeline) -> Result<Vec<u32>>,
) -> Result<SampledVideo<EncodedFrame>, VideoError> {
    let path = &job.path;
    let paths = recipe.store.pictures(path)?;
    if paths.is_empty() {
        return Err(VideoError::new(Stage::Stream, Error::usage("the folder has no JPEG or PNG files")));
    }
    let timeline = timeline(paths.len(), recipe.input.picture_fps);
    let mut wanted = choose(&timeline).map_err(|e| VideoError::new(Stage::Sample, e))?;
    wanted.dedup();
    let mut reader = PictureReader {
        recipe,
        deadline: Instant::now().checked_add(recipe.limits.timeout.0),
        size: recipe.pictures.size,
        encoder: FrameEncoder::new(recipe).map_err(|e| VideoError::new(Stage::Scale, e))?,
        frames: Vec::new(),
        facts: VideoFacts::default(),
    };
    let pts = |index: u32| timeline.pts[index as usize];
    wanted.into_iter().try_for_each(|i| reader.read(&paths[i as usize], pts(i), i))?;
    let PictureReader { frames, mut facts, .. } = reader;
    facts.container = "pictures".into();
    Ok(SampledVideo { frames, time_base: timeline.time_base, frame_count: paths.len() as u32, timeline, facts })
}

/// Returns the times of the images: image `i` is shown at `i` times the frame duration, or at `i` seconds without one.
fn timeline(count: usize, rate: Option<Rate>) -> Timeline {
    let time_base = rate.map_or((1, 1), Rate::frame_seconds);
    Timeline::new(((0..count as i64).collect(), vec![true; count]), time_base, count as i64, Moment::ZERO)
}

struct PictureReader<'a> {
    recipe: ClipRecipe<'a>,
    deadline: Option<Instant>,
    /// The size of the next images: that of the first one.
    size: FrameSize,
    encoder: FrameEncoder,
    frames: Vec<EncodedFrame>,
    facts: VideoFacts,
}

/// Returns the name of an image, for errors.
fn name(picture: &Path) -> Cow<'_, str> {
    picture.file_name().unwrap_or_default().to_string_lossy()
}

impl PictureReader<'_> {
    fn read(&mut self, picture: &Path, pts: i64, source_index: u32) -> Result<(), VideoError> {
        let named = |e: VideoError| VideoError { message: format!("{}: {}", name(picture), e.message), ..e };
        let ClipRecipe { store, frames, pictures, limits, .. } = self.recipe;
        let options = VideoOptions {
            size: self.size,
            decode_all: frames.decode_all,
            timeout: self.deadline.map_or(Duration::MAX, |d| d.saturating_duration_since(Instant::now())),
            max_pixels: limits.max_pixels,
            reduce_depth: pictures.reduce_depth,
            ..VideoOptions::default()
        };
        let video = Video::open_file(store.file(picture)?, &options);
        let sampled = video.and_then(|video| video.sample(&|_| Ok(vec![0])));
        let sampled = sampled.map_err(named)?;
        let frame = sampled.frames.first().ok_or_else(VideoError::missing_frame)?;
        let encoded = self.encoder.encode(frame).map_err(|e| named(VideoError::new(Stage::Scale, e)))?;
        let (width, height) = encoded.size;
        self.size = FrameSize::Exact { width, height };
        self.add_facts(sampled.facts);
        self.frames.push(EncodedFrame { pts, source_index, ..encoded });
        Ok(())
    }

    /// Adds the facts about the next image.
    fn add_facts(&mut self, facts: VideoFacts) {
        if self.frames.is_empty() {
            self.facts = facts;
            return;
        }
        self.facts.decode_errors += facts.decode_errors;
        self.facts.corrupt_packets += facts.corrupt_packets;
        self.facts.damaged_frames += facts.damaged_frames;
        self.facts.logged_errors += facts.logged_errors;
        self.facts.first_error = self.facts.first_error.take().or(facts.first_error);
    }
}

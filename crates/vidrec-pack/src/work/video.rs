//! Samples and encodes the frames of a video file, one after another: as JPEGs, or as numbers of a track.

use std::path::Path;

use super::memory::{self, HeldMemory, MemoryBound};
use super::options::ClipRecipe;
use crate::plan::Segment;
use crate::track::{ChoosePictures, EncodePicture, EpisodeFrames};
use crate::video::{Choose, SampledFrame, SampledVideo, Stage, Timeline, Video, VideoError, VideoOptions};
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::{Encoder, MeasuredEncoder};

/// Samples a video and encodes each frame as soon as it is decoded, so only one uncompressed image is in memory.
///
/// Counts the JPEGs in `held`. Sets `needed` to the most memory that decoding takes.
pub(super) fn sample(
    path: &Path,
    recipe: ClipRecipe<'_>,
    held: &mut HeldMemory<'_>,
    needed: &mut u64,
    choose: Choose<'_>,
) -> Result<SampledVideo<EncodedFrame>, VideoError> {
    let mut video = open(path, recipe)?;
    let pixels = video.picture_size().map_or(0, |(width, height)| u64::from(width) * u64::from(height));
    let bytes = video.memory_needed().saturating_add(pixels * ENCODER_BYTES_PER_PIXEL);
    *needed = bytes.max(memory::PER_THREAD);
    let _share = held.memory().share(bytes);
    let not_encoded = |e| VideoError::new(Stage::Encode, e);
    let mut encoder = FrameEncoder::new(recipe).map_err(not_encoded)?;
    let mut make = |frame: SampledFrame| -> Result<_, VideoError> {
        let encoded = encoder.encode(&frame).map_err(not_encoded)?;
        held.add(encoded.jpeg.len());
        Ok(encoded)
    };
    let sampled = video.sample_part(choose, &mut make);
    // A whole video has to be decoded for nearly all that is taken of it alone.
    let why_whole = video.why_whole().filter(|_| recipe.shared.is_some());
    keep_open(path, recipe, video);
    let mut sampled = sampled?.try_map(|frame| frame)?;
    sampled.facts.decoded_whole = why_whole;
    Ok(sampled)
}

/// Opens a video, or takes one that is still open.
fn open(path: &Path, recipe: ClipRecipe<'_>) -> Result<Video, VideoError> {
    let kept = recipe.shared.and_then(|stamp| recipe.store.open_videos.take(path, stamp));
    if let Some(video) = kept {
        return Ok(video);
    }
    let options = VideoOptions {
        size: recipe.pictures.size,
        decode_all: recipe.frames.decode_all,
        timeout: recipe.limits.timeout.0,
        max_pixels: recipe.limits.max_pixels,
        reduce_depth: recipe.pictures.reduce_depth,
        ..VideoOptions::default()
    };
    Video::open_file(recipe.store.file(path)?, &options)
}

/// Leaves a video open if other clips are made of it. One of a track is shared as that of the frames is.
fn keep_open(path: &Path, recipe: ClipRecipe<'_>, video: Video) {
    if let Some(stamp) = recipe.shared {
        recipe.store.open_videos.put(path, stamp, video);
    }
}

/// Reads the frames of a video, or those of an episode in it, as numbers, and returns what `encode` makes of those that
/// `choose` picks, in their order.
pub(super) fn numbers(
    (path, episode): (&Path, Option<(EpisodeFrames, Segment)>),
    recipe: ClipRecipe<'_>,
    memory: &MemoryBound,
    choose: ChoosePictures<'_>,
    encode: EncodePicture<'_>,
) -> Result<Vec<Vec<u8>>, VideoError> {
    let mut video = open(path, recipe)?;
    let _share = memory.share(video.memory_needed());
    let clock = recipe.input.segments;
    let wanted = |timeline: &Timeline| {
        let mut inside: Vec<u32> = (0..timeline.frame_count()).collect();
        if let Some((frames, segment)) = &episode {
            inside = segment.frames(timeline, clock);
            frames.check(timeline, &inside, clock)?;
        }
        Ok(choose(inside.len())?.into_iter().filter_map(|place| inside.get(place).copied()).collect())
    };
    let sampled = video.sample_numbers(&wanted, &mut |depth| encode(depth));
    keep_open(path, recipe, video);
    let SampledVideo { frames, facts, .. } = sampled?;
    let of_track = |e| VideoError::new(Stage::Track, e);
    let damage = facts.damage();
    if damage > 0 {
        let what = facts.first_error.unwrap_or_else(|| format!("{damage} errors"));
        let e = Error::decode("the video is damaged, so its numbers may be wrong").found(what);
        return Err(of_track(e));
    }
    frames.into_iter().collect::<Result<_, _>>().map_err(of_track)
}

/// An encoder for the frames of one clip.
pub(super) enum FrameEncoder {
    Plain(Encoder),
    Measured(MeasuredEncoder),
}

impl FrameEncoder {
    pub fn new(recipe: ClipRecipe<'_>) -> Result<Self> {
        let options = recipe.pictures;
        let mut encoder = Encoder::new(options.quality)?;
        encoder.set_effort(options.effort)?;
        Ok(match recipe.measure {
            false => FrameEncoder::Plain(encoder),
            true => FrameEncoder::Measured(MeasuredEncoder::new(encoder)?),
        })
    }

    pub fn encode(&mut self, frame: &SampledFrame) -> Result<EncodedFrame> {
        let (mut jpeg, image) = (Vec::new(), &frame.image);
        let psnr = match self {
            FrameEncoder::Plain(encoder) => {
                encoder.encode(image, &mut jpeg)?;
                None
            }
            FrameEncoder::Measured(encoder) => Some(encoder.encode(image, &mut jpeg)?),
        };
        let size = (image.width(), image.height());
        Ok(EncodedFrame { jpeg, size, pts: frame.pts, source_index: frame.source_index, psnr })
    }
}

/// The memory that encoding a frame takes, in bytes per pixel.
pub(super) const ENCODER_BYTES_PER_PIXEL: u64 = 8;

/// A sampled frame, encoded.
pub(super) struct EncodedFrame {
    pub jpeg: Vec<u8>,
    /// Width and height.
    pub size: (u32, u32),
    pub pts: i64,
    pub source_index: u32,
    /// The PSNR of luma in dB, if it was measured.
    pub psnr: Option<f64>,
}

//! Samples and encodes the frames of a video file, one after another.

use std::cell::Cell;
use std::path::Path;

use super::encode::{ENCODER_BYTES_PER_PIXEL, FrameEncoder, encode, not_encoded};
use super::encoded_source::EncodedSource;
use super::failure::ClipFailure;
use super::memory::{self, HeldMemory};
use super::options::ClipRecipe;
use crate::arguments::Seconds;
use crate::video::{Choose, SampledFrame, SampledVideo, Video, VideoOptions};

/// Samples a video and encodes each frame as soon as it is decoded, so only one uncompressed image is in memory.
///
/// Counts the JPEGs in `held`. Sets `needed` to the most memory that decoding takes.
pub(super) fn sample(
    path: &Path,
    recipe: ClipRecipe<'_>,
    held: &mut HeldMemory<'_>,
    needed: &Cell<u64>,
    choose: Choose<'_>,
) -> Result<EncodedSource, ClipFailure> {
    let video_options = VideoOptions {
        size: recipe.pictures.size,
        decode: recipe.frames.decode(),
        timeout: recipe.limits.timeout.0,
        max_pixels: recipe.limits.max_pixels,
        max_duration: recipe.limits.max_duration.map(|Seconds(most)| most),
        reduce_depth: recipe.pictures.reduce_depth,
        ..VideoOptions::default()
    };
    let open = &recipe.store.open;
    let kept = recipe.shared.and_then(|stamp| open.take(path, stamp));
    let mut video = match kept {
        Some(video) => video,
        None => Video::open_file(recipe.store.file(path)?, &video_options)?,
    };
    let pixels = video.picture_size().map_or(0, |(width, height)| u64::from(width) * u64::from(height));
    let bytes = video.memory_needed().saturating_add(pixels * ENCODER_BYTES_PER_PIXEL);
    needed.set(bytes.max(memory::PER_THREAD));
    let _share = held.memory().share(bytes);
    let mut encoder = FrameEncoder::new(recipe).map_err(not_encoded)?;
    let mut make = |frame: SampledFrame| {
        let picture = encode(&mut encoder, &frame)?;
        held.add(picture.jpeg.len());
        Ok(picture)
    };
    let sampled = video.sample_part(choose, &mut make);
    // A whole video has to be decoded for nearly all that is taken of it alone.
    let why_whole = video.why_whole().filter(|_| recipe.shared.is_some());
    if let Some(stamp) = recipe.shared {
        open.put(path, stamp, video);
    }
    let SampledVideo { frames, time_base, frame_count, mut facts } = sampled?;
    facts.decoded_whole = why_whole;
    let pictures = frames.into_iter().collect::<Result<_, ClipFailure>>()?;
    Ok(EncodedSource { pictures, time_base, frame_count, facts })
}

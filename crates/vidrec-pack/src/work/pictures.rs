//! Packs JPEG and PNG files as a clip: those of a folder, in the natural order of their names, or a single one. Each
//! is a frame.
//!
//! The code that decodes videos also decodes these images. It turns them as EXIF says, scales them and converts
//! them: gray becomes color, and alpha is ignored. All frames get the size of the first one taken. A JPEG that
//! passes through keeps every byte instead, and with them its own size.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use image::metadata::Orientation;

use super::options::{ClipRecipe, Quality};
use super::video::{EncodedFrame, FrameEncoder};
use super::video_store::VideoStore;
use crate::plan::{self, Job};
use crate::video::{FrameSize, Moment, SampledVideo, Stage, Timeline, Video, VideoError, VideoFacts, VideoOptions};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::sampler::Rate;
use vidrec_jpeg::{Decoder, RgbPicture};

/// Reads the images that `choose` selects, of a folder or a single file.
pub(super) fn sample(
    job: &Job,
    recipe: ClipRecipe<'_>,
    choose: &dyn Fn(&Timeline) -> Result<Vec<u32>>,
) -> Result<SampledVideo<EncodedFrame>, VideoError> {
    let path = &job.path;
    let paths = if recipe.store.is_folder(path) { recipe.store.pictures(path)? } else { vec![path.clone()] };
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

/// Opens an image, and returns it with its length.
fn open(picture: &Path, store: &VideoStore) -> Result<(File, u64)> {
    let opened = store.open(picture).map_err(|e| Error::io("read the picture", picture, e))?;
    opened.ok_or_else(|| Error::usage("this is not a regular file"))
}

impl PictureReader<'_> {
    fn read(&mut self, picture: &Path, pts: i64, source_index: u32) -> Result<(), VideoError> {
        let named = |e: VideoError| VideoError { message: format!("{}: {}", name(picture), e.message), ..e };
        let ClipRecipe { store, frames, pictures, limits, .. } = self.recipe;
        if pictures.quality == Quality::Original && plan::is_jpeg(picture) {
            let (jpeg, size) = untouched(picture, store).map_err(|e| named(VideoError::new(Stage::Decode, e)))?;
            let (coded_width, coded_height) = size;
            self.add_facts(VideoFacts { codec: "mjpeg".into(), coded_width, coded_height, ..VideoFacts::default() });
            self.frames.push(EncodedFrame { jpeg, size, pts, source_index, psnr: None });
            return Ok(());
        }
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

/// Returns a JPEG unchanged, after checking that it decodes and is upright.
fn untouched(picture: &Path, store: &VideoStore) -> Result<(Vec<u8>, (u32, u32))> {
    let (file, length) = open(picture, store)?;
    let too_long = |length| Error::limit("the picture is too long").expected(limits::MAX_RECORD_BYTES).found(length);
    if length > limits::MAX_RECORD_BYTES {
        return Err(too_long(length));
    }
    let mut jpeg = Vec::new();
    // The file may have grown in the meantime.
    let io = |e| Error::io("read the picture", picture, e);
    file.take(limits::MAX_RECORD_BYTES + 1).read_to_end(&mut jpeg).map_err(io)?;
    if jpeg.len() as u64 > limits::MAX_RECORD_BYTES {
        return Err(too_long(jpeg.len() as u64));
    }
    let RgbPicture { width, height, .. } = Decoder::new()?.decode_picture(&jpeg)?;
    if orientation(&jpeg).is_some_and(|o| o != Orientation::NoTransforms) {
        return Err(Error::usage(
            "EXIF says that the image must be rotated, so vidrec cannot copy it without encoding it again",
        ));
    }
    Ok((jpeg, (width, height)))
}

/// Returns the orientation in the EXIF data, if there is one.
fn orientation(jpeg: &[u8]) -> Option<Orientation> {
    Orientation::from_exif_chunk(vidrec_jpeg::exif(jpeg)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first bytes of a JPEG with an EXIF orientation in big-endian TIFF.
    fn exif(orientation: u8) -> Vec<u8> {
        let tiff = [b'M', b'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0];
        let length = (2 + 6 + tiff.len()) as u8;
        let jfif = [0xff, 0xe0, 0, 4, 0, 0];
        [&[0xff, 0xd8][..], &jfif, &[0xff, 0xff, 0xe1, 0, length], b"Exif\0\0", &tiff, &[0xff, 0xda, 0, 2]].concat()
    }

    #[test]
    fn orientation_is_found_behind_other_segments() {
        assert_eq!(orientation(&exif(1)), Some(Orientation::NoTransforms));
        assert_eq!(orientation(&exif(6)), Some(Orientation::Rotate90));
        let all = exif(6);
        for cut in 0..all.len() {
            let _ = orientation(&all[..cut]); // no panic
        }
        assert_eq!(orientation(&[0xff, 0xd8, 0xff, 0xe1, 0, 0]), None);
    }
}

//! The assignment of clips to batches, if clips differ in length or shape.

use super::batch_shape::BatchShape;
use super::rule_book::RuleBook;
use super::samples::Samples;
use crate::options::Settings;
use vidrec_dataset::{Clip, Dataset, Tables};
use vidrec_format::error::{Error, Result};

/// The buckets, and the bucket of each clip.
#[derive(Debug)]
pub(super) struct Buckets {
    pub shapes: Vec<BatchShape>,
    /// The bucket of each sample's first clip.
    of_clip: Vec<u8>,
    /// The number of clips of a sample: one of each camera.
    cameras: u64,
    /// The number of buckets of each length, which differ in the size of pictures.
    sizes: usize,
}

impl Buckets {
    /// Reads the index entry of every clip.
    pub fn new(dataset: &Dataset, options: &Settings, space: &Samples, rules: &RuleBook) -> Result<Self> {
        let batching = &options.batching;
        let (lengths, sizes) = match &batching.buckets[..] {
            [] => (&[space.frames][..], &batching.sizes),
            lengths => (lengths, &batching.sizes),
        };
        let shapes = lengths.iter().flat_map(|&frames| sizes.iter().map(move |&size| (frames, size)));
        let exact = !batching.buckets.is_empty() || space.exact;
        let shapes =
            shapes.map(|(frames, size)| BatchShape::new(options, frames, size, exact)).collect::<Result<_>>()?;
        let bucket = |clip: Clip<'_>| -> Result<u8> {
            let rules = rules.of(clip.ordinal(), 0);
            let length = if batching.buckets.is_empty() {
                0
            } else {
                let frames = rules.length(&clip, u32::MAX)?;
                let fits = lengths.iter().position(|&length| frames <= length);
                fits.ok_or_else(|| too_long(&clip, frames, lengths))?
            };
            let size = rules.sizes[if rules.sizes.len() == 1 { 0 } else { nearest(&clip, &rules.sizes)? }];
            let size = sizes.iter().position(|of_bucket| *of_bucket == size).unwrap_or_default();
            Ok((length * sizes.len() + size) as u8)
        };
        dataset.prefetch_all(Tables { clips: true, ..Tables::default() })?;
        let cameras = options.cameras.as_ref().map_or(1, |cameras| cameras.names.len());
        // The other cameras have the frames at the times of the first one's.
        let first = (0..dataset.len()).step_by(cameras);
        let of_clip = first.map(|clip| bucket(dataset.clip(clip)?)).collect::<Result<_>>()?;
        Ok(Buckets { shapes, of_clip, cameras: cameras as u64, sizes: sizes.len() })
    }

    /// The bucket of the next longer clips in pictures of the same size, if there is one.
    pub fn longer(&self, bucket: usize) -> Option<usize> {
        Some(bucket + self.sizes).filter(|&longer| longer < self.shapes.len())
    }

    /// Whether no clip of the data set is in a bucket, for each bucket.
    pub fn are_empty(&self) -> Vec<bool> {
        let mut are_empty = vec![true; self.shapes.len()];
        self.of_clip.iter().for_each(|&bucket| are_empty[usize::from(bucket)] = false);
        are_empty
    }

    /// The bucket of a clip.
    pub fn of(&self, clip: u64) -> usize {
        usize::try_from(clip / self.cameras)
            .ok()
            .and_then(|clip| self.of_clip.get(clip))
            .map_or(0, |&bucket| bucket.into())
    }
}

fn too_long(clip: &Clip<'_>, frames: u32, lengths: &[u32]) -> Error {
    Error::usage("loader option batching: a clip is longer than the last bucket")
        .in_clip(clip.ordinal())
        .expected(format!("at most {} frames", lengths.last().copied().unwrap_or(0)))
        .found(frames)
        .help("add a bucket, or limit the frames of a sample")
}

/// The size that is nearest in shape. The first one, if several are.
fn nearest(clip: &Clip<'_>, sizes: &[(u32, u32)]) -> Result<usize> {
    let frame = (clip.width(), clip.height());
    if frame.0 == 0 || frame.1 == 0 {
        let e = Error::usage("loader option crop: the frames of a clip differ in size, so no shape fits");
        return Err(e.in_clip(clip.ordinal()));
    }
    Ok(nearest_shape(frame, sizes))
}

fn nearest_shape(frame: (u32, u32), sizes: &[(u32, u32)]) -> usize {
    let shape = |(width, height): (u32, u32)| (f64::from(width) / f64::from(height)).ln();
    let distance = |size: (u32, u32)| (shape(frame) - shape(size)).abs();
    let mut best = 0;
    for i in 1..sizes.len() {
        if distance(sizes[i]) < distance(sizes[best]) {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_goes_to_the_nearest_shape() {
        let sizes = [(224, 224), (256, 192), (192, 256)];
        assert_eq!([(640, 480), (480, 640), (100, 100), (1920, 800)].map(|f| nearest_shape(f, &sizes)), [1, 2, 0, 1]);
    }
}

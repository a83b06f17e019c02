//! The assignment of clips to batches, if clips differ in length or shape.

use crate::loader::options::ResolvedOptions;
use std::collections::BTreeMap;
use vidrec_format::error::{Error, Hint, Result};

use super::sample_spec::SampleSpecs;
use crate::dataset::{Clip, Tables};
use crate::loader::options::SampleOptions;

/// The frames of a sample, and width and height of its pictures.
type Shape = (u32, (u32, u32));

/// The buckets, and the bucket of each clip.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub shapes: Vec<BatchShape>,
    /// The bucket of each sample's first clip.
    of_clip: Vec<u16>,
    /// The number of clips of a sample: one of each camera.
    cameras: u64,
}

impl Buckets {
    /// Reads the index entry of every clip.
    pub fn new(specs: &SampleSpecs) -> Result<Self> {
        let SampleSpecs { dataset, options, samples } = specs;
        dataset.prefetch_all(Tables { clips: true, ..Tables::default() })?;
        let cameras = options.cameras_per_sample();
        // The other cameras have the frames at the times of the first one's.
        let first = || (0..dataset.len()).step_by(cameras).map(|clip| dataset.clip(clip));
        let alone = [samples.frames];
        let lengths = if options.buckets().is_empty() { &alone[..] } else { options.buckets() };
        // Shapes are numbered as they appear, and in their order at the end.
        let mut numbers = BTreeMap::new();
        let mut number = |shape: Shape| {
            let next = numbers.len();
            *numbers.entry(shape).or_insert(next)
        };
        // Sizes that follow from those of frames are not known before.
        let sizes = options.samples.iter().flat_map(|samples| samples.crop.sizes());
        for shape in sizes.flat_map(|size| lengths.iter().map(move |&frames| (frames, size))) {
            number(shape);
        }
        // Clips without frames have a bucket of their own, whatever the size.
        let shape = |clip: Clip<'_>| match clip.frame_count() {
            0 => Ok((0, options.size())),
            _ => shape(&clip, specs.options_of(clip.ordinal(), 0), lengths),
        };
        let of_clip = first().map(|clip| u16::try_from(number(shape(clip?)?)).map_err(|_| too_many()));
        let mut of_clip: Vec<u16> = of_clip.collect::<Result<_>>()?;
        if numbers.is_empty() {
            numbers.insert((lengths[0], options.size()), 0);
        }
        let mut places = vec![0; numbers.len()];
        numbers.values().zip(0..=u16::MAX).for_each(|(&number, place)| places[number] = place);
        of_clip.iter_mut().for_each(|bucket| *bucket = places[usize::from(*bucket)]);
        let exact = !options.buckets().is_empty() || samples.exact;
        let shapes = numbers.into_keys().map(|(frames, size)| BatchShape::new(options, frames, size, exact));
        Ok(Buckets { shapes: shapes.collect::<Result<_>>()?, of_clip, cameras: cameras as u64 })
    }

    /// The bucket of the next longer clips in pictures of the same size, if there is one.
    pub fn longer(&self, bucket: usize) -> Option<usize> {
        let size = self.shapes[bucket].size;
        (bucket + 1..self.shapes.len()).find(|&longer| self.shapes[longer].size == size)
    }

    /// The bucket of a clip.
    pub fn of(&self, clip: u64) -> usize {
        usize::try_from(clip / self.cameras)
            .ok()
            .and_then(|clip| self.of_clip.get(clip))
            .map_or(0, |&bucket| bucket.into())
    }
}

/// The shape of a clip's sample. It is as long as the shortest of the lengths that has room for it.
fn shape(clip: &Clip<'_>, options: &SampleOptions, lengths: &[u32]) -> Result<Shape> {
    let frames = options.frames.length(clip, u32::MAX)?;
    let fits = lengths.iter().find(|&&length| frames <= length);
    let length = *fits.ok_or_else(|| too_long(clip, frames, lengths))?;
    let size = match options.crop.sizes()[..] {
        [size] => size,
        _ => options.size(frame_size(clip)?, frames).map_err(|e| e.in_clip(clip.ordinal()))?,
    };
    Ok((length, size))
}

fn too_many() -> Error {
    let e = Error::limit("loader option crop: the frames of the clips have too many sizes for SmartResize");
    e.expected("at most 65536 combinations of lengths and sizes").help("use a larger factor")
}

fn too_long(clip: &Clip<'_>, frames: u32, lengths: &[u32]) -> Error {
    Error::usage("loader option batching: a clip is longer than the last bucket")
        .in_clip(clip.ordinal())
        .expected(format!("at most {} frames", lengths.last().copied().unwrap_or(0)))
        .found(frames)
        .help("add a bucket, or limit the frames of a sample")
}

fn frame_size(clip: &Clip<'_>) -> Result<(u32, u32)> {
    let frame = (clip.width(), clip.height());
    if frame.0 == 0 || frame.1 == 0 {
        let e = Error::usage("loader option crop: the frames of a clip differ in size, so no shape fits");
        return Err(e.in_clip(clip.ordinal()));
    }
    Ok(frame)
}

/// The size of the batches of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchShape {
    pub clips: u32,
    /// The number of cameras of each clip.
    pub cameras: u32,
    /// The maximum number of frames of each clip.
    pub frames: u32,
    /// Whether every batch has exactly this number of frames. If not, each batch has as many as its longest clip.
    pub exact: bool,
    /// Width and height of the pictures.
    pub size: (u32, u32),
}

impl BatchShape {
    /// Returns an error for a batch that no memory can hold, or for a budget below one clip.
    pub fn new(options: &ResolvedOptions, frames: u32, size: (u32, u32), exact: bool) -> Result<Self> {
        let (width, height) = size;
        let cameras = options.cameras_per_sample() as u32;
        // Clips without frames take nothing of a budget.
        let batching = options.batching.as_ref().filter(|_| frames > 0);
        let budget = batching.and_then(|batching| batching.clips(frames, size));
        let clips = budget.map_or(options.batch_size, |clips| clips / cameras);
        if clips == 0 {
            let what = format!(
                "loader option batching: even one clip of {frames} frames of {width}x{height} pixels does not fit"
            );
            return Err(Error::usage(what).found(format!("{batching:?}")));
        }
        let factors = [clips, cameras, frames, width, height, 3 * size_of::<f32>() as u32];
        let bytes = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor.into()));
        if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
            return Ok(BatchShape { clips, cameras, frames, exact, size });
        }
        let what = format!("a batch of {clips} clips of {frames} frames of {width}x{height} pixels");
        Err(Error::limit(what).hint(Hint::Set("batch_size")))
    }

    /// The dimensions of a batch.
    pub fn dimensions(&self, options: &ResolvedOptions) -> [usize; 5] {
        options.shape(self.clips * self.cameras, self.frames, self.size)
    }

    /// The number of values in a batch.
    pub fn values(&self, options: &ResolvedOptions) -> usize {
        // `new` proved that the product fits.
        self.dimensions(options).iter().product()
    }
}

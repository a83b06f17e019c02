//! A batch of frames that are not decoded: their JPEGs in one buffer, and how each becomes its picture.

use std::ops::Range;

use super::aligned::Aligned;
use super::batch::Batch;
use super::kernel::ColorMatrix;
use crate::{Error, Result};

/// Where a JPEG of a [`JpegBatch`] is, and how it becomes its picture.
///
/// The picture is what the loader's [`Batch`] has in this place: cut the decoded frame to [`bounds`](Self::bounds);
/// resize the part [`window`](Self::window) of that to [`Pictures::size`](super::Pictures::size), bilinear with
/// half-pixel centers, and with a triangle as wide as the step where it gets smaller (Pillow's `resize` with `BILINEAR` and
/// `box`; torchvision's with `antialias=True`); [`flip`](Self::flip) it; apply [`colors`](Self::colors) to levels of 0
/// to 255; then channels, type and normalization as [`Pictures`](super::Pictures) says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JpegFrame {
    /// Which frame of the batch it is, row-major in (B, T): frame `t` of clip `b` is `b * T + t`. With V cameras, B counts
    /// B * V.
    pub place: usize,
    /// Its bytes in [`JpegBatch::data`].
    pub bytes: Range<usize>,
    /// Width and height in pixels, by the JPEG's own header.
    pub size: (u32, u32),
    /// Pixels that the picture may depend on: left, top, and the first column and row beyond. All of the frame, or with a
    /// crop that resizes by itself ([`Crop::RandomResized`](super::Crop::RandomResized),
    /// [`Crop::MultiScale`](super::Crop::MultiScale)) the crop alone.
    pub bounds: [u32; 4],
    /// The part of the frame that becomes the picture, in frame pixels: left, top, width, height. Inside of the bounds, and
    /// not always at whole pixels.
    pub window: [f64; 4],
    /// Whether left and right change places.
    pub flip: bool,
    /// What happens to the colors; [`ColorMatrix::IDENTITY`] if nothing.
    pub colors: ColorMatrix,
}

/// A batch of frames that are not decoded, for a decoder elsewhere: on a GPU, as a rule.
///
/// Clips, frames, order and everything that is drawn are those of the [`Batch`] with the same number, and so are labels,
/// masks, fields and tracks. The JPEGs are whole files as they are stored, compared with their CRC-32 as
/// [`Safety`](super::Safety) says, and have a header that can be read. Damage behind the header that no CRC-32 finds
/// because [`Safety::check_crc`](super::Safety::check_crc) is off, the decoder finds.
///
/// ```
/// # use vidrec::{ClipInfo, Dataset, FrameData, Loader, LoaderOptions, Pictures, Writer, WriterOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let dir = folder.path().join("train");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(32, 24)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # (0..4).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
/// # writer.finish()?;
/// # let train = Dataset::open(&dir)?;
/// let pictures = Pictures { size: (16, 16), ..Pictures::default() };
/// let loader = Loader::new(&train, LoaderOptions { batch_size: 2, pictures, ..LoaderOptions::default() })?;
/// let mut decoder = vidrec::jpeg::Decoder::new()?;
/// for batch in loader.iter_jpegs(0)? {
///     let batch = batch?;
///     assert_eq!(batch.facts.labels.len(), 2);
///     for (frame, jpeg) in batch.frames.iter().zip(batch.jpegs()) {
///         let decoded = decoder.decode_picture(jpeg)?;
///         assert_eq!((decoded.width, decoded.height), frame.size);
///         assert_eq!(frame.window, [8.0, 4.0, 16.0, 16.0]);
///     }
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct JpegBatch {
    /// All JPEGs, one behind the other in the order of [`frames`](Self::frames), without gaps.
    pub data: Aligned<u8>,
    /// The JPEGs in the order of their places. Frames that pad a clip, and those of a missing camera, have none; their
    /// pictures are zeros.
    pub frames: Vec<JpegFrame>,
    /// Everything else that is known of the batch. Its [`data`](Batch::data) is empty, and its [`shape`](Batch::shape) that
    /// of the pictures to be made.
    pub facts: Batch,
}

impl JpegBatch {
    /// The JPEGs, in the order of [`frames`](Self::frames).
    pub fn jpegs(&self) -> impl Iterator<Item = &[u8]> {
        self.frames.iter().map(|frame| self.data.get(frame.bytes.clone()).unwrap_or_default())
    }
}

/// Makes room for `len` bytes of JPEGs, in memory that later batches, a little larger or smaller, fit into as well. The
/// contents are unspecified.
pub(super) fn reserve(data: &mut Aligned<u8>, len: usize) -> Result<()> {
    /// Memory comes in so many steps from one power of two to the next.
    const STEPS: usize = 8;
    let roomy = len.checked_next_power_of_two().and_then(|power| len.checked_next_multiple_of((power / STEPS).max(1)));
    let reserved = data.try_resize(roomy.unwrap_or(len)).and_then(|()| data.try_resize(len));
    reserved.map_err(|bytes| {
        Error::no_memory("a batch of JPEGs", bytes).help("make batches smaller, or keep fewer of them ready (prefetch)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_about_the_same_size_share_memory() {
        let mut data = Aligned::default();
        reserve(&mut data, 1_000_000).unwrap();
        let memory = data.as_ptr();
        for len in [0, 990_000, 1_010_000, 1_040_000, 1] {
            reserve(&mut data, len).unwrap();
            assert_eq!((data.len(), data.as_ptr()), (len, memory));
        }
        reserve(&mut data, 3_000_000).unwrap();
        assert_eq!(data.len(), 3_000_000);
    }

    #[test]
    fn more_than_there_can_be_is_an_error() {
        let e = reserve(&mut Aligned::default(), isize::MAX as usize).unwrap_err();
        assert_eq!(e.kind(), crate::ErrorKind::Resources);
        assert!(e.to_string().contains("a batch of JPEGs"), "{e}");
    }
}

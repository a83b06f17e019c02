//! A batch of frames that are not decoded: their JPEGs in one buffer, and how each JPEG becomes its picture.

use std::ops::Range;

use super::batch::Batch;
use super::decoded::FrameKey;
use super::jpeg_memory::JpegMemory;
use super::kernel::{ColorMatrix, DeviceTable, View};
use super::options::Normalize;

/// The location of a JPEG in a [`JpegBatch`], and how it becomes its picture.
///
/// The picture is the one in this place of the loader's [`Batch`]. To make it, take these steps:
///
/// * Cut the decoded frame to [`bounds`](Self::bounds).
/// * Resize the part [`window`](Self::window) of that to [the size of the crop](super::Crop::size). Use bilinear
///   resampling with half-pixel centers, and a triangle as wide as the step if the picture gets smaller (Pillow's
///   `resize` with `BILINEAR` and `box`; torchvision's with `antialias=True`).
/// * Mirror it if [`flip`](Self::flip) is true.
/// * Apply [`colors`](Self::colors) to levels of 0 to 255.
/// * Convert to the channels and the type of the [options](super::LoaderOptions), and apply
///   [`normalize`](Self::normalize) to float values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JpegFrame {
    /// The number of the frame in the batch, row-major in (B, T): frame `t` of clip `b` is `b * T + t`. With V
    /// cameras, B counts B * V.
    pub place: usize,
    /// The location of its bytes in [`JpegBatch::data`].
    pub bytes: Range<usize>,
    /// Width and height in pixels, from the header of the JPEG.
    pub size: (u32, u32),
    /// The pixels that the picture may depend on: left, top, and the first column and row beyond. This is the
    /// whole frame, or only the crop if the crop resizes by itself
    /// ([`Crop::RandomResized`](super::Crop::RandomResized), [`Crop::MultiScale`](super::Crop::MultiScale)).
    pub bounds: [u32; 4],
    /// The part of the frame that becomes the picture, in frame pixels: left, top, width, height. It is inside the
    /// bounds, and not always at whole pixels.
    pub window: [f64; 4],
    /// Whether the picture is mirrored, left to right.
    pub flip: bool,
    /// The change of colors; [`ColorMatrix::IDENTITY`] for none.
    pub colors: ColorMatrix,
    /// The normalization of float values; a mean of 0 and a standard deviation of 1 for none.
    pub normalize: Normalize,
    /// See [`LoaderOptions::reducing_gap`](super::LoaderOptions::reducing_gap).
    pub(crate) reducing_gap: f64,
    /// The part of the frame that becomes the picture, as the loader's own kernel has it.
    pub(crate) view: View,
    /// The key of the frame, for a device that keeps JPEGs. Such a device has the JPEG if [`bytes`](Self::bytes) is empty.
    pub(crate) key: FrameKey,
}

/// A batch of frames that are not decoded, for another decoder, usually on a GPU.
///
/// Clips, frames, order and all draws are those of the [`Batch`] with the same number. So are labels, masks,
/// fields and tracks. The JPEGs are whole files as they are stored. They are compared with their CRC-32, and
/// have a readable header.
///
/// ```
/// # use vidrec::{ClipInfo, Crop, Dataset, FrameData, Loader, LoaderOptions, Writer, WriterOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let dir = folder.path().join("train");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(32, 24)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # (0..4).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
/// # writer.finish()?;
/// # let train = Dataset::open(&dir)?;
/// let options = LoaderOptions { batch_size: 2, crop: Crop::center((16, 16)), ..LoaderOptions::default() };
/// let loader = Loader::new(&train, options)?;
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
#[derive(Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct JpegBatch {
    /// All JPEGs, one after another in the order of [`frames`](Self::frames), without gaps.
    pub data: JpegMemory,
    /// The JPEGs in the order of their places. Frames that pad a clip, and those of a missing camera, have no
    /// JPEG. Their pictures are zeros.
    pub frames: Vec<JpegFrame>,
    /// All other facts about the batch. The [`data`](Batch::data) is empty, and the [`shape`](Batch::shape) is
    /// that of the pictures to make.
    pub facts: Batch,
    /// The plan by which a device makes the pictures, if the loader [serves one](crate::loader::Loader::serve_device).
    #[doc(hidden)]
    pub plan: Option<Box<TilePlan>>,
}

impl JpegBatch {
    /// The JPEGs, in the order of [`frames`](Self::frames).
    pub fn jpegs(&self) -> impl Iterator<Item = &[u8]> {
        self.frames.iter().map(|frame| self.data.get(frame.bytes.clone()).unwrap_or_default())
    }
}

/// The plan by which a device makes the pictures of a batch: see [`Loader::serve_device`](crate::loader::Loader::serve_device).
///
/// All numbers are counted from zero. A device finds the tiles of each JPEG, decodes those under the crop to planes, one
/// tile after another in rows, blends rows of planes to lines, and makes each pixel of the picture from the lines, or from
/// the planes.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TilePlan {
    /// The numbers of rows in the parts of the plan, which precede the JPEGs in their memory as values of this machine. Each
    /// part has room for a row for each frame of the batch, which takes as many bytes as [`ROWS`](Self::ROWS) says:
    ///
    /// * For each JPEG, as `[i32; 16]`: the first byte of it, of its entropy-coded data, and the one after its last; the
    ///   number of its first tile among those of the batch, its tiles, those in a row of the frame, and MCUs in a tile; of
    ///   the tiles that the picture needs, the first column, the columns, the first row and the rows; the numbers of its
    ///   header and of its table; its place in the batch; and where its planes and its lines begin, in units of
    ///   [`UNIT`](Self::UNIT) samples.
    /// * For each kind of frame, the numbers by which its planes become pictures: the device's `Table`.
    /// * JPEGs that the device keeps and copies to the bytes of the batch, as `[i64; 3]`: where they are kept, where they go,
    ///   and their lengths.
    /// * JPEGs of the batch that the device copies to those that it keeps, likewise.
    /// * For each header, as `[u32; 10]`: its first byte, and in it the places of the quantizers of the three components and
    ///   of the Huffman codes of each, DC before AC.
    pub counts: [usize; 5],
    /// The rows for which each part has room.
    pub rows: usize,
    /// How much memory the device needs.
    pub sizes: PlanSizes,
    /// The keys of the JPEGs to keep.
    pub(crate) keys: Vec<FrameKey>,
    /// The numbers of clips in the batch, counted over all cameras, of which the processor made the pictures, because a
    /// device cannot.
    pub others: Vec<u64>,
    /// The pictures of these clips.
    pub made: Batch,
}

/// Numbers of what the kernels of a device read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PlanSizes {
    /// The samples of all planes together.
    pub samples: u64,
    /// The samples of all lines together: rows of planes, blended to the rows of a picture. A line has a row of luma
    /// and then one of each chroma. Pictures that copy pixels of the frame have no lines.
    pub lines: u64,
    /// The samples of the longest line.
    pub longest_line: u64,
    /// The bytes of the plan and of all JPEGs: first those of the batch, and then those that the device keeps.
    pub bytes: u64,
    /// The tiles of all JPEGs.
    pub tiles: u64,
    /// The most tiles that a picture needs.
    pub most_tiles: u64,
    /// The weights of resampling of all tables.
    pub weights: u64,
}

impl TilePlan {
    /// Bytes of a row of each part.
    pub const ROWS: [usize; 5] = [64, DeviceTable::BYTES, 24, 24, 40];

    /// Planes and lines begin at a multiple of so many samples.
    pub const UNIT: u64 = 64;

    /// Bytes of the plan of a batch of so many frames.
    pub(super) fn room(frames: usize) -> usize {
        (frames * Self::ROWS.iter().sum::<usize>()).next_multiple_of(64)
    }
}

//! The batch that a loader returns: one buffer of pictures, the facts about each clip, and the values of tracks.

use super::aligned::Aligned;
use super::draw::ColorDraw;
use super::options::Dtype;
use serde::Serialize;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_format::machine::Shortage;
use vidrec_format::track::payload::TrackNumber;
use vidrec_format::track::schema::TrackType;

/// The data of a batch: values of [`LoaderOptions::dtype`](super::LoaderOptions::dtype), each in this machine's byte order. The
/// first one is at a multiple of 64 bytes in memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BatchData {
    dtype: Dtype,
    bytes: Aligned<u8>,
}

impl BatchData {
    /// The type of the values.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The values as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The values as mutable bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

/// The values that were drawn for one clip of a batch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct SampleParams {
    /// The sample: the ordinal of the clip, or of one of its views as [`Frames`](super::Frames) counts them.
    pub sample: u64,
    /// The number of the view of the clip: temporal view times crops, plus crop. It is 0 if a clip has one view.
    /// With [`Frames::Windows`](super::Frames::Windows), it is the number of the crop.
    pub view: u32,
    /// The frames of the clip that the sample has. In a padded batch, a clip may have fewer of them than the batch
    /// has frames.
    pub frames: Vec<u32>,
    /// The part of a frame that became the picture, in frame pixels: left, top, width, height. `None` if the
    /// clip's frames differ in size, because each frame then has a part of its own.
    pub window: Option<[f64; 4]>,
    /// The matrix that takes a place `(x, y, 1)` in a frame, in pixels, to its place in the picture: rows of a crop, a resize and a
    /// flip. Places count from the top left corner, so that the center of the first pixel is at (0.5, 0.5). `None` where
    /// [`window`](Self::window) is.
    pub matrix: Option<[[f64; 3]; 3]>,
    /// Whether the picture is mirrored, left to right.
    pub flip: bool,
    /// The change of colors.
    pub color: ColorDraw,
    /// The clip that this one replaces because it could not be read. See
    /// [`OnBadFrame::Substitute`](super::OnBadFrame::Substitute).
    pub instead_of: Option<u64>,
}

/// A batch of clips: pictures, labels, ordinals, mask, and what was drawn for each.
///
/// The frames of a clip lie side by side, so (B, T, C, H, W) and (B*T, C, H, W) are two views of the same data, with
/// the first in [`shape`](Self::shape).
///
/// ```
/// let batch = vidrec::Batch::default();
/// assert_eq!(batch.shape(), [0; 5]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// The data, row-major in [`shape`](Self::shape).
    pub data: BatchData,
    /// The label of each clip; -1 for none. In a mix, it is that of [`Mix::classes`](super::Mix::classes).
    pub labels: Vec<i64>,
    /// The ordinal of each clip in the data set. In a [`Mix`](super::Mix), ordinals count the clips of all
    /// sources, one source after another.
    pub clips: Vec<u64>,
    /// The number of the source of each clip in [`Mix::names`](super::Mix::names); empty without a mix.
    pub source_ids: Vec<u32>,
    /// Whether each clip counts: false for a clip that only fills the last batch
    /// ([`LastBatch::Pad`](vidrec_format::sampler::order::LastBatch::Pad)).
    pub mask: Vec<bool>,
    /// The number of clips that count in the batches of this number on all ranks together. Divide a sum over the
    /// clips that count by this, not by the number on this rank, to get the mean over all ranks.
    pub clips_on_all_ranks: u64,
    /// Whether each picture is a frame that was asked for: row-major, B x T, with [`Cameras`](super::Cameras) B x V x T. It is
    /// false for a picture that pads the clip, that a camera does not show, or whose camera is missing: its values are 0. It is
    /// also false for a frame that repeats another one because the clip
    /// is short ([`ShortClips::Repeat`](super::ShortClips::Repeat)), or because a window reaches beyond it
    /// ([`WindowPad::Edge`](super::WindowPad::Edge)).
    pub frame_mask: Vec<bool>,
    /// The presentation time of each frame of each clip in seconds, on the clock of the video that the clip is of: row-major, B x T.
    /// `None` where zeros pad the clip.
    pub times: Vec<Option<f64>>,
    /// The attributes that were asked for ([`LoaderOptions::fields`](super::LoaderOptions::fields)), by name.
    pub fields: Vec<(String, Field)>,
    /// The values of the tracks that were asked for ([`LoaderOptions::tracks`](super::LoaderOptions::tracks)), by name.
    pub tracks: Vec<(String, TrackBatch)>,
    /// Whether each camera of each sample has a clip: row-major, B x V. Empty without [`Cameras`](super::Cameras).
    pub camera_mask: Vec<bool>,
    /// The values that were drawn for each clip. With cameras, this is the draw for the first camera of each sample.
    pub params: Vec<SampleParams>,
    shape: [usize; 5],
}

impl Batch {
    /// The attribute of this name, if it was asked for.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, field)| field)
    }

    /// The track of this name, if it was asked for.
    pub fn track(&self, name: &str) -> Option<&TrackBatch> {
        self.tracks.iter().find(|(found, _)| found == name).map(|(_, track)| track)
    }

    /// The dimensions, in the order of the layout: `[B, T, C, H, W]`, `[B, C, T, H, W]` or `[B, T, H, W, C]`. With
    /// V [`Cameras`](super::Cameras), the first dimension is B * V, and the cameras of a sample are adjacent.
    pub fn shape(&self) -> [usize; 5] {
        self.shape
    }

    /// The data, if the values are bytes.
    pub fn u8(&self) -> Option<&[u8]> {
        (self.data.dtype == Dtype::U8).then_some(&self.data.bytes)
    }

    /// The data, if the values are floats of 32 bits.
    pub fn f32(&self) -> Option<&[f32]> {
        bytemuck::try_cast_slice(&self.data.bytes).ok().filter(|_| self.data.dtype == Dtype::F32)
    }

    /// Sets the shape and forgets the clips. Keeps data and tracks, so that their memory can be reused.
    pub(super) fn reshape(&mut self, shape: [usize; 5]) {
        self.shape = shape;
        self.labels.clear();
        self.clips.clear();
        self.source_ids.clear();
        self.mask.clear();
        self.frame_mask.clear();
        self.times.clear();
        self.fields.clear();
        self.camera_mask.clear();
        self.params.clear();
    }

    /// Makes room for the data of the shape. Keeps the memory. The values are unspecified.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub(super) fn reserve(&mut self, dtype: Dtype) -> Result<()> {
        let values: usize = self.shape.iter().product();
        self.data.dtype = dtype;
        let reserved = self.data.bytes.try_resize(values * dtype.size());
        let help = format!(
            "make batches smaller (batch size, frames, size, u8 instead of floats), keep fewer of them ready (prefetch), \
             or allow more {}",
            Shortage::Memory.resource()
        );
        reserved.map_err(|bytes| {
            let [b, t, c, h, w] = self.shape;
            Error::no_memory(&format!("a batch of {b}x{t}x{c}x{h}x{w} samples"), bytes).help(help)
        })
    }
}

/// An attribute of the clips of a batch: [`Batch::fields`](super::Batch::fields).
///
/// The type is the same in every batch. It follows from all clips of the data set. Numbers are integers if every
/// clip has one, and all of them are whole and fit 64 bits.
///
/// ```
/// let scores = vidrec::Field::Floats(vec![0.5, 0.0]);
/// assert_ne!(scores, vidrec::Field::Integers(vec![1, 0]));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers; NaN for a clip without one.
    Floats(Vec<f64>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Anything else (lists, objects, `true` and `false`), as JSON.
    Json(Vec<Option<String>>),
}

/// The values of a track in a batch: [`Batch::tracks`](super::Batch::tracks).
///
/// The dimensions before the shape of one value are `[B, T]` with one value for each frame, `[B, W]` with a window
/// of `W` values, `[B, T, W]` with a window at each frame, and `[B]` for texts. Lists have one more, the items, padded with
/// zeros to the longest list of the batch: `[B, T, N]`. All stored values of a window are a list: `[B, E]`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrackBatch {
    /// The type of the values.
    pub kind: TrackType,
    numbers: Aligned<u8>,
    /// Texts: those of each clip, in order of time. Empty for numbers.
    pub texts: Vec<Vec<String>>,
    /// The dimensions of the values: those of the mask, then those of one value, or of an item of lists.
    pub shape: Vec<usize>,
    /// Whether each value exists, row-major. For texts, whether each clip has the track. The other values are 0, but the
    /// first or the last value with [`WindowPad::Edge`](super::WindowPad::Edge). It is also false for the value of a frame
    /// whose [`Batch::frame_mask`](super::Batch::frame_mask) is. For lists, whether each item exists.
    pub mask: Vec<bool>,
    /// The dimensions of the mask.
    pub mask_shape: Vec<usize>,
    /// For texts, and for all values of a window, the start and the end of each of each clip, in seconds from the time of the
    /// sample's current frame. They are equal if the track's timing is not `spans`. Empty for other tracks.
    pub times: Vec<Vec<(f64, f64)>>,
    /// With [`TrackWindow::dims`](super::TrackWindow::dims), how many numbers of each value of each clip are those of the track; 0
    /// for a clip without the track. The others are 0. Empty without `dims`.
    pub dims: Vec<u32>,
    /// The number of items of each list; -1 where there is no list, while an empty list has 0. Empty for other tracks.
    pub counts: Vec<i64>,
    /// The dimensions of the counts: those of the mask before the items.
    pub counts_shape: Vec<usize>,
    /// The lists of each sample, until they are padded.
    items: Vec<ListItems>,
}

/// The items of the lists of a sample, one list after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ListItems {
    numbers: Aligned<u8>,
    mask: Vec<bool>,
}

impl ListItems {
    /// Makes room for this many bytes and flags, whose contents are unspecified.
    pub(super) fn reserve(&mut self, (bytes, flags): (usize, usize)) -> Result<(&mut [u8], &mut [bool])> {
        let reserved = self.numbers.try_resize(bytes);
        reserved.map_err(|bytes| Error::no_memory("the lists of a track in a sample", bytes))?;
        allocation::resize(&mut self.mask, flags, false, "the mask of a track")?;
        Ok((&mut self.numbers, &mut self.mask))
    }
}

impl TrackBatch {
    /// An empty batch of a type.
    pub(super) fn empty(kind: TrackType) -> Self {
        let (numbers, texts, shape, mask, mask_shape, times, dims, counts) = Default::default();
        let (counts_shape, items) = Default::default();
        TrackBatch { kind, numbers, texts, shape, mask, mask_shape, times, dims, counts, counts_shape, items }
    }

    /// The numbers, row-major in [`shape`](Self::shape), if they have this type. Those of type `bool` are `u8`: 1 or 0.
    pub fn numbers<T: TrackNumber>(&self) -> Option<&[T]> {
        let kind = if self.kind == TrackType::Bool { TrackType::U8 } else { self.kind };
        bytemuck::try_cast_slice(&self.numbers).ok().filter(|_| kind == T::TYPE)
    }

    /// All numbers as bytes, each in this machine's byte order; empty for texts.
    pub fn bytes(&self) -> &[u8] {
        &self.numbers
    }

    /// Sets the type, the dimensions of the mask and of one value, and whether numbers are counted. Of lists, so many last
    /// dimensions of the mask are sides of an item, and the number of items is none of them until [`pad`](Self::pad). Keeps the memory if the type stays the same. The contents are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub(super) fn reshape(
        &mut self,
        kind: TrackType,
        mask_shape: Vec<usize>,
        of_value: &[u32],
        (has_dims, list, has_times): (bool, Option<usize>, bool),
    ) -> Result<()> {
        self.dims.resize(mask_shape.first().copied().filter(|_| has_dims).unwrap_or(0), 0);
        let of_value = of_value.iter().map(|&side| side as usize);
        self.shape = mask_shape.iter().copied().chain(of_value).collect();
        self.mask_shape = mask_shape;
        let product = |sides: &[usize]| sides.iter().fold(1usize, |n, &side| n.saturating_mul(side));
        self.kind = kind;
        let values = product(&self.shape);
        let samples = self.mask_shape.first().copied().unwrap_or(0);
        self.items.resize_with(list.map_or(0, |_| samples), ListItems::default);
        self.counts_shape = list.map_or(Vec::new(), |sides| self.mask_shape[..self.mask_shape.len() - sides].to_vec());
        self.counts.resize(list.map_or(0, |_| product(&self.counts_shape)), 0);
        let texts = if kind == TrackType::Utf8 { values } else { 0 };
        self.texts.resize_with(texts, Vec::new);
        self.times.resize_with(if has_times { samples } else { texts }, Vec::new);
        let bytes = if list.is_some() { 0 } else { values.saturating_mul(kind.number_bytes().unwrap_or(0) as usize) };
        let reserved = self.numbers.try_resize(bytes);
        reserved.map_err(|bytes| Error::no_memory("the values of a track in a batch", bytes))?;
        let flags = if list.is_some() { 0 } else { product(&self.mask_shape) };
        allocation::resize(&mut self.mask, flags, false, "the mask of a track")?;
        Ok(())
    }

    /// Pads lists to the longest of them, once the items of all samples are there.
    ///
    /// # Errors
    ///
    /// They are too long, or there is no memory for them.
    pub(super) fn pad(&mut self, name: &str) -> Result<()> {
        if self.items.is_empty() {
            return Ok(());
        }
        let longest = self.counts.iter().copied().max().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let (samples, lists, at) = (self.items.len(), self.counts.len(), self.counts_shape.len());
        let flags = self.mask_shape[at..].iter().product::<usize>();
        let each = self.shape[at..].iter().product::<usize>() * self.kind.number_bytes().unwrap_or(1) as usize;
        let room = longest.saturating_mul(each);
        check_sample_bytes(name, lists as u128 / samples as u128 * room as u128)?;
        let reserved = self.numbers.try_resize(lists.saturating_mul(room));
        reserved.map_err(|bytes| Error::no_memory("the lists of a track in a batch", bytes))?;
        self.mask.clear();
        allocation::resize(&mut self.mask, lists * longest * flags, false, "the mask of a track")?;
        self.mask_shape.insert(at, longest);
        self.shape.insert(at, longest);
        let places =
            self.numbers.chunks_exact_mut(room.max(1)).zip(self.mask.chunks_exact_mut((longest * flags).max(1)));
        let mut places = places.zip(&self.counts);
        for items in &self.items {
            let (mut numbers, mut mask) = (&items.numbers[..], &items.mask[..]);
            for ((to, to_mask), &count) in places.by_ref().take(lists / samples) {
                let count = usize::try_from(count).unwrap_or(0);
                let (filled, zeros) = to.split_at_mut(count * each);
                filled.copy_from_slice(numbers.split_off(..count * each).unwrap_or_default());
                zeros.fill(0);
                to_mask[..count * flags].copy_from_slice(mask.split_off(..count * flags).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// The places of the samples, in order.
    pub(super) fn slots(&mut self) -> impl Iterator<Item = TrackBuffer<'_>> {
        let samples = self.mask_shape.first().copied().unwrap_or(0);
        let masks = parts(&mut self.mask, samples);
        let (of_texts, of_lists) = self.times.split_at_mut(self.texts.len());
        let (texts, mut of_lists) = (self.texts.iter_mut().zip(of_texts), of_lists.iter_mut());
        let texts = texts.map(|(texts, times)| TrackBufferValues::Texts { texts, times });
        let with_lists = self.items.len();
        let with_numbers = if self.kind == TrackType::Utf8 || with_lists > 0 { 0 } else { samples };
        let lists = self.items.iter_mut().zip(parts(&mut self.counts, with_lists));
        let lists =
            lists.map(move |(items, counts)| TrackBufferValues::Lists { items, counts, times: of_lists.next() });
        let numbers = parts(&mut self.numbers, with_numbers).map(TrackBufferValues::Numbers);
        let mut dims = self.dims.iter_mut();
        texts.chain(numbers).chain(lists).zip(masks).map(move |(values, mask)| TrackBuffer {
            values,
            mask,
            dims: dims.next(),
        })
    }
}

/// The place of one sample in a track. Its old contents belong to another batch.
#[derive(Debug)]
pub(super) struct TrackBuffer<'a> {
    pub values: TrackBufferValues<'a>,
    pub mask: &'a mut [bool],
    /// The number of numbers of a value, if they are counted.
    pub dims: Option<&'a mut u32>,
}

/// The place of the sample's values.
#[derive(Debug)]
pub(super) enum TrackBufferValues<'a> {
    /// Numbers in this machine's byte order, aligned for their type.
    Numbers(&'a mut [u8]),
    /// The items of all lists with their flags, and how many each list has. The mask is empty. All values of a time range are one
    /// list, and have starts and ends.
    Lists { items: &'a mut ListItems, counts: &'a mut [i64], times: Option<&'a mut Vec<(f64, f64)>> },
    /// Texts, and their starts and ends.
    Texts { texts: &'a mut Vec<String>, times: &'a mut Vec<(f64, f64)> },
}

/// The maximum number of bytes of one track in a sample.
const MOST_SAMPLE_BYTES: u128 = 1 << 31;

/// Refuses values of a track that take too many bytes in a sample.
pub(super) fn check_sample_bytes(track: &str, bytes: u128) -> Result<()> {
    if bytes <= MOST_SAMPLE_BYTES {
        return Ok(());
    }
    let e = Error::usage(format!("loader option tracks[{track:?}]: too many values in a sample"));
    let e = e.expected(format!("at most {MOST_SAMPLE_BYTES} bytes")).found(format!("{bytes} bytes"));
    Err(e.help("take fewer values, or a lower rate"))
}

/// Divides a slice into this many parts of equal length, which may be empty.
pub(super) fn parts<T>(mut all: &mut [T], count: usize) -> impl Iterator<Item = &mut [T]> {
    let each = all.len() / count.max(1);
    (0..count).map(move |_| all.split_off_mut(..each).unwrap_or_default())
}

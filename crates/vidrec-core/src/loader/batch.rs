//! The batch that a loader returns: one buffer of pictures, and the facts about each clip.

use half::{bf16, f16};

use super::aligned::Aligned;
use super::draw::ColorDraw;
use super::options::Dtype;
use super::track_batch::TrackBatch;
use serde::Serialize;
use vidrec_format::error::{Error, Result};
use vidrec_format::machine::Shortage;

/// The data of a batch, in the requested type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BatchData {
    /// [`Dtype::U8`].
    U8(Aligned<u8>),
    /// [`Dtype::F16`].
    F16(Aligned<f16>),
    /// [`Dtype::Bf16`].
    Bf16(Aligned<bf16>),
    /// [`Dtype::F32`].
    F32(Aligned<f32>),
}

impl Default for BatchData {
    fn default() -> Self {
        BatchData::empty(Dtype::U8)
    }
}

/// Evaluates an expression with the values of a [`BatchData`], whatever their type.
macro_rules! for_each_dtype {
    ($data:expr, $values:ident => $result:expr) => {
        match $data {
            BatchData::U8($values) => $result,
            BatchData::F16($values) => $result,
            BatchData::Bf16($values) => $result,
            BatchData::F32($values) => $result,
        }
    };
}
pub(super) use for_each_dtype;

impl BatchData {
    fn empty(dtype: Dtype) -> Self {
        match dtype {
            Dtype::U8 => BatchData::U8(Aligned::default()),
            Dtype::F16 => BatchData::F16(Aligned::default()),
            Dtype::Bf16 => BatchData::Bf16(Aligned::default()),
            Dtype::F32 => BatchData::F32(Aligned::default()),
        }
    }

    /// The data as bytes, each value in this machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        for_each_dtype!(self, data => bytemuck::cast_slice(data))
    }

    /// The data as mutable bytes, as in [`bytes`](Self::bytes).
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        for_each_dtype!(self, data => bytemuck::cast_slice_mut(data))
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
    /// The presentation time of each of those frames in seconds.
    #[serde(skip)]
    pub times: Vec<f64>,
    /// The part of a frame that became the picture, in frame pixels: left, top, width, height. `None` if the
    /// clip's frames differ in size, because each frame then has a part of its own.
    pub window: Option<[f64; 4]>,
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
    /// The label of each clip; -1 for none. In a mix, the labels follow [`MixLabels`](super::MixLabels).
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
    /// Whether each frame of each clip is one that was asked for: row-major, B x T. It is false for a frame that
    /// pads the clip, whose values are 0. It is also false for a frame that repeats another one because the clip
    /// is short ([`ShortClips::Repeat`](super::ShortClips::Repeat)), or because a window reaches beyond it
    /// ([`WindowPad::Edge`](super::WindowPad::Edge)).
    pub frame_mask: Vec<bool>,
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
        if let BatchData::U8(data) = &self.data { Some(data) } else { None }
    }

    /// The data, if the values are floats of 32 bits.
    pub fn f32(&self) -> Option<&[f32]> {
        if let BatchData::F32(data) = &self.data { Some(data) } else { None }
    }

    /// Sets the shape and forgets the clips. Keeps data and tracks, so that their memory can be reused.
    pub(super) fn reshape(&mut self, shape: [usize; 5]) {
        self.shape = shape;
        self.labels.clear();
        self.clips.clear();
        self.source_ids.clear();
        self.mask.clear();
        self.frame_mask.clear();
        self.fields.clear();
        self.camera_mask.clear();
        self.params.clear();
    }

    /// Makes room for the data of the shape. Keeps the memory if the type stays the same. The values are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub(super) fn reserve(&mut self, dtype: Dtype) -> Result<()> {
        let samples = self.shape.iter().product();
        let empty = BatchData::empty(dtype);
        if std::mem::discriminant(&self.data) != std::mem::discriminant(&empty) {
            self.data = empty;
        }
        let reserved = for_each_dtype!(&mut self.data, data => data.try_resize(samples));
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
/// let scores = vidrec::Field::Floats(vec![0.5, f64::NAN]);
/// assert_eq!(scores.len(), 2);
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

impl Field {
    /// The number of clips.
    pub fn len(&self) -> usize {
        match self {
            Field::Integers(values) => values.len(),
            Field::Floats(values) => values.len(),
            Field::Texts(values) | Field::Json(values) => values.len(),
        }
    }

    /// Whether there are no clips.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

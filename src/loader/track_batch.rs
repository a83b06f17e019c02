//! The values of a track in a batch.

use crate::allocation;
use crate::format::track::schema::TrackType;
use crate::{Error, Result};

/// The values of a track in a batch, in the type of the track: see [`TrackBatch`].
///
/// ```
/// assert!(vidrec::TrackData::F32(vec![]).is_empty());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrackData {
    /// `f32`.
    F32(Vec<f32>),
    /// `f64`.
    F64(Vec<f64>),
    /// `i16`.
    I16(Vec<i16>),
    /// `i32`.
    I32(Vec<i32>),
    /// `i64`.
    I64(Vec<i64>),
    /// `u8`.
    U8(Vec<u8>),
    /// Texts: those of each clip, in order of time.
    Texts(Vec<Vec<String>>),
}

impl TrackData {
    /// Nothing, of a type.
    pub(super) fn empty(kind: TrackType) -> Self {
        match kind {
            TrackType::F32 => TrackData::F32(Vec::new()),
            TrackType::F64 => TrackData::F64(Vec::new()),
            TrackType::I16 => TrackData::I16(Vec::new()),
            TrackType::I32 => TrackData::I32(Vec::new()),
            TrackType::I64 => TrackData::I64(Vec::new()),
            TrackType::U8 => TrackData::U8(Vec::new()),
            TrackType::Utf8 => TrackData::Texts(Vec::new()),
        }
    }

    /// `len` zeros of a type, or no texts for one clip.
    pub(super) fn zeros(kind: TrackType, len: usize) -> Result<Self> {
        Ok(match kind {
            TrackType::F32 => TrackData::F32(zeros(len)?),
            TrackType::F64 => TrackData::F64(zeros(len)?),
            TrackType::I16 => TrackData::I16(zeros(len)?),
            TrackType::I32 => TrackData::I32(zeros(len)?),
            TrackType::I64 => TrackData::I64(zeros(len)?),
            TrackType::U8 => TrackData::U8(zeros(len)?),
            TrackType::Utf8 => TrackData::Texts(vec![Vec::new()]),
        })
    }

    /// Makes room for so many more numbers or lists of texts.
    pub(super) fn reserve(&mut self, more: usize) -> Result<()> {
        match self {
            TrackData::F32(n) => allocation::reserve(n, more, WHAT),
            TrackData::F64(n) => allocation::reserve(n, more, WHAT),
            TrackData::I16(n) => allocation::reserve(n, more, WHAT),
            TrackData::I32(n) => allocation::reserve(n, more, WHAT),
            TrackData::I64(n) => allocation::reserve(n, more, WHAT),
            TrackData::U8(n) => allocation::reserve(n, more, WHAT),
            TrackData::Texts(texts) => allocation::reserve(texts, more, WHAT),
        }
    }

    /// Adds values of the same type.
    pub(super) fn append(&mut self, more: TrackData) -> Result<()> {
        self.reserve(more.len())?;
        match (self, more) {
            (TrackData::F32(all), TrackData::F32(more)) => all.extend(more),
            (TrackData::F64(all), TrackData::F64(more)) => all.extend(more),
            (TrackData::I16(all), TrackData::I16(more)) => all.extend(more),
            (TrackData::I32(all), TrackData::I32(more)) => all.extend(more),
            (TrackData::I64(all), TrackData::I64(more)) => all.extend(more),
            (TrackData::U8(all), TrackData::U8(more)) => all.extend(more),
            (TrackData::Texts(all), TrackData::Texts(more)) => all.extend(more),
            _ => return Err(Error::internal("values of a track change their type")),
        }
        Ok(())
    }

    /// How many numbers, or lists of texts.
    pub fn len(&self) -> usize {
        match self {
            TrackData::F32(n) => n.len(),
            TrackData::F64(n) => n.len(),
            TrackData::I16(n) => n.len(),
            TrackData::I32(n) => n.len(),
            TrackData::I64(n) => n.len(),
            TrackData::U8(n) => n.len(),
            TrackData::Texts(texts) => texts.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word for the type: `f32`, `f64`, `i16`, `i32`, `i64`, `u8` or `utf-8`.
    pub fn kind(&self) -> TrackType {
        match self {
            TrackData::F32(_) => TrackType::F32,
            TrackData::F64(_) => TrackType::F64,
            TrackData::I16(_) => TrackType::I16,
            TrackData::I32(_) => TrackType::I32,
            TrackData::I64(_) => TrackType::I64,
            TrackData::U8(_) => TrackType::U8,
            TrackData::Texts(_) => TrackType::Utf8,
        }
    }

    /// All numbers as bytes, each in this machine's byte order; `None` of texts.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            TrackData::F32(n) => Some(bytemuck::cast_slice(n)),
            TrackData::F64(n) => Some(bytemuck::cast_slice(n)),
            TrackData::I16(n) => Some(bytemuck::cast_slice(n)),
            TrackData::I32(n) => Some(bytemuck::cast_slice(n)),
            TrackData::I64(n) => Some(bytemuck::cast_slice(n)),
            TrackData::U8(n) => Some(n),
            TrackData::Texts(_) => None,
        }
    }
}

const WHAT: &str = "the values of a track in a batch";

fn zeros<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>> {
    allocation::zeroed(len, WHAT)
}

/// The values of a track in a batch: [`Batch::tracks`](super::Batch::tracks).
///
/// Before the shape of one value, the dimensions are `[B, T]` with one value for each frame, `[B, W]` with a window of `W`
/// values, `[B, T, W]` with a window at each frame, and `[B]` for texts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrackBatch {
    /// The values, row-major in [`shape`](Self::shape).
    pub values: TrackData,
    /// The dimensions of the values: those of the mask, then those of one value.
    pub shape: Vec<usize>,
    /// Which values there are, row-major; of texts, which clips have the track. The other values are 0.
    pub mask: Vec<bool>,
    /// The dimensions of the mask.
    pub mask_shape: Vec<usize>,
}

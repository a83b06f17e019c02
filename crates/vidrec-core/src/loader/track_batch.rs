//! The values of a track in a batch.

use vidrec_format::allocation;
use vidrec_format::error::Result;
use vidrec_format::track::schema::TrackType;

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
    /// `u16`.
    U16(Vec<u16>),
    /// `bool`: 1 or 0.
    Bool(Vec<u8>),
    /// Texts: those of each clip, in order of time.
    Texts(Vec<Vec<String>>),
}

/// Evaluates an expression with the numbers of a [`TrackData`], whatever their type, or another one with its texts.
macro_rules! for_each_type {
    ($data:expr, $numbers:ident => $result:expr, $texts:ident => $of_texts:expr) => {
        match $data {
            TrackData::F32($numbers) => $result,
            TrackData::F64($numbers) => $result,
            TrackData::I16($numbers) => $result,
            TrackData::I32($numbers) => $result,
            TrackData::I64($numbers) => $result,
            TrackData::U8($numbers) | TrackData::Bool($numbers) => $result,
            TrackData::U16($numbers) => $result,
            TrackData::Texts($texts) => $of_texts,
        }
    };
}

impl TrackData {
    /// Sets the type and the length. Keeps the memory if the type stays the same. The contents are unspecified.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    fn reshape(&mut self, kind: TrackType, len: usize) -> Result<()> {
        if self.kind() != kind {
            *self = TrackData::empty(kind);
        }
        for_each_type!(self, numbers => resize(numbers, len)?, texts => texts.resize_with(len, Vec::new));
        Ok(())
    }

    fn empty(kind: TrackType) -> Self {
        match kind {
            TrackType::F32 => TrackData::F32(Vec::new()),
            TrackType::F64 => TrackData::F64(Vec::new()),
            TrackType::I16 => TrackData::I16(Vec::new()),
            TrackType::I32 => TrackData::I32(Vec::new()),
            TrackType::I64 => TrackData::I64(Vec::new()),
            TrackType::U8 => TrackData::U8(Vec::new()),
            TrackType::U16 => TrackData::U16(Vec::new()),
            TrackType::Bool => TrackData::Bool(Vec::new()),
            TrackType::Utf8 => TrackData::Texts(Vec::new()),
        }
    }

    /// All numbers as mutable bytes, as in [`bytes`](Self::bytes); empty for texts.
    fn bytes_mut(&mut self) -> &mut [u8] {
        for_each_type!(self, numbers => bytemuck::cast_slice_mut(numbers), _texts => &mut [])
    }

    /// The number of numbers, or of lists of texts.
    pub fn len(&self) -> usize {
        for_each_type!(self, numbers => numbers.len(), texts => texts.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    pub fn kind(&self) -> TrackType {
        match self {
            TrackData::F32(_) => TrackType::F32,
            TrackData::F64(_) => TrackType::F64,
            TrackData::I16(_) => TrackType::I16,
            TrackData::I32(_) => TrackType::I32,
            TrackData::I64(_) => TrackType::I64,
            TrackData::U8(_) => TrackType::U8,
            TrackData::U16(_) => TrackType::U16,
            TrackData::Bool(_) => TrackType::Bool,
            TrackData::Texts(_) => TrackType::Utf8,
        }
    }

    /// All numbers as bytes, each in this machine's byte order; `None` for texts.
    pub fn bytes(&self) -> Option<&[u8]> {
        for_each_type!(self, numbers => Some(bytemuck::cast_slice(numbers)), _texts => None)
    }
}

fn resize<T: bytemuck::Zeroable + Copy>(numbers: &mut Vec<T>, len: usize) -> Result<()> {
    const WHAT: &str = "the values of a track in a batch";
    if numbers.capacity() < len {
        // The old contents are no longer needed. Freeing them first leaves more memory for the new ones.
        *numbers = Vec::new();
        *numbers = allocation::zeroed(len, WHAT)?;
    }
    allocation::resize(numbers, len, T::zeroed(), WHAT)
}

/// The values of a track in a batch: [`Batch::tracks`](super::Batch::tracks).
///
/// The dimensions before the shape of one value are `[B, T]` with one value for each frame, `[B, W]` with a window
/// of `W` values, `[B, T, W]` with a window at each frame, and `[B]` for texts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrackBatch {
    /// The values, row-major in [`shape`](Self::shape).
    pub values: TrackData,
    /// The dimensions of the values: those of the mask, then those of one value.
    pub shape: Vec<usize>,
    /// Whether each value exists, row-major. For texts, whether each clip has the track. The other values are 0, but the
    /// first or the last value with [`WindowPad::Edge`](super::WindowPad::Edge). It is also false for the value of a frame
    /// whose [`Batch::frame_mask`](super::Batch::frame_mask) is.
    pub mask: Vec<bool>,
    /// The dimensions of the mask.
    pub mask_shape: Vec<usize>,
    /// For texts, the start and the end of each text of each clip, in seconds from the time of the sample's current
    /// frame. They are equal if the track's timing is not `spans`. Empty for numbers.
    pub times: Vec<Vec<(f64, f64)>>,
    /// With [`TrackWindow::dims`](super::TrackWindow::dims), how many numbers of each value of each clip are those of the track; 0
    /// for a clip without the track. The others are 0. Empty without `dims`.
    pub dims: Vec<u32>,
}

impl TrackBatch {
    /// An empty batch of a type.
    pub(super) fn empty(kind: TrackType) -> Self {
        let values = TrackData::empty(kind);
        let (shape, mask, mask_shape, times, dims) = Default::default();
        TrackBatch { values, shape, mask, mask_shape, times, dims }
    }

    /// Sets the type, the dimensions of the mask and of one value, and whether numbers are counted. Keeps the memory if the type stays the
    /// same. The contents are unspecified.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub(super) fn reshape(
        &mut self,
        kind: TrackType,
        mask_shape: Vec<usize>,
        of_value: &[u32],
        has_dims: bool,
    ) -> Result<()> {
        self.dims.resize(mask_shape.first().copied().filter(|_| has_dims).unwrap_or(0), 0);
        let of_value = of_value.iter().map(|&side| side as usize);
        self.shape = mask_shape.iter().copied().chain(of_value).collect();
        self.mask_shape = mask_shape;
        let product = |sides: &[usize]| sides.iter().fold(1usize, |n, &side| n.saturating_mul(side));
        self.values.reshape(kind, product(&self.shape))?;
        allocation::resize(&mut self.mask, product(&self.mask_shape), false, "the mask of a track")?;
        let texts = if kind == TrackType::Utf8 { self.values.len() } else { 0 };
        self.times.resize_with(texts, Vec::new);
        Ok(())
    }

    /// The places of the samples, in order.
    pub(super) fn slots(&mut self) -> impl Iterator<Item = TrackBuffer<'_>> {
        let samples = self.mask_shape.first().copied().unwrap_or(0);
        let masks = parts(&mut self.mask, samples);
        let (texts, numbers) = match &mut self.values {
            TrackData::Texts(texts) => (Some(texts), None),
            numbers => (None, Some(numbers.bytes_mut())),
        };
        let texts = texts.into_iter().flatten().zip(&mut self.times);
        let texts = texts.map(|(texts, times)| TrackBufferValues::Texts { texts, times });
        let numbers = numbers.into_iter().flat_map(move |bytes| parts(bytes, samples).map(TrackBufferValues::Numbers));
        let mut dims = self.dims.iter_mut();
        texts.chain(numbers).zip(masks).map(move |(values, mask)| TrackBuffer { values, mask, dims: dims.next() })
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
    /// Texts, and their starts and ends.
    Texts { texts: &'a mut Vec<String>, times: &'a mut Vec<(f64, f64)> },
}

/// Divides a slice into this many parts of equal length, which may be empty.
pub(super) fn parts<T>(mut all: &mut [T], count: usize) -> impl Iterator<Item = &mut [T]> {
    let each = all.len() / count.max(1);
    (0..count).map(move |_| all.split_off_mut(..each).unwrap_or_default())
}

//! The values of a track in a batch.

use super::aligned::Aligned;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::payload::TrackNumber;
use vidrec_format::track::schema::TrackType;

/// The values of a track in a batch: [`Batch::tracks`](super::Batch::tracks).
///
/// The dimensions before the shape of one value are `[B, T]` with one value for each frame, `[B, W]` with a window
/// of `W` values, `[B, T, W]` with a window at each frame, and `[B]` for texts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrackBatch {
    /// The type of the values.
    pub kind: TrackType,
    numbers: Aligned<u8>,
    /// Texts: those of each clip, in order of time. Empty for numbers.
    pub texts: Vec<Vec<String>>,
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
        let (numbers, texts, shape, mask, mask_shape, times, dims) = Default::default();
        TrackBatch { kind, numbers, texts, shape, mask, mask_shape, times, dims }
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
        self.kind = kind;
        let values = product(&self.shape);
        let texts = if kind == TrackType::Utf8 { values } else { 0 };
        self.texts.resize_with(texts, Vec::new);
        self.times.resize_with(texts, Vec::new);
        let bytes = values.saturating_mul(kind.number_bytes().unwrap_or(0) as usize);
        let reserved = self.numbers.try_resize(bytes);
        reserved.map_err(|bytes| Error::no_memory("the values of a track in a batch", bytes))?;
        allocation::resize(&mut self.mask, product(&self.mask_shape), false, "the mask of a track")?;
        Ok(())
    }

    /// The places of the samples, in order.
    pub(super) fn slots(&mut self) -> impl Iterator<Item = TrackBuffer<'_>> {
        let samples = self.mask_shape.first().copied().unwrap_or(0);
        let masks = parts(&mut self.mask, samples);
        let texts = self.texts.iter_mut().zip(&mut self.times);
        let texts = texts.map(|(texts, times)| TrackBufferValues::Texts { texts, times });
        let with_numbers = if self.kind == TrackType::Utf8 { 0 } else { samples };
        let numbers = parts(&mut self.numbers, with_numbers).map(TrackBufferValues::Numbers);
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

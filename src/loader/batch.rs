//! What the loader gives: one buffer of pictures, and what is known of each clip.

use super::options::{Dtype, Layout};

/// The samples of a batch, in the type that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchData {
    /// [`Dtype::U8`].
    U8(Vec<u8>),
    /// [`Dtype::F32`].
    F32(Vec<f32>),
}

/// A batch of clips: pictures, labels, ordinals and mask.
///
/// The frames of a clip lie side by side, so (B, T, C, H, W) and (B*T, C, H, W) are two views of the same samples, of
/// [`shape`](Self::shape) and [`frames_shape`](Self::frames_shape). An empty batch (the default) takes any shape, and
/// one that is filled again keeps its memory.
///
/// ```
/// let batch = vidrec::Batch::default();
/// assert_eq!(batch.shape(), [0; 5]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The samples, row-major in [`shape`](Self::shape).
    pub data: BatchData,
    /// Label of each clip; -1 for none.
    pub labels: Vec<i64>,
    /// Ordinal of each clip in the data set.
    pub clips: Vec<u64>,
    /// False for a clip that only fills up the last batch and should not count.
    pub mask: Vec<bool>,
    shape: [usize; 5],
}

impl Default for Batch {
    fn default() -> Self {
        let data = BatchData::U8(Vec::new());
        Batch { data, labels: Vec::new(), clips: Vec::new(), mask: Vec::new(), shape: [0; 5] }
    }
}

impl Batch {
    /// The dimensions, in the order of the layout: `[B, T, C, H, W]` or `[B, T, H, W, C]`.
    pub fn shape(&self) -> [usize; 5] {
        self.shape
    }

    /// The same samples as single pictures: `[B * T, C, H, W]` or `[B * T, H, W, C]`.
    pub fn frames_shape(&self) -> [usize; 4] {
        let [b, t, rest @ ..] = self.shape;
        [b * t, rest[0], rest[1], rest[2]]
    }

    /// The samples, if they are bytes.
    pub fn u8(&self) -> Option<&[u8]> {
        if let BatchData::U8(data) = &self.data { Some(data) } else { None }
    }

    /// The samples, if they are floats.
    pub fn f32(&self) -> Option<&[f32]> {
        if let BatchData::F32(data) = &self.data { Some(data) } else { None }
    }

    /// Takes a shape and type, keeping memory where the type stays. The samples have unspecified values.
    pub(super) fn reshape(&mut self, clips: usize, frames: u32, size: (u32, u32), layout: Layout, dtype: Dtype) {
        let (t, w, h) = (frames as usize, size.0 as usize, size.1 as usize);
        self.shape = match layout {
            Layout::Btchw => [clips, t, 3, h, w],
            Layout::Bthwc => [clips, t, h, w, 3],
        };
        let samples = self.shape.iter().product();
        match (&mut self.data, dtype) {
            (BatchData::U8(data), Dtype::U8) => data.resize(samples, 0),
            (BatchData::F32(data), Dtype::F32) => data.resize(samples, 0.0),
            (data, Dtype::U8) => *data = BatchData::U8(vec![0; samples]),
            (data, Dtype::F32) => *data = BatchData::F32(vec![0.0; samples]),
        }
        self.labels.clear();
        self.clips.clear();
        self.mask.clear();
    }
}

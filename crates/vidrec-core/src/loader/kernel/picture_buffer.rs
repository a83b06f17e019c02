//! The place of a picture in the batch, and the types of its values.

use half::{bf16, f16};

use super::isa::Isa;
use super::spec::BLOCK;

/// The samples of one picture in a batch, and no others. All pictures can therefore be written at the same time.
///
/// In (B, C, T, H, W), the planes of a clip's frames alternate. A slot holds each plane as its own slice. No two
/// slots share memory, and safe Rust proves it.
pub(crate) enum PictureBuffer<'a, S> {
    /// One channel, row by row.
    Gray(&'a mut [S]),
    /// One plane for each of three channels, row by row.
    Planes([&'a mut [S]; 3]),
    /// The three channels of each pixel side by side.
    Pixels(&'a mut [S]),
}

impl<'a, S> PictureBuffer<'a, S> {
    /// Creates a picture of `channels` consecutive planes: (B, T, C, H, W).
    pub fn planes(picture: &'a mut [S], channels: usize) -> Self {
        if channels == 1 {
            return PictureBuffer::Gray(picture);
        }
        let (first, rest) = picture.split_at_mut(picture.len() / 3);
        let (second, third) = rest.split_at_mut(first.len());
        PictureBuffer::Planes([first, second, third])
    }

    /// Creates a picture whose pixels have their `channels` side by side: (B, T, H, W, C).
    pub fn pixels(picture: &'a mut [S], channels: usize) -> Self {
        if channels == 1 { PictureBuffer::Gray(picture) } else { PictureBuffer::Pixels(picture) }
    }

    /// Sets all values to 0.
    pub fn clear(self)
    where
        S: Default + Clone,
    {
        match self {
            PictureBuffer::Gray(plane) | PictureBuffer::Pixels(plane) => plane.fill(S::default()),
            PictureBuffer::Planes(planes) => planes.into_iter().for_each(|plane| plane.fill(S::default())),
        }
    }

    /// Creates the pictures of a clip of `frames` frames. Each plane follows that of the previous frame: (B, C, T,
    /// H, W).
    pub fn clip(clip: &'a mut [S], channels: usize, frames: usize) -> Vec<Self> {
        let plane = (clip.len() / channels / frames.max(1)).max(1);
        if channels == 1 {
            return clip.chunks_exact_mut(plane).map(PictureBuffer::Gray).collect();
        }
        let (first, rest) = clip.split_at_mut(clip.len() / 3);
        let (second, third) = rest.split_at_mut(first.len());
        let planes = [first, second, third].map(|planes| planes.chunks_exact_mut(plane));
        let [first, second, third] = planes;
        first.zip(second).zip(third).map(|((a, b), c)| PictureBuffer::Planes([a, b, c])).collect()
    }
}

/// A type of value in a batch.
pub(crate) trait SampleType: bytemuck::Pod + Default + Send + Sync {
    /// Whether values are normalized. If not, they are levels of 0 to 255, and both functions saturate those outside this
    /// range.
    const NORMALIZED: bool;

    /// Converts `values`, rounding to the nearest, ties to even.
    fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [Self; BLOCK]);

    /// Converts `values` in the same way, to a batch: see [`Isa::stream`].
    fn write<I: Isa>(isa: I, values: I::Floats, out: &mut [Self; BLOCK]);
}

macro_rules! sample_types {
    ($($type:ty: $normalized:literal, $store:ident, $write:ident;)+) => {$(
        impl SampleType for $type {
            const NORMALIZED: bool = $normalized;

            #[inline(always)]
            fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [Self; BLOCK]) {
                isa.$store(values, out);
            }

            #[inline(always)]
            fn write<I: Isa>(isa: I, values: I::Floats, out: &mut [Self; BLOCK]) {
                isa.$write(values, out);
            }
        }
    )+};
}

sample_types! {
    u8: false, store_bytes, store_bytes;
    f32: true, store, stream;
    f16: true, store_halves, store_halves;
    bf16: true, store_bfloats, store_bfloats;
}

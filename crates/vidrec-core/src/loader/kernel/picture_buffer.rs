//! The place of a picture in the batch, and the types of its values.

use half::{bf16, f16};

use super::isa::Isa;
use super::spec::BLOCK;

/// The samples of one picture in a batch, and no others. All pictures can therefore be written at the same time.
///
/// In (B, C, T, H, W), the planes of a clip's frames alternate. A slot holds each plane as its own slice. No two
/// slots share memory, and safe Rust proves it.
pub(crate) enum PictureBuffer<'a, S> {
    /// One plane for each of three channels, row by row.
    Planes([&'a mut [S]; 3]),
    /// The channels of each pixel side by side: one or three.
    Pixels(&'a mut [S]),
}

impl<'a, S> PictureBuffer<'a, S> {
    /// Creates a picture of three consecutive planes: (B, T, C, H, W).
    pub fn planes(picture: &'a mut [S]) -> Self {
        PictureBuffer::Planes(thirds(picture))
    }

    /// Sets all values to 0.
    pub fn clear(self)
    where
        S: Default + Clone,
    {
        match self {
            PictureBuffer::Pixels(pixels) => pixels.fill(S::default()),
            PictureBuffer::Planes(planes) => planes.into_iter().for_each(|plane| plane.fill(S::default())),
        }
    }

    /// Creates the pictures of a clip of `frames` frames with three channels. Each plane follows that of the previous frame:
    /// (B, C, T, H, W).
    pub fn clip(clip: &'a mut [S], frames: usize) -> Vec<Self> {
        let [first, second, third] = thirds(clip).map(|planes| planes.chunks_exact_mut(planes.len() / frames));
        first.zip(second).zip(third).map(|((a, b), c)| PictureBuffer::Planes([a, b, c])).collect()
    }
}

fn thirds<S>(all: &mut [S]) -> [&mut [S]; 3] {
    let (first, rest) = all.split_at_mut(all.len() / 3);
    let (second, third) = rest.split_at_mut(first.len());
    [first, second, third]
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

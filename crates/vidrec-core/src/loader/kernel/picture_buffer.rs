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

#[cfg(test)]
mod tests {
    use super::super::isa::Portable;
    use super::*;
    use proptest::prelude::*;

    fn mark(slot: PictureBuffer<'_, u8>, value: u8) {
        match slot {
            PictureBuffer::Pixels(pixels) => pixels.fill(value),
            PictureBuffer::Planes(planes) => planes.into_iter().zip(1..).for_each(|(plane, c)| plane.fill(value + c)),
        }
    }

    #[test]
    fn planes_of_a_clip_lie_channel_by_channel() {
        let mut clip = [0; 12];
        PictureBuffer::clip(&mut clip, 2).into_iter().zip([10, 20]).for_each(|(slot, value)| mark(slot, value));
        assert_eq!(clip, [11, 11, 21, 21, 12, 12, 22, 22, 13, 13, 23, 23]);
    }

    #[test]
    fn planes_of_a_picture_follow_each_other() {
        let mut picture = [0; 6];
        mark(PictureBuffer::planes(&mut picture), 0);
        assert_eq!(picture, [1, 1, 2, 2, 3, 3]);
    }

    fn one<S: SampleType>(value: f32) -> S {
        let mut out = [S::default(); BLOCK];
        S::store(Portable, [value; BLOCK], &mut out);
        out[0]
    }

    #[test]
    fn bytes_are_the_nearest_and_every_level_is_itself() {
        assert!((0..=255u8).all(|level| one::<u8>(level.into()) == level));
        let rounded = [0.49, 0.5, 0.51, 1.5, 2.5, 254.4999, 254.6].map(one::<u8>);
        assert_eq!(rounded, [0, 0, 1, 2, 2, 254, 255]);
    }

    proptest! {
        #[test]
        fn halves_are_the_nearest_in_both_formats(value in -70000.0f32..70000.0, small in -1e-6f32..1e-6) {
            for value in [value, small, value / 1000.0] {
                prop_assert_eq!(one::<bf16>(value), bf16::from_f32(value));
                prop_assert_eq!(one::<f16>(value), f16::from_f32(value));
            }
        }
    }
}

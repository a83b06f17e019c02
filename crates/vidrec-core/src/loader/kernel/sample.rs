//! The types of value that a batch can have, and the conversion of floats to them.

use half::{bf16, f16};

use super::isa::Isa;
use super::units::BLOCK;

/// A type of value in a batch.
pub(crate) trait SampleType: Copy + Default + Send + Sync + 'static {
    /// Whether values are normalized. If not, they are levels of 0 to 255.
    const NORMALIZED: bool;

    /// Whether [`store`](Self::store) and [`write`](Self::write) saturate values outside their range.
    const SATURATES: bool = false;

    /// Converts `values`, rounding to the nearest, ties to even.
    fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [Self; BLOCK]);

    /// Converts `values` in the same way, to a batch: see [`Isa::stream`].
    #[inline(always)]
    fn write<I: Isa>(isa: I, values: I::Floats, out: &mut [Self; BLOCK]) {
        Self::store(isa, values, out);
    }
}

impl SampleType for u8 {
    const NORMALIZED: bool = false;
    const SATURATES: bool = true;

    #[inline(always)]
    fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [u8; BLOCK]) {
        isa.store_bytes(values, out);
    }
}

impl SampleType for f32 {
    const NORMALIZED: bool = true;

    #[inline(always)]
    fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [f32; BLOCK]) {
        isa.store(values, out);
    }

    #[inline(always)]
    fn write<I: Isa>(isa: I, values: I::Floats, out: &mut [f32; BLOCK]) {
        isa.stream(values, out);
    }
}

impl SampleType for f16 {
    const NORMALIZED: bool = true;

    #[inline(always)]
    fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [f16; BLOCK]) {
        isa.store_halves(values, out);
    }
}

impl SampleType for bf16 {
    const NORMALIZED: bool = true;

    #[inline(always)]
    fn store<I: Isa>(isa: I, values: I::Floats, out: &mut [bf16; BLOCK]) {
        isa.store_bfloats(values, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::Portable;
    use super::*;
    use proptest::prelude::*;

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

//! What each kind of machine must compute: the inner loops, with the same bits everywhere.
//!
//! A resized row is made in two steps. [`Isa::blend`] makes one row of a plane out of several, in units of 1/128 of a
//! level. [`Isa::columns`] then makes the picture's columns from that row, sixteen at a time, in units of
//! [`UNIT`](super::super::units::UNIT) to a level. Integers define both steps. The rest is done in floats, one
//! operation after the other, none of them fused, so it has the same bits everywhere too.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::super::column_table::{ColumnTable, Windows};
use super::super::units::BLOCK;
use super::lines::LineBlock;

/// The inner loops for one kind of machine. A value exists only where the machine is of that kind.
pub(crate) trait Isa: Copy {
    /// Floats of a [`BLOCK`], in registers.
    type Floats: Copy;

    /// One float for all of a block, made before a loop and used in each round of it.
    type Constant: Copy;

    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl IsaWork);

    /// For each row in turn, `line[i] += (row[i] - base[i]) * weight` in units of 1/128, with a weight in units of
    /// 2^-15, rounded to nearest with halves up, as the instruction `pmulhrsw` computes it. The sum saturates, because
    /// the roundings of hundreds of rows may add up to more than there is room for. With `begin` the line is first set
    /// to `base`.
    ///
    /// `base` and all rows have the same length. `line` has [`ColumnTable::line_len`] samples; those after that
    /// length become anything.
    fn blend<const N: usize>(self, line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool);

    /// Whether [`columns`](Self::columns) can use such windows.
    fn has_loops_for(self, windows: Windows) -> bool;

    /// A block of the picture's columns, from each line, in units of 1 / [`UNIT`](super::super::units::UNIT).
    fn columns<const N: usize>(self, block: LineBlock<'_, N>) -> [Self::Floats; N];

    /// The same for all blocks, of any columns, before they become floats.
    #[inline(always)]
    fn sums(self, line: &[i16], columns: &ColumnTable, out: &mut [[i32; BLOCK]]) {
        for (out, (first, weights)) in out.as_flattened_mut().iter_mut().zip(columns.pixels()) {
            let samples = &line[first..][..weights.len()];
            *out = samples.iter().zip(weights).map(|(&sample, &weight)| i32::from(sample) * i32::from(weight)).sum();
        }
    }

    fn floats(self, sums: &[i32; BLOCK]) -> Self::Floats;

    fn constant(self, value: f32) -> Self::Constant;

    fn splat(self, value: Self::Constant) -> Self::Floats;

    /// `a * factor + b`, rounded twice.
    fn scale_and_add(self, a: Self::Floats, factor: Self::Constant, b: Self::Floats) -> Self::Floats;

    /// `if v > low { v } else { low }`, and then `if v < high { v } else { high }`.
    fn clamp(self, values: Self::Floats, low: Self::Constant, high: Self::Constant) -> Self::Floats;

    /// From sixteen values of each of three channels to the values of sixteen pixels, one after the other: the first
    /// pixel's three, and so on.
    fn interleave(self, channels: [Self::Floats; 3]) -> [Self::Floats; 3];

    fn store(self, values: Self::Floats, out: &mut [f32; BLOCK]);

    /// The same, perhaps past the caches: a batch is larger than they are, and nobody reads it until it is complete.
    #[inline(always)]
    fn stream(self, values: Self::Floats, out: &mut [f32; BLOCK]) {
        self.store(values, out);
    }

    /// Rounds to the nearest whole number from 0 to 255, ties to even. What is no number becomes 0.
    #[inline(always)]
    fn store_bytes(self, values: Self::Floats, out: &mut [u8; BLOCK]) {
        let values = self.clamp(values, self.constant(0.0), self.constant(255.0));
        let mut floats = [0.0; BLOCK];
        self.store(values, &mut floats);
        *out = floats.map(|value| (value + ROUND).to_bits() as u8);
    }

    /// Rounds to the nearest half, ties to even.
    #[inline(always)]
    fn store_halves(self, values: Self::Floats, out: &mut [f16; BLOCK]) {
        let mut floats = [0.0; BLOCK];
        self.store(values, &mut floats);
        out.convert_from_f32_slice(&floats);
    }

    /// Rounds to the nearest bfloat16, ties to even. What is no number may become an infinity.
    #[inline(always)]
    fn store_bfloats(self, values: Self::Floats, out: &mut [bf16; BLOCK]) {
        let mut floats = [0.0; BLOCK];
        self.store(values, &mut floats);
        let round = |bits: u32| bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        *out = floats.map(|value: f32| bf16::from_bits(round(value.to_bits()) as u16));
    }

    /// Makes [`stream`](Self::stream)ed values visible to others like any other store. Comes last.
    #[inline(always)]
    fn finish(self) {}
}

/// A float of 2^23 or more has no fraction, so adding 2^23 rounds to the nearest and puts a level in the lowest bits.
pub(super) const ROUND: f32 = 8_388_608.0;

/// Work that is generic over the machine.
pub(crate) trait IsaWork {
    fn run<I: Isa>(self, isa: I);
}

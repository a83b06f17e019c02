//! The inner loops that each kind of machine must compute, with the same bits everywhere.
//!
//! A resized row is made in two steps. [`Isa::blend`] blends several rows of a plane into one, in units of 1/128
//! of a level. [`Isa::columns`] then makes the picture's columns from that row, sixteen at a time, in units of
//! [`UNIT`](super::super::spec::UNIT) to a level. Both steps use integers. The rest uses floats, one operation
//! after another without fused operations, so it has the same bits everywhere too.

use bytemuck::must_cast;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::super::plane_tables::{Block, ColumnTable, PairWeights};
use super::super::spec::BLOCK;

/// The inner loops for one kind of machine. A value of this type exists only on a machine of that kind.
pub(crate) trait Isa: Copy {
    /// The floats of a [`BLOCK`], in registers.
    type Floats: bytemuck::Pod;

    /// One float for a whole block, made before a loop and used in each round of it.
    type Constant: Copy;

    /// Whether [`columns`](Self::columns) works, for narrow windows. If not, [`sums`](Self::sums) replaces it.
    const HAS_COLUMNS: bool = true;

    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl IsaWork);

    /// Adds rows to a line: for each row in turn, `line[i] += (row[i] - base[i]) * weight` in units of 1/128. The
    /// weight is in units of 2^-15. The product is rounded to nearest with halves up, as by the instruction
    /// `pmulhrsw`. The sum saturates, because the roundings of hundreds of rows may add up to more than the type
    /// can hold. With `begin`, the line is first set to `base`.
    ///
    /// `base` and all rows have the same length. `line` has [`ColumnTable::line_len`] samples. Those after the
    /// length of the rows become unspecified.
    fn blend<const N: usize>(self, line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool);

    /// Makes a block of the picture's columns from each line, in units of 1 / [`UNIT`](super::super::spec::UNIT).
    fn columns<const N: usize>(self, block: LineBlock<'_, N>) -> [Self::Floats; N];

    /// Makes all blocks, of any columns, as integers before they become floats.
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

    /// Interleaves sixteen values of each of three channels: the three values of the first pixel, then those of
    /// the next, and so on.
    fn interleave(self, channels: [Self::Floats; 3]) -> [Self::Floats; 3];

    #[inline(always)]
    fn store(self, values: Self::Floats, out: &mut [f32; BLOCK]) {
        *out = must_cast(values);
    }

    /// Stores the values, perhaps past the caches: a batch is larger than the caches, and it is not read until it
    /// is complete.
    #[inline(always)]
    fn stream(self, values: Self::Floats, out: &mut [f32; BLOCK]) {
        self.store(values, out);
    }

    /// Rounds to the nearest whole number from 0 to 255, ties to even. NaN becomes 0.
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

    /// Rounds to the nearest bfloat16, ties to even. NaN may become an infinity.
    #[inline(always)]
    fn store_bfloats(self, values: Self::Floats, out: &mut [bf16; BLOCK]) {
        let mut floats = [0.0; BLOCK];
        self.store(values, &mut floats);
        let round = |bits: u32| bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        *out = floats.map(|value: f32| bf16::from_bits(round(value.to_bits()) as u16));
    }

    /// Makes [`stream`](Self::stream)ed values visible to others like any other store. Call it last.
    #[inline(always)]
    fn finish(self) {}
}

/// A float of 2^23 or more has no fraction, so adding 2^23 rounds to the nearest and puts a level in the lowest bits.
pub(super) const ROUND: f32 = 8_388_608.0;

/// Work that is generic over the machine.
pub(crate) trait IsaWork {
    fn run<I: Isa>(self, isa: I);
}

/// The inner loops in plain Rust: for any machine, and the definition of what the others compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

impl Isa for Portable {
    type Floats = [f32; BLOCK];
    type Constant = f32;

    const HAS_COLUMNS: bool = false;

    fn run(self, work: impl IsaWork) {
        work.run(self);
    }

    #[inline(always)]
    fn blend<const N: usize>(self, line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool) {
        if begin {
            line.iter_mut().zip(base).for_each(|(sum, &base)| *sum = i16::from(base) << 7);
        }
        for (row, weight) in rows {
            for ((sum, &base), &row) in line.iter_mut().zip(base).zip(row) {
                *sum = sum.saturating_add(step(base, row, weight));
            }
        }
    }

    #[inline(always)]
    fn columns<const N: usize>(self, _: LineBlock<'_, N>) -> [[f32; BLOCK]; N] {
        [[0.0; BLOCK]; N]
    }

    #[inline(always)]
    fn floats(self, sums: &[i32; BLOCK]) -> [f32; BLOCK] {
        sums.map(|sum| sum as f32)
    }

    #[inline(always)]
    fn constant(self, value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn splat(self, value: f32) -> [f32; BLOCK] {
        [value; BLOCK]
    }

    #[inline(always)]
    fn scale_and_add(self, a: [f32; BLOCK], factor: f32, b: [f32; BLOCK]) -> [f32; BLOCK] {
        std::array::from_fn(|i| a[i] * factor + b[i])
    }

    #[inline(always)]
    fn clamp(self, values: [f32; BLOCK], low: f32, high: f32) -> [f32; BLOCK] {
        values.map(|v| if v > low { v } else { low }).map(|v| if v < high { v } else { high })
    }

    #[inline(always)]
    fn interleave(self, channels: [[f32; BLOCK]; 3]) -> [[f32; BLOCK]; 3] {
        std::array::from_fn(|part| std::array::from_fn(|i| channels[(part * BLOCK + i) % 3][(part * BLOCK + i) / 3]))
    }
}

/// The amount that a row adds to the base where it differs from it. It fits an i16, because the difference is at
/// most 255 * 128.
#[inline(always)]
fn step(base: u8, row: u8, weight: i16) -> i16 {
    let difference = (i32::from(row) - i32::from(base)) << 7;
    ((difference * i32::from(weight) + (1 << 14)) >> 15) as i16
}

/// Methods that each kind of machine has, with its types of floats and constants, and more methods of [`Isa`]. They call
/// functions of the same names, which are compiled for the machine.
macro_rules! compiled_for_machine {
    (x86 $floats:ty, $constant:ty; $($more:tt)*) => {
        compiled_for_machine! { type $floats, $constant;
            fn sums(self, line: &[i16], columns: &ColumnTable, out: &mut [[i32; BLOCK]]);
            fn store_bytes(self, values: $floats, out: &mut [u8; BLOCK]);
            fn store_halves(self, values: $floats, out: &mut [f16; BLOCK]);
            fn store_bfloats(self, values: $floats, out: &mut [bf16; BLOCK]);
            $($more)*
        }
    };
    (type $floats:ty, $constant:ty; $($more:tt)*) => {
        type Floats = $floats;
        type Constant = $constant;

        compiled_for_machine! {
            fn run(self, work: impl IsaWork);
            fn blend<const N: usize>(self, line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool);
            fn columns<const N: usize>(self, block: LineBlock<'_, N>) -> [$floats; N];
            fn floats(self, sums: &[i32; BLOCK]) -> $floats;
            fn constant(self, value: f32) -> $constant;
            fn splat(self, value: $constant) -> $floats;
            fn scale_and_add(self, a: $floats, factor: $constant, b: $floats) -> $floats;
            fn clamp(self, values: $floats, low: $constant, high: $constant) -> $floats;
            fn interleave(self, channels: [$floats; 3]) -> [$floats; 3];
            $($more)*
        }
    };
    ($(fn $name:ident$(<const $n:ident: usize>)?(self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)+) => {$(
        #[inline(always)]
        fn $name$(<const $n: usize>)?(self $(, $argument: $type)*) $(-> $result)? {
            // SAFETY: the machine has the features, or `self` could not have been made.
            unsafe { $name($($argument),*) }
        }
    )+};
}

/// Functions for a machine with these features.
macro_rules! with_features {
    ($features:literal: $($function:item)+) => {$(
        #[inline]
        #[target_feature(enable = $features)]
        $function
    )+};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use {compiled_for_machine, with_features};

/// One line of each of several planes that have the same columns.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a, const N: usize> {
    lines: [&'a [i16]; N],
    columns: &'a ColumnTable,
}

/// A block of the picture's columns, and the lines that make it. Only [`Lines`] creates one, so the lines have all
/// samples under the windows of the block, for every pair of weights: see [`ColumnTable::blocks`].
pub(crate) struct LineBlock<'a, const N: usize> {
    pub(super) lines: [&'a [i16]; N],
    pub(super) block: &'a Block,
    /// One array for each pair of samples.
    pub(super) weights: &'a [PairWeights],
}

impl<'a, const N: usize> Lines<'a, N> {
    /// # Panics
    ///
    /// If a line does not have [`ColumnTable::line_len`] samples.
    #[inline(always)]
    pub fn new(lines: [&'a [i16]; N], columns: &'a ColumnTable) -> Self {
        assert!(lines.iter().all(|line| line.len() >= columns.line_len()), "a line is too short for its columns");
        Lines { lines, columns }
    }

    /// The blocks, one after another.
    #[inline(always)]
    pub fn blocks(self) -> impl DoubleEndedIterator<Item = LineBlock<'a, N>> + ExactSizeIterator {
        self.columns.blocks().map(move |(block, weights)| LineBlock { lines: self.lines, block, weights })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::axis::{PlaneAxis, Samples};
    use super::super::super::spec::Span;
    use super::*;

    fn columns() -> ColumnTable {
        let span = Span { bounds: (0, 100), start: 0.0, scale: 1.5 };
        ColumnTable::new(PlaneAxis { span, side: 100, step: 1, samples: Samples::Full }, 50, false)
    }

    #[test]
    #[should_panic(expected = "a line is too short for its columns")]
    fn a_line_that_is_a_sample_too_short_is_refused() {
        let columns = columns();
        let (line, short) = (vec![0; columns.line_len()], vec![0; columns.line_len() - 1]);
        Lines::new([&line[..], &short], &columns);
    }
}

//! The inner loops in plain Rust: for any machine, and the definition of what the others compute.

use super::super::plane_tables::Windows;
use super::super::spec::BLOCK;
use super::loops::{Isa, IsaWork, LineBlock};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

impl Isa for Portable {
    type Floats = [f32; BLOCK];
    type Constant = f32;

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

    /// No windows: [`sums`](Isa::sums) does not need them.
    #[inline(always)]
    fn has_loops_for(self, _: Windows) -> bool {
        false
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

    #[inline(always)]
    fn store(self, values: [f32; BLOCK], out: &mut [f32; BLOCK]) {
        *out = values;
    }
}

/// The amount that a row adds to the base where it differs from it. It fits an i16, because the difference is at
/// most 255 * 128.
#[inline(always)]
fn step(base: u8, row: u8, weight: i16) -> i16 {
    let difference = (i32::from(row) - i32::from(base)) << 7;
    ((difference * i32::from(weight) + (1 << 14)) >> 15) as i16
}

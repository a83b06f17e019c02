//! The inner loops for 64-bit ARM, where every machine has NEON.

use std::arch::aarch64::*;

use bytemuck::must_cast;

use super::super::spec::BLOCK;
use super::loops::{Isa, IsaWork, LineBlock, Portable, compiled_for_machine, with_features};

/// Proof that the machine has NEON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neon(());

impl Neon {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }
}

/// A block in four registers.
type Floats = [float32x4_t; 4];

impl Isa for Neon {
    compiled_for_machine!(type Floats, f32;);
}

with_features! { "neon":
fn run(work: impl IsaWork) {
    work.run(Neon(()));
}

fn constant(value: f32) -> f32 {
    value
}

/// `vqrdmulh` doubles, rounds and takes the upper half. This equals `pmulhrsw` except for -2^15 times itself, and
/// no difference of two samples is that large.
fn blend<const N: usize>(line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool) {
    const VECTOR: usize = 8;
    let whole = base.len() / VECTOR * VECTOR;
    let (line, rest) = line.split_at_mut(whole);
    let (base, base_rest) = base.split_at(whole);
    let split = rows.map(|(row, weight)| (row.split_at(whole), weight));
    for (i, line) in line.as_chunks_mut::<VECTOR>().0.iter_mut().enumerate() {
        let base = widen(&base.as_chunks().0[i]);
        let mut sum = if begin { base } else { must_cast(*line) };
        for ((row, _), weight) in split {
            sum = vqaddq_s16(sum, vqrdmulhq_n_s16(vsubq_s16(widen(&row.as_chunks().0[i]), base), weight));
        }
        *line = must_cast(sum);
    }
    Portable.blend(rest, base_rest, split.map(|((_, row), weight)| (row, weight)), begin);
}

/// Each register makes four pixels: it shuffles a window of eight samples into a pair for each pixel.
fn columns<const N: usize>(LineBlock { lines, block, weights }: LineBlock<'_, N>) -> [Floats; N] {
    let mut floats = [[vdupq_n_f32(0.0); 4]; N];
    for quarter in 0..4 {
        let (half, side) = (quarter / 2, quarter % 2);
        let shuffle = must_cast(block.shuffles[half].as_chunks::<16>().0[side]);
        let mut sums = [vdupq_n_s32(0); N];
        let mut at = block.windows[half][side] as usize;
        for weights in weights {
            let weights = must_cast(weights.0.as_chunks::<8>().0[quarter]);
            for (sum, line) in sums.iter_mut().zip(lines) {
                // SAFETY: `at` is where one of the block's windows begins, plus two samples for each pair after
                // the first.
                let samples = vreinterpretq_u8_s16(unsafe { window(line, at) });
                let pairs = vreinterpretq_s16_u8(vqtbl1q_u8(samples, shuffle));
                let low = vmull_s16(vget_low_s16(pairs), vget_low_s16(weights));
                let high = vmull_high_s16(pairs, weights);
                *sum = vaddq_s32(*sum, vpaddq_s32(low, high));
            }
            at += 2;
        }
        for (floats, sums) in floats.iter_mut().zip(sums) {
            floats[quarter] = vcvtq_f32_s32(sums);
        }
    }
    floats
}

fn splat(value: f32) -> Floats {
    [vdupq_n_f32(value); 4]
}

fn floats(sums: &[i32; BLOCK]) -> Floats {
    must_cast::<_, [int32x4_t; 4]>(*sums).map(|sums| vcvtq_f32_s32(sums))
}

fn scale_and_add(a: Floats, factor: f32, mut b: Floats) -> Floats {
    for (a, b) in a.into_iter().zip(&mut b) {
        *b = vaddq_f32(vmulq_n_f32(a, factor), *b);
    }
    b
}

/// Clamps by comparing, because `vmaxq` and `vminq` treat zeros and NaN differently.
fn clamp(mut values: Floats, low: f32, high: f32) -> Floats {
    let (low, high) = (vdupq_n_f32(low), vdupq_n_f32(high));
    for value in &mut values {
        let above = vbslq_f32(vcgtq_f32(*value, low), *value, low);
        *value = vbslq_f32(vcltq_f32(above, high), above, high);
    }
    values
}

fn interleave([r, g, b]: [Floats; 3]) -> [Floats; 3] {
    let mut values = [[0.0; BLOCK]; 3];
    for (i, four) in values.as_flattened_mut().as_chunks_mut::<12>().0.iter_mut().enumerate() {
        // SAFETY: writes the 48 bytes of the array.
        unsafe { vst3q_f32(four.as_mut_ptr(), float32x4x3_t(r[i], g[i], b[i])) }
    }
    values.map(must_cast)
}

/// Eight samples from `at` on.
///
/// # Safety
///
/// `samples` has eight samples from `at` on. The lines of a [`LineBlock`] have them from each of its windows on,
/// and two samples further on for each pair after the first.
unsafe fn window(samples: &[i16], at: usize) -> int16x8_t {
    debug_assert!(at + 8 <= samples.len());
    // SAFETY: reads 16 bytes, which are there, as promised.
    unsafe { vld1q_s16(samples.as_ptr().add(at)) }
}

/// Eight samples in units of 1/128.
fn widen(bytes: &[u8; 8]) -> int16x8_t {
    vreinterpretq_s16_u16(vshll_n_u8::<7>(must_cast(*bytes)))
}
}

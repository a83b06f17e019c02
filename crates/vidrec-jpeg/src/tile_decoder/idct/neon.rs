//! The inverse DCT for 64-bit ARM, where every machine has NEON: a block at a time, eight lines side by side.

use std::arch::aarch64::*;

use super::portable;
use super::transform::Factors;
use super::transform::*;
use super::transform::{FIRST_ROW_BITS, Idct, IdctWork, SampleRows};
use crate::tile_decoder::mcu::Block;

/// Proof that the machine has NEON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeonIdct(());

impl NeonIdct {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(NeonIdct(()))
    }
}

impl Idct for NeonIdct {
    fn run(self, work: impl IdctWork) -> Option<()> {
        #[target_feature(enable = "neon")]
        fn run(idct: NeonIdct, work: impl IdctWork) -> Option<()> {
            work.run(idct)
        }
        // SAFETY: the machine has the feature, or `self` could not have been made.
        unsafe { run(self, work) }
    }

    #[inline(always)]
    fn full(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
        // SAFETY: as in `run`.
        unsafe { full(blocks, factors, out) }
    }

    #[inline(always)]
    fn half(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
        // SAFETY: as in `run`.
        unsafe { half(blocks, factors, out) }
    }

    #[inline(always)]
    fn quarter(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) {
        // SAFETY: as in `run`.
        unsafe { quarter(blocks, factors, out) }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn full(blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
    for (i, block) in blocks.into_iter().enumerate() {
        let rows = dequantize(block, i, factors);
        if !fits(rows[0]) {
            return false;
        }
        let columns = full_line::<11>(rows);
        let rows = transpose(full_line::<18>(transpose(columns)));
        for (out, row) in out.iter_mut().zip(rows) {
            store(&mut out.as_chunks_mut::<8>().0[i], samples(row));
        }
    }
    true
}

#[inline]
#[target_feature(enable = "neon")]
fn half(blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
    for (i, block) in blocks.into_iter().enumerate() {
        let rows = dequantize(block, i, factors);
        if !fits(rows[0]) {
            return false;
        }
        let zero = vdupq_n_s16(0);
        let [r0, r1, r2, r3] = half_line::<12>(rows);
        // Only the first four values of each column, and then of each row, count.
        let [c0, c1, c2, c3] = half_line::<19>(transpose([r0, r1, r2, r3, zero, zero, zero, zero]));
        let rows = transpose([c0, c1, c2, c3, zero, zero, zero, zero]);
        for (out, row) in out[..4].iter_mut().zip(rows) {
            let mut eight = [0; 8];
            store(&mut eight, samples(row));
            out.as_chunks_mut::<4>().0[i] = eight.as_chunks().0[0];
        }
    }
    true
}

#[inline]
#[target_feature(enable = "neon")]
fn quarter(blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) {
    // The factors of columns 1, 3, 5 and 7. The first column comes later, and the other three do not count.
    let [a, b, c, d] = [F_3_624, -F_1_272, F_0_850, -F_0_720].map(|factor| factor as i16);
    let odd_factors = load(&[0, a, 0, b, 0, c, 0, d]);
    for (i, block) in blocks.into_iter().enumerate() {
        for (out, [low, high]) in out.iter_mut().zip(quarter_line(dequantize(block, i, factors))) {
            let row = vqmovn_high_s32(vqmovn_s32(low), high);
            let products = vmull_s16(vget_low_s16(row), vget_low_s16(odd_factors));
            let odd = vaddvq_s32(vaddq_s32(products, vmull_high_s16(row, odd_factors)));
            out[2 * i..][..2].copy_from_slice(&portable::quarter_row(vgetq_lane_s32::<0>(low), odd));
        }
    }
}

/// The coefficients of block `i` times their factors, row by row.
#[inline]
#[target_feature(enable = "neon")]
fn dequantize(block: &Block, i: usize, Factors(factors): &Factors) -> [int16x8_t; 8] {
    let mut rows = [vdupq_n_s16(0); 8];
    for ((row, coefficients), factors) in rows.iter_mut().zip(block.as_chunks().0).zip(factors) {
        *row = vmulq_s16(load(coefficients), load(&factors.as_chunks().0[i]));
    }
    rows
}

/// Whether all values have [`FIRST_ROW_BITS`].
#[inline]
#[target_feature(enable = "neon")]
fn fits(row: int16x8_t) -> bool {
    const SPARE: i32 = (i16::BITS - FIRST_ROW_BITS) as i32;
    let cut = vshrq_n_s16::<SPARE>(vshlq_n_s16::<SPARE>(row));
    vminvq_u16(vceqq_s16(cut, row)) != 0
}

/// The sums of two products each, in 32 bits: those of the lower four columns, and those of the upper four.
type Sums = [int32x4_t; 2];

/// `a * x + b * y`. The factors have 16 bits.
#[inline]
#[target_feature(enable = "neon")]
fn dot(x: int16x8_t, a: i32, y: int16x8_t, b: i32) -> Sums {
    let (a, b) = (vdupq_n_s16(a as i16), vdupq_n_s16(b as i16));
    let low = vmull_s16(vget_low_s16(x), vget_low_s16(a));
    let high = vmull_high_s16(x, a);
    [vmlal_s16(low, vget_low_s16(y), vget_low_s16(b)), vmlal_high_s16(high, y, b)]
}

#[inline]
#[target_feature(enable = "neon")]
fn add(a: Sums, b: Sums) -> Sums {
    [vaddq_s32(a[0], b[0]), vaddq_s32(a[1], b[1])]
}

#[inline]
#[target_feature(enable = "neon")]
fn sub(a: Sums, b: Sums) -> Sums {
    [vsubq_s32(a[0], b[0]), vsubq_s32(a[1], b[1])]
}

/// Returns `x` times 2^`SHIFT`.
#[inline]
#[target_feature(enable = "neon")]
fn scaled<const SHIFT: i32>(x: int16x8_t) -> Sums {
    [vshll_n_s16::<SHIFT>(vget_low_s16(x)), vshll_high_n_s16::<SHIFT>(x)]
}

/// The sum and the difference of the even and the odd part, shifted, rounded and reduced to 16 bits.
#[inline]
#[target_feature(enable = "neon")]
fn butterfly<const SHIFT: i32>(even: Sums, odd: Sums) -> [int16x8_t; 2] {
    [descale::<SHIFT>(add(even, odd)), descale::<SHIFT>(sub(even, odd))]
}

/// This takes several steps, because NEON's rounding shift does not wrap around on overflow, and its narrowing
/// shift moves at most 16 bits.
#[inline]
#[target_feature(enable = "neon")]
fn descale<const SHIFT: i32>([low, high]: Sums) -> int16x8_t {
    let round = vdupq_n_s32(1 << (SHIFT - 1));
    let low = vshrq_n_s32::<SHIFT>(vaddq_s32(low, round));
    let high = vshrq_n_s32::<SHIFT>(vaddq_s32(high, round));
    vqmovn_high_s32(vqmovn_s32(low), high)
}

/// The transform of jidctint.c, `jpeg_idct_islow`, on eight lines side by side.
#[inline]
#[target_feature(enable = "neon")]
fn full_line<const SHIFT: i32>(v: [int16x8_t; 8]) -> [int16x8_t; 8] {
    let tmp3 = dot(v[2], F_0_541 + F_0_765, v[6], F_0_541);
    let tmp2 = dot(v[2], F_0_541, v[6], F_0_541 - F_1_847);
    let tmp0 = scaled::<13>(vaddq_s16(v[0], v[4]));
    let tmp1 = scaled::<13>(vsubq_s16(v[0], v[4]));

    let (z3, z4) = (vaddq_s16(v[7], v[3]), vaddq_s16(v[5], v[1]));
    let (z3, z4) = (dot(z3, F_1_175 - F_1_961, z4, F_1_175), dot(z3, F_1_175, z4, F_1_175 - F_0_390));
    let [a, h] = butterfly::<SHIFT>(add(tmp0, tmp3), add(dot(v[7], -F_0_899, v[1], F_1_501 - F_0_899), z4));
    let [b, g] = butterfly::<SHIFT>(add(tmp1, tmp2), add(dot(v[5], -F_2_562, v[3], F_3_072 - F_2_562), z3));
    let [c, f] = butterfly::<SHIFT>(sub(tmp1, tmp2), add(dot(v[5], F_2_053 - F_2_562, v[3], -F_2_562), z4));
    let [d, e] = butterfly::<SHIFT>(sub(tmp0, tmp3), add(dot(v[7], F_0_298 - F_0_899, v[1], -F_0_899), z3));
    [a, b, c, d, e, f, g, h]
}

/// The transform of jidctred.c, `jpeg_idct_4x4`, on eight lines side by side.
#[inline]
#[target_feature(enable = "neon")]
fn half_line<const SHIFT: i32>(v: [int16x8_t; 8]) -> [int16x8_t; 4] {
    let tmp0 = scaled::<14>(v[0]);
    let tmp2 = dot(v[2], F_1_847, v[6], -F_0_765);
    let first = add(dot(v[1], F_2_562, v[3], F_0_899), dot(v[5], -F_0_601, v[7], -F_0_509));
    let second = add(dot(v[1], F_1_061, v[3], -F_2_172), dot(v[5], F_1_451, v[7], -F_0_211));
    let [a, d] = butterfly::<SHIFT>(add(tmp0, tmp2), first);
    let [b, c] = butterfly::<SHIFT>(sub(tmp0, tmp2), second);
    [a, b, c, d]
}

/// The columns of jidctred.c, `jpeg_idct_2x2`, eight side by side. They remain 32 bits wide, which the first
/// column needs.
#[inline]
#[target_feature(enable = "neon")]
fn quarter_line(v: [int16x8_t; 8]) -> [Sums; 2] {
    let even = scaled::<15>(v[0]);
    let odd = add(dot(v[1], F_3_624, v[3], -F_1_272), dot(v[5], F_0_850, v[7], -F_0_720));
    let round = vdupq_n_s32(1 << 12);
    let [sum, difference] = [add(even, odd), sub(even, odd)];
    let shift = |v: int32x4_t| vshrq_n_s32::<13>(vaddq_s32(v, round));
    [[shift(sum[0]), shift(sum[1])], [shift(difference[0]), shift(difference[1])]]
}

/// Transposes rows to columns: it exchanges values, then pairs, then fours.
#[inline]
#[target_feature(enable = "neon")]
fn transpose([r0, r1, r2, r3, r4, r5, r6, r7]: [int16x8_t; 8]) -> [int16x8_t; 8] {
    let zip16 = |a, b| (vzip1q_s16(a, b), vzip2q_s16(a, b));
    let zip32 = |a, b| {
        let (a, b) = (vreinterpretq_s32_s16(a), vreinterpretq_s32_s16(b));
        (vzip1q_s32(a, b), vzip2q_s32(a, b))
    };
    let zip64 = |a, b| {
        let (a, b) = (vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b));
        (vreinterpretq_s16_s64(vzip1q_s64(a, b)), vreinterpretq_s16_s64(vzip2q_s64(a, b)))
    };
    let ((a0, a1), (b0, b1)) = (zip16(r0, r1), zip16(r2, r3));
    let ((c0, c1), (d0, d1)) = (zip16(r4, r5), zip16(r6, r7));
    let ((e0, e1), (e2, e3)) = (zip32(a0, b0), zip32(a1, b1));
    let ((f0, f1), (f2, f3)) = (zip32(c0, d0), zip32(c1, d1));
    let ((t0, t1), (t2, t3)) = (zip64(e0, f0), zip64(e1, f1));
    let ((t4, t5), (t6, t7)) = (zip64(e2, f2), zip64(e3, f3));
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// Adds 128, and clamps to 0 to 255.
#[inline]
#[target_feature(enable = "neon")]
fn samples(levels: int16x8_t) -> uint8x8_t {
    veor_u8(vreinterpret_u8_s8(vqmovn_s16(levels)), vdup_n_u8(0x80))
}

#[inline]
#[target_feature(enable = "neon")]
fn load(values: &[i16; 8]) -> int16x8_t {
    // SAFETY: reads the 16 bytes of the array.
    unsafe { vld1q_s16(values.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(samples: &mut [u8; 8], values: uint8x8_t) {
    // SAFETY: writes the 8 bytes of the array.
    unsafe { vst1_u8(samples.as_mut_ptr(), values) }
}

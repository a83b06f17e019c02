//! The forward DCT for x86-64 with AVX2: a line of eight in each register.

use std::arch::x86_64::*;

use super::portable::*;
use crate::encode::order::{Scaled, Scaling};

/// Proof that the machine has AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }

    #[inline]
    pub fn forward(self, samples: &[[u8; 8]; 8], scaling: &Scaling, zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
        // SAFETY: the machine has AVX2, or `self` could not have been made.
        unsafe { forward(samples, scaling, zero_up_to, out) }
    }
}

#[target_feature(enable = "avx2")]
fn forward(samples: &[[u8; 8]; 8], scaling: &Scaling, zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
    let center = _mm256_set1_ps(128.0);
    let load = |row: [u8; 8]| {
        let wide = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(row)));
        _mm256_sub_ps(_mm256_cvtepi32_ps(wide), center)
    };
    let [r0, r1, r2, r3, r4, r5, r6, r7] = *samples;
    let rows = [load(r0), load(r1), load(r2), load(r3), load(r4), load(r5), load(r6), load(r7)];
    let lines = transform(transpose(transform(rows)));
    let (sign, bound) = (_mm256_set1_ps(-0.0), _mm256_set1_ps(zero_up_to));
    let mut mask = [0; 8];
    for u in 0..8 {
        let scaled = _mm256_mul_ps(lines[u], bytemuck::cast(scaling[u]));
        out[u] = bytemuck::cast(scaled);
        let far = _mm256_cmp_ps::<_CMP_GT_OQ>(_mm256_andnot_ps(sign, scaled), bound);
        mask[u] = _mm256_movemask_ps(far) as u8;
    }
    mask
}

#[inline]
#[target_feature(enable = "avx2")]
fn transpose(l: [__m256; 8]) -> [__m256; 8] {
    let pair = |a, b| (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    let ((a0, a1), (a2, a3)) = (pair(l[0], l[1]), pair(l[2], l[3]));
    let ((a4, a5), (a6, a7)) = (pair(l[4], l[5]), pair(l[6], l[7]));
    let four = |a, b| (_mm256_shuffle_ps::<0x44>(a, b), _mm256_shuffle_ps::<0xEE>(a, b));
    let ((b0, b1), (b2, b3)) = (four(a0, a2), four(a1, a3));
    let ((b4, b5), (b6, b7)) = (four(a4, a6), four(a5, a7));
    let low = |a, b| _mm256_permute2f128_ps::<0x20>(a, b);
    let high = |a, b| _mm256_permute2f128_ps::<0x31>(a, b);
    [low(b0, b4), low(b1, b5), low(b2, b6), low(b3, b7), high(b0, b4), high(b1, b5), high(b2, b6), high(b3, b7)]
}

/// The transform across the eight lines, as in the portable version.
#[inline]
#[target_feature(enable = "avx2")]
fn transform(d: [__m256; 8]) -> [__m256; 8] {
    let (add, sub) = (|a, b| _mm256_add_ps(a, b), |a, b| _mm256_sub_ps(a, b));
    let times = |a, factor| _mm256_mul_ps(a, _mm256_set1_ps(factor));
    let (s07, d07, s16, d16) = (add(d[0], d[7]), sub(d[0], d[7]), add(d[1], d[6]), sub(d[1], d[6]));
    let (s25, d25, s34, d34) = (add(d[2], d[5]), sub(d[2], d[5]), add(d[3], d[4]), sub(d[3], d[4]));
    let (outer, outer_difference) = (add(s07, s34), sub(s07, s34));
    let (inner, inner_difference) = (add(s16, s25), sub(s16, s25));
    let even = times(add(inner_difference, outer_difference), C4);

    let (low, middle, high) = (add(d34, d25), add(d25, d16), add(d16, d07));
    let z5 = times(sub(low, high), C6);
    let z2 = add(times(low, C2_MINUS_C6), z5);
    let z4 = add(times(high, C2_PLUS_C6), z5);
    let z3 = times(middle, C4);
    let (z11, z13) = (add(d07, z3), sub(d07, z3));
    [
        add(outer, inner),
        add(z11, z4),
        add(outer_difference, even),
        sub(z13, z2),
        sub(outer, inner),
        add(z13, z2),
        sub(outer_difference, even),
        sub(z11, z4),
    ]
}

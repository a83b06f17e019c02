//! The inner loops for x86-64 with AVX-512 F, BW and VL (servers since 2017, Zen 4 since 2022).

use std::arch::asm;
use std::arch::x86_64::*;

use bytemuck::must_cast;
use half::{bf16, f16};

use super::super::plane_tables::{ColumnTable, PairWeights, Windows};
use super::super::spec::BLOCK;
use super::loops::{Isa, IsaWork, LineBlock, Lines, Portable, compiled_for_machine, with_features};

/// Proof that the machine has these parts of AVX-512, and AVX2 and F16C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub fn detect() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl");
        (wide && super::avx2::Avx2::detect().is_some()).then_some(Avx512(()))
    }
}

impl Isa for Avx512 {
    compiled_for_machine! { x86 __m512, __m512;
        fn stream(self, values: __m512, out: &mut [f32; BLOCK]);
        fn finish(self);
    }
}

with_features! { "avx512f,avx512bw,avx512vl,avx2,f16c":
fn run(work: impl IsaWork) {
    work.run(Avx512(()));
}

fn splat(value: __m512) -> __m512 {
    value
}

fn floats(sums: &[i32; BLOCK]) -> __m512 {
    _mm512_cvtepi32_ps(must_cast(*sums))
}

/// Keeps a value in a register. Otherwise, the compiler would read it from memory in each operation, and loads
/// limit the speed of the loop over a row.
fn constant(value: f32) -> __m512 {
    let mut constant = _mm512_set1_ps(value);
    // SAFETY: there is no instruction. The compiler only forgets what the register holds.
    unsafe { asm!("/* {0} */", inout(zmm_reg) constant, options(pure, nomem, nostack, preserves_flags)) };
    constant
}

fn scale_and_add(a: __m512, factor: __m512, b: __m512) -> __m512 {
    _mm512_add_ps(_mm512_mul_ps(a, factor), b)
}

fn clamp(values: __m512, low: __m512, high: __m512) -> __m512 {
    _mm512_min_ps(_mm512_max_ps(values, low), high)
}

fn blend<const N: usize>(line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool) {
    let length = base.len();
    assert!(rows.iter().all(|(row, _)| row.len() == length));
    let lines = &mut line.as_chunks_mut::<32>().0[..length.div_ceil(32)];
    for (i, line) in lines.iter_mut().enumerate() {
        let at = 32 * i;
        let mask = if length - at < 32 { (1 << (length - at)) - 1 } else { u32::MAX };
        // SAFETY: `at` is below `length`, the length of all slices of bytes, as just asserted. The mask has a bit for
        // each byte from there on; bytes without a bit are not read.
        let load = |bytes: &[u8]| unsafe {
            _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(mask, bytes.as_ptr().add(at).cast()))
        };
        let base = load(base);
        let mut sum = if begin { _mm512_slli_epi16::<7>(base) } else { must_cast(*line) };
        for (row, weight) in rows {
            let difference = _mm512_slli_epi16::<7>(_mm512_sub_epi16(load(row), base));
            sum = _mm512_adds_epi16(sum, _mm512_mulhrs_epi16(difference, _mm512_set1_epi16(weight)));
        }
        *line = must_cast(sum);
    }
}

/// Writes a whole cache line past the caches, because a cache would first have to read the line.
fn stream(values: __m512, out: &mut [f32; BLOCK]) {
    if !out.as_ptr().addr().is_multiple_of(size_of::<__m512>()) {
        *out = must_cast(values);
        return;
    }
    // SAFETY: writes the 64 bytes of the array, which are aligned, as just checked. `finish` orders the write before
    // any signal to other threads.
    unsafe { _mm512_stream_ps(out.as_mut_ptr(), values) }
}

#[allow(unused_unsafe)]
fn finish() {
    // SAFETY: every x86-64 machine has the instruction. Its function is unsafe in Rust 1.89, and safe in 1.95.
    unsafe { _mm_sfence() };
}

/// The conversion to unsigned bytes saturates values above 255, but takes values below 0 for large numbers.
fn store_bytes(values: __m512, out: &mut [u8; BLOCK]) {
    *out = must_cast(_mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(_mm512_max_ps(values, _mm512_setzero_ps()))));
}

fn store_halves(values: __m512, out: &mut [f16; BLOCK]) {
    *out = must_cast(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values));
}

/// Stores the upper halves, after adding half of the lowest bit that stays, or a little less if that bit is 0.
/// Ties therefore go to even.
fn store_bfloats(values: __m512, out: &mut [bf16; BLOCK]) {
    let bits = _mm512_castps_si512(values);
    let lowest = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    let sum = _mm512_add_epi32(bits, _mm512_add_epi32(lowest, _mm512_set1_epi32(0x7FFF)));
    *out = must_cast(_mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(sum)));
}

/// Permutes a window of 32 samples into a pair for each pixel.
fn columns<const N: usize>(LineBlock { lines, block, weights }: LineBlock<'_, N>) -> [__m512; N] {
    let order = must_cast(block.order);
    let mut at = block.window as usize;
    let mut sums = [_mm512_setzero_si512(); N];
    let Some((first, rest)) = weights.split_first() else { return [_mm512_setzero_ps(); N] };
    for (sum, line) in sums.iter_mut().zip(lines) {
        // SAFETY: `at` is where the block's window begins,
        *sum = unsafe { pairs(order, line, at, first) };
    }
    for weights in rest {
        at += 2;
        for (sum, line) in sums.iter_mut().zip(lines) {
            // SAFETY: and then two samples further for each pair.
            *sum = _mm512_add_epi32(*sum, unsafe { pairs(order, line, at, weights) });
        }
    }
    let mut floats = [_mm512_setzero_ps(); N];
    for (floats, sums) in floats.iter_mut().zip(sums) {
        *floats = _mm512_cvtepi32_ps(sums);
    }
    floats
}

/// The sums that the pairs from `at` on add to sixteen pixels.
///
/// # Safety
///
/// As for [`window`].
unsafe fn pairs(order: __m512i, line: &[i16], at: usize, weights: &PairWeights) -> __m512i {
    // SAFETY: as promised.
    let samples = unsafe { window(line, at) };
    _mm512_madd_epi16(_mm512_permutexvar_epi16(order, samples), must_cast(weights.0))
}

fn interleave([r, g, b]: [__m512; 3]) -> [__m512; 3] {
    let mut parts = [r; 3];
    for (part, [two, all]) in parts.iter_mut().zip(INTERLEAVING) {
        *part = _mm512_permutex2var_ps(_mm512_permutex2var_ps(r, must_cast(two), g), must_cast(all), b);
    }
    parts
}

/// Permutes windows of 64 samples, as `columns` does for 32.
fn sums(line: &[i16], columns: &ColumnTable, out: &mut [[i32; BLOCK]]) {
    if columns.windows == Windows::None {
        return Portable.sums(line, columns, out);
    }
    for (LineBlock { lines: [line], block, weights }, out) in Lines::new([line], columns).blocks().zip(out) {
        let order = must_cast(block.order);
        let mut sum = _mm512_setzero_si512();
        let mut at = block.window as usize;
        for weights in weights {
            // SAFETY: `at` is where the block's window of 64 begins, and then two samples further for each pair.
            let (low, high) = unsafe { (window(line, at), window(line, at + 32)) };
            let pairs = _mm512_permutex2var_epi16(low, order, high);
            sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, must_cast(weights.0)));
            at += 2;
        }
        *out = must_cast(sum);
    }
}

/// 32 samples from `at` on.
///
/// # Safety
///
/// `samples` has 32 samples from `at` on. The lines of a [`LineBlock`] have 64 from its window on, and two samples
/// further on for each pair after the first.
unsafe fn window(samples: &[i16], at: usize) -> __m512i {
    debug_assert!(at + 32 <= samples.len());
    // SAFETY: reads 64 bytes, which are there, as promised; needs no alignment.
    unsafe { _mm512_loadu_si512(samples.as_ptr().add(at).cast()) }
}
}

/// Two selections for each sixteen values. The first selects from the first two channels; the values of the second
/// channel count from 16. The second selects from these sixteen values and the third channel, counted likewise.
const INTERLEAVING: [[[u32; BLOCK]; 2]; 3] = {
    let mut orders = [[[0; BLOCK]; 2]; 3];
    let mut at = 0;
    while at < 3 * BLOCK {
        let (pixel, channel) = (at / 3, at % 3);
        let third = channel == 2;
        orders[at / BLOCK][0][at % BLOCK] = if third { 0 } else { pixel + channel * BLOCK } as u32;
        orders[at / BLOCK][1][at % BLOCK] = if third { pixel + BLOCK } else { at % BLOCK } as u32;
        at += 1;
    }
    orders
};

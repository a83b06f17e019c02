//! The inner loops for x86-64 with AVX-512 F, BW and VL (servers since 2017, Zen 4 since 2022).

use std::arch::x86_64::*;

use super::super::columns::Columns;
use super::{Isa, Work};

/// Proof that the machine has these parts of AVX-512, and AVX2 and F16C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Avx512(());

impl Avx512 {
    pub fn detect() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl");
        (wide && super::avx2::Avx2::detect().is_some()).then_some(Avx512(()))
    }
}

impl Isa for Avx512 {
    fn run(self, work: impl Work) {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,f16c")]
        fn run(isa: Avx512, work: impl Work) {
            work.run(isa);
        }
        // SAFETY: the machine has these features, or `self` could not have been made.
        unsafe { run(self, work) }
    }

    #[inline(always)]
    fn blend(self, line: &mut [i16], base: &[u8], row: &[u8], weight: i16, begin: bool) {
        // SAFETY: as in `run`.
        unsafe { blend(line, base, row, weight, begin) }
    }

    #[inline(always)]
    fn columns(self, line: &[i16], columns: &Columns, out: &mut [i32]) {
        if !columns.permutes() {
            return super::Portable.columns(line, columns, out);
        }
        // SAFETY: as in `run`.
        unsafe {
            match columns.pairs() {
                1 => permute_pairs::<1>(line, columns, out),
                2 => permute_pairs::<2>(line, columns, out),
                3 => permute_pairs::<3>(line, columns, out),
                _ => permute(line, columns, out),
            }
        }
    }

    #[inline(always)]
    fn store(self, values: &[f32], out: &mut [f32]) {
        // SAFETY: as in `run`.
        unsafe { stream(values, out) }
    }

    #[inline(always)]
    fn finish(self) {
        // SAFETY: every x86-64 machine has this instruction; it has no operands.
        unsafe { _mm_sfence() }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2")]
fn blend(line: &mut [i16], base: &[u8], row: &[u8], weight: i16, begin: bool) {
    let factor = _mm512_set1_epi16(weight);
    let blended = |base: __m256i, row: __m256i, line: __m512i| {
        let base = _mm512_slli_epi16::<7>(_mm512_cvtepu8_epi16(base));
        let row = _mm512_slli_epi16::<7>(_mm512_cvtepu8_epi16(row));
        let step = _mm512_mulhrs_epi16(_mm512_sub_epi16(row, base), factor);
        _mm512_adds_epi16(if begin { base } else { line }, step)
    };
    let (lines, rest) = line.as_chunks_mut::<32>();
    let (bases, base_rest) = base.as_chunks::<32>();
    let (rows, row_rest) = row.as_chunks::<32>();
    for ((line, base), row) in lines.iter_mut().zip(bases).zip(rows) {
        let sum = blended(load_bytes(base), load_bytes(row), load_words(line));
        store_words(line, sum);
    }
    assert!(base_rest.len() == rest.len() && row_rest.len() == rest.len());
    let mask = (1u32 << rest.len()) - 1;
    // SAFETY: the mask has a bit for each element that the three slices have, fewer than 32, as just asserted; what it has
    // no bit for is neither read nor written.
    unsafe {
        let (base, row) = (base_rest.as_ptr().cast(), row_rest.as_ptr().cast());
        let (base, row) = (_mm256_maskz_loadu_epi8(mask, base), _mm256_maskz_loadu_epi8(mask, row));
        let sum = blended(base, row, _mm512_maskz_loadu_epi16(mask, rest.as_ptr()));
        _mm512_mask_storeu_epi16(rest.as_mut_ptr(), mask, sum);
    }
}

/// As [`permute`] for `N` pairs: without a loop inside the loop.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2")]
fn permute_pairs<const N: usize>(line: &[i16], columns: &Columns, out: &mut [i32]) {
    for ((block, weights), out) in columns.blocks_of::<N>().zip(out.as_chunks_mut::<16>().0) {
        let order = load_order(&block.order);
        let samples = &line[block.window as usize..][..32 + 2 * (N - 1)];
        let mut sum = _mm512_setzero_si512();
        for (pair, weights) in weights.iter().enumerate() {
            let pairs = _mm512_permutexvar_epi16(order, window(samples, 2 * pair));
            sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, load_words(&weights.0)));
        }
        store_sums(out, sum);
    }
}

/// A register makes sixteen pixels: a window of 32 samples, permuted into a pair for each pixel.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2")]
fn permute(line: &[i16], columns: &Columns, out: &mut [i32]) {
    for ((block, weights), out) in columns.blocks().zip(out.as_chunks_mut::<16>().0) {
        let order = load_order(&block.order);
        let mut sum = _mm512_setzero_si512();
        for (pair, weights) in weights.iter().enumerate() {
            let samples = window(line, block.window as usize + 2 * pair);
            let pairs = _mm512_permutexvar_epi16(order, samples);
            sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, load_words(&weights.0)));
        }
        store_sums(out, sum);
    }
}

/// 32 samples of `line` from `at` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn window(line: &[i16], at: usize) -> __m512i {
    let samples: &[i16] = &line[at..at + 32];
    // SAFETY: 64 bytes, as just cut out; the load needs no alignment.
    unsafe { _mm512_loadu_si512(samples.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: reads the 32 bytes of the array; needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_order(words: &[u16; 32]) -> __m512i {
    // SAFETY: reads the 64 bytes of the array; needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_words(words: &[i16; 32]) -> __m512i {
    // SAFETY: reads the 64 bytes of the array; needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_words(words: &mut [i16; 32], value: __m512i) {
    // SAFETY: writes the 64 bytes of the array; needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_sums(sums: &mut [i32; 16], value: __m512i) {
    // SAFETY: writes the 64 bytes of the array; needs no alignment.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), value) }
}

/// Writes whole cache lines past the caches, which would first have to read them, and the ends of `out` through them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn stream(values: &[f32], out: &mut [f32]) {
    const LINE: usize = 16;
    let head = out.as_ptr().align_offset(size_of::<[f32; LINE]>()).min(out.len());
    let (out_head, out) = out.split_at_mut(head);
    let (value_head, values) = values.split_at(head);
    out_head.copy_from_slice(value_head);
    let (out, out_tail) = out.as_chunks_mut::<LINE>();
    let (values, value_tail) = values.as_chunks::<LINE>();
    for (values, out) in values.iter().zip(out) {
        // SAFETY: reads and writes the 64 bytes of an array each. The store needs alignment to 64 bytes, which `head`
        // brought about and the size of the arrays keeps. `finish` orders it before whatever tells other threads.
        unsafe { _mm512_stream_ps(out.as_mut_ptr(), _mm512_loadu_ps(values.as_ptr())) }
    }
    out_tail.copy_from_slice(value_tail);
}

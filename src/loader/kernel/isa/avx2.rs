//! The inner loops for x86-64 with AVX2 and F16C (2013).

use std::arch::x86_64::*;

use super::super::columns::Columns;
use super::{Isa, Work};

/// Proof that the machine has AVX2 and F16C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c")).then_some(Avx2(()))
    }
}

impl Isa for Avx2 {
    fn run(self, work: impl Work) {
        #[target_feature(enable = "avx2,f16c")]
        fn run(isa: Avx2, work: impl Work) {
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
#[target_feature(enable = "avx2")]
fn blend(line: &mut [i16], base: &[u8], row: &[u8], weight: i16, begin: bool) {
    let factor = _mm256_set1_epi16(weight);
    let (lines, rest) = line.as_chunks_mut::<16>();
    let (bases, base_rest) = base.as_chunks::<16>();
    let (rows, row_rest) = row.as_chunks::<16>();
    for ((line, base), row) in lines.iter_mut().zip(bases).zip(rows) {
        let base = _mm256_slli_epi16::<7>(_mm256_cvtepu8_epi16(load_bytes(base)));
        let row = _mm256_slli_epi16::<7>(_mm256_cvtepu8_epi16(load_bytes(row)));
        let step = _mm256_mulhrs_epi16(_mm256_sub_epi16(row, base), factor);
        let sum = if begin { base } else { load_words(line) };
        store_words(line, _mm256_adds_epi16(sum, step));
    }
    super::Portable.blend(rest, base_rest, row_rest, weight, begin);
}

/// As [`permute`] for `N` pairs: without a loop inside the loop.
#[inline]
#[target_feature(enable = "avx2")]
fn permute_pairs<const N: usize>(line: &[i16], columns: &Columns, out: &mut [i32]) {
    for ((block, weights), out) in columns.blocks_of::<N>().zip(out.as_chunks_mut::<16>().0) {
        for half in 0..2 {
            let shuffle = load_shuffle(&block.shuffles[half]);
            let [low, high] = block.windows[half].map(|base| &line[base as usize..][..8 + 2 * (N - 1)]);
            let mut sum = _mm256_setzero_si256();
            for (pair, weights) in weights.iter().enumerate() {
                let samples = _mm256_set_m128i(window(high, 2 * pair), window(low, 2 * pair));
                let pairs = _mm256_shuffle_epi8(samples, shuffle);
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, load_words(&weights.0.as_chunks().0[half])));
            }
            store_sums(&mut out.as_chunks_mut().0[half], sum);
        }
    }
}

/// Each half of a register makes four pixels: a window of eight samples, shuffled into a pair for each pixel.
#[inline]
#[target_feature(enable = "avx2")]
fn permute(line: &[i16], columns: &Columns, out: &mut [i32]) {
    for ((block, weights), out) in columns.blocks().zip(out.as_chunks_mut::<16>().0) {
        for half in 0..2 {
            let shuffle = load_shuffle(&block.shuffles[half]);
            let [low, high] = block.windows[half];
            let mut sum = _mm256_setzero_si256();
            for (pair, weights) in weights.iter().enumerate() {
                let at = |base: u32| window(line, base as usize + 2 * pair);
                let samples = _mm256_set_m128i(at(high), at(low));
                let pairs = _mm256_shuffle_epi8(samples, shuffle);
                let weights = load_words(&weights.0.as_chunks().0[half]);
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, weights));
            }
            store_sums(&mut out.as_chunks_mut().0[half], sum);
        }
    }
}

/// Eight samples of `line` from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn window(line: &[i16], at: usize) -> __m128i {
    let samples: &[i16] = &line[at..at + 8];
    // SAFETY: 16 bytes, as just cut out; the load needs no alignment.
    unsafe { _mm_loadu_si128(samples.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: reads the 16 bytes of the array; needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_shuffle(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: reads the 32 bytes of the array; needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_words(words: &[i16; 16]) -> __m256i {
    // SAFETY: reads the 32 bytes of the array; needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_words(words: &mut [i16; 16], value: __m256i) {
    // SAFETY: writes the 32 bytes of the array; needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_sums(sums: &mut [i32; 8], value: __m256i) {
    // SAFETY: writes the 32 bytes of the array; needs no alignment.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), value) }
}

/// Writes past the caches, which would first have to read each line, except at the ends of `out`.
#[inline]
#[target_feature(enable = "avx2")]
fn stream(values: &[f32], out: &mut [f32]) {
    const VECTOR: usize = 8;
    let head = out.as_ptr().align_offset(64).min(out.len());
    let (out_head, out) = out.split_at_mut(head);
    let (value_head, values) = values.split_at(head);
    out_head.copy_from_slice(value_head);
    let (out, out_tail) = out.as_chunks_mut::<VECTOR>();
    let (values, value_tail) = values.as_chunks::<VECTOR>();
    for (values, out) in values.iter().zip(out) {
        // SAFETY: reads and writes the 32 bytes of an array each. The store needs alignment to 32 bytes, which `head`
        // brought about and the size of the arrays keeps. `finish` orders it before whatever tells other threads.
        unsafe { _mm256_stream_ps(out.as_mut_ptr(), _mm256_loadu_ps(values.as_ptr())) }
    }
    out_tail.copy_from_slice(value_tail);
}

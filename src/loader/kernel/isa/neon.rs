//! The inner loops for 64-bit ARM, of which every machine has NEON.

use std::arch::aarch64::*;

use super::super::columns::Columns;
use super::{Isa, Work};

/// Proof that the machine has NEON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Neon(());

impl Neon {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }
}

impl Isa for Neon {
    fn run(self, work: impl Work) {
        #[target_feature(enable = "neon")]
        fn run(isa: Neon, work: impl Work) {
            work.run(isa);
        }
        // SAFETY: the machine has the feature, or `self` could not have been made.
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
        unsafe { permute(line, columns, out) }
    }
}

/// `vqrdmulh` doubles, rounds and takes the upper half, which is `pmulhrsw` but for -2^15 times itself; no difference of
/// two samples is that large.
#[inline]
#[target_feature(enable = "neon")]
fn blend(line: &mut [i16], base: &[u8], row: &[u8], weight: i16, begin: bool) {
    let (lines, rest) = line.as_chunks_mut::<8>();
    let (bases, base_rest) = base.as_chunks::<8>();
    let (rows, row_rest) = row.as_chunks::<8>();
    for ((line, base), row) in lines.iter_mut().zip(bases).zip(rows) {
        let (base, row) = (widen(base), widen(row));
        let step = vqrdmulhq_n_s16(vsubq_s16(row, base), weight);
        let sum = if begin { base } else { load_words(line) };
        store_words(line, vqaddq_s16(sum, step));
    }
    super::Portable.blend(rest, base_rest, row_rest, weight, begin);
}

/// Each register makes four pixels: a window of eight samples, shuffled into a pair for each pixel.
#[inline]
#[target_feature(enable = "neon")]
fn permute(line: &[i16], columns: &Columns, out: &mut [i32]) {
    for ((block, weights), out) in columns.blocks().zip(out.as_chunks_mut::<16>().0) {
        for (quarter, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let (half, side) = (quarter / 2, quarter % 2);
            let shuffle = load_bytes(&block.shuffles[half].as_chunks::<16>().0[side]);
            let first = block.windows[half][side] as usize;
            let mut sum = vdupq_n_s32(0);
            for (pair, weights) in weights.iter().enumerate() {
                let samples = window(line, first + 2 * pair);
                let pairs = vreinterpretq_s16_u8(vqtbl1q_u8(vreinterpretq_u8_s16(samples), shuffle));
                let weights = load_words(&weights.0.as_chunks().0[quarter]);
                let low = vmull_s16(vget_low_s16(pairs), vget_low_s16(weights));
                let high = vmull_high_s16(pairs, weights);
                sum = vaddq_s32(sum, vpaddq_s32(low, high));
            }
            store_sums(out, sum);
        }
    }
}

/// Eight samples of `line` from `at` on.
#[inline]
#[target_feature(enable = "neon")]
fn window(line: &[i16], at: usize) -> int16x8_t {
    let samples: &[i16] = &line[at..at + 8];
    // SAFETY: 16 bytes, as just cut out.
    unsafe { vld1q_s16(samples.as_ptr()) }
}

/// Eight samples in units of 1/128.
#[inline]
#[target_feature(enable = "neon")]
fn widen(bytes: &[u8; 8]) -> int16x8_t {
    // SAFETY: reads the 8 bytes of the array.
    vreinterpretq_s16_u16(vshll_n_u8::<7>(unsafe { vld1_u8(bytes.as_ptr()) }))
}

#[inline]
#[target_feature(enable = "neon")]
fn load_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: reads the 16 bytes of the array.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_words(words: &[i16; 8]) -> int16x8_t {
    // SAFETY: reads the 16 bytes of the array.
    unsafe { vld1q_s16(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_words(words: &mut [i16; 8], value: int16x8_t) {
    // SAFETY: writes the 16 bytes of the array.
    unsafe { vst1q_s16(words.as_mut_ptr(), value) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_sums(sums: &mut [i32; 4], value: int32x4_t) {
    // SAFETY: writes the 16 bytes of the array.
    unsafe { vst1q_s32(sums.as_mut_ptr(), value) }
}

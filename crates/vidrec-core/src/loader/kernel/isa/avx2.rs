//! The inner loops for x86-64 with AVX2 and F16C (2013).

use std::arch::x86_64::*;

use bytemuck::must_cast;
use half::{bf16, f16};

use super::super::plane_tables::ColumnTable;
use super::super::spec::BLOCK;
use super::loops::{Isa, IsaWork, LineBlock, Portable, compiled_for_machine, with_features};

/// Proof that the machine has AVX2 and F16C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c")).then_some(Avx2(()))
    }
}

/// A block in two registers.
type Floats = [__m256; 2];

impl Isa for Avx2 {
    compiled_for_machine!(x86 Floats, f32;);
}

with_features! { "avx2,f16c":
fn run(work: impl IsaWork) {
    work.run(Avx2(()));
}

fn constant(value: f32) -> f32 {
    value
}

fn splat(value: f32) -> Floats {
    [_mm256_set1_ps(value); 2]
}

fn floats(sums: &[i32; BLOCK]) -> Floats {
    must_cast::<_, [__m256i; 2]>(*sums).map(|sums| _mm256_cvtepi32_ps(sums))
}

fn scale_and_add(a: Floats, factor: f32, b: Floats) -> Floats {
    let factor = _mm256_set1_ps(factor);
    [_mm256_add_ps(_mm256_mul_ps(a[0], factor), b[0]), _mm256_add_ps(_mm256_mul_ps(a[1], factor), b[1])]
}

fn clamp([first, second]: Floats, low: f32, high: f32) -> Floats {
    let (low, high) = (_mm256_set1_ps(low), _mm256_set1_ps(high));
    [_mm256_min_ps(_mm256_max_ps(first, low), high), _mm256_min_ps(_mm256_max_ps(second, low), high)]
}

fn blend<const N: usize>(line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool) {
    const VECTOR: usize = 16;
    let whole = base.len() / VECTOR * VECTOR;
    let (line, rest) = line.split_at_mut(whole);
    let (base, base_rest) = base.split_at(whole);
    let split = rows.map(|(row, weight)| (row.split_at(whole), weight));
    for (i, line) in line.as_chunks_mut::<VECTOR>().0.iter_mut().enumerate() {
        let load = |bytes: &[u8]| _mm256_cvtepu8_epi16(must_cast(bytes.as_chunks::<VECTOR>().0[i]));
        let base = load(base);
        let mut sum = if begin { _mm256_slli_epi16::<7>(base) } else { must_cast(*line) };
        for ((row, _), weight) in split {
            let difference = _mm256_slli_epi16::<7>(_mm256_sub_epi16(load(row), base));
            sum = _mm256_adds_epi16(sum, _mm256_mulhrs_epi16(difference, _mm256_set1_epi16(weight)));
        }
        *line = must_cast(sum);
    }
    Portable.blend(rest, base_rest, split.map(|((_, row), weight)| (row, weight)), begin);
}

/// Each half of a register makes four pixels: it shuffles a window of eight samples into a pair for each pixel.
fn columns<const N: usize>(LineBlock { lines, block, weights }: LineBlock<'_, N>) -> [Floats; N] {
    let mut floats = [[_mm256_setzero_ps(); 2]; N];
    for half in 0..2 {
        let shuffle = must_cast(block.shuffles[half]);
        let mut sums = [_mm256_setzero_si256(); N];
        let [mut low, mut high] = [block.windows[half][0] as usize, block.windows[half][1] as usize];
        for weights in weights {
            let weights = must_cast(weights.0.as_chunks::<16>().0[half]);
            for (sum, line) in sums.iter_mut().zip(lines) {
                // SAFETY: both are where windows of the block begin, plus two samples for each pair after the
                // first.
                let samples = unsafe { _mm256_set_m128i(window(line, high), window(line, low)) };
                let pairs = _mm256_shuffle_epi8(samples, shuffle);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, weights));
            }
            (low, high) = (low + 2, high + 2);
        }
        for (floats, sums) in floats.iter_mut().zip(sums) {
            floats[half] = _mm256_cvtepi32_ps(sums);
        }
    }
    floats
}

/// Each register makes one pixel from up to eight samples, at any place.
fn sums(line: &[i16], columns: &ColumnTable, out: &mut [[i32; BLOCK]]) {
    if columns.axis.taps > 8 {
        return Portable.sums(line, columns, out);
    }
    let mut mask = [0i16; 8];
    mask[..columns.axis.taps].fill(-1);
    let mut products = [_mm_setzero_si128(); 4];
    for (i, out) in out.as_flattened_mut().as_chunks_mut::<4>().0.iter_mut().enumerate() {
        for (k, product) in products.iter_mut().enumerate() {
            let Some((first, weights)) = columns.pixel(4 * i + k) else { break };
            let weights = match weights.first_chunk::<8>() {
                Some(weights) => *weights,
                None => std::array::from_fn(|i| weights.get(i).copied().unwrap_or(0)),
            };
            let samples: [i16; 8] = *line[first..].first_chunk().expect("samples behind the last that counts");
            *product = _mm_madd_epi16(must_cast(samples), _mm_and_si128(must_cast(weights), must_cast(mask)));
        }
        let [a, b, c, d] = products;
        *out = must_cast(_mm_hadd_epi32(_mm_hadd_epi32(a, b), _mm_hadd_epi32(c, d)));
    }
}

/// Interleaves eight pixels at a time. Every value is chosen from the values of the channels for its pixel.
fn interleave([r, g, b]: [Floats; 3]) -> [Floats; 3] {
    let (first, second) = (interleave_eight(r[0], g[0], b[0]), interleave_eight(r[1], g[1], b[1]));
    [[first[0], first[1]], [first[2], second[0]], [second[1], second[2]]]
}

fn interleave_eight(r: __m256, g: __m256, b: __m256) -> [__m256; 3] {
    let pixels = [
        _mm256_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2),
        _mm256_setr_epi32(2, 3, 3, 3, 4, 4, 4, 5),
        _mm256_setr_epi32(5, 5, 6, 6, 6, 7, 7, 7),
    ];
    let mut parts = [[_mm256_setzero_ps(); 3]; 3];
    for (part, pixels) in parts.iter_mut().zip(pixels) {
        part[0] = _mm256_permutevar8x32_ps(r, pixels);
        part[1] = _mm256_permutevar8x32_ps(g, pixels);
        part[2] = _mm256_permutevar8x32_ps(b, pixels);
    }
    // A bit of the first mask stands for a green value, a bit of the second for a blue one.
    [
        _mm256_blend_ps::<0b0010_0100>(_mm256_blend_ps::<0b1001_0010>(parts[0][0], parts[0][1]), parts[0][2]),
        _mm256_blend_ps::<0b0100_1001>(_mm256_blend_ps::<0b0010_0100>(parts[1][0], parts[1][1]), parts[1][2]),
        _mm256_blend_ps::<0b1001_0010>(_mm256_blend_ps::<0b0100_1001>(parts[2][0], parts[2][1]), parts[2][2]),
    ]
}

/// The conversion to whole numbers turns values that are too large, and NaN, into a large negative number. The
/// minimum before it and the packing after it saturate values outside the range.
fn store_bytes([first, second]: Floats, out: &mut [u8; BLOCK]) {
    let high = _mm256_set1_ps(255.0);
    let (first, second) = (_mm256_min_ps(high, first), _mm256_min_ps(high, second));
    let words = _mm256_packus_epi32(_mm256_cvtps_epi32(first), _mm256_cvtps_epi32(second));
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
    *out = must_cast(_mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words)));
}

fn store_halves(values: Floats, out: &mut [f16; BLOCK]) {
    *out = must_cast(values.map(|values| _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values)));
}

/// Stores the upper halves, after adding half of the lowest bit that stays, or a little less if that bit is 0.
/// Ties therefore go to even.
fn store_bfloats([first, second]: Floats, out: &mut [bf16; BLOCK]) {
    let round = |values: __m256| {
        let bits = _mm256_castps_si256(values);
        let lowest = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
        _mm256_srli_epi32::<16>(_mm256_add_epi32(bits, _mm256_add_epi32(lowest, _mm256_set1_epi32(0x7FFF))))
    };
    *out = must_cast(_mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(round(first), round(second))));
}

/// Eight samples from `at` on.
///
/// # Safety
///
/// `samples` has eight samples from `at` on. The lines of a [`LineBlock`] have them from each of its windows on,
/// and two samples further on for each pair after the first.
unsafe fn window(samples: &[i16], at: usize) -> __m128i {
    debug_assert!(at + 8 <= samples.len());
    // SAFETY: reads 16 bytes, which are there, as promised; needs no alignment.
    unsafe { _mm_loadu_si128(samples.as_ptr().add(at).cast()) }
}
}

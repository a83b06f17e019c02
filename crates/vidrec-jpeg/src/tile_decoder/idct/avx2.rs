//! The inverse DCT for x86-64 with AVX2: two blocks at a time, one in each half of the registers.

use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

use super::transform::Factors;
use super::transform::*;
use super::transform::{FIRST_ROW_BITS, Idct, IdctWork, SampleRows};
use crate::tile_decoder::mcu::Block;

/// Proof that the machine has AVX2 and what came with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2Idct(());

impl Avx2Idct {
    pub fn detect() -> Option<Self> {
        let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        (is_x86_feature_detected!("avx2") && bits).then_some(Avx2Idct(()))
    }
}

impl Idct for Avx2Idct {
    fn run(self, work: impl IdctWork) -> Option<()> {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn run(idct: Avx2Idct, work: impl IdctWork) -> Option<()> {
            work.run(idct)
        }
        // SAFETY: the machine has these features, or `self` could not have been made.
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
#[target_feature(enable = "avx2")]
fn full(blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
    // Registers do not hold all values. A compiler aligns the stack only if a variable needs it. Otherwise, it depends on the
    // callers whether vectors on the stack lie across two cache lines, which made a whole loader slower.
    black_box(&MaybeUninit::<Factors>::uninit());
    let rows = dequantize(blocks, factors);
    if !fits(rows[0]) {
        return false;
    }
    let columns = full_line::<11>(rows);
    let [c0, c1, c2, c3, c4, c5, c6, c7] = full_line::<18>(transpose(columns));
    // Interleaves columns by bytes, then by pairs, then by fours.
    let (c04, c15) = (_mm256_packs_epi16(c0, c4), _mm256_packs_epi16(c1, c5));
    let (c26, c37) = (_mm256_packs_epi16(c2, c6), _mm256_packs_epi16(c3, c7));
    let (c01, c45) = (_mm256_unpacklo_epi8(c04, c15), _mm256_unpackhi_epi8(c04, c15));
    let (c23, c67) = (_mm256_unpacklo_epi8(c26, c37), _mm256_unpackhi_epi8(c26, c37));
    let (left, right) = (_mm256_unpacklo_epi16(c01, c23), _mm256_unpacklo_epi16(c45, c67));
    let (left_low, right_low) = (_mm256_unpackhi_epi16(c01, c23), _mm256_unpackhi_epi16(c45, c67));
    let rows = [
        _mm256_unpacklo_epi32(left, right),
        _mm256_unpackhi_epi32(left, right),
        _mm256_unpacklo_epi32(left_low, right_low),
        _mm256_unpackhi_epi32(left_low, right_low),
    ];
    for (out, rows) in out.as_chunks_mut::<2>().0.iter_mut().zip(rows) {
        // Two rows are of the first block, and two of the second. The second and the third change places.
        store(out, _mm256_permute4x64_epi64::<0b11_01_10_00>(center(rows)));
    }
    true
}

#[inline]
#[target_feature(enable = "avx2")]
fn half(blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
    let rows = dequantize(blocks, factors);
    if !fits(rows[0]) {
        return false;
    }
    let [r0, r1, r2, r3] = half_line::<12>(rows);
    let zero = _mm256_setzero_si256();
    // Only the upper half of each column counts, because there are only four rows.
    let [c0, c1, c2, c3] = half_line::<19>(transpose([r0, r1, r2, r3, zero, zero, zero, zero]));
    let (c01, c23) = (_mm256_unpacklo_epi16(c0, c1), _mm256_unpacklo_epi16(c2, c3));
    let rows = _mm256_packs_epi16(_mm256_unpacklo_epi32(c01, c23), _mm256_unpackhi_epi32(c01, c23));
    let mut samples = [[0; 16]; 2];
    store(&mut samples, center(rows));
    for (y, out) in out[..4].iter_mut().enumerate() {
        for (to, samples) in out.as_chunks_mut::<4>().0.iter_mut().zip(samples) {
            *to = samples.as_chunks().0[y];
        }
    }
    true
}

#[inline]
#[target_feature(enable = "avx2")]
fn quarter(blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) {
    let [first, second] = quarter_line(dequantize(blocks, factors));
    // The factors of columns 1, 3, 5 and 7. The first column comes later, and the other three do not count.
    let factors = _mm256_setr_epi32(
        F_3_624 << 16,
        -F_1_272 << 16,
        F_0_850 << 16,
        -F_0_720 << 16,
        F_3_624 << 16,
        -F_1_272 << 16,
        F_0_850 << 16,
        -F_0_720 << 16,
    );
    let products = |[low, high]: Sums| _mm256_madd_epi16(_mm256_packs_epi32(low, high), factors);
    let odd = _mm256_hadd_epi32(products(first), products(second));
    let odd = _mm256_hadd_epi32(odd, odd);
    let even = _mm256_slli_epi32::<15>(_mm256_unpacklo_epi32(first[0], second[0]));
    let even = _mm256_add_epi32(even, _mm256_set1_epi32(1 << 19));
    let (left, right) = (_mm256_add_epi32(even, odd), _mm256_sub_epi32(even, odd));
    let rows = _mm256_srai_epi32::<20>(_mm256_unpacklo_epi32(left, right));
    let words = _mm256_packs_epi32(rows, rows);
    let mut samples = [[0; 16]; 2];
    store(&mut samples, center(_mm256_packs_epi16(words, words)));
    for (to, samples) in [0, 2].into_iter().zip(samples) {
        out[0][to..to + 2].copy_from_slice(&samples[..2]);
        out[1][to..to + 2].copy_from_slice(&samples[2..4]);
    }
}

/// The coefficients times their factors, row by row. The first block is in the lower halves, the second in the
/// upper.
#[inline]
#[target_feature(enable = "avx2")]
fn dequantize(blocks: [&Block; 2], factors: &Factors) -> [__m256i; 8] {
    let ([first, second], Factors(factors)) = (blocks, factors);
    let (first, second) = (first.as_chunks::<8>().0, second.as_chunks::<8>().0);
    let mut rows = [_mm256_setzero_si256(); 8];
    for (y, row) in rows.iter_mut().enumerate() {
        let coefficients = _mm256_set_m128i(load(&second[y]), load(&first[y]));
        *row = _mm256_mullo_epi16(coefficients, load_pair(&factors[y]));
    }
    rows
}

/// Whether all values have [`FIRST_ROW_BITS`].
#[inline]
#[target_feature(enable = "avx2")]
fn fits(row: __m256i) -> bool {
    const SPARE: i32 = (i16::BITS - FIRST_ROW_BITS) as i32;
    let cut = _mm256_srai_epi16::<SPARE>(_mm256_slli_epi16::<SPARE>(row));
    _mm256_movemask_epi8(_mm256_cmpeq_epi16(cut, row)) == -1
}

/// The sums of two products each, in 32 bits: those of the lower four columns, and those of the upper four.
type Sums = [__m256i; 2];

/// `a * x + b * y`.
#[inline]
#[target_feature(enable = "avx2")]
fn dot(x: __m256i, a: i32, y: __m256i, b: i32) -> Sums {
    let factors = _mm256_set1_epi32((b << 16) | (a & 0xFFFF));
    let (low, high) = (_mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y));
    [_mm256_madd_epi16(low, factors), _mm256_madd_epi16(high, factors)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: Sums, b: Sums) -> Sums {
    [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])]
}

#[inline]
#[target_feature(enable = "avx2")]
fn sub(a: Sums, b: Sums) -> Sums {
    [_mm256_sub_epi32(a[0], b[0]), _mm256_sub_epi32(a[1], b[1])]
}

/// Returns `x` times 2^(16 - `SHIFT`).
#[inline]
#[target_feature(enable = "avx2")]
fn scaled<const SHIFT: i32>(x: __m256i) -> Sums {
    let zero = _mm256_setzero_si256();
    let (low, high) = (_mm256_unpacklo_epi16(zero, x), _mm256_unpackhi_epi16(zero, x));
    [_mm256_srai_epi32::<SHIFT>(low), _mm256_srai_epi32::<SHIFT>(high)]
}

/// The sum and the difference of the even and the odd part, shifted, rounded and reduced to 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn butterfly<const SHIFT: i32>(even: Sums, odd: Sums) -> [__m256i; 2] {
    let half = _mm256_set1_epi32(1 << (SHIFT - 1));
    let even = [_mm256_add_epi32(even[0], half), _mm256_add_epi32(even[1], half)];
    let [sum, difference] = [add(even, odd), sub(even, odd)];
    let pack = |v: Sums| _mm256_packs_epi32(_mm256_srai_epi32::<SHIFT>(v[0]), _mm256_srai_epi32::<SHIFT>(v[1]));
    [pack(sum), pack(difference)]
}

/// The transform of jidctint.c, `jpeg_idct_islow`, on eight lines side by side.
#[inline]
#[target_feature(enable = "avx2")]
fn full_line<const SHIFT: i32>(v: [__m256i; 8]) -> [__m256i; 8] {
    let tmp3 = dot(v[2], F_0_541 + F_0_765, v[6], F_0_541);
    let tmp2 = dot(v[2], F_0_541, v[6], F_0_541 - F_1_847);
    let tmp0 = scaled::<3>(_mm256_add_epi16(v[0], v[4]));
    let tmp1 = scaled::<3>(_mm256_sub_epi16(v[0], v[4]));

    let (z3, z4) = (_mm256_add_epi16(v[7], v[3]), _mm256_add_epi16(v[5], v[1]));
    let (z3, z4) = (dot(z3, F_1_175 - F_1_961, z4, F_1_175), dot(z3, F_1_175, z4, F_1_175 - F_0_390));
    let [a, h] = butterfly::<SHIFT>(add(tmp0, tmp3), add(dot(v[7], -F_0_899, v[1], F_1_501 - F_0_899), z4));
    let [b, g] = butterfly::<SHIFT>(add(tmp1, tmp2), add(dot(v[5], -F_2_562, v[3], F_3_072 - F_2_562), z3));
    let [c, f] = butterfly::<SHIFT>(sub(tmp1, tmp2), add(dot(v[5], F_2_053 - F_2_562, v[3], -F_2_562), z4));
    let [d, e] = butterfly::<SHIFT>(sub(tmp0, tmp3), add(dot(v[7], F_0_298 - F_0_899, v[1], -F_0_899), z3));
    [a, b, c, d, e, f, g, h]
}

/// The transform of jidctred.c, `jpeg_idct_4x4`, on eight lines side by side.
#[inline]
#[target_feature(enable = "avx2")]
fn half_line<const SHIFT: i32>(v: [__m256i; 8]) -> [__m256i; 4] {
    let tmp0 = scaled::<2>(v[0]);
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
#[target_feature(enable = "avx2")]
fn quarter_line(v: [__m256i; 8]) -> [Sums; 2] {
    let even = scaled::<1>(v[0]);
    let odd = add(dot(v[1], F_3_624, v[3], -F_1_272), dot(v[5], F_0_850, v[7], -F_0_720));
    let half = _mm256_set1_epi32(1 << 12);
    let shift = |v: Sums| v.map(|v| _mm256_srai_epi32::<13>(_mm256_add_epi32(v, half)));
    [shift(add(even, odd)), shift(sub(even, odd))]
}

/// Transposes rows to columns, in each half by itself.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([r0, r1, r2, r3, r4, r5, r6, r7]: [__m256i; 8]) -> [__m256i; 8] {
    let zip16 = |a, b| (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b));
    let zip32 = |a, b| (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let zip64 = |a, b| (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let ((a0, a1), (b0, b1)) = (zip16(r0, r1), zip16(r2, r3));
    let ((c0, c1), (d0, d1)) = (zip16(r4, r5), zip16(r6, r7));
    let ((e0, e1), (e2, e3)) = (zip32(a0, b0), zip32(a1, b1));
    let ((f0, f1), (f2, f3)) = (zip32(c0, d0), zip32(c1, d1));
    let ((t0, t1), (t2, t3)) = (zip64(e0, f0), zip64(e1, f1));
    let ((t4, t5), (t6, t7)) = (zip64(e2, f2), zip64(e3, f3));
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// Converts levels of -128 to 127 to levels of 0 to 255.
#[inline]
#[target_feature(enable = "avx2")]
fn center(levels: __m256i) -> __m256i {
    _mm256_xor_si256(levels, _mm256_set1_epi8(i8::MIN))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(values: &[i16; 8]) -> __m128i {
    // SAFETY: reads the 16 bytes of the array; needs no alignment.
    unsafe { _mm_loadu_si128(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_pair(values: &[i16; 16]) -> __m256i {
    // SAFETY: reads the 32 bytes of the array; needs no alignment.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(samples: &mut [[u8; 16]; 2], values: __m256i) {
    // SAFETY: writes the 32 bytes of the arrays; needs no alignment.
    unsafe { _mm256_storeu_si256(samples.as_mut_ptr().cast(), values) }
}

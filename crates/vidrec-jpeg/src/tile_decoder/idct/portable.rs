//! The inverse DCT in plain Rust: for any machine, and the definition that the others follow.

use super::transform::Factors;
use super::transform::*;
use super::transform::{FIRST_ROW_BITS, Idct, IdctWork, SampleRows};
use crate::tile_decoder::mcu::Block;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PortableIdct;

impl Idct for PortableIdct {
    fn run(self, work: impl IdctWork) -> Option<()> {
        work.run(self)
    }

    #[inline(always)]
    fn full(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
        transform(blocks, factors, out, full_line::<11>, full_line::<18>)
    }

    #[inline(always)]
    fn half(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool {
        transform(blocks, factors, out, half_line::<12>, half_line::<19>)
    }

    #[inline(always)]
    fn quarter(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) {
        for i in 0..2 {
            for (out, samples) in out.iter_mut().zip(quarter(blocks, i, factors)) {
                out[2 * i..][..2].copy_from_slice(&samples);
            }
        }
    }
}

/// Transforms the columns by one function, then the rows by another. Each makes `N` values of eight.
#[inline(always)]
fn transform<const N: usize>(
    blocks: [&Block; 2],
    factors: &Factors,
    out: &mut SampleRows,
    column: fn([i16; 8]) -> [i16; N],
    row: fn([i16; 8]) -> [i16; N],
) -> bool {
    for i in 0..2 {
        let values = dequantize(blocks, i, factors);
        let spare = i16::BITS - FIRST_ROW_BITS;
        if values[0].iter().any(|&value| value << spare >> spare != value) {
            return false;
        }
        let mut columns = [[0; 8]; N];
        for x in 0..8 {
            let line = column(values.map(|row| row[x]));
            columns.iter_mut().zip(line).for_each(|(row, value)| row[x] = value);
        }
        for (out, line) in out.iter_mut().zip(columns) {
            let samples = row(line).map(sample);
            out[i * N..][..N].copy_from_slice(&samples);
        }
    }
    true
}

#[inline(always)]
fn dequantize(blocks: [&Block; 2], i: usize, factors: &Factors) -> [[i16; 8]; 8] {
    std::array::from_fn(|y| std::array::from_fn(|x| blocks[i][8 * y + x].wrapping_mul(factors.get(i, x, y))))
}

/// Narrows as `packssdw` does.
#[inline(always)]
fn saturate(value: i32) -> i16 {
    value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// Adds 128, and clamps to 0 to 255.
#[inline(always)]
fn sample(value: i16) -> u8 {
    (value.clamp(-128, 127) + 128) as u8
}

/// `a * x + b * y` with the wrap-around of `pmaddwd`.
#[inline(always)]
fn dot(x: i16, a: i32, y: i16, b: i32) -> i32 {
    (i32::from(x) * a).wrapping_add(i32::from(y) * b)
}

#[inline(always)]
fn descale<const SHIFT: u32>(value: i32) -> i16 {
    saturate(value.wrapping_add(1 << (SHIFT - 1)) >> SHIFT)
}

/// The sums and differences of the even part and the odd part.
#[inline(always)]
fn butterfly<const SHIFT: u32>(even: i32, odd: i32) -> [i16; 2] {
    [descale::<SHIFT>(even.wrapping_add(odd)), descale::<SHIFT>(even.wrapping_sub(odd))]
}

/// The transform of jidctint.c, `jpeg_idct_islow`.
#[inline(always)]
fn full_line<const SHIFT: u32>(v: [i16; 8]) -> [i16; 8] {
    let tmp3 = dot(v[2], F_0_541 + F_0_765, v[6], F_0_541);
    let tmp2 = dot(v[2], F_0_541, v[6], F_0_541 - F_1_847);
    let tmp0 = i32::from(v[0].wrapping_add(v[4])) << 13;
    let tmp1 = i32::from(v[0].wrapping_sub(v[4])) << 13;
    let even = [tmp0.wrapping_add(tmp3), tmp1.wrapping_add(tmp2), tmp1.wrapping_sub(tmp2), tmp0.wrapping_sub(tmp3)];

    let (z3, z4) = (v[7].wrapping_add(v[3]), v[5].wrapping_add(v[1]));
    let (z3, z4) = (dot(z3, F_1_175 - F_1_961, z4, F_1_175), dot(z3, F_1_175, z4, F_1_175 - F_0_390));
    let odd = [
        dot(v[7], -F_0_899, v[1], F_1_501 - F_0_899).wrapping_add(z4),
        dot(v[5], -F_2_562, v[3], F_3_072 - F_2_562).wrapping_add(z3),
        dot(v[5], F_2_053 - F_2_562, v[3], -F_2_562).wrapping_add(z4),
        dot(v[7], F_0_298 - F_0_899, v[1], -F_0_899).wrapping_add(z3),
    ];
    let [[a, h], [b, g], [c, f], [d, e]] = std::array::from_fn(|i| butterfly::<SHIFT>(even[i], odd[i]));
    [a, b, c, d, e, f, g, h]
}

/// The transform of jidctred.c, `jpeg_idct_4x4`.
#[inline(always)]
fn half_line<const SHIFT: u32>(v: [i16; 8]) -> [i16; 4] {
    let tmp0 = i32::from(v[0]) << 14;
    let tmp2 = dot(v[2], F_1_847, v[6], -F_0_765);
    let first = dot(v[1], F_2_562, v[3], F_0_899).wrapping_add(dot(v[5], -F_0_601, v[7], -F_0_509));
    let second = dot(v[1], F_1_061, v[3], -F_2_172).wrapping_add(dot(v[5], F_1_451, v[7], -F_0_211));
    let [a, d] = butterfly::<SHIFT>(tmp0.wrapping_add(tmp2), first);
    let [b, c] = butterfly::<SHIFT>(tmp0.wrapping_sub(tmp2), second);
    [a, b, c, d]
}

/// The transform of jidctred.c, `jpeg_idct_2x2`.
#[inline(always)]
fn quarter(blocks: [&Block; 2], i: usize, factors: &Factors) -> [[u8; 2]; 2] {
    let odd = |v: [i16; 4]| dot(v[0], F_3_624, v[1], -F_1_272).wrapping_add(dot(v[2], F_0_850, v[3], -F_0_720));
    let values = dequantize(blocks, i, factors);
    let column = |x: usize| {
        let even = i32::from(values[0][x]) << 15;
        let odd = odd([values[1][x], values[3][x], values[5][x], values[7][x]]);
        [even.wrapping_add(odd), even.wrapping_sub(odd)].map(|sum| sum.wrapping_add(1 << 12) >> 13)
    };
    let columns = [0, 1, 3, 5, 7].map(column);
    std::array::from_fn(|y| {
        // Only the first column continues with 32 bits.
        quarter_row(columns[0][y], odd([1, 2, 3, 4].map(|i: usize| saturate(columns[i][y]))))
    })
}

/// One row of that transform, from the first column and the odd part of the others.
#[inline(always)]
pub(crate) fn quarter_row(first: i32, odd: i32) -> [u8; 2] {
    butterfly::<20>(first.wrapping_shl(15), odd).map(sample)
}

/// The transform of jidctred.c, `jpeg_idct_1x1`. libjpeg has no vector code for it.
#[inline(always)]
pub(crate) fn eighth(blocks: [&Block; 2], i: usize, factors: &Factors) -> u8 {
    let value = (i32::from(blocks[i][0]) * i32::from(factors.get(i, 0, 0)) + 4) >> 3;
    // The table of jdmaster.c, `prepare_range_limit_table`, repeats after 1024.
    let wrapped = (value & 1023) - if value & 512 != 0 { 1024 } else { 0 };
    sample(wrapped as i16)
}

/// All samples of a block whose only coefficient is the first, at full and half size.
#[inline(always)]
pub(crate) fn dc_alone(blocks: [&Block; 2], i: usize, factors: &Factors) -> u8 {
    let value = i32::from(blocks[i][0].wrapping_mul(factors.get(i, 0, 0)) << 2);
    sample(saturate((value + 16) >> 5))
}

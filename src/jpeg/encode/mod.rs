//! Our own encoder: planes to the same kind of JPEG as libjpeg-turbo's, with fewer bytes at the same quality.
//!
//! It chooses coefficients by what they cost ([`ac`], [`dc`]), with quantizers made for video frames
//! ([`quantization`]), and makes Huffman codes for all pictures of a clip, so that a loader builds its tables once for
//! each clip. Every decision is made in integers, or by single sums and products of `f32`, so the bytes are the same on
//! every machine.

mod ac;
mod code;
mod costs;
mod dc;
mod dct;
mod encoder;
mod quantization;
mod symbols;
#[cfg(test)]
mod tests;
mod tile;
mod write;

pub(super) use encoder::ThriftyEncoder;

/// The place of each coefficient in its block, row by row, in coding order (T.81, figure A.6).
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
];

/// The same column by column.
const COLUMNS: [u8; 64] = {
    let mut columns = [0; 64];
    let mut i = 0;
    while i < 64 {
        columns[i] = ZIGZAG[i] % 8 * 8 + ZIGZAG[i] / 8;
        i += 1;
    }
    columns
};

/// The nearest whole number, as both kinds of number; of two, the even one. For numbers from 0 to below 2^22.
#[inline(always)]
fn round(number: f32) -> (f32, u32) {
    // In this range an f32 has no fraction.
    const WHOLE: f32 = 8_388_608.0;
    let shifted = number + WHOLE;
    (shifted - WHOLE, shifted.to_bits() & 0x7F_FFFF)
}

//! The order in which coefficients are coded, and their units: those of their quantizers.

/// The place of each coefficient in its block, row by row, in coding order (T.81, figure A.6).
pub(super) const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
];

/// The place of each coefficient in its block, column by column, in coding order.
pub(super) const COLUMNS: [u8; 64] = {
    let mut columns = [0; 64];
    let mut i = 0;
    while i < 64 {
        columns[i] = ZIGZAG[i] % 8 * 8 + ZIGZAG[i] / 8;
        i += 1;
    }
    columns
};

/// The factors of coefficients, in the order of [`Scaled`].
pub(super) type Scaling = [[f32; 8]; 8];

/// The coefficients of a block in units of their quantizers: the whole first column, then the second, and so on.
pub(super) type Scaled = [[f32; 8]; 8];

/// The factors for quantizers in zigzag order.
pub(super) fn scaling(quantizers: &[u8; 64]) -> Scaling {
    // 1, then cos(i * pi / 16) * sqrt(2).
    const FACTORS: [f64; 8] =
        [1.0, 1.387_039_845, 1.306_562_965, 1.175_875_602, 1.0, 0.785_694_958, 0.541_196_1, 0.275_899_379];
    let mut scaling = [[0.0; 8]; 8];
    for (&quantizer, &place) in quantizers.iter().zip(&ZIGZAG) {
        let (row, column) = (usize::from(place / 8), usize::from(place % 8));
        scaling[column][row] = (1.0 / (8.0 * FACTORS[row] * FACTORS[column] * f64::from(quantizer))) as f32;
    }
    scaling
}

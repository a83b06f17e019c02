//! The order in which coefficients are coded.

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

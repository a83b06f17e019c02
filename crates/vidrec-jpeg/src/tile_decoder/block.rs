//! Blocks of coefficients, and their order in an MCU.

/// Coefficients of a block, row by row.
pub(crate) type Block = [i16; BLOCK];

/// Coefficients in a block.
pub(crate) const BLOCK: usize = 64;

/// The place of each coefficient in coding order (T.81, figure A.6). Places after the last coefficient map to 64,
/// which is not a coefficient.
pub(crate) const ZIGZAG: [u8; 128] = {
    let mut order = [64; 128];
    let (mut i, mut diagonal) = (0, 0);
    while diagonal < 15 {
        let mut step = 0;
        while step <= diagonal {
            let (row, column) = if diagonal % 2 == 0 { (diagonal - step, step) } else { (step, diagonal - step) };
            if row < 8 && column < 8 {
                order[i] = (row * 8 + column) as u8;
                i += 1;
            }
            step += 1;
        }
        diagonal += 1;
    }
    order
};

/// The number of blocks in an MCU: four of luma, then blue, then red.
pub(crate) const MCU: usize = 6;

/// The component of block `i` of an MCU. The first four are luma's.
#[inline(always)]
pub(crate) fn component_of(i: usize) -> usize {
    i.saturating_sub(3)
}

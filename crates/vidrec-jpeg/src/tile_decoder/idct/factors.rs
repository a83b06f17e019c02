//! The factors of coefficients, which come from a quantization table.

use crate::tile_decoder::block::{Block, ZIGZAG};

/// The factors of a component's coefficients, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quantization([i16; 64]);

/// The factors of two blocks that are transformed together: the rows of the first and the second block side by
/// side.
///
/// A row is one load of 32 bytes. Without the alignment, a row could cross cache lines, which made a whole loader
/// 6% slower.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Factors(pub [[i16; 16]; 8]);

impl Factors {
    pub fn new([first, second]: [&Quantization; 2]) -> Self {
        let factor = |x: usize, y: usize| if x < 8 { first.0[8 * y + x] } else { second.0[8 * y + x - 8] };
        Factors(std::array::from_fn(|y| std::array::from_fn(|x| factor(x, y))))
    }

    /// The factor at column `x` and row `y` of the first or second block.
    #[inline(always)]
    pub fn get(&self, block: usize, x: usize, y: usize) -> i16 {
        self.0[y][8 * block + x]
    }
}

impl Quantization {
    /// Creates factors from numbers in coding order.
    pub(crate) fn from_zigzag(factors: &[u8; 64]) -> Self {
        let mut rows = [0; 64];
        factors.iter().zip(ZIGZAG).for_each(|(&factor, place)| rows[usize::from(place)] = factor.into());
        Quantization(rows)
    }

    /// The factors, row by row.
    pub fn rows(&self) -> [i16; 64] {
        self.0
    }

    /// Whether coefficients are larger than those of a picture, so that 16 bits might not be enough everywhere.
    ///
    /// After the first pass, no value exceeds 4 * 1.39 times the sum of magnitudes. The sum of two values fits 16
    /// bits if the sum of magnitudes is at most 5,900. A block of pixels has no sum above 8,192, and rarely one
    /// above 4,000.
    pub fn beyond_pictures(&self, block: &Block) -> bool {
        let magnitude = |(&coefficient, &factor): (&i16, &i16)| i32::from(coefficient).abs() * i32::from(factor);
        block.iter().zip(&self.0).map(magnitude).sum::<i32>() > 5900
    }
}

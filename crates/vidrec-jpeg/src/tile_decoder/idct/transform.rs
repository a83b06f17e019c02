//! The inverse DCT of every kind of machine: the factors that it multiplies by, and its constants.

use crate::tile_decoder::mcu::{Block, ZIGZAG};

/// Rows of samples of two blocks side by side. `N` rows have `2 * N` samples each.
pub(crate) type SampleRows = [[u8; 16]; 8];

/// The inverse DCT of two blocks for one kind of machine. A value exists only where the machine is of that kind.
///
/// The first two functions return false, and `out` is unspecified, if a coefficient in the first row exceeds
/// [`FIRST_ROW_BITS`]. (If the block has no other coefficients, libjpeg-turbo takes a shortcut, in which such
/// coefficients overflow differently.)
pub(crate) trait Idct: Copy {
    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl IdctWork) -> Option<()>;

    /// Transforms to 8x8 samples.
    fn full(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool;

    /// Transforms to 4x4 samples.
    fn half(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool;

    /// Transforms to 2x2 samples, whatever the coefficients.
    fn quarter(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows);
}

/// Coefficients of the first row must fit this many bits, including the sign. Those of pictures fit 12.
pub(crate) const FIRST_ROW_BITS: u32 = 14;

/// Work that is generic over the machine.
pub(crate) trait IdctWork {
    fn run<I: Idct>(self, idct: I) -> Option<()>;
}

/// The factors of a component's coefficients, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quantization([i16; 64]);

/// The factors of two blocks that are transformed together: the rows of the first and the second block side by
/// side.
///
/// A row is one load of 32 bytes. Without the alignment, a row could cross cache lines, which made a whole loader
/// slower.
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

pub const F_0_211: i32 = 1730;
pub const F_0_298: i32 = 2446;
pub const F_0_390: i32 = 3196;
pub const F_0_509: i32 = 4176;
pub const F_0_541: i32 = 4433;
pub const F_0_601: i32 = 4926;
pub const F_0_720: i32 = 5906;
pub const F_0_765: i32 = 6270;
pub const F_0_850: i32 = 6967;
pub const F_0_899: i32 = 7373;
pub const F_1_061: i32 = 8697;
pub const F_1_175: i32 = 9633;
pub const F_1_272: i32 = 10426;
pub const F_1_451: i32 = 11893;
pub const F_1_501: i32 = 12299;
pub const F_1_847: i32 = 15137;
pub const F_1_961: i32 = 16069;
pub const F_2_053: i32 = 16819;
pub const F_2_172: i32 = 17799;
pub const F_2_562: i32 = 20995;
pub const F_3_072: i32 = 25172;
pub const F_3_624: i32 = 29692;

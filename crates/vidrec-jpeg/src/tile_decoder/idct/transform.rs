//! The operations of the inverse DCT on one kind of machine.

use super::factors::Factors;
use crate::tile_decoder::block::Block;

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

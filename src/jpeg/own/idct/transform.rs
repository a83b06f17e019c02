//! What the inverse DCT of one kind of machine does.

use super::factors::Factors;
use crate::jpeg::own::block::Block;

/// Rows of samples of two blocks side by side: of `N` rows, the first `2 * N`.
pub(crate) type SampleRows = [[u8; 16]; 8];

/// The inverse DCT of two blocks for one kind of machine. A value exists only where the machine is of that kind.
///
/// The result of the first two is false, and `out` is unspecified, if a coefficient in the first row exceeds [`FIRST_ROW_BITS`]. (If the
/// block has no others, libjpeg-turbo takes a short cut, in which such coefficients overflow differently.)
pub(crate) trait Idct: Copy {
    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl IdctWork) -> Option<()>;

    /// To 8x8 samples.
    fn full(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool;

    /// To 4x4 samples.
    fn half(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool;

    /// To 2x2 samples, whatever the coefficients.
    fn quarter(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows);
}

/// Coefficients of the first row must fit this many bits, sign included. Those of pictures fit 12.
pub(crate) const FIRST_ROW_BITS: u32 = 14;

/// Work that is generic over the machine.
pub(crate) trait IdctWork {
    fn run<I: Idct>(self, idct: I) -> Option<()>;
}

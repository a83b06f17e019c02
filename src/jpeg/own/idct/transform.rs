//! What the inverse DCT of one kind of machine does.

use super::factors::Factors;
use crate::jpeg::own::block::Block;

/// Rows of samples of two blocks side by side: of `N` rows, the first `2 * N`.
pub(crate) type SampleRows = [[u8; 16]; 8];

/// The inverse DCT of two blocks for one kind of machine. A value exists only where the machine is of that kind.
///
/// The answer is false, and `out` anything, where a coefficient in the first row is beyond [`FIRST_ROW_BITS`]. (With
/// no others in the block libjpeg-turbo takes a short cut, in which they overflow in another way.)
pub(crate) trait Idct: Copy {
    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl IdctWork) -> Option<()>;

    /// To 8x8 samples.
    fn full(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool;

    /// To 4x4 samples.
    fn half(self, blocks: [&Block; 2], factors: &Factors, out: &mut SampleRows) -> bool;
}

/// Coefficients of the first row have to be within this many bits, sign included. No picture's are beyond 12.
pub(crate) const FIRST_ROW_BITS: u32 = 14;

/// Work that is generic over the machine.
pub(crate) trait IdctWork {
    fn run<I: Idct>(self, idct: I) -> Option<()>;
}

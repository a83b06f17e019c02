//! What random numbers are drawn for.

use crate::random::Random;

/// What random numbers are drawn for: everything drawn for one sample is a pure function of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawKey {
    pub seed: u64,
    pub epoch: u64,
    /// The sample, or where an order may repeat one, this occurrence of it. Modulo the number of crops of a clip it is
    /// the number of the sample's crop.
    pub sample: u64,
}

impl DrawKey {
    /// The numbers for one purpose, of [`stream`](crate::random::stream).
    pub(super) fn random(self, stream: u64) -> Random {
        Random::new(self.seed, &[stream, self.epoch, self.sample])
    }
}

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
    /// The same for camera `camera` of the sample: another draw, unless it is the first one.
    pub fn of_camera(self, camera: u32) -> Self {
        let seed = self.seed.wrapping_add(u64::from(camera).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        DrawKey { seed, ..self }
    }

    /// The numbers for one purpose, of [`stream`](crate::random::stream).
    pub(super) fn random(self, stream: u64) -> Random {
        Random::new(self.seed, &[stream, self.epoch, self.sample])
    }
}

//! The key of random numbers.

use vidrec_format::random::Random;

/// The key of random numbers. Everything that is drawn for one sample is a pure function of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawKey {
    pub seed: u64,
    pub epoch: u64,
    /// The sample or, if an order may repeat it, this occurrence of it. Modulo the number of crops of a clip, it
    /// is the number of the sample's crop.
    pub sample: u64,
}

impl DrawKey {
    /// The key for camera `camera` of the sample. It leads to another draw, except for the first camera.
    pub fn of_camera(self, camera: u32) -> Self {
        let seed = self.seed.wrapping_add(u64::from(camera).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        DrawKey { seed, ..self }
    }

    /// The random numbers for one purpose from [`stream`](vidrec_format::random::stream).
    pub(super) fn random(self, stream: u64) -> Random {
        Random::new(self.seed, &[stream, self.epoch, self.sample])
    }
}

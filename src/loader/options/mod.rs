//! What a training loop can ask for.

mod pictures;
mod prefetch;
mod safety;
mod sampling;

pub use pictures::{Dtype, Layout, Pictures};
pub use prefetch::Prefetch;
pub use safety::{OnBadFrame, Safety};
pub use sampling::{Draws, Sampling};

use super::draw::{Augmentation, Temporal};
use super::require::require;
use crate::Result;

/// What a [`Loader`](super::Loader) gives and in which order.
///
/// ```
/// use vidrec::order::Order;
/// use vidrec::{Augmentation, Crop, Dtype, LoaderOptions, Pictures, Sampling};
///
/// let options = LoaderOptions {
///     augmentation: Augmentation { crop: Crop::RANDOM_RESIZED, flip: 0.5, ..Augmentation::default() },
///     pictures: Pictures { dtype: Dtype::F32, ..Pictures::default() },
///     sampling: Sampling { order: Order::Shuffled, ..Sampling::default() },
///     ..LoaderOptions::default()
/// };
/// assert_eq!((options.batch_size, options.pictures.size), (16, (224, 224)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LoaderOptions {
    /// Clips in a batch. Default 16.
    pub batch_size: u32,
    /// Frames taken from each clip, chosen by [`temporal`](Self::temporal); a clip with fewer repeats some. Default
    /// `None`: all frames, and then every clip must have the same number.
    pub frames: Option<u32>,
    /// How frames are chosen. Default [`Temporal::Uniform`]: spread evenly.
    pub temporal: Temporal,
    /// Seed of everything that is drawn: order, frames, crops, flips, colors. Default 0.
    pub seed: u64,
    /// Threads that decode. Default `None`: as many as there are cores, up to 8. The batches do not depend on it.
    pub threads: Option<usize>,
    /// What varies from clip to clip: the part of the frame, flip, colors.
    pub augmentation: Augmentation,
    /// What the pictures are: size, channels, type, normalization.
    pub pictures: Pictures,
    /// Which samples an epoch has, in which order, and how processes share them.
    pub sampling: Sampling,
    /// How far the loader works ahead.
    pub prefetch: Prefetch,
    /// How damaged data is found, and what happens to it.
    pub safety: Safety,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        LoaderOptions {
            batch_size: 16,
            frames: None,
            temporal: Temporal::Uniform,
            seed: 0,
            threads: None,
            augmentation: Augmentation::default(),
            pictures: Pictures::default(),
            sampling: Sampling::default(),
            prefetch: Prefetch::default(),
            safety: Safety::default(),
        }
    }
}

impl LoaderOptions {
    /// Refuses what makes no sense, and names the option.
    pub(super) fn check(&self) -> Result<()> {
        require(self.batch_size > 0, "batch_size", self.batch_size, "1 or more")?;
        require(self.frames != Some(0), "frames", 0, "1 or more")?;
        require(self.threads != Some(0), "threads", 0, "1 or more")?;
        self.temporal.check(self.frames)?;
        self.pictures.check()?;
        self.sampling.check()?;
        self.prefetch.check()?;
        self.augmentation.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_accepted() {
        LoaderOptions::default().check().unwrap();
    }

    /// Those of pictures and of augmentation have tests of their own.
    #[test]
    fn each_option_that_makes_no_sense_is_named() {
        let d = LoaderOptions::default;
        let ranks = |rank, world_size| Sampling { rank, world_size, ..Sampling::default() };
        for (name, options) in [
            ("batch_size", LoaderOptions { batch_size: 0, ..d() }),
            ("frames", LoaderOptions { frames: Some(0), ..d() }),
            ("threads", LoaderOptions { threads: Some(0), ..d() }),
            ("temporal", LoaderOptions { temporal: Temporal::Dense { stride: 1 }, ..d() }),
            ("size", LoaderOptions { pictures: Pictures { size: (0, 1), ..Pictures::default() }, ..d() }),
            ("flip", LoaderOptions { augmentation: Augmentation { flip: 1.5, ..Augmentation::default() }, ..d() }),
            ("rank", LoaderOptions { sampling: ranks(2, 2), ..d() }),
            ("rank", LoaderOptions { sampling: ranks(0, 0), ..d() }),
            ("prefetch", LoaderOptions { prefetch: Prefetch { batches: 0, ..Prefetch::default() }, ..d() }),
        ] {
            let e = options.check().unwrap_err();
            assert!(e.to_string().contains(name), "{name}: {e}");
        }
    }
}

//! The options of a training loop.

mod batching;
mod cameras;
mod deciding;
mod decoded_cache;
mod pictures;
mod prefetch;
mod safety;
mod sampling;
mod tracks;

pub use batching::{Batching, Budget};
pub use cameras::{Cameras, CamerasCrop};
pub use decoded_cache::DecodedCache;
pub use pictures::{Dtype, Layout, Pictures};
pub use prefetch::Prefetch;
pub use safety::{OnBadFrame, Safety};
pub use sampling::{Draws, Sampling};
pub use tracks::{Missing, TrackAnchor, TrackHow, TrackWindow};

use std::collections::BTreeMap;

use super::draw::{Augmentation, Frames, ShortClips, Temporal};
use super::require::require;
use super::state::LoaderState;
use vidrec_dataset::Dataset;
use vidrec_format::error::Hint;
use vidrec_format::error::{Error, Result};
use vidrec_sampler::Rate;
use vidrec_sampler::order::Order;

/// The options of a [`Loader`](super::Loader): the batches that it returns, and their order.
///
/// ```
/// # mod vidrec {
/// #     pub use vidrec_loader::{Augmentation, Crop, Dtype, LoaderOptions, Pictures, Sampling};
/// #     pub use vidrec_sampler::order;
/// # }
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
    /// The number of clips in a batch. Default 16.
    pub batch_size: u32,
    /// The number of frames of a sample. Default [`Frames::Stored`]: all, and every clip must have the same
    /// number.
    pub frames: Frames,
    /// What happens to a clip that has fewer frames. Default [`ShortClips::Repeat`].
    pub short: ShortClips,
    /// Frames per second of presentation time, whatever the stored rate. [`temporal`](Self::temporal) then chooses
    /// from the frames that are on the screen at each tick. A rate above that of a clip's stored frames is an
    /// error, and so is a rate with a fixed number of frames that are spread over the clip. Default `None`: it
    /// chooses from all stored frames. A loader with a rate reads every frame's entry once.
    pub fps: Option<Rate>,
    /// The choice of frames. Default [`Temporal::Uniform`]: spread evenly.
    pub temporal: Temporal,
    /// The seed of everything that is drawn: order, frames, crops, flips, colors. Default 0.
    pub seed: u64,
    /// The number of threads that decode. Default `None`: as many as there are cores, up to 8. The batches do not
    /// depend on it.
    pub threads: Option<usize>,
    /// Augmentation, which varies from clip to clip: the part of the frame, flip, colors.
    pub augmentation: Augmentation,
    /// The pictures: size, channels, type, normalization.
    pub pictures: Pictures,
    /// The rules that turn clips of different lengths and shapes into batches.
    pub batching: Batching,
    /// The attributes that come with each batch, by name. `video.codec` is `codec` in the attribute `video`.
    /// Default none. See [`Batch::fields`](super::Batch::fields).
    pub fields: Vec<String>,
    /// The tracks that come with each batch, by name, and the choice of their values. Default none. See
    /// [`Batch::tracks`](crate::Batch::tracks). A loader with tracks opens the track files of all shards.
    pub tracks: BTreeMap<String, TrackWindow>,
    /// The cameras whose clips are one sample. Default: none, each clip is a sample.
    pub cameras: Cameras,
    /// The samples of an epoch, their order, and how processes share them.
    pub sampling: Sampling,
    /// How far the loader works ahead.
    pub prefetch: Prefetch,
    /// How damaged data is detected, and what happens to it.
    pub safety: Safety,
    /// Keeps decoded frames in memory. Default `None`: they are decoded each time.
    pub decoded_cache: Option<DecodedCache>,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        LoaderOptions {
            batch_size: 16,
            frames: Frames::Stored,
            short: ShortClips::Repeat,
            fps: None,
            temporal: Temporal::Uniform,
            seed: 0,
            threads: None,
            augmentation: Augmentation::default(),
            pictures: Pictures::default(),
            batching: Batching::default(),
            fields: Vec::new(),
            tracks: BTreeMap::new(),
            cameras: Cameras::default(),
            sampling: Sampling::default(),
            prefetch: Prefetch::default(),
            safety: Safety::default(),
            decoded_cache: None,
        }
    }
}

impl LoaderOptions {
    /// Decides on the order, if that is left to the loader: the order of the run that this one resumes, if there is
    /// one, or else the one that is best for the data set.
    pub(super) fn settle_order(&mut self, dataset: &Dataset, resumed: Option<&LoaderState>) -> Result<()> {
        let resumed = resumed.and_then(LoaderState::order);
        let sampling = &mut self.sampling;
        if std::mem::take(&mut sampling.shuffle) {
            require(sampling.order == Order::Sequential, "order", &sampling.order, "none with shuffle")?;
            sampling.order = resumed.clone().unwrap_or_else(|| Sampling::order_for(dataset));
        }
        if let Some(homes) = resumed.and_then(|order| order.homes()) {
            sampling.order = std::mem::take(&mut sampling.order).with_default_homes(homes);
        }
        Ok(())
    }

    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        require(self.batch_size > 0, "batch_size", self.batch_size, "1 or more")?;
        let none = matches!(self.frames, Frames::Fixed(0) | Frames::Any { most: Some(0) });
        require(!none, "frames", 0, "1 or more")?;
        require(self.threads != Some(0), "threads", 0, "1 or more")?;
        self.temporal.check(self.frames)?;
        self.check_rate()?;
        self.pictures.check()?;
        self.sampling.check()?;
        self.prefetch.check()?;
        self.batching.check()?;
        self.check_lengths()?;
        self.cameras.check()?;
        self.tracks.iter().try_for_each(|(name, window)| window.check(name))?;
        self.augmentation.check()
    }

    /// Returns an error for a rate of frames that are spread over the clip. Their distance follows from the length
    /// of the clip.
    fn check_rate(&self) -> Result<()> {
        let spreads = matches!(self.temporal, Temporal::Uniform | Temporal::RandomSegments);
        if self.fps.is_none() || !spreads || !matches!(self.frames, Frames::Fixed(_)) {
            return Ok(());
        }
        let e = Error::usage(format!("loader option fps: {} spreads frames over the clip, at no rate", self.temporal));
        let e = e.expected("none, or a rule that takes runs: clip, clip-center, views or dense");
        Err(e.found(self.fps.map_or(String::new(), |fps| fps.to_string())).hint(Hint::Unset("fps")))
    }

    /// Returns an error if a value makes no sense for batches of different lengths.
    fn check_lengths(&self) -> Result<()> {
        let (any, batching) = (matches!(self.frames, Frames::Any { .. }), &self.batching);
        if !batching.buckets.is_empty() && !any {
            return Err(
                Error::usage("loader option buckets: all samples have the same length").hint(Hint::Unset("buckets"))
            );
        }
        if batching.budget.is_some() && any && batching.buckets.is_empty() {
            let e = Error::usage(
                "loader option budget: clips of any length need buckets, which determine how many clips fit",
            );
            return Err(e.hint(Hint::Set("buckets")));
        }
        if batching.divides() && matches!(self.sampling.order, Order::Weighted(_)) {
            return Err(Error::usage("loader option weights: samples drawn by weight cannot be divided into buckets"));
        }
        if let (Frames::Any { most: Some(most) }, Some(&last)) = (self.frames, batching.buckets.last()) {
            require(
                most <= last,
                "buckets",
                format_args!("{:?}", batching.buckets),
                &format!("one of {most} or more"),
            )?;
        }
        Ok(())
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
            ("frames", LoaderOptions { frames: Frames::Fixed(0), ..d() }),
            ("frames", LoaderOptions { frames: Frames::Any { most: Some(0) }, ..d() }),
            ("buckets", LoaderOptions { batching: Batching { buckets: vec![8], ..Batching::default() }, ..d() }),
            ("threads", LoaderOptions { threads: Some(0), ..d() }),
            ("temporal", LoaderOptions { temporal: Temporal::Dense { stride: 1, hop: 1 }, ..d() }),
            ("fps", LoaderOptions { frames: Frames::Fixed(16), fps: "4".parse().ok(), ..d() }),
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

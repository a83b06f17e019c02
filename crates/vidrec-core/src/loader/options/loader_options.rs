//! All options of a training loop.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::pictures::KnownNormalize;
use super::values::{OneOrTwo, Size, null_is_default, require, short};
use super::{
    Batching, Cameras, ColorJitter, Crop, DecodedCache, Dtype, Frames, Layout, Normalize, OnBadFrame, OwnOptions,
    Prefetch, TrackWindow,
};
use crate::dataset::Dataset;
use crate::loader::kernel::{Channels, REDUCING_GAP};
use crate::loader::state::LoaderState;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::order::{LastBatch, Order};

/// The greatest number of combinations of lengths and sizes.
pub(crate) const MAX_BUCKETS: usize = 1 << 16;

/// The options that may differ when a run is resumed, and those that a state has in other fields.
const OTHERS: [&str; 9] =
    ["batch_size", "rank", "threads", "prefetch", "decoded_cache", "shuffle", "order", "seed", "batching"];

/// The options of a [`Loader`](crate::loader::Loader): the batches that it returns, and their order.
///
/// As JSON (serde): an object with these fields. Fields may be missing, which means their defaults.
///
/// ```
/// use vidrec::{Crop, Dtype, Frames, LoaderOptions};
///
/// let options = LoaderOptions {
///     frames: Frames::uniform(8),
///     crop: Crop::random_resized((112, 112)),
///     flip: 0.5,
///     dtype: Dtype::F32,
///     shuffle: true,
///     ..LoaderOptions::default()
/// };
/// let json = r#"{"frames": {"Uniform": {"count": 8}}, "crop": {"RandomResizedCrop": {"size": 112}}, "flip": 0.5,
///                "dtype": "float32", "shuffle": true}"#;
/// assert_eq!(serde_json::from_str::<LoaderOptions>(json).unwrap(), options);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoaderOptions {
    /// The number of clips in a batch. Default 16.
    pub batch_size: u32,
    /// The frames of a sample. Default [`Frames::Stored`]: all, and every clip must have the same number.
    #[serde(deserialize_with = "short::<u32, _, _>")]
    pub frames: Frames,
    /// The part of a frame that becomes the picture, and the size of the picture. Default: the middle 224 by 224
    /// pixels.
    #[serde(deserialize_with = "short::<OneOrTwo, _, _>")]
    pub crop: Crop,
    /// How many times larger than the picture, at least, a frame is decoded if the JPEG decoder could reduce it by 2, 4 or 8.
    /// Reducing in the decoder is faster and less exact. Default 1.125, so that 256 pixels become 112 by way of 128. A gap
    /// of 2, as in Pillow's `thumbnail`, is closer to the exact resize of the full decode. A large gap turns it off.
    pub reducing_gap: f64,
    /// The probability that a clip is mirrored, left to right. Default 0.
    pub flip: f32,
    /// The variation of colors. Default: none.
    #[serde(deserialize_with = "null_is_default")]
    pub color: ColorJitter,
    /// The channels. Default [`Channels::Rgb`].
    pub channels: Channels,
    /// The type of a value. Default [`Dtype::U8`].
    pub dtype: Dtype,
    /// The normalization of float values. Default `None`: values from 0 to 1. Bytes have none.
    #[serde(deserialize_with = "short::<KnownNormalize, _, _>")]
    pub normalize: Option<Normalize>,
    /// The order of dimensions. Default [`Layout::Btchw`].
    pub layout: Layout,
    /// Whether samples are shuffled in the order that is best for the data set. Default `false`.
    ///
    /// A local data set is shuffled exactly ([`Order::Shuffled`]). That would read each clip of a remote data set with a
    /// request of its own. Blocks of 8 MiB of a remote one are therefore read, and the clips of 64 such blocks are mixed
    /// ([`Order::Homes`]). Two clips that are stored side by side then share a batch more often than by chance. With
    /// several ranks, each has blocks of its own.
    ///
    /// A run that resumes keeps its order, even if the data set has moved.
    pub shuffle: bool,
    /// The order of samples. Default [`Order::Sequential`]: as stored. Other orders exclude
    /// [`shuffle`](Self::shuffle).
    #[serde(deserialize_with = "short::<Samples, _, _>")]
    pub order: Order,
    /// The seed of everything that is drawn: order, frames, crops, flips, colors. Default 0.
    pub seed: u64,
    /// The number of this process among those that train together, from 0, and how many they are. Default `(0, 1)`.
    pub rank: (u32, u32),
    /// The handling of clips that do not fill a batch on every rank. Default [`LastBatch::Keep`]: the last
    /// batches are smaller.
    pub last: LastBatch,
    /// The number of clips in a batch, and the clips that share one. Default `None`: [`batch_size`](Self::batch_size).
    pub batching: Option<Batching>,
    /// The cameras whose clips are one sample. Default `None`: each clip is a sample.
    pub cameras: Option<Cameras>,
    /// The attributes that come with each batch, by name. `video.codec` is `codec` in the attribute `video`.
    /// Default none. See [`Batch::fields`](crate::loader::Batch::fields).
    pub fields: Vec<String>,
    /// The tracks that come with each batch, by name, and the choice of their values. Default none. See
    /// [`Batch::tracks`](crate::loader::Batch::tracks). A loader with tracks opens the track files of all shards.
    #[serde(deserialize_with = "null_is_default")]
    pub tracks: BTreeMap<String, TrackWindow>,
    /// The handling of a clip that cannot be read or decoded. Default [`OnBadFrame::Error`].
    pub on_bad_frame: OnBadFrame,
    /// The number of threads that decode. Default `None`: as many as there are cores, up to 8. The batches do not
    /// depend on it.
    pub threads: Option<usize>,
    /// The limits of the work ahead.
    #[serde(deserialize_with = "short::<u32, _, _>")]
    pub prefetch: Prefetch,
    /// Keeps decoded frames in memory. Default `None`: they are decoded each time.
    #[serde(deserialize_with = "short::<Size, _, _>")]
    pub decoded_cache: Option<DecodedCache>,
}

/// The numbers of samples, which stand for an order.
#[derive(Deserialize)]
struct Samples(Vec<u64>);

impl From<Samples> for Order {
    fn from(Samples(samples): Samples) -> Self {
        Order::List(samples.into())
    }
}

impl Default for LoaderOptions {
    fn default() -> Self {
        LoaderOptions {
            batch_size: 16,
            frames: Frames::Stored,
            crop: Crop::default(),
            reducing_gap: REDUCING_GAP,
            flip: 0.0,
            color: ColorJitter::default(),
            channels: Channels::Rgb,
            dtype: Dtype::U8,
            normalize: None,
            layout: Layout::Btchw,
            shuffle: false,
            order: Order::Sequential,
            seed: 0,
            rank: (0, 1),
            last: LastBatch::Keep,
            batching: None,
            cameras: None,
            fields: Vec::new(),
            tracks: BTreeMap::new(),
            on_bad_frame: OnBadFrame::Error,
            threads: None,
            prefetch: Prefetch::default(),
            decoded_cache: None,
        }
    }
}

/// The options of a loader, with those that each source of a mix and each camera has of its own.
#[derive(Debug)]
pub(crate) struct ResolvedOptions {
    pub loader: LoaderOptions,
    /// The options of each source, for each of its cameras.
    pub samples: Vec<LoaderOptions>,
}

impl Deref for ResolvedOptions {
    type Target = LoaderOptions;

    fn deref(&self) -> &LoaderOptions {
        &self.loader
    }
}

impl ResolvedOptions {
    /// The number of clips of a sample: one of each camera.
    pub fn cameras_per_sample(&self) -> usize {
        self.cameras.as_ref().map_or(1, |cameras| cameras.names.len())
    }

    /// The options of the first camera of each source.
    pub fn first_cameras(&self) -> impl Iterator<Item = &LoaderOptions> {
        self.samples.iter().step_by(self.cameras_per_sample())
    }

    /// Width and height of the pictures of the first source; of [`Crop::SmartResize`], the smallest.
    pub fn size(&self) -> (u32, u32) {
        self.samples[0].crop.size()
    }

    /// The lengths of samples, if clips of similar lengths share a batch.
    pub fn buckets(&self) -> &[u32] {
        self.batching.as_ref().map_or(&[], Batching::buckets)
    }

    /// Whether clips are divided into batches by length or size.
    pub fn divides(&self) -> bool {
        let sizes: BTreeSet<_> = self.samples.iter().flat_map(|samples| samples.crop.sizes()).collect();
        let follows_frames = self.samples.iter().any(|samples| samples.crop.rule().is_some());
        !self.buckets().is_empty() || sizes.len() > 1 || follows_frames
    }
}

/// The number of bytes in a block of the order for remote data sets, and of blocks in a window: half a gigabyte is
/// mixed.
const BLOCK_BYTES: u64 = 8 << 20;
const WINDOW: u32 = 64;

/// The order of a shuffle that is left to the loader: an exact shuffle of a local data set, blocks of a remote one.
pub(crate) fn best_order(dataset: &Dataset) -> Order {
    if !dataset.is_remote() {
        return Order::Shuffled;
    }
    let block = (BLOCK_BYTES / dataset.mean_clip_bytes().max(1)).clamp(1, u64::from(u32::MAX));
    Order::Homes { homes: None, exchange: 1.0, block: block as u32, window: WINDOW }
}

impl LoaderOptions {
    /// The options that decide what is in the batches, by name. The order is not among them, because it may depend on
    /// the data set. Neither are those that may differ when a run is resumed.
    pub(crate) fn deciding(&self) -> Result<JsonObject> {
        let mut options = JsonObject::of(self)?;
        options.0.retain(|name, _| !OTHERS.contains(&name.as_str()));
        // A budget is a size of batches.
        let buckets = self.batching.as_ref().map(|batching| batching.buckets());
        options.insert("buckets", json!(buckets))?;
        Ok(options)
    }

    /// Decides on the order, if that is left to the loader: the order of the run that this one resumes, if there is
    /// one, or else the one that is best for the data set.
    pub(crate) fn settle_order(&mut self, dataset: &Dataset, resumed: Option<&LoaderState>) {
        let resumed = resumed.and_then(LoaderState::order);
        if std::mem::take(&mut self.shuffle) {
            self.order = resumed.clone().unwrap_or_else(|| best_order(dataset));
        }
        if let Some(homes) = resumed.and_then(|order| order.homes()) {
            self.order = std::mem::take(&mut self.order).with_default_homes(homes);
        }
    }

    /// The same with the options that a source or a camera has of its own.
    fn with_own(&self, own: Option<&OwnOptions>) -> LoaderOptions {
        let mut options = self.clone();
        if let Some(OwnOptions { frames, crop, flip, color, normalize, tracks }) = own {
            options.frames = frames.clone().unwrap_or(options.frames);
            options.crop = crop.clone().unwrap_or(options.crop);
            options.flip = flip.unwrap_or(options.flip);
            options.color = color.unwrap_or(options.color);
            options.normalize = normalize.or(options.normalize);
            options.tracks.extend(tracks.iter().map(|(name, window)| (name.clone(), window.clone())));
        }
        options
    }

    /// The options of each source, for each of its cameras.
    pub(crate) fn each(&self, own: &[OwnOptions]) -> Vec<Vec<LoaderOptions>> {
        let cameras = match &self.cameras {
            Some(cameras) => cameras.names.iter().map(|name| cameras.own.get(name)).collect(),
            None => vec![None],
        };
        let of_source = |own| {
            let options = self.with_own(own);
            let of_camera = |own| LoaderOptions { frames: options.frames.clone(), ..options.with_own(own) };
            cameras.iter().map(|own| of_camera(*own)).collect()
        };
        if own.is_empty() { vec![of_source(None)] } else { own.iter().map(|own| of_source(Some(own))).collect() }
    }

    /// Returns an error that names the option if a value makes no sense, with the options that each source of a mix has of
    /// its own. `names` are those of the sources.
    pub(crate) fn check(&self, own: &[OwnOptions], names: &[String]) -> Result<()> {
        // Each camera has options of its own, so there must be one.
        self.cameras.iter().try_for_each(Cameras::check)?;
        let each = self.each(own);
        for (i, options) in each.iter().enumerate() {
            let named = |e: Error| match names.get(i).filter(|_| own[i] != OwnOptions::default()) {
                Some(name) => e.also_help(format!("this is of source \"{name}\"")),
                None => e,
            };
            options.iter().try_for_each(LoaderOptions::check_values).map_err(named)?;
            self.cameras.iter().try_for_each(|cameras| cameras.check_frames(&options[0].frames)).map_err(named)?;
            if let Some(name) = options[0].tracks.keys().find(|name| !self.tracks.contains_key(*name)) {
                let e = Error::usage(format!(
                    "loader option tracks: a source has the track \"{name}\", and the loader has not"
                ));
                return Err(named(e.help("give the loader the track, too; missing = mask masks it in other sources")));
            }
            let sizes = |options: &LoaderOptions| (options.crop.size(), options.crop.sizes().to_vec());
            if options.iter().any(|camera| sizes(camera) != sizes(&options[0])) {
                let e =
                    Error::usage("loader option cameras: pictures of all cameras have one size").found("several sizes");
                return Err(named(e));
            }
        }
        self.check_buckets(&each.iter().map(|options| &options[0]).collect::<Vec<_>>())
    }

    /// Checks each value by itself.
    ///
    /// # Errors
    ///
    /// A value makes no sense.
    #[doc(hidden)]
    pub fn check_values(&self) -> Result<()> {
        self.cameras.iter().try_for_each(Cameras::check)?;
        require(self.batch_size > 0, "batch_size", self.batch_size, "1 or more")?;
        require(self.threads != Some(0), "threads", 0, "1 or more")?;
        require(self.reducing_gap >= 1.0, "reducing_gap", self.reducing_gap, "1 or more")?;
        require((0.0..=1.0).contains(&self.flip), "flip", self.flip, "a probability, 0 to 1")?;
        let (rank, world_size) = self.rank;
        require(rank < world_size, "rank", format_args!("{rank} of {world_size}"), "less than the number of ranks")?;
        require(!self.shuffle || self.order == Order::Sequential, "order", &self.order, "none with shuffle")?;
        self.frames.check()?;
        self.crop.check()?;
        self.color.check()?;
        self.check_normalize()?;
        require(self.prefetch.batches > 0, "prefetch", 0, "1 or more")?;
        self.batching.iter().try_for_each(Batching::check)?;
        self.tracks.iter().try_for_each(|(name, window)| window.check(name))
    }

    /// Returns an error for a normalization that makes no sense, or that bytes cannot have.
    fn check_normalize(&self) -> Result<()> {
        let Some(normalize) = &self.normalize else { return Ok(()) };
        normalize.check()?;
        if self.dtype == Dtype::U8 {
            let e = Error::usage("loader option normalize: bytes cannot be normalized").expected("a float dtype");
            return Err(e.found(self.dtype).hint(Hint::Unset("normalize")));
        }
        Ok(())
    }

    /// Returns an error if buckets make no sense for the frames or sizes of the sources.
    fn check_buckets(&self, sources: &[&LoaderOptions]) -> Result<()> {
        let is_any = sources.iter().any(|options| matches!(options.frames, Frames::AllFrames { .. }));
        let differ = sources.iter().any(|options| options.frames.count() != sources[0].frames.count());
        let buckets = self.batching.as_ref().map_or(&[][..], Batching::buckets);
        let sizes: BTreeSet<_> = sources.iter().flat_map(|options| options.crop.sizes()).collect();
        let number = buckets.len().max(1) * sizes.len();
        require(number <= MAX_BUCKETS, "batching: buckets and sizes", number, "at most 65536 combinations")?;
        if !buckets.is_empty() && !is_any && !differ {
            let e = Error::usage("loader option batching: buckets are for frames of any number, AllFrames");
            return Err(e.hint(Hint::Unset("batching")));
        }
        let has_budget = self.batching.as_ref().is_some_and(|batching| batching.clips(1, (1, 1)).is_some());
        if has_budget && is_any && buckets.is_empty() {
            let e =
                Error::usage("loader option batching: clips of any length need buckets, which determine how many fit");
            return Err(e.hint(Hint::Set("batching")));
        }
        let most = sources.iter().map(|options| options.frames.most()).filter(|&most| most < u32::MAX);
        if let (Some(most), Some(&last)) = (most.max(), buckets.last()) {
            let expected = format!("one of {most} or more");
            require(most <= last, "batching: buckets", format_args!("{buckets:?}"), &expected)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_accepted_and_json_has_them() {
        LoaderOptions::default().check(&[], &[]).unwrap();
        let json = serde_json::to_string(&LoaderOptions::default()).unwrap();
        assert_eq!(serde_json::from_str::<LoaderOptions>(&json).unwrap(), LoaderOptions::default());
        assert_eq!(serde_json::from_str::<LoaderOptions>("{}").unwrap(), LoaderOptions::default());
        let e = serde_json::from_str::<LoaderOptions>(r#"{"batchsize": 3}"#).unwrap_err().to_string();
        assert!(e.contains("unknown field `batchsize`"), "{e}");
    }

    /// Those of frames, crops, batching and tracks have tests of their own.
    #[test]
    fn each_option_that_makes_no_sense_is_named() {
        let d = LoaderOptions::default;
        let buckets = |frames, lengths: &[u32]| LoaderOptions {
            frames,
            batching: Some(Batching::Buckets { lengths: lengths.into() }),
            ..d()
        };
        let budget = Some(Batching::FrameBudget { frames: 9, buckets: vec![] });
        for (name, options) in [
            ("batch_size", LoaderOptions { batch_size: 0, ..d() }),
            ("frames", LoaderOptions { frames: 0.into(), ..d() }),
            ("crop", LoaderOptions { crop: Crop::center((0, 1)), ..d() }),
            ("batching", buckets(8.into(), &[8])),
            ("buckets", buckets(Frames::all().with_max(Some(9)), &[8])),
            ("batching", LoaderOptions { frames: Frames::all(), batching: budget, ..d() }),
            ("threads", LoaderOptions { threads: Some(0), ..d() }),
            ("reducing_gap", LoaderOptions { reducing_gap: f64::NAN, ..d() }),
            ("flip", LoaderOptions { flip: 1.5, ..d() }),
            ("flip", LoaderOptions { flip: f32::NAN, ..d() }),
            ("color", LoaderOptions { color: ColorJitter { contrast: -1.0, ..ColorJitter::default() }, ..d() }),
            ("normalize", LoaderOptions { normalize: Some(Normalize::IMAGENET), ..d() }),
            ("rank", LoaderOptions { rank: (2, 2), ..d() }),
            ("rank", LoaderOptions { rank: (0, 0), ..d() }),
            ("order", LoaderOptions { shuffle: true, order: Order::Shuffled, ..d() }),
            ("prefetch", LoaderOptions { prefetch: Prefetch { batches: 0, ..Prefetch::default() }, ..d() }),
            ("cameras", LoaderOptions { cameras: Some(Cameras::new::<String>([])), ..d() }),
        ] {
            let e = options.check(&[], &[]).unwrap_err();
            assert!(e.to_string().contains(name), "{name}: {e}");
        }
    }
}

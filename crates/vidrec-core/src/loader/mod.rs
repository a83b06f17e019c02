//! Batches for a training loop: order, frames, crop, decode, resize, colors, normalize.
//!
//! A batch is a pure function of (data set, options, epoch, number of the batch). It has the same bits with any number
//! of threads, and a run that stopped can be resumed from a few integers ([`LoaderState`]).
//!
//! ```text
//! options  what a training loop can ask for      batch            what it gets; jpeg_batch: without decoding
//! draw     frames, crop, flip, colors            state, counters  where a run stands, what was done
//! kernel   from decoded planes to the batch      feed             which samples, how each is made, the thread ahead
//! ```

#[doc(hidden)]
pub mod decoded;

mod aligned;
mod batch;
mod counters;
mod draw;
mod feed;
mod jpeg_batch;
#[doc(hidden)]
pub mod kernel;
mod mix;
mod options;
mod state;
mod tile_plan;
mod track_batch;

use std::fmt;
use std::sync::Arc;

use crate::dataset::Dataset;
use vidrec_format::error::Result;
use vidrec_format::sampler::order::Order;

pub use aligned::Aligned;
pub use batch::{Batch, BatchData, Field, SampleParams};
pub use counters::{DecodedStats, LoaderStats};
pub use draw::{ColorDraw, ColorStep};
use feed::ask_for;
pub use feed::{Batches, BatchesInto, Epochs, Memory, PrefetchedBatch};
use feed::{BufferPool, Device, Engine, fill, fill_declined, fill_into, fill_jpegs};
pub use jpeg_batch::{JpegBatch, JpegFrame};
pub use kernel::{Channels, ColorMatrix};
pub use mix::{Mix, MixLabels, MixOptions, SourceCount};
pub use options::{
    Batching, Cameras, CamerasCrop, ColorJitter, Crop, DecodedCache, Draws, Dtype, Frames, Layout, LoaderOptions,
    Missing, Normalize, OnBadFrame, OwnOptions, Prefetch, ShortClips, Start, TrackAnchor, TrackHow, TrackNormalize,
    TrackScaling, TrackWindow, WindowPad,
};
pub use state::LoaderState;
#[doc(hidden)]
pub use tile_plan::TilePlan;
pub use track_batch::{TrackBatch, TrackData};

/// Loads the batches of a data set, epoch after epoch.
///
/// ```
/// use vidrec::{Crop, Dataset, Dtype, Loader, LoaderOptions, Normalize};
/// # use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let dir = folder.path().join("train");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(340, 256)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # for label in 0..4 {
/// #     let clip = ClipInfo { label: Some(label), width: 340, height: 256, ..ClipInfo::default() };
/// #     writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }; 8])?;
/// # }
/// # writer.finish()?;
///
/// let train = Dataset::open(&dir)?;
/// let options = LoaderOptions {
///     batch_size: 2,
///     crop: Crop::random_resized((224, 224)),
///     flip: 0.5,
///     dtype: Dtype::F32,
///     normalize: Some(Normalize::IMAGENET),
///     shuffle: true,
///     ..LoaderOptions::default()
/// };
/// let loader = Loader::new(&train, options)?;
/// for epoch in 0..2 {
///     for batch in loader.iter(epoch)? {
///         let batch = batch?;
///         assert_eq!(batch.shape(), [2, 8, 3, 224, 224]);
///         assert_eq!(batch.f32().unwrap().len(), 2 * 8 * 3 * 224 * 224);
///         assert_eq!(batch.labels.len(), 2);
///     }
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Clone)]
pub struct Loader {
    engine: Arc<Engine>,
    /// The memory of dropped batches, for the next epoch.
    pool: Arc<BufferPool<Batch>>,
    /// The memory of dropped batches of JPEGs.
    jpeg_buffers: Arc<BufferPool<JpegBatch>>,
}

impl Loader {
    /// Creates a loader of `dataset`, which it shares. Clones share threads, counters, and the memory of batches,
    /// which is kept from epoch to epoch.
    ///
    /// If all clips have the same number of frames, this takes the same time whatever the number of clips. If not,
    /// it reads the index entry of every clip. Buckets ([`Batching`]) and several sizes ([`Crop::Cover`],
    /// [`Crop::SmartResize`]) also read every clip's entry, a rate ([`Frames`]) reads the entries of all frames, and [`LoaderOptions::fields`] reads all
    /// attributes.
    ///
    /// # Errors
    ///
    /// An option that makes no sense, clips with different numbers of frames when `frames` is not given, an epoch without
    /// batches, a clip that fits no bucket, a batch larger than memory can be, no threads, or no room for the
    /// [`DecodedCache`].
    pub fn new(dataset: &Dataset, options: LoaderOptions) -> Result<Self> {
        Ok(Loader::of(Engine::new(dataset, options, None)?))
    }

    /// Creates a loader that resumes exactly where another one stood: see [`LoaderState`].
    ///
    /// [`LoaderOptions::batch_size`], [`LoaderOptions::rank`] and other options that do not decide what is in the
    /// batches may differ from before ([`LoaderState::options`]). The rest of the state's epoch is epoch
    /// [`first_epoch`](Self::first_epoch) of this loader, and its batches count from 0 again. Later epochs are whole. With [`LastBatch::Keep`](vidrec_format::sampler::order::LastBatch::Keep) and
    /// [`LastBatch::Pad`](vidrec_format::sampler::order::LastBatch::Pad), each sample counts exactly once an epoch, however
    /// often a run is resumed.
    /// [`Order::Homes`](vidrec_format::sampler::order::Order::Homes) without a number of homes takes that of the state, in
    /// this epoch and in all later ones.
    ///
    /// ```
    /// # use vidrec::{ClipInfo, Crop, Dataset, FrameData, Loader, LoaderOptions, Writer, WriterOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let dir = folder.path().join("train");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// # (0..5).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
    /// # writer.finish()?;
    /// # let train = Dataset::open(&dir)?;
    /// let options = LoaderOptions { batch_size: 2, crop: Crop::center((16, 16)), ..LoaderOptions::default() };
    /// let state = Loader::new(&train, options.clone())?.state(0, 1); // after batch 0: clips 0 and 1
    ///
    /// let options = LoaderOptions { batch_size: 3, ..options };
    /// let loader = Loader::resume(&train, options, &state)?;
    /// assert_eq!(loader.batch(0, 0)?.clips, [2, 3, 4]);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), and a state of another data set, seed or length of epoch, or of other
    /// options that decide what is in the batches. The error names those that differ, with both values.
    pub fn resume(dataset: &Dataset, options: LoaderOptions, state: &LoaderState) -> Result<Self> {
        let mut engine = Engine::new(dataset, options, Some(state))?;
        engine.resume(state)?;
        Ok(Loader::of(engine))
    }

    /// Creates a loader of a mix of data sets. The mix sets the number of samples in an epoch.
    ///
    /// This is like [`new`](Self::new), except that [`LoaderOptions::order`] only sets the order of the samples of each
    /// source. By default, the samples are shuffled, and those of a remote source are shuffled in blocks.
    /// [`Order::Shuffled`](vidrec_format::sampler::order::Order::Shuffled) and
    /// [`Order::Blocks`](vidrec_format::sampler::order::Order::Blocks) apply to all sources. Each round through a source
    /// draws new crops, flips, colors and frames for its clips.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), and another order.
    pub fn mix(mix: &Mix, options: LoaderOptions) -> Result<Self> {
        Ok(Loader::of(Engine::of_mix(mix, options, None)?))
    }

    /// Creates a loader of a mix that resumes exactly where another one stood, even with another number of ranks
    /// and in another epoch: see [`resume`](Self::resume). The weights may differ from there on, but not before.
    ///
    /// # Errors
    ///
    /// The errors of [`mix`](Self::mix), and a state of another mix, seed or length of epoch.
    pub fn resume_mix(mix: &Mix, options: LoaderOptions, state: &LoaderState) -> Result<Self> {
        let mut engine = Engine::of_mix(mix, options, Some(state))?;
        engine.resume(state)?;
        Ok(Loader::of(engine))
    }

    /// The use of each source of a mix by all ranks together after `batches` batches of `epoch`, counted
    /// from the first sample of epoch 0. Empty without a mix.
    pub fn sources(&self, epoch: u64, batches: u64) -> Vec<SourceCount> {
        let (Some(mix), Order::Mixed(mixed)) = (&self.engine.mix, self.engine.schedule.order()) else {
            return Vec::new();
        };
        let before = mixed.position(epoch, 0);
        let mut counts = mixed.counts(before);
        match self.engine.schedule.bucketed_positions(epoch, batches) {
            Some(positions) => {
                let draws = positions.iter().filter_map(|position| mixed.draw(before.checked_add(*position)?));
                draws.for_each(|draw| counts[draw.source] += 1);
            }
            None => {
                let after = self.engine.schedule.after(epoch, batches);
                counts = mixed.counts(mixed.position(after.epoch, after.consumed));
            }
        }
        mix.named_counts(mixed, counts)
    }

    fn of(engine: Engine) -> Self {
        // Memory for the batches made ahead, and for the one in use.
        let pool = Arc::new(BufferPool::new(engine.depth().saturating_add(1)));
        let jpeg_buffers = Arc::new(BufferPool::new(engine.depth_of_jpegs().saturating_add(1)));
        Loader { engine: Arc::new(engine), pool, jpeg_buffers }
    }

    /// The state after `batches` batches of `epoch`, which is the same on every rank. After the last batch, it is
    /// the start of the next epoch.
    pub fn state(&self, epoch: u64, batches: u64) -> LoaderState {
        self.engine.state(epoch, batches)
    }

    /// The first epoch: 0, or that of the state from which the run was resumed.
    pub fn first_epoch(&self) -> u64 {
        self.engine.schedule.first_epoch()
    }

    /// The number of batches that this rank has in a whole epoch. It is the same on every rank. If clips of a mix, or clips
    /// drawn by weight, are divided into buckets, epochs differ by some batches, and this is the number of epoch 0.
    pub fn batches_per_epoch(&self) -> u64 {
        self.engine.schedule.batches_per_epoch()
    }

    /// The number of batches that this rank has in `epoch`; fewer in an epoch that was resumed.
    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.engine.schedule.batches_in(epoch)
    }

    /// The number of threads that decode.
    pub fn threads(&self) -> usize {
        self.engine.workers.threads()
    }

    /// The dimensions of a full batch, as in [`Batch::shape`]. If batches differ in shape, these are the dimensions
    /// of the largest. The last batches of an epoch may have fewer clips
    /// ([`LastBatch::Keep`](vidrec_format::sampler::order::LastBatch::Keep)).
    pub fn shape(&self) -> [usize; 5] {
        self.engine.shape()
    }

    /// Whether full batches differ in shape: [`Frames::AllFrames`], [`Batching`].
    pub fn shapes_differ(&self) -> bool {
        let shapes = self.engine.schedule.shapes();
        shapes.iter().any(|shape| !shape.exact || *shape != shapes[0])
    }

    /// Unexpected properties of the batches, one sentence each: clips that are shorter than a sample and what
    /// happens to them, samples that are in no batch, buckets without clips. Show them once.
    pub fn warnings(&self) -> Vec<String> {
        self.engine.warnings()
    }

    /// Unexpected properties of the batches of `epoch` that [`warnings`](Self::warnings) did not mention, because they are
    /// not those of the first epoch. The epochs of a mix have different samples.
    pub fn warnings_of(&self, epoch: u64) -> Vec<String> {
        self.engine.warnings_of(epoch)
    }

    /// The length of the data of the largest batch in bytes. Memory for [`iter_into`](Self::iter_into) and
    /// [`batch_into`](Self::batch_into) has this length.
    pub fn batch_bytes(&self) -> usize {
        self.engine.batch_bytes()
    }

    /// The counters of this loader and its clones.
    pub fn stats(&self) -> LoaderStats {
        let Engine { counters, specs, decoded, device, .. } = &*self.engine;
        let kept = device.get().map_or(0, Device::bytes);
        counters.lock().snapshot(specs.dataset.remote_stats(), decoded.as_ref(), kept)
    }

    /// The batches of an epoch (`3`), of several epochs (`0..10`) or without an end (`0..`), in order. Background
    /// threads make them ahead. Use this to train.
    ///
    /// An item may be an error; the batches after it still come. If there are several epochs, the first batches of
    /// one are made while the last batches of the previous one are used. [`Epochs::part`] takes only a part of the
    /// batches, for several processes that share an epoch batch by batch.
    ///
    /// # Errors
    ///
    /// The system cannot start another thread.
    pub fn iter(&self, epochs: impl Into<Epochs>) -> Result<Batches> {
        Batches::start(&self.engine, self.engine.depth(), &self.pool, epochs.into())
    }

    /// The batches of [`iter`](Self::iter), but without decoding. Each batch has the JPEGs of its frames, and how
    /// each becomes its picture, for a decoder on a GPU or in another process. JPEGs are smaller than pictures,
    /// and take a few microseconds each.
    ///
    /// The options then describe the pictures to make from them. The number of batches made ahead
    /// follows from [`Prefetch::bytes`] and the mean size of the data set's JPEGs.
    ///
    /// # Errors
    ///
    /// The errors of [`iter`](Self::iter), and a loader with a [`LoaderOptions::decoded_cache`], which these
    /// batches cannot use.
    pub fn iter_jpegs(&self, epochs: impl Into<Epochs>) -> Result<Batches<JpegBatch>> {
        self.engine.needs_jpegs()?;
        Batches::start(&self.engine, self.engine.depth_of_jpegs(), &self.jpeg_buffers, epochs.into())
    }

    /// The batches of [`iter`](Self::iter), but the data goes directly into memory that the caller provides:
    /// pinned, shared, or an array of another language. Each piece has the form that
    /// [`batch_into`](Self::batch_into) needs.
    ///
    /// ```
    /// # use vidrec::{ClipInfo, Crop, Dataset, FrameData, Loader, LoaderOptions, Writer, WriterOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let dir = folder.path().join("train");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// # (0..6).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
    /// # writer.finish()?;
    /// # let train = Dataset::open(&dir)?;
    /// let options = LoaderOptions { batch_size: 2, crop: Crop::center((16, 16)), ..LoaderOptions::default() };
    /// let loader = Loader::new(&train, options)?;
    /// let mut batches = loader.iter_into::<Vec<u8>>(0)?;
    /// for _ in 0..2 {
    ///     batches.provide(vec![0; loader.batch_bytes()]);
    /// }
    /// while let Some(batch) = batches.next() {
    ///     let (pixels, batch, _state) = batch?;
    ///     assert_eq!((pixels.len(), batch.labels.len()), (2 * 3 * 16 * 16, 2));
    ///     batches.provide(pixels); // no longer used: it may be filled again
    /// }
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`iter`](Self::iter).
    pub fn iter_into<M: Memory>(&self, epochs: impl Into<Epochs>) -> Result<BatchesInto<M>> {
        BatchesInto::start(&self.engine, epochs.into())
    }

    /// Makes batch `k` of `epoch`, counted from 0, now. This is random access, without a background thread.
    ///
    /// # Errors
    ///
    /// There is no such batch, or a frame is damaged or cannot be decoded. In the latter case, the error names
    /// file, clip and frame of the first such frame in the batch.
    pub fn batch(&self, epoch: u64, k: u64) -> Result<Batch> {
        self.made(epoch, k, fill)
    }

    /// Makes a batch as [`batch`](Self::batch) does, but without decoding: see [`iter_jpegs`](Self::iter_jpegs).
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch), except that only the header of each JPEG is decoded, so other
    /// decoding errors remain unnoticed. Also the errors of [`iter_jpegs`](Self::iter_jpegs).
    pub fn batch_jpegs(&self, epoch: u64, k: u64) -> Result<JpegBatch> {
        self.engine.needs_jpegs()?;
        self.made(epoch, k, fill_jpegs)
    }

    /// From now on, batches of JPEGs have plans for a device that makes their pictures and has `room` bytes to keep JPEGs.
    /// A JPEG that it keeps has no bytes in later batches. Only the first call counts.
    #[doc(hidden)]
    pub fn serve_device(&self, room: u64) {
        self.engine.device.get_or_init(|| Device::new(room));
    }

    /// Notes that the device has the JPEGs of this plan that it was to keep: for all batches that it makes after this one.
    #[doc(hidden)]
    pub fn device_has(&self, plan: &TilePlan) {
        self.engine.device.get().into_iter().for_each(|device| device.has(&plan.keys));
    }

    /// Makes a batch that the device declined, as [`batch`](Self::batch) does. It has been counted.
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch).
    #[doc(hidden)]
    pub fn batch_for_device(&self, epoch: u64, k: u64) -> Result<Batch> {
        self.made(epoch, k, fill_declined)
    }

    /// Makes a batch as [`batch`](Self::batch) does, but the data goes to `memory` of the caller (pinned, shared,
    /// or an array of another language). The data has the form of [`BatchData::bytes`], and [`Batch::data`] is
    /// empty. Frames are decoded directly into the memory. This is fastest if the memory begins at a multiple of
    /// 64 bytes. A smaller batch fills only the start of it, in the [`shape`](Batch::shape) of that batch. After an error, the contents of `memory` are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch), and memory that does not have [`batch_bytes`](Self::batch_bytes)
    /// bytes or is not aligned for a value.
    pub fn batch_into(&self, epoch: u64, k: u64, memory: &mut [u8]) -> Result<Batch> {
        self.made(epoch, k, |engine, epoch, k, batch| fill_into(engine, epoch, k, memory, batch))
    }

    /// Makes a batch now, in memory of its own.
    fn made<T: Default>(
        &self,
        epoch: u64,
        k: u64,
        fill: impl FnOnce(&Engine, u64, u64, &mut T) -> Result<()>,
    ) -> Result<T> {
        let mut batch = T::default();
        ask_for(&self.engine, epoch, k)?;
        fill(&self.engine, epoch, k, &mut batch)?;
        Ok(batch)
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, batches) = (self.shape(), self.batches_per_epoch());
        f.debug_struct("Loader").field("shape", &shape).field("batches_per_epoch", &batches).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_go_to_other_threads_and_can_be_printed() {
        const fn check<T: Send + Sync + fmt::Debug>() {}
        check::<(Loader, LoaderOptions, LoaderState, LoaderStats, Epochs, Mix)>();
        check::<(Batch, Batches, BatchesInto<Vec<u8>>, PrefetchedBatch)>();
        check::<(JpegBatch, Batches<JpegBatch>, PrefetchedBatch<JpegBatch>)>();
    }
}

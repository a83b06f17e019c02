//! The loader, and the engine that its threads share: the data set, the options, and everything that follows from both for
//! a whole run.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::buckets::{BatchShape, Buckets};
use super::device::Device;
use super::episodes::Episodes;
use super::fields::FieldTypes;
use super::sample_spec::SampleSpecs;
use super::samples::{PlannedSample, Samples};
use super::schedule::{BatchPlan, RunPosition, Schedule};
use super::tracks::TrackReader;
use super::worker::WorkerPool;
use crate::dataset::{Dataset, Fingerprint};
use crate::loader::batch::Batch;
use crate::loader::counters::{DecodedStats, LoaderStats};
use crate::loader::decoded::DecodedFrames;
use crate::loader::jpeg_batch::JpegBatch;
use crate::loader::mix::{Mix, SourceCount, shares_end};
use crate::loader::options::{DecodedCache, LoaderOptions, ResolvedOptions};
use crate::loader::state::{LoaderState, MixState, SourceState};
use crate::store::remote::memory_for;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::order::{LastBatch, Order};

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
    pub(super) engine: Arc<Engine>,
    /// The memory of dropped batches, for the next epoch. The system clears all memory that it provides, page by page. In
    /// short epochs, that can take longer than decoding.
    pub(super) pool: BufferPool<Batch>,
    pub(super) jpeg_pool: BufferPool<JpegBatch>,
}

pub(super) type BufferPool<T> = Arc<Mutex<Vec<T>>>;

impl Loader {
    /// Creates a loader of `dataset`, which it shares. Clones share threads, counters, and the memory of batches,
    /// which is kept from epoch to epoch.
    ///
    /// If all clips have the same number of frames, this takes the same time whatever the number of clips. If not,
    /// it reads the index entry of every clip. Buckets ([`Batching`](crate::loader::Batching)) and several sizes ([`Crop::Cover`](crate::loader::Crop::Cover),
    /// [`Crop::SmartResize`](crate::loader::Crop::SmartResize)) also read every clip's entry, a rate ([`Frames`](crate::loader::Frames)) reads the entries of all frames, and [`LoaderOptions::fields`] reads all
    /// attributes.
    ///
    /// # Errors
    ///
    /// An option that makes no sense, clips with different numbers of frames when `frames` is not given, an epoch without
    /// batches, a clip that fits no bucket, a batch larger than memory can be, no threads, or no room for the
    /// [`DecodedCache`].
    pub fn new(dataset: &Dataset, options: LoaderOptions) -> Result<Self> {
        Loader::of(dataset, None, options, None)
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
        Loader::of(dataset, None, options, Some(state))
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
        Loader::of(mix.dataset(), Some(mix), options, None)
    }

    /// Creates a loader of a mix that resumes exactly where another one stood, even with another number of ranks
    /// and in another epoch: see [`resume`](Self::resume).
    ///
    /// The weights of the mix hold from the place of the state on; if they are others than before, a
    /// [warning](Self::warnings) says so. Sources that the state does not have join there: each begins with the first sample of
    /// its order, while all others go on exactly where they were. They come after the sources of the state, which keep their order and
    /// may have other names. A source whose weight is 0 gives no more samples. An epoch stays as long as it was. If clips are divided into buckets, an epoch in progress ends with the weights
    /// that it began with.
    ///
    /// # Errors
    ///
    /// The errors of [`mix`](Self::mix), a state of a mix with other first sources, and a state of another seed or length of
    /// epoch.
    pub fn resume_mix(mix: &Mix, options: LoaderOptions, state: &LoaderState) -> Result<Self> {
        Loader::of(mix.dataset(), Some(mix), options, Some(state))
    }

    fn of(
        dataset: &Dataset,
        mix: Option<&Mix>,
        mut options: LoaderOptions,
        resumed: Option<&LoaderState>,
    ) -> Result<Self> {
        options.check(mix.map_or(&[], |mix| &mix.own), mix.map_or(&[], Mix::names))?;
        if mix.is_none() {
            options.settle_order(dataset, resumed);
        }
        let mut engine = Engine::new(dataset, mix, options, resumed)?;
        if let Some(state) = resumed {
            let LoaderState { epoch, consumed, .. } = *state;
            let buckets = vec![0; engine.schedule.bucket_count()];
            let start = RunPosition { epoch, consumed, buckets };
            state.check(&engine.state(start.clone()), dataset)?;
            let buckets = if consumed > 0 { state.buckets.clone() } else { start.buckets };
            engine.schedule.resume(RunPosition { buckets, ..start });
        }
        // This is the last step that can fail, because a loader that is not created must leave nothing in memory.
        if let Some(DecodedCache { size, dir }) = &engine.options.decoded_cache {
            let stored = engine.specs.dataset.stored_frames()?;
            engine.decoded = Some(DecodedFrames::open(stored, *size, dir.as_deref())?);
        }
        Ok(Loader { engine: Arc::new(engine), pool: BufferPool::default(), jpeg_pool: BufferPool::default() })
    }

    /// The use of each source of a mix by all ranks together after `batches` batches of `epoch`, counted
    /// from the first sample of epoch 0. Empty without a mix.
    pub fn sources(&self, epoch: u64, batches: u64) -> Vec<SourceCount> {
        let Engine { schedule, mix, .. } = &*self.engine;
        let (Some(mix), Order::Mixed(mixed)) = (mix, &schedule.order) else { return Vec::new() };
        let after = schedule.after(epoch, batches);
        let Some(positions) = schedule.bucketed_positions(after.epoch, batches).filter(|_| after.epoch == epoch) else {
            return mix.named_counts(mixed, mixed.counts(mixed.position(after.epoch, after.consumed)));
        };
        let before = mixed.position(epoch, 0);
        let mut counts = mixed.counts(before);
        let draws = positions.iter().filter_map(|position| mixed.draw(before.checked_add(*position)?));
        draws.for_each(|draw| counts[draw.source] += 1);
        mix.named_counts(mixed, counts)
    }

    /// The state after `batches` batches of `epoch`, which is the same on every rank. After the last batch, it is
    /// the start of the next epoch.
    pub fn state(&self, epoch: u64, batches: u64) -> LoaderState {
        self.engine.state_after(epoch, batches)
    }

    /// The first epoch: 0, or that of the state from which the run was resumed.
    pub fn first_epoch(&self) -> u64 {
        self.engine.schedule.first_epoch()
    }

    /// The number of batches that this rank has in a whole epoch. It is the same on every rank. If clips of a mix, or clips
    /// drawn by weight, are divided into buckets, epochs differ by some batches, and this is the number of epoch 0.
    pub fn batches_per_epoch(&self) -> u64 {
        self.engine.schedule.batches_per_epoch
    }

    /// The number of batches that this rank has in `epoch`; fewer in an epoch that was resumed.
    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.engine.schedule.batches_in(epoch)
    }

    /// Whether all samples have one shape, so that any of them fit into a batch ([`batch_at`](Self::batch_at)).
    pub fn is_even(&self) -> bool {
        self.engine.schedule.is_even()
    }

    /// The number of threads that decode.
    pub fn threads(&self) -> usize {
        self.engine.workers.threads.current_num_threads()
    }

    /// The dimensions of a full batch, as in [`Batch::shape`]. If batches differ in shape, these are the dimensions
    /// of the largest. The last batches of an epoch may have fewer clips
    /// ([`LastBatch::Keep`](vidrec_format::sampler::order::LastBatch::Keep)).
    pub fn shape(&self) -> [usize; 5] {
        let Engine { schedule, options, .. } = &*self.engine;
        let largest = schedule.shapes().iter().max_by_key(|shape| shape.values(options));
        largest.map_or([0; 5], |shape| shape.dimensions(options))
    }

    /// The length of the data of the largest batch in bytes. Memory for [`iter_into`](Self::iter_into) and
    /// [`batch_into`](Self::batch_into) has this length.
    pub fn batch_bytes(&self) -> usize {
        self.engine.batch_bytes()
    }

    /// The counters of this loader and its clones.
    pub fn stats(&self) -> LoaderStats {
        let Engine { counters, specs, decoded, device, .. } = &*self.engine;
        let counted = counters.lock().clone();
        LoaderStats {
            remote: specs.dataset.remote_stats(),
            decoded_cache: decoded.as_ref().map(|cache| DecodedStats {
                limit_bytes: cache.limit(),
                taken_bytes: cache.taken(),
                failure: cache.failure().map(str::to_owned),
                ..counted.decoded_cache.unwrap_or_default()
            }),
            device_kept_bytes: device.get().map_or(0, Device::bytes),
            ..counted
        }
    }

    /// The number of batches of JPEGs that are made ahead, from the mean size of the data set's JPEGs.
    pub(super) fn depth_of_jpegs(&self) -> usize {
        let Engine { specs, schedule, options, .. } = &*self.engine;
        let all = specs.dataset.mean_clip_bytes().saturating_mul(specs.dataset.len());
        let mean = usize::try_from(all / specs.dataset.frame_count().max(1)).unwrap_or(usize::MAX);
        let frames = |shape: &BatchShape| (shape.clips * shape.cameras) as usize * shape.frames as usize;
        let most = schedule.shapes().iter().map(frames).max().unwrap_or(0);
        options.prefetch.depth(mean.saturating_mul(most).saturating_add(self.engine.track_bytes()))
    }

    /// Returns an error for batches of JPEGs if decoded frames are kept, because those frames are not read ahead.
    pub(super) fn refuse_decoded_cache(&self) -> Result<()> {
        let e = "batches of JPEGs do not need a cache of decoded frames, because nothing is decoded";
        if self.engine.decoded.is_none() { Ok(()) } else { Err(Error::usage(e)) }
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, batches) = (self.shape(), self.batches_per_epoch());
        f.debug_struct("Loader").field("shape", &shape).field("batches_per_epoch", &batches).finish_non_exhaustive()
    }
}

/// A clip, the width and height of its frames, and those to which they are enlarged.
type EnlargedClip = (u64, (u32, u32), (u32, u32));

/// Everything that makes batches. A loader and its background threads share it.
pub(crate) struct Engine {
    pub(super) options: Arc<ResolvedOptions>,
    pub schedule: Schedule,
    pub mix: Option<Mix>,
    pub(super) episodes: Option<Episodes>,
    pub specs: SampleSpecs,
    pub(super) fields: FieldTypes,
    pub(super) tracks: TrackReader,
    pub workers: WorkerPool,
    /// The cache of decoded frames, if there is one.
    pub decoded: Option<DecodedFrames>,
    /// The device that makes the pictures, if one does.
    pub device: OnceLock<Device>,
    /// The options that decide what is in the batches, the data set and the sources of a mix, for states.
    deciding: JsonObject,
    fingerprint: Fingerprint,
    sources: Vec<SourceState>,
    /// What a resumed run says of its mix.
    pub(super) change: Option<String>,
    /// The first clip of a source, if its frames are smaller than the pictures.
    pub(super) enlarged: Option<EnlargedClip>,
    /// The counters, which all threads share.
    pub counters: Mutex<LoaderStats>,
}

impl Engine {
    /// `resumed` is the state of the run that this one resumes, if there is one.
    fn new(
        dataset: &Dataset,
        mix: Option<&Mix>,
        options: LoaderOptions,
        resumed: Option<&LoaderState>,
    ) -> Result<Self> {
        let own = mix.map_or(&[][..], |mix| &mix.own);
        let (mut deciding, fingerprint) = (options.deciding()?, dataset.fingerprint());
        let samples = options.each(own).into_iter().flatten().collect();
        let mut options = ResolvedOptions { samples, loader: options };
        let found = Episodes::find(dataset, mix, &options)?;
        let (dataset, episodes) = found.map_or((dataset.clone(), None), |(chosen, episodes)| (chosen, Some(episodes)));
        let named = |e| named(mix, episodes.as_ref(), e);
        let sources: Vec<Dataset> = match (mix, &episodes) {
            (None, _) => vec![dataset.clone()],
            (Some(mix), None) => mix.sources().to_vec(),
            (Some(_), Some(episodes)) => {
                episodes.of_sources().map(|clips| dataset.select(clips)).collect::<Result<_>>()?
            }
        };
        let cameras = options.cameras_per_sample();
        let first_cameras: Vec<&LoaderOptions> = options.first_cameras().collect();
        let samples =
            Samples::new(&sources, &first_cameras, episodes.as_ref().map(|_| cameras as u32)).map_err(named)?;
        let enlarged = sources.iter().zip(&first_cameras).find_map(|(source, own)| {
            let clip = source.clips().next()?.ok()?;
            Some((clip.ordinal(), (clip.width(), clip.height()), own.enlarged(&clip)?))
        });
        let (mut states, mut change) = (Vec::new(), None);
        if let Some(mix) = mix {
            let before = resumed.and_then(|state| state.mix.as_ref());
            states = mix.source_states(&samples.lens(), &options.order, before)?;
            let order;
            (order, change) = mix.order(&states, &options, resumed)?;
            options.loader.order = Order::Mixed(Arc::new(order));
        }
        let (options, samples) = (Arc::new(options), Arc::new(samples));
        let shape = BatchShape::new(&options, samples.frames, options.size(), samples.exact)?;
        let specs = SampleSpecs { dataset: dataset.clone(), options: options.clone(), samples: samples.clone() };
        let buckets = options.divides().then(|| Buckets::new(&specs)).transpose().map_err(named)?;
        let workers = WorkerPool::new(options.threads)?;
        let schedule = Schedule::new(&options, &samples, shape, buckets)?;
        if mix.is_none() {
            deciding.insert("order", &schedule.order)?;
        }
        let stats = LoaderStats {
            short_clips: samples.short,
            skipped_clips: if samples.skips_short { samples.short } else { 0 },
            samples_left_out: schedule.left_out(0),
            ..LoaderStats::default()
        };
        let engine = Engine {
            schedule,
            fields: FieldTypes::find(&dataset, &options.fields, &workers)?,
            tracks: TrackReader::find(
                mix.map_or(std::slice::from_ref(&dataset), Mix::sources),
                &options,
                samples.frames,
            )?,
            mix: mix.cloned(),
            episodes,
            specs,
            workers,
            decoded: None,
            device: OnceLock::new(),
            deciding,
            fingerprint,
            sources: states,
            change,
            enlarged,
            counters: Mutex::new(stats),
            options,
        };
        engine.refuse_no_batches()?;
        engine.refuse_small_memory()?;
        Ok(engine)
    }

    /// Returns an error for an order of blocks on a remote data set if memory cannot hold a window of them. Each
    /// clip would then need a request of its own after all.
    fn refuse_small_memory(&self) -> Result<()> {
        let (dataset, order) = (&self.specs.dataset, &self.options.order);
        let Some(memory) = dataset.memory_to_hold() else { return Ok(()) };
        let (Order::Blocks { block, window } | Order::Homes { block, window, .. }) = *order else { return Ok(()) };
        let samples = (u64::from(block) * u64::from(window)).min(dataset.len());
        let batch = u64::from(self.schedule.shapes().iter().map(|shape| shape.clips).max().unwrap_or(1));
        let least = memory_for((samples + 2 * batch).saturating_mul(dataset.mean_clip_bytes()));
        if memory >= least {
            return Ok(());
        }
        let e = Error::usage("the memory is too small for a window of blocks");
        let e = e.expected(format!("at least {least} bytes")).found(format!("{memory} bytes"));
        Err(e.help("mix fewer or smaller blocks").hint(Hint::Set("memory_bytes")))
    }

    fn refuse_no_batches(&self) -> Result<()> {
        if self.schedule.batches_per_epoch > 0 {
            return Ok(());
        }
        let samples = self.schedule.positions;
        let (clips, world) = (self.schedule.shapes()[0].clips, self.options.rank.1);
        let help = match self.options.last {
            _ if samples == 0 => "the data set is empty, or all its clips are skipped",
            LastBatch::Drop => "make batches smaller, or keep smaller ones: last = keep",
            _ if samples < u64::from(world) => "there are fewer samples than ranks: train with fewer ranks",
            _ => "each bucket has fewer samples than there are ranks: train with fewer ranks, or use fewer buckets",
        };
        let e = Error::usage(format!("there is no batch: {samples} samples, batches of {clips} on {world} ranks"));
        Err(e.help(help))
    }

    /// The length of the data of the largest batch in bytes.
    pub(super) fn batch_bytes(&self) -> usize {
        // `BatchShape` proved that the product fits.
        let values = self.schedule.shapes().iter().map(|shape| shape.values(&self.options)).max();
        values.unwrap_or(0) * self.options.dtype.size()
    }

    /// Bytes of the tracks of the largest batch.
    pub(super) fn track_bytes(&self) -> usize {
        let of_tracks = |shape: &BatchShape| {
            self.tracks.sample_bytes(shape.frames, shape.size).saturating_mul(shape.clips as usize)
        };
        self.schedule.shapes().iter().map(of_tracks).max().unwrap_or(0)
    }

    /// Batch `k` of `epoch`, as long as its longest clip on any rank. The cameras of a sample are adjacent.
    pub(super) fn batch(&self, epoch: u64, k: u64) -> Result<BatchPlan> {
        let mut plan = self.schedule.batch(epoch, k)?;
        if !plan.shape.exact {
            let all = self.schedule.batch_of_all(epoch, k)?;
            // A clip with a damaged index entry is an error when it is read. Until then, every rank ignores it. A clip that
            // replaces it has room for a frame.
            let frames =
                all.samples.iter().map(|sample| self.specs.length(sample, plan.shape.frames).unwrap_or(1)).max();
            plan.shape.frames = frames.unwrap_or(1);
        }
        Ok(self.of_all_cameras(plan))
    }

    /// The samples at some positions of `epoch`. The cameras of a sample are adjacent.
    pub(super) fn batch_at(&self, epoch: u64, positions: &[u64]) -> Result<BatchPlan> {
        Ok(self.of_all_cameras(self.schedule.batch_at(epoch, positions)?))
    }

    fn of_all_cameras(&self, mut plan: BatchPlan) -> BatchPlan {
        if self.episodes.is_some() {
            plan.samples = plan.samples.iter().flat_map(|sample| self.with_cameras(sample)).collect();
        }
        plan
    }

    /// The samples of all cameras of a sample.
    pub(super) fn with_cameras(&self, sample: &PlannedSample) -> Vec<PlannedSample> {
        let of_camera = |camera| PlannedSample { clip: sample.clip + u64::from(camera), camera, ..*sample };
        (0..self.options.cameras_per_sample() as u32).map(of_camera).collect()
    }

    /// The ordinal of a clip in the data set that the user gave.
    pub(super) fn given(&self, clip: u64) -> u64 {
        self.episodes.as_ref().map_or(clip, |episodes| episodes.given(clip))
    }

    /// An error about a clip, with what users call it.
    pub(super) fn named(&self, e: Error) -> Error {
        named(self.mix.as_ref(), self.episodes.as_ref(), e)
    }

    /// The mix, with its shares up to a position.
    fn mix_state(&self, epoch: u64, consumed: u64) -> Option<MixState> {
        let Order::Mixed(mixed) = &self.schedule.order else { return None };
        let end = shares_end(mixed.samples_per_epoch(), (epoch, consumed), self.options.divides());
        let shares = mixed.shares().before(end).cloned().collect();
        Some(MixState { window: mixed.shares().window(), shares, sources: self.sources.clone() })
    }

    /// The state after `batches` batches of `epoch`.
    pub(super) fn state_after(&self, epoch: u64, batches: u64) -> LoaderState {
        self.state(self.schedule.after(epoch, batches))
    }

    fn state(&self, RunPosition { epoch, consumed, buckets }: RunPosition) -> LoaderState {
        LoaderState {
            epoch,
            consumed,
            samples: self.schedule.positions,
            seed: self.options.seed,
            options: self.deciding.clone(),
            buckets,
            dataset: self.fingerprint.clone(),
            mix: self.mix_state(epoch, consumed),
        }
    }
}

/// An error about a clip, with its number, episode and source as users know them.
fn named(mix: Option<&Mix>, episodes: Option<&Episodes>, e: Error) -> Error {
    let e = episodes.into_iter().fold(e, |e, episodes| episodes.named(e));
    mix.into_iter().fold(e, |e, mix| mix.named(e))
}

//! The engine that makes batches: the data set, the options, and everything that follows from both for a whole
//! run.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::buckets::BatchShape;
use super::buckets::Buckets;
use super::device::Device;
use super::episodes::Episodes;
use super::fields::FieldTypes;
use super::sample_spec::SampleSpecs;
use super::samples::{EnlargedClips, PlannedSample, SamplePlace, Samples};
use super::schedule::{BatchPlan, RunPosition, Schedule};
use super::tracks::TrackReader;
use super::worker::WorkerPool;
use crate::dataset::Dataset;
use crate::loader::counters::{Counters, Counts, LoaderStats};
use crate::loader::decoded::{Contents, DecodedFrames};
use crate::loader::mix::Mix;
use crate::loader::options::{DecodedCache, LoaderOptions, OwnOptions, ResolvedOptions, SampleOptions};
use crate::loader::state::LoaderState;
use crate::store::remote::memory_for;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::order::{LastBatch, Order};

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
    /// The options that decide what is in the batches, for states.
    deciding: JsonObject,
    pub(super) enlarged: EnlargedClips,
    pub counters: Counters,
}

impl AsRef<Counters> for Engine {
    fn as_ref(&self) -> &Counters {
        &self.counters
    }
}

impl Engine {
    /// Makes batches of a data set. The state is that of the run that this one resumes, if there is one.
    pub fn new(dataset: &Dataset, mut options: LoaderOptions, resumed: Option<&LoaderState>) -> Result<Self> {
        options.check(&[], &[])?;
        options.settle_order(dataset, resumed);
        Engine::of(dataset, None, options, resumed)
    }

    /// Makes batches of a mix, as [`new`](Self::new).
    pub fn of_mix(mix: &Mix, options: LoaderOptions, resumed: Option<&LoaderState>) -> Result<Self> {
        options.check(mix.own(), mix.names())?;
        Engine::of(mix.dataset(), Some(mix), options, resumed)
    }

    fn of(dataset: &Dataset, mix: Option<&Mix>, options: LoaderOptions, resumed: Option<&LoaderState>) -> Result<Self> {
        let own = mix.map_or(&[][..], Mix::own);
        let mut deciding = options.deciding()?;
        if own.iter().any(|own| *own != OwnOptions::default()) {
            deciding.insert("own", own)?;
        }
        let mut options = options.resolve(own);
        let found = Episodes::find(dataset, mix, &options)?;
        let (dataset, episodes) = found.map_or((dataset.clone(), None), |(chosen, episodes)| (chosen, Some(episodes)));
        let named = |e| named(mix, episodes.as_ref(), e);
        let sources = sources(&dataset, mix, episodes.as_ref())?;
        let cameras = options.cameras_per_sample();
        let first_cameras: Vec<&SampleOptions> = options.samples.iter().step_by(cameras).collect();
        let samples =
            Samples::new(&sources, &first_cameras, episodes.as_ref().map(|_| cameras as u32)).map_err(named)?;
        if let Some(mix) = mix {
            let order = mix.order(&samples.lens(), &options, resumed.and_then(LoaderState::source_orders))?;
            options.set_order(Order::Mixed(Arc::new(order)));
        }
        let enlarged = EnlargedClips::find(&sources, options.samples.chunks(cameras))?;
        let (options, samples) = (Arc::new(options), Arc::new(samples));
        let shape = BatchShape::new(&options, samples.frames, options.size(), samples.exact)?;
        let specs = SampleSpecs::new(&dataset, &options, &samples);
        let buckets = options.divides().then(|| Buckets::new(&specs)).transpose().map_err(named)?;
        let workers = WorkerPool::new(options.threads)?;
        let schedule = Schedule::new(&options, &samples, shape, buckets)?;
        match schedule.order() {
            Order::Mixed(mixed) => deciding.insert("sources", mixed.source_orders())?,
            order => deciding.insert("order", order)?,
        }
        let stats = LoaderStats {
            short_clips: samples.short,
            skipped_clips: if samples.skips_short { samples.short } else { 0 },
            enlarged_clips: enlarged.count,
            samples_left_out: schedule.left_out(0),
            ..LoaderStats::default()
        };
        let mut engine = Engine {
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
            enlarged,
            counters: Counters::new(Counts { stats, ..Counts::default() }),
            options,
        };
        engine.refuse_no_batches()?;
        engine.refuse_small_memory()?;
        // This is the last step that can fail, because a loader that is not created must leave nothing in memory.
        engine.decoded = engine.open_decoded()?;
        Ok(engine)
    }

    fn open_decoded(&self) -> Result<Option<DecodedFrames>> {
        let Some(DecodedCache { size, dir }) = &self.options.decoded_cache else { return Ok(None) };
        let (frames, records) = self.specs.dataset.stored_frames()?;
        DecodedFrames::open(&Contents { records, frames }, *size, dir.as_deref()).map(Some)
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
        if self.schedule.batches_per_epoch() > 0 {
            return Ok(());
        }
        let samples = self.schedule.positions();
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

    /// Starts where `state` stands.
    pub fn resume(&mut self, state: &LoaderState) -> Result<()> {
        let LoaderState { epoch, consumed, .. } = *state;
        let buckets = vec![0; self.schedule.bucket_count()];
        // In a mix, everything before that place must be the same.
        state.check(&self.state_at(RunPosition { epoch, consumed, buckets }))?;
        self.schedule.resume(RunPosition { epoch, consumed, buckets: state.buckets.clone() });
        Ok(())
    }

    /// The dimensions of the largest batch.
    pub fn shape(&self) -> [usize; 5] {
        let largest = self.schedule.shapes().iter().max_by_key(|shape| shape.values(&self.options));
        largest.map_or([0; 5], |shape| shape.dimensions(&self.options))
    }

    /// Bytes of the data of the largest batch.
    pub fn batch_bytes(&self) -> usize {
        // `BatchShape` proved that the product fits.
        self.shape().iter().product::<usize>() * self.options.dtype.size()
    }

    /// The number of batches that are made ahead at a time.
    pub fn depth(&self) -> usize {
        self.options.prefetch.depth(self.batch_bytes().saturating_add(self.track_bytes()))
    }

    /// The number of batches of JPEGs that are made ahead, from the mean size of the data set's JPEGs.
    pub fn depth_of_jpegs(&self) -> usize {
        let dataset = &self.specs.dataset;
        let all = dataset.mean_clip_bytes().saturating_mul(dataset.len());
        let mean = usize::try_from(all / dataset.frame_count().max(1)).unwrap_or(usize::MAX);
        let frames = |shape: &BatchShape| (shape.clips * shape.cameras) as usize * shape.frames as usize;
        let most = self.schedule.shapes().iter().map(frames).max().unwrap_or(0);
        self.options.prefetch.depth(mean.saturating_mul(most).saturating_add(self.track_bytes()))
    }

    /// Bytes of the tracks of the largest batch.
    fn track_bytes(&self) -> usize {
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
        if self.episodes.is_some() {
            plan.samples = plan.samples.iter().flat_map(|sample| self.with_cameras(sample)).collect();
        }
        Ok(plan)
    }

    /// The samples of all cameras of a sample.
    pub(super) fn with_cameras(&self, sample: &PlannedSample) -> Vec<PlannedSample> {
        let of_camera = |camera: u32| {
            let place = SamplePlace { clip: sample.place.clip + u64::from(camera), camera, ..sample.place };
            PlannedSample { place, ..*sample }
        };
        (0..self.options.cameras_per_sample() as u32).map(of_camera).collect()
    }

    /// The ordinal of a clip in the data set that the user gave.
    pub(super) fn given(&self, clip: u64) -> u64 {
        self.episodes.as_ref().map_or(clip, |episodes| episodes.given(clip))
    }

    /// The state of a run after `batches` batches of `epoch`.
    pub fn state(&self, epoch: u64, batches: u64) -> LoaderState {
        self.state_at(self.schedule.after(epoch, batches))
    }

    /// An error about a clip, with what users call it.
    pub(super) fn named(&self, e: Error) -> Error {
        named(self.mix.as_ref(), self.episodes.as_ref(), e)
    }

    /// The options that decide what is in the batches. In a mix, the shares are those up to a position. If clips are
    /// divided into buckets, they are those of the epoch, because the first batches may have its last samples.
    fn deciding(&self, epoch: u64, consumed: u64) -> JsonObject {
        let mut options = self.deciding.clone();
        if let Order::Mixed(mixed) = self.schedule.order() {
            let is_divided = self.schedule.bucket_count() > 0 && consumed > 0;
            let consumed = if is_divided { mixed.samples_per_epoch() } else { consumed };
            let shares = Value::String(mixed.describe(mixed.position(epoch, consumed)));
            options.0.insert("shares".into(), shares);
        }
        options
    }

    fn state_at(&self, RunPosition { epoch, consumed, buckets }: RunPosition) -> LoaderState {
        LoaderState {
            epoch,
            consumed,
            samples: self.schedule.positions(),
            seed: self.options.seed,
            options: self.deciding(epoch, consumed),
            buckets,
            dataset: self.specs.dataset.fingerprint(),
        }
    }

    /// Returns an error for batches of JPEGs if decoded frames are kept, because those frames are not read ahead.
    pub fn needs_jpegs(&self) -> Result<()> {
        match &self.options.decoded_cache {
            None => Ok(()),
            Some(_) => {
                Err(Error::usage("batches of JPEGs do not need a cache of decoded frames, because nothing is decoded"))
            }
        }
    }
}

/// An error about a clip, with its number, episode and source as users know them.
fn named(mix: Option<&Mix>, episodes: Option<&Episodes>, e: Error) -> Error {
    let e = match episodes {
        Some(episodes) => episodes.named(e),
        None => e,
    };
    match mix {
        Some(mix) => mix.named(e),
        None => e,
    }
}

/// The data set of each source, in the order of the clips.
fn sources(dataset: &Dataset, mix: Option<&Mix>, episodes: Option<&Episodes>) -> Result<Vec<Dataset>> {
    match (mix, episodes) {
        (None, _) => Ok(vec![dataset.clone()]),
        (Some(mix), None) => Ok(mix.sources().to_vec()),
        (Some(_), Some(episodes)) => episodes.of_sources().map(|clips| dataset.select(clips)).collect(),
    }
}

//! The engine that makes batches: the data set, the options, and everything that follows from both for a whole
//! run.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::batch_shape::BatchShape;
use super::buckets::Buckets;
use super::device::Device;
use super::enlarged::EnlargedClips;
use super::episodes::Episodes;
use super::fields::FieldTypes;
use super::pool::WorkerPool;
use super::rule_book::RuleBook;
use super::sample_spec::SampleSpecs;
use super::samples::{SamplePlace, Samples};
use super::schedule::{BatchSeats, RunPosition, Schedule, Seat};
use super::tracks::TrackReader;
use crate::dataset::Dataset;
use crate::loader::counters::{Counters, LoaderStats};
use crate::loader::decoded::{Cache, Contents};
use crate::loader::mix::{Mix, SourceCount};
use crate::loader::options::{DecodedCache, LoaderOptions, OwnOptions, Rules, Sampling, Settings, ShortClips};
use crate::loader::state::LoaderState;
use crate::store::remote::memory_for;
use vidrec_format::error::Error;
use vidrec_format::error::Hint;
use vidrec_format::error::Result;
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::order::{LastBatch, Order};

/// Everything that makes batches. A loader and its background threads share it.
pub(crate) struct Engine {
    pub(super) options: Settings,
    pub(super) schedule: Schedule,
    pub(super) mix: Option<Mix>,
    pub(super) episodes: Option<Episodes>,
    pub(super) specs: SampleSpecs,
    pub(super) fields: FieldTypes,
    pub(super) tracks: TrackReader,
    pub(super) workers: WorkerPool,
    /// The cache of decoded frames, if there is one.
    pub(super) decoded: Option<Cache>,
    /// The device that makes the pictures, if one does.
    pub device: OnceLock<Device>,
    /// The options that decide what is in the batches, for states.
    deciding: JsonObject,
    enlarged: EnlargedClips,
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
        let (mut deciding, mut options) = (options.deciding()?, options.settings(own));
        if own.iter().any(|own| *own != OwnOptions::default()) {
            deciding.insert("own", own)?;
        }
        let found = Episodes::find(dataset, mix, &options)?;
        let (dataset, episodes) = found.map_or((dataset.clone(), None), |(chosen, episodes)| (chosen, Some(episodes)));
        let named = |e| named(mix, episodes.as_ref(), e);
        let sources = sources(&dataset, mix, episodes.as_ref())?;
        let cameras = episodes.as_ref().map(Episodes::cameras);
        let rules: Vec<&Rules> = options.rules.iter().step_by(cameras.unwrap_or(1) as usize).collect();
        let space = Samples::new(&sources, &rules, cameras).map_err(named)?;
        if let Some(mix) = mix {
            let order = mix.order(&space.lens(), &options, resumed.and_then(LoaderState::source_orders))?;
            options.sampling.order = Order::Mixed(Arc::new(order));
        }
        let enlarged = EnlargedClips::find(&sources, options.rules.chunks(cameras.unwrap_or(1) as usize))?;
        Engine::with(&dataset, (options, deciding), (space, enlarged), mix.cloned(), episodes)
    }

    fn with(
        dataset: &Dataset,
        (options, mut deciding): (Settings, JsonObject),
        (space, enlarged): (Samples, EnlargedClips),
        mix: Option<Mix>,
        episodes: Option<Episodes>,
    ) -> Result<Self> {
        let frames = space.frames;
        let shape = BatchShape::new(&options, frames, options.pictures.size, space.exact)?;
        let rules = RuleBook::new(&options.rules, &space);
        let divides = options.batching.divides();
        let buckets = divides.then(|| Buckets::new(dataset, &options, &space, &rules)).transpose();
        let buckets = buckets.map_err(|e| named(mix.as_ref(), episodes.as_ref(), e))?;
        let specs = SampleSpecs::new(dataset, &options, rules);
        let workers = WorkerPool::new(options.threads, options.pictures.decoder)?;
        let schedule = Schedule::new(&options, space, shape, buckets)?;
        match schedule.order() {
            Order::Mixed(mixed) => deciding.insert("sources", mixed.source_orders())?,
            order => deciding.insert("order", order)?,
        }
        let counters = Counters {
            short_clips: schedule.space().short,
            skips_short: schedule.space().skips_short,
            enlarged_clips: enlarged.count,
            samples_left_out: schedule.left_out(0).into(),
            ..Counters::default()
        };
        let of_sources = mix.as_ref().map_or(std::slice::from_ref(dataset), Mix::sources);
        let tracks = TrackReader::find(of_sources, &options, frames)?;
        let mut engine = Engine {
            schedule,
            mix,
            episodes,
            specs,
            fields: FieldTypes::find(dataset, &options.fields, &workers)?,
            tracks,
            workers,
            decoded: None,
            device: OnceLock::new(),
            deciding,
            enlarged,
            counters,
            options,
        };
        engine.refuse_no_batches()?;
        engine.refuse_small_memory()?;
        // This is the last step that can fail, because a loader that is not created must leave nothing in memory.
        engine.decoded = engine.open_decoded()?;
        Ok(engine)
    }

    fn open_decoded(&self) -> Result<Option<Cache>> {
        let Some(DecodedCache { size, dir }) = &self.options.decoded_cache else { return Ok(None) };
        let (frames, records) = self.specs.dataset.stored_frames()?;
        Cache::open(&Contents { records, frames }, *size, dir.as_deref()).map(Some)
    }

    /// Returns an error for an order of blocks on a remote data set if memory cannot hold a window of them. Each
    /// clip would then need a request of its own after all.
    fn refuse_small_memory(&self) -> Result<()> {
        let (dataset, order) = (&self.specs.dataset, &self.options.sampling.order);
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
        if self.batches_per_epoch() > 0 {
            return Ok(());
        }
        let samples = self.schedule.positions();
        let (clips, world) = (self.schedule.shapes()[0].clips, self.options.sampling.world_size);
        let help = match self.options.sampling.last {
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

    pub fn first_epoch(&self) -> u64 {
        self.schedule.first_epoch()
    }

    pub fn batches_per_epoch(&self) -> u64 {
        self.schedule.batches_per_epoch()
    }

    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.schedule.batches_in(epoch)
    }

    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// The dimensions of the largest batch.
    pub fn shape(&self) -> [usize; 5] {
        let pictures = &self.options.pictures;
        let largest = self.schedule.shapes().iter().max_by_key(|shape| shape.values(pictures));
        largest.map_or([0; 5], |shape| shape.dimensions(pictures))
    }

    /// Whether batches differ in shape.
    pub fn shapes_differ(&self) -> bool {
        let shapes = self.schedule.shapes();
        shapes.iter().any(|shape| !shape.exact || *shape != shapes[0])
    }

    /// Bytes of the data of the largest batch.
    pub fn batch_bytes(&self) -> usize {
        // `BatchShape` proved that the product fits.
        self.shape().iter().product::<usize>() * self.options.pictures.dtype.size()
    }

    /// The counters of the work done so far.
    pub fn stats(&self) -> LoaderStats {
        let kept = self.device.get().map_or(0, Device::bytes);
        self.counters.snapshot(self.specs.dataset.remote_stats(), self.decoded.as_ref(), kept)
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
    pub(super) fn batch(&self, epoch: u64, k: u64) -> Result<BatchSeats> {
        let mut plan = self.schedule.batch(epoch, k)?;
        if !plan.shape.exact {
            let all = self.schedule.batch_of_all(epoch, k)?;
            // A clip with a damaged index entry is an error when it is read. Until then, every rank ignores it. A clip that
            // replaces it has room for a frame.
            let frames = all.seats.iter().map(|seat| self.specs.length(seat, plan.shape.frames).unwrap_or(1)).max();
            plan.shape.frames = frames.unwrap_or(1);
        }
        if self.episodes.is_some() {
            plan.seats = plan.seats.iter().flat_map(|seat| self.with_cameras(seat)).collect();
        }
        Ok(plan)
    }

    /// The number of clips of a sample.
    pub(super) fn cameras(&self) -> usize {
        self.episodes.as_ref().map_or(1, |episodes| episodes.cameras() as usize)
    }

    /// The seats of all cameras of a sample.
    pub(super) fn with_cameras(&self, seat: &Seat) -> Vec<Seat> {
        let of_camera = |camera: u32| {
            let place = SamplePlace { clip: seat.place.clip + u64::from(camera), camera, ..seat.place };
            Seat { place, ..*seat }
        };
        (0..self.cameras() as u32).map(of_camera).collect()
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

    /// How much of each source of a mix was used after `batches` batches of `epoch`; empty without a mix.
    pub fn sources(&self, epoch: u64, batches: u64) -> Vec<SourceCount> {
        let (Some(mix), Order::Mixed(mixed)) = (&self.mix, &self.options.sampling.order) else { return Vec::new() };
        let RunPosition { epoch, consumed, .. } = self.schedule.after(epoch, batches);
        let before = mixed.position(epoch, 0);
        match self.schedule.dealt(epoch, batches) {
            Some(positions) => {
                let mut counts = mixed.counts(before);
                let sources = positions.iter().filter_map(|position| mixed.draw(before.checked_add(*position)?));
                sources.for_each(|draw| counts[draw.source] += 1);
                mix.named_counts(mixed, counts)
            }
            None => mix.named_counts(mixed, mixed.counts(mixed.position(epoch, consumed))),
        }
    }

    /// What [`warnings`](Self::warnings) did not say of a later epoch: in a mix, each epoch has other samples.
    pub fn warnings_of(&self, epoch: u64) -> Vec<String> {
        let is_known = self.schedule.left_out(epoch) == self.schedule.left_out(self.first_epoch());
        self.left_out(epoch).filter(|_| !is_known).into_iter().collect()
    }

    /// Notes how many samples of an epoch are in no batch, if they are more than in those before.
    pub fn count_left_out(&self, epoch: u64) {
        self.counters.samples_left_out.fetch_max(self.schedule.left_out(epoch), Relaxed);
    }

    /// The samples that cannot be shared among the ranks.
    fn left_out(&self, epoch: u64) -> Option<String> {
        let Sampling { last, world_size, .. } = self.options.sampling;
        let (left_out, samples) = (self.schedule.left_out(epoch), self.schedule.positions());
        (left_out > 0 && last == LastBatch::Keep).then(|| {
            format!(
                "{left_out} of {samples} samples are in no batch of an epoch, because fewer of them remain than there \
                 are ranks ({world_size}), and batches of one clip or too few clips of a shape cannot share them"
            )
        })
    }

    /// How well an order of blocks mixes a remote data set. Remote data sets have such an order by default.
    fn mixing(&self) -> Option<String> {
        let order = self.options.sampling.order.clone().with_default_homes(self.options.sampling.world_size);
        let (n, clips) = (self.schedule.positions(), self.schedule.shapes()[0].clips);
        let is_blocks = matches!(order, Order::Blocks { .. } | Order::Homes { .. });
        let is_mixed = self.specs.dataset.is_remote() && is_blocks && n > 1;
        let chance = order.neighbors_share_a_batch(n, clips).filter(|_| is_mixed)?;
        let exact = Order::Shuffled.neighbors_share_a_batch(n, clips)?;
        let percent = |chance: f64| format!("{:.2} %", chance * 100.0);
        let (chance, exact) = (percent(chance), percent(exact));
        // Nothing is lost where they are the same.
        (chance != exact).then(|| {
            format!(
                "the order mixes blocks of clips: two neighbors on disk share a batch with a chance of {chance}, \
                 against {exact} in the order \"shuffled\", which needs a request for each clip"
            )
        })
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

    /// Properties of the batches that a user may not expect.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (short, clips) = (self.schedule.space().short, self.specs.dataset.len());
        // All ranks know the same of the data set.
        let is_first = self.options.sampling.rank == 0;
        if short > 0 && is_first {
            let mut fates: Vec<_> = self.options.rules.iter().map(|rules| fate(rules.short)).collect();
            fates.dedup();
            let fates = fates.join(" or ");
            warnings.push(format!("{short} of {clips} clips have fewer frames than a sample and {fates}"));
        }
        if self.enlarged.count > 0 && is_first {
            let EnlargedClips { count, seen, example: (from, to) } = self.enlarged;
            let looked_at = if seen < clips { " that were looked at" } else { "" };
            warnings.push(format!(
                "{count} of {seen} clips{looked_at} have frames that are smaller than the pictures and are enlarged, such \
                 as from {}x{} to {}x{} pixels",
                from.0, from.1, to.0, to.1
            ));
        }
        warnings.extend(self.left_out(self.first_epoch()));
        warnings.extend(self.mixing());
        if let Some(failure) = self.specs.dataset.cache_failure() {
            warnings.push(format!("the cache does not store what the loader reads: {failure}"));
        }
        if let Some(failure) = self.decoded.as_ref().and_then(Cache::failure) {
            warnings
                .push(format!("the loader does not use the cache of decoded frames, or no longer uses it: {failure}"));
        }
        for BatchShape { frames, size: (width, height), .. } in self.schedule.empty_buckets() {
            warnings.push(format!("no clip is in the bucket of {frames} frames of {width}x{height} pixels"));
        }
        warnings
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

/// What happens to short clips, in words.
fn fate(short: ShortClips) -> &'static str {
    match short {
        ShortClips::Skip => "are skipped",
        ShortClips::Pad => "are padded",
        _ => "repeat frames",
    }
}

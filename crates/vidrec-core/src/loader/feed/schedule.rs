//! The samples of a batch: a function of the order, the ranks, and the place where a run was resumed.

use std::collections::VecDeque;
use std::ops::{Range, RangeFrom};
use std::sync::Arc;

use parking_lot::Mutex;

use super::buckets::{BatchShape, BucketedEpoch, Buckets};
use super::samples::{PlannedSample, Samples};
use crate::loader::draw::DrawKey;
use crate::loader::options::ResolvedOptions;
use vidrec_format::error::{Error, Result};
use vidrec_format::random::{Random, stream};
use vidrec_format::sampler::order::{EpochOrder, Order, Ranks, Slot};

/// Identifies a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchNumber {
    pub epoch: u64,
    pub k: u64,
}

/// A batch to make: its samples, and the shape of each.
#[derive(Debug, Clone)]
pub(crate) struct BatchPlan {
    pub samples: Vec<PlannedSample>,
    /// The shape of the batch. If it is not exact, [`frames`](BatchShape::frames) is the maximum of a sample.
    pub shape: BatchShape,
    /// The number of samples that count, in the batches of this number on all ranks together.
    pub clips_on_all_ranks: u64,
}

impl BatchPlan {
    /// The most frames of the batch.
    pub fn frames(&self) -> usize {
        self.samples.len() * self.shape.frames as usize
    }
}

/// The batches of every epoch.
#[derive(Debug)]
pub(crate) struct Schedule {
    samples: Arc<Samples>,
    options: Arc<ResolvedOptions>,
    /// The order of samples, with its number of homes.
    pub order: Order,
    /// The shape of a batch, if there are no buckets.
    shape: BatchShape,
    /// The ranks of a whole epoch, if there are no buckets.
    ranks: Ranks,
    /// The buckets, and the way in which ranks share the clips of each.
    buckets: Option<(Buckets, Vec<Ranks>)>,
    /// The epochs in progress: at most two.
    bucketed_epochs: Mutex<VecDeque<Arc<BucketedEpoch>>>,
    /// The number of batches that this rank has in an epoch that is not cut short by resuming.
    pub batches_per_epoch: u64,
    /// The number of positions in a whole epoch.
    pub positions: u64,
    /// The position of the run that this one resumes.
    resumed: Option<RunPosition>,
}

/// The position of a run in an epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunPosition {
    pub epoch: u64,
    /// The number of positions that are done.
    pub consumed: u64,
    /// The number of positions that are done in each bucket; empty if there are none.
    pub buckets: Vec<u64>,
}

impl Schedule {
    /// Creates a schedule. `shape` is that of a batch if there are no buckets.
    pub fn new(
        options: &Arc<ResolvedOptions>,
        samples: &Arc<Samples>,
        shape: BatchShape,
        buckets: Option<Buckets>,
    ) -> Result<Self> {
        let ((_, world_size), last) = (options.rank, options.last);
        let order = options.order.clone().with_default_homes(world_size);
        order.check(samples.len)?;
        let positions = order.proven(samples.len, options.seed, 0).len();
        let ranks = Ranks::new(positions, shape.clips, world_size, last)?;
        let ranks = order.homes().map_or(ranks, |homes| ranks.by_homes(homes));
        let with_ranks = |buckets: Buckets| {
            let of_bucket = |shape: &BatchShape| Ranks::new(0, shape.clips, world_size, last);
            let ranks = buckets.shapes.iter().map(of_bucket).collect::<Result<_>>()?;
            Ok::<_, Error>((buckets, ranks))
        };
        let buckets = buckets.map(with_ranks).transpose()?;
        let bucketed_epochs = Mutex::default();
        let mut schedule = Schedule {
            samples: samples.clone(),
            options: options.clone(),
            order,
            shape,
            ranks,
            buckets,
            bucketed_epochs,
            batches_per_epoch: 0,
            positions,
            resumed: None,
        };
        schedule.batches_per_epoch = schedule.bucketed_epoch(0).map_or(ranks.batches(), |epoch| epoch.len());
        Ok(schedule)
    }

    /// The shapes that batches can have.
    pub fn shapes(&self) -> &[BatchShape] {
        self.buckets.as_ref().map_or(std::slice::from_ref(&self.shape), |(buckets, _)| &buckets.shapes)
    }

    /// Whether all samples have one shape.
    pub fn is_even(&self) -> bool {
        self.buckets.is_none() && self.shape.exact
    }

    /// Starts at the position of another run.
    pub fn resume(&mut self, at: RunPosition) {
        self.resumed = Some(at);
        self.bucketed_epochs.lock().clear();
    }

    pub fn first_epoch(&self) -> u64 {
        self.resumed.as_ref().map_or(0, |at| at.epoch)
    }

    /// The number of batches that this rank has in `epoch`, or in the rest of it.
    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.bucketed_epoch(epoch).map_or_else(|| self.ranks_in(epoch).batches(), |epoch| epoch.len())
    }

    /// The number of samples that are in no batch of `epoch`, or of the rest of it.
    pub fn left_out(&self, epoch: u64) -> u64 {
        self.bucketed_epoch(epoch).map_or_else(|| self.ranks_in(epoch).left_out(), |epoch| epoch.left_out())
    }

    /// The position of a run after `batches` batches of `epoch`.
    pub fn after(&self, epoch: u64, batches: u64) -> RunPosition {
        let start_of = |epoch| RunPosition { epoch, consumed: 0, buckets: vec![0; self.bucket_count()] };
        if batches >= self.batches_in(epoch) {
            return start_of(epoch + 1);
        }
        match self.bucketed_epoch(epoch) {
            Some(shared) => {
                let buckets = shared.done(batches);
                RunPosition { epoch, consumed: buckets.iter().sum(), buckets }
            }
            None => RunPosition { consumed: self.ranks_in(epoch).consumed(batches), ..start_of(epoch) },
        }
    }

    /// The positions of `epoch` that are done after `batches` batches, if clips are divided into buckets; none of an epoch
    /// that is over, because the next one then begins.
    pub fn bucketed_positions(&self, epoch: u64, batches: u64) -> Option<Vec<u64>> {
        let shared = self.bucketed_epoch(epoch)?;
        Some(if batches < shared.len() { shared.positions(batches) } else { Vec::new() })
    }

    /// The number of buckets; 0 if clips are not divided.
    pub fn bucket_count(&self) -> usize {
        self.buckets.as_ref().map_or(0, |(buckets, _)| buckets.shapes.len())
    }

    /// The number of the window of blocks in which batch `k` of `epoch` begins; `None` in an order without blocks.
    /// Batches of the same window are read together.
    pub fn window(&self, epoch: u64, k: u64) -> Option<u64> {
        let (block, window, homes) = match self.order {
            _ if self.buckets.is_some() => return None,
            // The windows of several sources end at different times, so as much is read together as memory has
            // room for.
            Order::Mixed(ref mixed) => return mixed.has_blocks().then_some(0),
            Order::Blocks { block, window } => (block, window, 1),
            Order::Homes { homes, block, window, .. } => (block, window, homes.unwrap_or(self.options.rank.1)),
            _ => return None,
        };
        let first = self.ranks_in(epoch).slot(k, self.options.rank.0, 0)?;
        Some(first.position / (u64::from(block) * u64::from(window) * u64::from(homes)).max(1))
    }

    /// Batch `k` of `epoch`, of this rank.
    pub fn batch(&self, epoch: u64, k: u64) -> Result<BatchPlan> {
        self.batch_of(epoch, k, self.options.rank.0..self.options.rank.0 + 1)
    }

    /// Batch `k` of `epoch`, of all ranks together.
    pub fn batch_of_all(&self, epoch: u64, k: u64) -> Result<BatchPlan> {
        self.batch_of(epoch, k, 0..self.options.rank.1)
    }

    fn batch_of(&self, epoch: u64, k: u64, ranks: Range<u32>) -> Result<BatchPlan> {
        let order = self.order.proven(self.samples.len, self.options.seed, epoch);
        let (shared, of_epoch) = (self.bucketed_epoch(epoch), self.ranks_in(epoch));
        // Ranks share the clips of each bucket by themselves, and a batch has a number among those of its bucket.
        let found = shared.as_ref().and_then(|epoch| epoch.batch(k));
        let (shape, ranks_of, number) = match (&found, &self.buckets) {
            (Some((bucket, queue, number)), Some((buckets, _))) => (buckets.shapes[*bucket], queue.ranks, *number),
            _ => (self.shape, of_epoch, k),
        };
        let by_homes = shared.as_ref().and_then(|epoch| epoch.by_homes(k, &of_epoch));
        let planned = |rank: u32, i: u32| {
            let Slot { position, counts } = ranks_of.slot(number, rank, i)?;
            let position = match (&by_homes, &found) {
                (Some(all), _) => *all.get((rank * ranks_of.clips(number, rank) + i) as usize)?,
                (None, Some((_, queue, _))) => *queue.positions.get(usize::try_from(position).ok()?)?,
                (None, None) => position,
            };
            self.at(&order, epoch, position, counts)
        };
        let places = ranks.flat_map(|rank| (0..ranks_of.clips(number, rank)).map(move |i| (rank, i)));
        let samples = places.map(|(rank, i)| planned(rank, i)).collect::<Option<Vec<_>>>();
        let batches = self.batches_in(epoch);
        let none = || Error::usage(format!("there is no batch {k}")).expected(format!("less than {batches}"));
        let samples = samples.filter(|samples| k < batches && !samples.is_empty()).ok_or_else(none)?;
        let shape = BatchShape { clips: u32::try_from(samples.len()).unwrap_or(u32::MAX), ..shape };
        Ok(BatchPlan { samples, shape, clips_on_all_ranks: ranks_of.clips_on_all_ranks(number) })
    }

    /// The samples at some positions of `epoch`, in this order, as one batch.
    ///
    /// # Errors
    ///
    /// A position past the end, or samples that differ in length or shape.
    pub fn batch_at(&self, epoch: u64, positions: &[u64]) -> Result<BatchPlan> {
        if !self.is_even() {
            return Err(Error::usage("samples differ in length or shape, so not any of them fit into one batch"));
        }
        let order = self.order.proven(self.samples.len, self.options.seed, epoch);
        let planned = |&position: &u64| {
            let none = || Error::usage(format!("there is no sample {position}"));
            let none = || none().expected(format!("less than {}", self.positions));
            self.at(&order, epoch, position, true).ok_or_else(none)
        };
        let samples = positions.iter().map(planned).collect::<Result<Vec<_>>>()?;
        let shape = self.shape.with_clips(samples.len())?;
        Ok(BatchPlan { clips_on_all_ranks: samples.len() as u64, samples, shape })
    }

    /// The sample at a position of an epoch.
    fn at(&self, order: &EpochOrder, epoch: u64, position: u64, counts: bool) -> Option<PlannedSample> {
        let (sample, round) = order.drawn(position)?;
        // A multiple of the number of crops, because that number divides the number of samples.
        let occurrence = if order.repeats() { self.samples.len.wrapping_mul(position + 1) } else { 0 };
        // In a mix, the draw depends on the round through the source, not on how its stream is cut into
        // epochs.
        Some(self.planned(round.unwrap_or(epoch), sample, sample.wrapping_add(occurrence), counts))
    }

    /// The sample with a replacement for its sample: draw number `attempt`, from the same source if there are
    /// several. `None` if the draw is the same sample.
    pub fn substitute(&self, planned: &PlannedSample, attempt: u64) -> Option<PlannedSample> {
        let epoch = planned.key.epoch;
        let mut random = Random::new(self.options.seed, &[stream::SUBSTITUTE, epoch, planned.sample, attempt]);
        let sample = match &self.order {
            Order::Mixed(mixed) => {
                let source = mixed.source_of(planned.sample);
                source.start + random.below(source.end - source.start)
            }
            _ => random.below(self.samples.len),
        };
        (sample != planned.sample).then(|| self.planned(epoch, sample, sample, planned.counts))
    }

    fn planned(&self, epoch: u64, sample: u64, draw: u64, counts: bool) -> PlannedSample {
        self.samples.get(sample, DrawKey { seed: self.options.seed, epoch, sample: draw }, counts)
    }

    /// The parts of `epoch`, or of the rest of it, that ranks have.
    fn ranks_in(&self, epoch: u64) -> Ranks {
        match &self.resumed {
            Some(at) if at.epoch == epoch => self.ranks.after(at.consumed),
            _ => self.ranks,
        }
    }

    /// The batches of `epoch`, or of the rest of it, if clips are divided into buckets.
    fn bucketed_epoch(&self, epoch: u64) -> Option<Arc<BucketedEpoch>> {
        let (buckets, ranks) = self.buckets.as_ref()?;
        let mut bucketed_epochs = self.bucketed_epochs.lock();
        if let Some(shared) = bucketed_epochs.iter().find(|shared| shared.epoch == epoch) {
            return Some(shared.clone());
        }
        let done = match &self.resumed {
            Some(at) if at.epoch == epoch => at.buckets.clone(),
            _ => vec![0; buckets.shapes.len()],
        };
        let order = self.order.proven(self.samples.len, self.options.seed, epoch);
        let shared = Arc::new(BucketedEpoch::new((epoch, &order), &self.samples, buckets, done, ranks));
        bucketed_epochs.truncate(1);
        bucketed_epochs.push_front(shared.clone());
        Some(shared)
    }
}

/// The batches that an iterator returns: those of one epoch, of several epochs in turn, or part of them.
///
/// Create it from the number of an epoch (`3`), from a range of epochs (`0..10`), or without an end (`0..`).
///
/// ```
/// use vidrec::Epochs;
///
/// assert_eq!(Epochs::from(3), Epochs { range: 3..4, first: 0, step: 1 });
/// let mine = Epochs::from(0..10).part(1, 4); // batches 1, 5, 9, ... of each epoch
/// assert_eq!((mine.first, mine.step), (1, 4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Epochs {
    /// The epochs, in order.
    pub range: Range<u64>,
    /// The number of the first batch from each epoch. `from` sets it to 0.
    pub first: u64,
    /// The distance from one batch to the next, 1 or more; 0 counts as 1. `from` sets it to 1.
    pub step: u64,
}

impl Epochs {
    /// Keeps only batches `first`, `first + step`, and so on, of each epoch.
    ///
    /// If n loaders in n processes have the parts `(0, n)` to `(n - 1, n)`, each batch is made once. Taken in
    /// turn, their batches are the batches of one loader.
    #[must_use]
    pub fn part(self, first: u64, step: u64) -> Self {
        Epochs { first, step, ..self }
    }
}

impl From<u64> for Epochs {
    fn from(epoch: u64) -> Self {
        Epochs::from(epoch..epoch.saturating_add(1))
    }
}

impl From<Range<u64>> for Epochs {
    fn from(range: Range<u64>) -> Self {
        Epochs { range, first: 0, step: 1 }
    }
}

impl From<RangeFrom<u64>> for Epochs {
    fn from(range: RangeFrom<u64>) -> Self {
        Epochs::from(range.start..u64::MAX)
    }
}
